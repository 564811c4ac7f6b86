"""A PostgreSQL server that goes away, comes back, and loses answers: nothing is lost or done twice."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from functools import partial
from random import Random
from threading import Condition, Thread
from typing import TYPE_CHECKING

import psycopg
import pytest

from at_once import DEADLINE
from noughts import Mark, events
from noughts.core.errors import NoughtsError, StaleVersion, StoreMissing, StoreUnavailable, UnknownStore
from noughts.store import postgres as engine
from noughts.store.opening import open_store
from noughts.store.verifying import verify
from played import NOW, check_whole, feed_of, fill, game_of, play
from postgres_proxy import Proxy
from postgres_server import PASSWORD, WHO, Server
from store_games import turns
from tally import tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from noughts.store.base import EventStore
    from noughts.store.chain import Recorded
    from store_games import Turn

FAULTS = 200 if os.environ.get("NOUGHTS_TORTURE") else 8
SHARES = 4 if os.environ.get("NOUGHTS_TORTURE") else 2
WRITERS = 8
SHARERS = 2
"""How many of them play at the same games, and get in each other's way."""

FIGURE = (
    "{faults} PostgreSQL faults: {acknowledged} acknowledged events,"
    " {lost} lost, {missed} missed, {doubled} doubled"
)


@pytest.fixture
def server() -> Iterator[Server]:
    """Start a server that a test may stop."""
    server = Server()
    try:
        yield server
    finally:
        server.close()


# The server goes away while many write and somebody watches


class Play:
    """Many who write through two stores, and one who watches all of it."""

    def __init__(self, url: str, chance: Random) -> None:
        self.stores = open_store(url), open_store(url)
        self.acknowledged: list[Turn] = []
        self.tried: list[Turn] = []
        self.seen: list[Recorded] = []
        self.failures: list[BaseException] = []
        self._is_over = False
        self._watch_is_over = False
        self._changed = Condition()
        writers = [self._play_alone] * (WRITERS - SHARERS) + [self._play_with_others] * SHARERS
        seeds = [chance.getrandbits(64) for _ in writers]
        self._writers = [
            self._start(partial(work, self.stores[n % 2], n, Random(seed)))
            for n, (work, seed) in enumerate(zip(writers, seeds, strict=True))
        ]
        self._watch = self.stores[0].watch()
        self._watcher = self._start(self._follow)

    def wait_for(self, acknowledged: int) -> None:
        """Return when so many commands were acknowledged."""
        with self._changed:
            assert self._changed.wait_for(
                lambda: len(self.acknowledged) >= acknowledged or self.failures, DEADLINE
            ), "nobody gets on"
        self._check()

    def end(self) -> list[Recorded]:
        """Let everybody finish, and return what is in the store."""
        self._is_over = True
        self._join(self._writers)
        found = feed_of(self.stores[1])
        with self._changed:
            self._changed.wait_for(lambda: len(self.seen) >= len(found), DEADLINE)
        self._end_watch()
        self._join([self._watcher])
        return found

    def close(self) -> None:
        """Give everything back, however it ended."""
        self._is_over = True
        self._end_watch()
        for thread in (*self._writers, self._watcher):
            thread.join(DEADLINE)
        for store in self.stores:
            store.close()

    def _end_watch(self) -> None:
        self._watch_is_over = True
        self._watch.close()

    def _start(self, work: Callable[[], None]) -> Thread:
        def do() -> None:
            try:
                work()
            except BaseException as failure:  # noqa: BLE001 - it is raised where it is seen
                self.failures.append(failure)
                with self._changed:
                    self._changed.notify_all()

        thread = Thread(target=do, daemon=True)
        thread.start()
        return thread

    def _join(self, threads: list[Thread]) -> None:
        for thread in threads:
            thread.join(DEADLINE)
            assert not thread.is_alive(), "it hangs"
        self._check()

    def _check(self) -> None:
        if self.failures:
            raise self.failures[0]

    def _append(self, store: EventStore, turn: Turn) -> None:
        """Append as a client does: as long as nobody knows what became of it, once more."""
        self.tried.append(turn)
        while True:
            try:
                version = turn.append_to(store)
            except StoreUnavailable:
                continue
            assert version == turn.expected + len(turn.events)
            with self._changed:
                self.acknowledged.append(turn)
                self._changed.notify_all()
            return

    def _play_alone(self, store: EventStore, number: int, chance: Random) -> None:
        """Play games that nobody else plays at: no version is ever stale."""
        while True:
            for turn in turns(f"alone{number}-{chance.getrandbits(32):x}", chance):
                if self._is_over:
                    return
                self._append(store, turn)

    def _play_with_others(self, store: EventStore, _number: int, chance: Random) -> None:
        """Play games that others play at as well, and look again when they were faster."""
        number = 0
        while True:
            game = f"shared{number}"
            try:
                history = [record.event for record in store.read(game)]
                for turn in turns(game, chance, history):
                    if self._is_over:
                        return
                    self._append(store, turn)
            except (StaleVersion, StoreUnavailable):
                continue
            number += 1

    def _follow(self) -> None:
        """Wait for what is new, without end: only the bell wakes, also after it was torn down."""
        while not self._watch_is_over:
            try:
                found = self._watch.wait()
            except StoreUnavailable:
                continue
            with self._changed:
                self.seen += found
                self._changed.notify_all()


def terminate_all(server: Server) -> None:
    """End all connections of the store."""
    server.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    )


def terminate_listener(server: Server) -> None:
    """End the connection over which the store hears of what is new."""
    server.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN noughts'"
    )


def restart(server: Server) -> None:
    """Stop and start the server, as one should."""
    server.restart("fast")


def crash(server: Server) -> None:
    """Let the server crash; it recovers when it starts."""
    server.restart("immediate")


KINDS = (terminate_all, terminate_listener, restart, crash)


@pytest.mark.torture
@pytest.mark.parametrize("share", range(SHARES))
def test_faults_of_the_server_lose_nothing_and_double_nothing(
    share: int, server: Server, record_property: Callable[[str, object], None]
) -> None:
    """All that was acknowledged is there once, and whoever watches has seen all of it once, in order."""
    chance = Random(share)
    kinds = [KINDS[number % len(KINDS)] for number in range(FAULTS // SHARES)]
    chance.shuffle(kinds)
    game = Play(server.url(), chance)
    try:
        with tally(record_property, FIGURE) as numbers:
            for fault in kinds:
                game.wait_for(len(game.acknowledged) + chance.randrange(1, 60))
                fault(server)
                numbers["faults"] += 1
            game.wait_for(len(game.acknowledged) + 60)
            found = game.end()
            numbers.update(count(game, found))
            assert (numbers["lost"], numbers["missed"], numbers["doubled"]) == (0, 0, 0)
            assert numbers["acknowledged"] > numbers["faults"]
            assert game.seen == found
            check_whole(found)
            assert verify(game.stores[0]).events == len(found)
    finally:
        game.close()


def count(game: Play, found: list[Recorded]) -> dict[str, int]:
    """Count what was acknowledged, and what went wrong with it."""
    there = Counter((record.game, record.key) for record in found)
    right = {(turn.game, turn.key): len(turn.events) for turn in game.tried}
    seen = Counter(record.position for record in game.seen)
    stored = {record[1:6] for record in found}
    lost = sum(row not in stored for turn in game.acknowledged for row in turn.rows)
    return {
        "acknowledged": sum(len(turn.events) for turn in game.acknowledged),
        "lost": lost,
        "missed": sum(record.position not in seen for record in found),
        "doubled": sum(there[command] != right[command] for command in there)
        + sum(times > 1 for times in seen.values()),
    }


# The line is cut when the server was told to commit


CREATED, PLACED = game_of("5")


def is_commit(message: bytes) -> bool:
    """Tell whether a message ends a transaction."""
    return b"COMMIT" in message


def is_insertion(message: bytes) -> bool:
    """Tell whether a message holds the event that is to be recorded."""
    return b"cut-here" in message


@pytest.mark.parametrize(
    ("game", "is_it", "way"),
    [
        pytest.param(game, is_it, way, id=f"{where}, {way}")
        for where, game, is_it, ways in (
            ("the one statement of a commit", "known", is_insertion, ("before", "after", "late")),
            ("the end of a transaction", "new", is_commit, ("before", "after", "late")),
            ("the middle of a transaction", "new", is_insertion, ("before", "after")),
        )
        for way in ways
    ],
)
def test_an_append_whose_outcome_nobody_knows_is_recorded_once(
    postgres: Server, game: str, is_it: Callable[[bytes], bool], way: str
) -> None:
    """The line is cut before the server knew, or after it had done it, or both are at it at once."""
    url = postgres.place()
    with (
        Proxy(postgres.folder) as proxy,
        open_store(url.replace(str(postgres.folder), str(proxy.folder))) as store,
    ):
        play(store, "known", [CREATED])
        step, version = (PLACED, 3) if game == "known" else (CREATED, 0)
        proxy.cut(is_it, way)

        assert store.append(game, step, expected=version, key="cut-here", at=NOW) == version + 3
        assert proxy.cuts == 1
        assert [record.event for record in store.read(game)[version:]] == list(step)
        assert [record.key for record in store.read(game)[version:]] == ["cut-here"] * 3
        assert play(store, game, [PLACED], version + 3) == version + 6
        check_whole(feed_of(store))
        verify(store)


@pytest.mark.parametrize("way", ["before", "after"])
def test_a_rival_is_refused_also_when_the_line_was_cut(postgres: Server, way: str) -> None:
    """Somebody else took the version meanwhile, or came too late; either way, one of them has it."""
    url = postgres.place()
    with (
        Proxy(postgres.folder) as proxy,
        open_store(url.replace(str(postgres.folder), str(proxy.folder))) as store,
        open_store(url) as rival,
    ):
        play(store, "game", [CREATED])

        def cut_and_let_the_rival_write(message: bytes) -> bool:
            if is_insertion(message) and way == "before":
                rival.append("game", PLACED, expected=3, key="rival", at=NOW)
            return is_insertion(message)

        proxy.cut(cut_and_let_the_rival_write, way)
        try:
            answer: object = store.append("game", PLACED, expected=3, key="cut-here", at=NOW)
        except NoughtsError as refusal:
            answer = type(refusal)

        assert answer == (StaleVersion if way == "before" else 6)
        keys = {record.key for record in rival.read("game", 3)}
        assert keys == {"rival" if way == "before" else "cut-here"}
        check_whole(feed_of(rival))


def test_a_reader_whose_line_is_cut_reads_again(postgres: Server) -> None:
    """Nobody notices."""
    url = postgres.place()
    with (
        Proxy(postgres.folder) as proxy,
        open_store(url.replace(str(postgres.folder), str(proxy.folder))) as store,
    ):
        fill(store)
        for _ in range(5):
            proxy.cut(lambda message: b"noughts_games" in message or message.startswith(b"B"), "before")
            assert len(store.read("Empty_1")) == 3
        assert proxy.cuts == 5


# The server is away


def test_a_server_that_is_down_is_unavailable_at_once(server: Server) -> None:
    """A sentence says so; nobody waits."""
    server.stop()
    with pytest.raises(StoreUnavailable, match="the store on PostgreSQL is unavailable: ") as refusal:
        open_store(server.url())

    assert str(refusal.value).isprintable()


def test_a_server_that_is_away_for_long_is_unavailable_and_then_back(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks is told; the same store and the same watch go on when the server is back."""
    monkeypatch.setattr(engine, "PATIENCE", 0.3)
    with open_store(server.url()) as store, store.watch() as watch:
        fill(store)
        before = feed_of(store)
        seen = [*watch.wait(DEADLINE)]
        server.stop()
        for ask in (
            lambda: store.append("new", CREATED, expected=0, key="key", at=NOW),
            lambda: store.read("won"),
            store.games,
            lambda: watch.wait(DEADLINE),
        ):
            with pytest.raises(
                StoreUnavailable, match="the store on PostgreSQL is unavailable: "
            ) as refusal:
                ask()
            assert str(refusal.value).isprintable()
        server.start()
        monkeypatch.setattr(engine, "PATIENCE", 60)

        assert store.append("new", CREATED, expected=0, key="key", at=NOW) == 3
        assert feed_of(store)[: len(before)] == before
        seen += watch.wait(DEADLINE)
        assert seen == feed_of(store)
        assert len(seen) == len(before) + 3


def test_a_server_that_is_away_for_a_moment_is_waited_for(server: Server) -> None:
    """Nobody is told anything but the answer."""
    with open_store(server.url()) as store:
        play(store, "game", [CREATED])
        for mode in ("fast", "immediate"):
            server.stop(mode)
            back = Thread(target=server.start)
            back.start()
            version = len(store.read("game"))
            assert store.append("game", PLACED, expected=version, key=mode, at=NOW) == version + 3
            back.join(DEADLINE)
        check_whole(feed_of(store))


# Where the server is, and who may come in


NO_URLS = [
    "postgresql:",
    "postgresql:games",
    "postgres:password=s3cr3t",
    "postgresql://bob:s3cr3t@localhost:5432/games?nonsense=1",
    "postgresql://bob:s3cr3t%zz@localhost/games",
    "postgresql://bob:s3cr3t%00@localhost/games",
    "postgresql://bob:s3cr3t@[::1/games",
]

UNREACHABLE = [
    "postgresql://bob:s3cr3t@localhost:1/games",
    "postgresql://bob:s3cr3t@localhost:0/games",
    "postgresql://bob:s3cr3t@localhost:99999/games",
    "postgresql://bob:s3cr3t@/games?host=/nowhere",
    "postgresql://bob@/games?host=/nowhere&password=s3cr3t",
    "postgresql://bob:s3cr3t@localhost:1/games?sslmode=nonsense",
    # A password whose signs were not written as %40 and the like lands anywhere.
    "postgresql://bob:s3cr3t",
    "postgresql://bob:s3cr3t/x@localhost:1/games",
    "postgresql://bob:x@s3cr3t@localhost:1/games",
    "postgresql://bob:x:s3cr3t@localhost:1/games",
]


@pytest.mark.parametrize("url", NO_URLS)
def test_what_is_no_url_is_refused_without_a_word_of_it(url: str) -> None:
    """A password may be in it, wherever it was put by mistake."""
    with pytest.raises(UnknownStore) as refusal:
        open_store(url)

    assert "s3cr3t" not in str(refusal.value)
    assert str(refusal.value).isprintable()


@pytest.mark.parametrize("url", UNREACHABLE)
def test_a_server_that_cannot_be_reached_is_told_of_without_the_password(url: str) -> None:
    """Whatever part of the URL the password was taken for."""
    with pytest.raises((StoreUnavailable, UnknownStore)) as refusal:
        open_store(url)

    assert "s3cr3t" not in str(refusal.value)
    assert str(refusal.value).isprintable()


def test_a_wrong_password_is_refused(postgres: Server) -> None:
    """The right one is let in; neither is ever shown."""
    postgres.execute(f"DROP ROLE IF EXISTS {WHO}")
    postgres.execute(f"CREATE ROLE {WHO} SUPERUSER LOGIN PASSWORD '{PASSWORD}'")
    place = postgres.place()
    with open_store(place.replace("postgres@", f"{WHO}:{PASSWORD}@")) as store:
        fill(store)
    with pytest.raises(StoreUnavailable, match="password authentication failed") as refusal:
        open_store(place.replace("postgres@", f"{WHO}:{PASSWORD}-not@"))

    assert PASSWORD not in str(refusal.value)
    with pytest.raises(StoreUnavailable, match="password"):
        open_store(place.replace("postgres@", f"{WHO}@"))


def test_a_database_that_is_not_there_is_unavailable(postgres: Server) -> None:
    """A store makes tables, not databases."""
    with pytest.raises(StoreUnavailable, match='database "nowhere" does not exist'):
        open_store(postgres.url("nowhere"))


def test_a_store_that_is_not_there_is_missing_unless_it_is_to_be_made(postgres_url: str) -> None:
    """Nothing is made then."""
    for _ in range(2):
        with pytest.raises(StoreMissing, match="there is no store in that database"):
            open_store(postgres_url, create=False)
    open_store(postgres_url).close()
    open_store(postgres_url, create=False).close()


def test_who_may_only_read_is_told_so(postgres_url: str) -> None:
    """With a sentence, and nothing is recorded."""
    with open_store(postgres_url) as store:
        fill(store)
        before = feed_of(store)
    read_only = f"{postgres_url}%20-cdefault_transaction_read_only%3Don"
    with open_store(read_only) as store:
        assert feed_of(store) == before
        with pytest.raises(StoreUnavailable, match="read-only"):
            store.append("new", CREATED, expected=0, key="key", at=NOW)
        assert feed_of(store) == before


MISSING = """
import sys
sys.modules["psycopg"] = None
from noughts.core.errors import UnknownStore
from noughts.store.opening import open_store
try:
    open_store("postgresql://bob:s3cr3t@localhost/games")
except UnknownStore as refusal:
    print(refusal)
"""


def test_without_psycopg_a_sentence_says_what_to_install() -> None:
    """The rest of noughts needs nothing but Python."""
    ran = subprocess.run(
        [sys.executable, "-c", MISSING], capture_output=True, text=True, timeout=DEADLINE, check=False
    )

    assert ran.stderr == ""
    assert "pip install 'noughts[postgres]'" in ran.stdout
    assert "s3cr3t" not in ran.stdout


# What a store asks of a server


@pytest.mark.parametrize(
    ("default", "used"),
    [("off", "on"), ("on", "on"), ("local", "local"), ("remote_apply", "remote_apply")],
)
def test_a_commit_waits_for_the_disk_whatever_the_server_does_by_default(
    postgres_url: str, default: str, used: str
) -> None:
    """Only a default that may lose what was acknowledged is overruled; and so is the isolation."""
    settings = f"%20-csynchronous_commit%3D{default}%20-cdefault_transaction_isolation%3Dserializable"
    with open_store(postgres_url) as store:
        store.append("game", CREATED, expected=0, key="key", at=NOW)
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE spied (value text)")
        connection.execute(
            "CREATE FUNCTION spy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO spied VALUES"
            " (current_setting('synchronous_commit')), (current_setting('transaction_isolation'));"
            " RETURN NULL; END $$"
        )
        connection.execute("CREATE TRIGGER spy AFTER INSERT ON noughts_events EXECUTE FUNCTION spy()")
    with open_store(postgres_url + settings) as store:
        store.append("game", PLACED, expected=3, key="next", at=NOW)  # takes stock
        store.append("game", PLACED, expected=6, key="one-more", at=NOW)  # remembers
    with psycopg.connect(postgres_url) as connection:
        found = [value for (value,) in connection.execute("SELECT value FROM spied").fetchall()]

    assert found == [used, "read committed"] * 2


def test_a_closed_store_leaves_no_connection_behind(postgres: Server) -> None:
    """A database to which somebody is connected cannot be dropped."""
    for _ in range(3):
        postgres.execute("CREATE DATABASE leaving")
        with open_store(postgres.url("leaving")) as store, store.watch() as watch:
            fill(store)
            assert watch.wait(DEADLINE)
            store.games()
        postgres.execute("DROP DATABASE leaving")


def test_a_name_with_any_sign_is_kept_whatever_the_client_writes_by_default(postgres_url: str) -> None:
    """The store speaks UTF-8, also where the environment asks for something else."""
    step = [events.PlayerJoined(Mark.X, "名前 Zoë \U0001f3b2")]
    with open_store(f"{postgres_url}&client_encoding=LATIN1") as store:
        store.append("game", step, expected=0, key="key", at=NOW)
        assert [record.event for record in store.read("game")] == step
    with open_store(postgres_url) as store:
        assert [record.event for record in store.read("game")] == step
        verify(store)


def test_a_pool_of_readers_is_enough_for_many(postgres_url: str) -> None:
    """More threads than connections read at once; each waits its turn."""
    with open_store(postgres_url) as store:
        fill(store)
        right = feed_of(store)
        found: list[list[Recorded]] = []
        threads = [Thread(target=lambda: found.append(feed_of(store))) for _ in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE)

        assert found == [right] * 30
