"""A PostgreSQL server that goes away, comes back and loses answers: nothing is lost or done twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from operator import methodcaller
from random import Random
from threading import Condition, Thread
from typing import TypeAlias

import psycopg
import pytest

from noughts import Mark, events
from noughts.store import postgres as engine
from noughts.store.appends import Append, append_of
from noughts.store.base import EventStore
from noughts.store.documents import Write
from noughts.store.errors import StaleVersion, StoreMissing, StoreUnavailable, UnknownStore
from noughts.store.records import Record
from noughts.store.urls import open_store
from noughts.store.verify import verify
from support.at_once import in_threads, run_code
from support.deadlines import LONG_DEADLINE_SECONDS
from support.figures import Property, tally
from support.length import short_or_long
from support.played import (
    NOW,
    check_recorded,
    check_whole,
    documents_of,
    events_of,
    feed_of,
    fill,
    game_of,
    play,
)
from support.postgres_server import PASSWORD, USER, Server
from support.proxy import PostgresProxy
from support.store_games import Turn, everything, row_of, turns

Stores: TypeAlias = tuple[EventStore, EventStore]

FAULTS = short_or_long(10, 200)
SHARES = short_or_long(2, 4)
WRITERS = 8
SHARERS = 2
"""How many of them play the same games, and get in each other's way."""

FIGURE = (
    "{faults} PostgreSQL faults: {acknowledged} acknowledged events and {documents} documents,"
    " {lost} lost, {missed} missed, {doubled} doubled"
)


@pytest.fixture
def server() -> Iterator[Server]:
    with closing(Server()) as server:
        yield server


def is_begin(message: bytes) -> bool:
    return b"BEGIN" in message


def is_commit(message: bytes) -> bool:
    return b"COMMIT" in message


def has_records(message: bytes) -> bool:
    """Return whether a message holds records to be written: prepared once, it names no INSERT."""
    return rb"\"schema\"" in message


def is_write(message: bytes) -> bool:
    """Return whether a message holds what is to be written."""
    return b"cut-here" in message


# The server goes away while many write and one watches


class Play:
    """Many writers with two stores, and a watch of all games.

    Some writers record a document with each command. Its revision counts the commands of its game.
    """

    def __init__(self, url: str, chance: Random) -> None:
        self.stores = open_store(url), open_store(url)
        self.acknowledged: list[Turn] = []
        self.tried: list[Turn] = []
        self.revisions: dict[str, int] = {}
        self.seen: list[Record] = []
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
        self._watch = self.stores[0].watch_all()
        self._watcher = self._start(self._follow)

    def wait_for(self, more: int) -> None:
        """Wait until this many more commands are acknowledged."""
        wanted = len(self.acknowledged) + more
        self.wait_until(lambda: len(self.acknowledged) >= wanted)

    def wait_until(self, condition: Callable[[], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: condition() or self.failures, LONG_DEADLINE_SECONDS), (
                "it hangs"
            )
        self._check()

    def end(self) -> list[Record]:
        """Let all writers finish; return what is in the store."""
        self._is_over = True
        self._join(self._writers)
        found = everything(self.stores[1])
        self.wait_until(lambda: len(self.seen) >= len(found))
        self._end_watch()
        self._join([self._watcher])
        return found

    def close(self) -> None:
        self._is_over = True
        self._end_watch()
        for thread in (*self._writers, self._watcher):
            thread.join(LONG_DEADLINE_SECONDS)
        for store in self.stores:
            store.close()

    def _end_watch(self) -> None:
        self._watch_is_over = True
        self._watch.close()

    def _start(self, work: Callable[[], None]) -> Thread:
        def run() -> None:
            try:
                work()
            except BaseException as failure:  # noqa: BLE001 - raised in the main thread
                self.failures.append(failure)
                with self._changed:
                    self._changed.notify_all()

        thread = Thread(target=run, daemon=True)
        thread.start()
        return thread

    def _join(self, threads: list[Thread]) -> None:
        for thread in threads:
            thread.join(LONG_DEADLINE_SECONDS)
            assert not thread.is_alive(), "it hangs"
        self._check()

    def _check(self) -> None:
        if self.failures:
            raise self.failures[0]

    def _append(self, store: EventStore, turn: Turn, document: Write | None = None) -> None:
        """Append as a client does: retry while the outcome is unknown."""
        self.tried.append(turn)
        append = turn.append(document)
        record_patiently(store, append)
        if append.refusal:
            raise append.refusal
        with self._changed:
            self.acknowledged.append(turn)
            if document:
                self.revisions[turn.game] = document.document.revision
            self._changed.notify_all()

    def _play_alone(self, store: EventStore, number: int, chance: Random) -> None:
        """Play games that nobody else plays: no version is ever stale."""
        while True:
            game = f"alone{number}-{chance.getrandbits(32):x}"
            for revision, turn in enumerate(turns(game, chance)):
                if self._is_over:
                    return
                document = Write(game, turn.key, expected=revision) if number % 3 else None
                self._append(store, turn, document)

    def _play_with_others(self, store: EventStore, _number: int, chance: Random) -> None:
        """Play games that others play as well, and read again when they were faster."""
        number = 0
        while True:
            game = f"shared{number}"
            try:
                for turn in turns(game, chance, events_of(store.read(game))):
                    if self._is_over:
                        return
                    self._append(store, turn)
            except (StaleVersion, StoreUnavailable):
                continue
            number += 1

    def _follow(self) -> None:
        while not self._watch_is_over:
            try:
                found = self._watch.wait()
            except StoreUnavailable:
                continue
            with self._changed:
                self.seen += found
                self._changed.notify_all()


def record_patiently(store: EventStore, *items: Append | Write) -> None:
    """Record items, and again while the outcome is unknown."""
    while True:
        try:
            return store.record(items)
        except StoreUnavailable:
            continue


def terminate_all(server: Server) -> None:
    server.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    )


def terminate_listener(server: Server) -> None:
    server.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
        " AND (classid, objid) = (%s, %s)",
        *engine.LISTENER_LOCK,
    )


def cut(_server: Server) -> None:
    """Do nothing here: the proxy cuts the connection."""


KINDS: tuple[Callable[[Server], None], ...] = (
    *(terminate_all, terminate_listener, cut),
    *(methodcaller("restart", mode) for mode in ("fast", "immediate")),
)


@pytest.mark.torture
@pytest.mark.parametrize("share", range(SHARES))
def test_faults_of_the_server_lose_nothing_and_double_nothing(
    share: int, server: Server, record_property: Property
) -> None:
    """All that was acknowledged is stored once, and the watch has returned all of it once, in order."""
    chance = Random(share)
    kinds = [KINDS[number % len(KINDS)] for number in range(FAULTS // SHARES)]
    chance.shuffle(kinds)
    with PostgresProxy(server.folder) as proxy:
        game = Play(server.url(folder=proxy.folder), chance)
        try:
            with tally(record_property, FIGURE) as numbers:
                for fault in kinds:
                    game.wait_for(chance.randrange(1, 60))
                    if fault is cut:
                        is_it = chance.choice((is_commit, has_records))
                        proxy.cut(is_it, chance.choice(("before", "after", "late")))
                        cuts = proxy.cuts
                        game.wait_until(lambda: proxy.cuts > cuts)  # noqa: B023 - called at once
                    fault(server)
                    numbers["faults"] += 1
                game.wait_for(60)
                found = game.end()
                numbers.update(count(game, found))
                assert (numbers["lost"], numbers["missed"], numbers["doubled"]) == (0, 0, 0)
                assert numbers["acknowledged"] > numbers["documents"] > numbers["faults"]
                assert game.seen == found
                assert verify(game.stores[0]).events == sum(len(record.events) for record in found)
        finally:
            game.close()


def count(game: Play, found: list[Record]) -> dict[str, int]:
    """Count what was acknowledged, and what went wrong with it."""
    rows = Counter(map(row_of, found))
    keys = Counter((record.game, record.key) for record in found)
    seen = Counter(game.seen)
    documents = {document.name: document for document in documents_of(game.stores[0])}
    return {
        "acknowledged": sum(len(turn.events) for turn in game.acknowledged),
        "documents": sum(game.revisions.values()),
        "lost": sum(turn.row not in rows for turn in game.acknowledged)
        + sum(documents[name].revision < revision for name, revision in game.revisions.items()),
        "missed": sum(record not in seen for record in found),
        "doubled": sum(times > 1 for times in (*keys.values(), *seen.values()))
        + sum(documents[name].revision > revision for name, revision in game.revisions.items()),
    }


# The connection is cut while something is written


CREATED, PLACED = game_of("5")


def record_of(game: str, key: str, document: Write | None = None) -> Append:
    """Return the start of a new game, or the first move of the game that is there."""
    version, step = (3, PLACED) if game == "game" else (0, CREATED)
    return append_of(game, version, step, key=key, at=NOW, document=document)


APPENDS: dict[str, Callable[[str], Append | Write]] = {
    "create": lambda text: record_of("new", text),
    "move": lambda text: record_of("game", text),
}
TRANSACTIONS: dict[str, Callable[[str], Append | Write]] = {
    "seat": lambda text: record_of("new", "key", Write("new", text, expected=0)),
    "move and write": lambda text: record_of("game", text, Write("game", "", expected=1)),
    "write": lambda text: Write("new", text, expected=0, label="open"),
    "rewrite": lambda text: Write("game", text, expected=1),
}
ITEMS = APPENDS | TRANSACTIONS


def stored(store: EventStore) -> tuple[list[tuple[str, str]], list[tuple[str, int, str]]]:
    return sorted((record.game, record.key) for record in feed_of(store)), sorted(
        (document.name, document.revision, document.text) for document in documents_of(store)
    )


@pytest.mark.parametrize(
    ("what", "is_it", "way"),
    [
        (what, is_it, way)
        for items, is_it, ways in (
            (APPENDS, is_write, ("before", "after", "late")),
            (TRANSACTIONS, is_commit, ("before", "after", "late")),
            (TRANSACTIONS, is_write, ("before", "after")),
        )
        for what in items
        for way in ways
    ],
)
def test_what_has_an_unknown_outcome_is_recorded_once(
    meeting: Stores, proxy: PostgresProxy, what: str, is_it: Callable[[bytes], bool], way: str
) -> None:
    """The retry finds what was committed, or commits it; a stale write beside it stays refused."""
    store, right = meeting
    store.write_document("other", "", expected=0)
    item = ITEMS[what]("cut-here")
    stale, other = Write("other", "late", expected=0), Write("another", "text", expected=0)
    proxy.cut(is_it, way)
    store.record([item, stale, other] if what in TRANSACTIONS else [item])

    assert proxy.cuts == 1
    assert item.refusal is None
    once = stored(right)
    assert sum("cut-here" in row for rows in once for row in rows) == 1
    if what in TRANSACTIONS:
        assert isinstance(stale.refusal, StaleVersion)
        assert right.document("another") == other.document
    if isinstance(item, Append) and item.document:
        assert right.document(item.game) == item.document.document
    store.record([item])
    assert (item.refusal, stored(right)) == (None, once)
    everything(right)
    verify(right)


@pytest.mark.parametrize(
    ("what", "is_it", "way"),
    [
        (what, is_it, way)
        for items, is_it, way in (
            (APPENDS, is_write, "before"),
            (APPENDS, is_write, "after"),
            (TRANSACTIONS, is_begin, "before"),
            (TRANSACTIONS, is_commit, "after"),
        )
        for what in items
    ],
)
def test_one_of_two_wins_even_if_its_connection_is_cut(
    meeting: Stores, proxy: PostgresProxy, what: str, is_it: Callable[[bytes], bool], way: str
) -> None:
    """Another store writes before the cut or comes too late; exactly one of both is refused."""
    store, rival = meeting
    ours, theirs = ITEMS[what]("cut-here"), ITEMS[what]("rival")

    def let_the_rival_write(message: bytes) -> bool:
        if is_it(message) and way == "before":
            rival.record([theirs])
        return is_it(message)

    proxy.cut(let_the_rival_write, way)
    store.record([ours])
    if way == "after":
        rival.record([theirs])
    assert proxy.cuts == 1
    winner, loser = (theirs, ours) if way == "before" else (ours, theirs)
    assert (winner.refusal, type(loser.refusal)) == (None, StaleVersion)
    everything(rival)


def test_a_reader_whose_connection_is_cut_reads_again(proxied_url: str, proxy: PostgresProxy) -> None:
    with open_store(proxied_url) as store:
        fill(store)
        for _ in range(5):
            proxy.cut(lambda message: b"Empty_1" in message, "before")
            assert len(store.read("Empty_1")) == 1
        assert proxy.cuts == 5


# The server is away


def test_a_server_that_is_down_is_unavailable_at_once(server: Server) -> None:
    server.stop()
    with pytest.raises(StoreUnavailable, match="the store on PostgreSQL is unavailable: ") as refusal:
        open_store(server.url())

    assert str(refusal.value).isprintable()


def test_a_server_that_is_away_for_long_is_unavailable_and_then_back(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every call raises; the same store and the same watch go on when the server is back."""
    monkeypatch.setattr(engine, "OUTAGE_TIMEOUT_SECONDS", 0.3)
    with open_store(server.url()) as store, store.watch_all() as watch:
        fill(store)
        before = feed_of(store)
        seen: list[Record] = []
        while len(seen) < len(before):
            seen += watch.wait(LONG_DEADLINE_SECONDS)
        server.stop()
        for call in (
            lambda: store.append("new", CREATED, expected=0, key="key", at=NOW),
            lambda: store.write_document("new", "text", expected=0),
            lambda: store.read("won"),
            store.games,
            lambda: watch.wait(LONG_DEADLINE_SECONDS),
        ):
            with pytest.raises(
                StoreUnavailable, match="the store on PostgreSQL is unavailable: "
            ) as refusal:
                call()
            assert str(refusal.value).isprintable()
        server.start()
        monkeypatch.setattr(engine, "OUTAGE_TIMEOUT_SECONDS", 60)

        assert store.append("new", CREATED, expected=0, key="key", at=NOW) == 3
        assert feed_of(store)[:-1] == before
        seen += watch.wait(LONG_DEADLINE_SECONDS)
        assert seen == feed_of(store)


def test_a_server_that_is_away_for_a_moment_is_waited_for(server: Server) -> None:
    with open_store(server.url()) as store:
        version = play(store, "game", [CREATED])
        for mode in ("fast", "immediate"):
            server.stop(mode)
            back = Thread(target=server.start)
            back.start()
            assert store.versions(["game"]) == {"game": version}
            version = store.append("game", PLACED, expected=version, key=mode, at=NOW)
            back.join(LONG_DEADLINE_SECONDS)
        assert version == 9
        check_whole(feed_of(store))


# Where the server is, and who may connect


NOT_URLS = [
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
    # A password whose special characters are not written as %40 and the like ends up anywhere.
    "postgresql://bob:s3cr3t",
    "postgresql://bob:s3cr3t/x@localhost:1/games",
    "postgresql://bob:x@s3cr3t@localhost:1/games",
    "postgresql://bob:x:s3cr3t@localhost:1/games",
]


@pytest.mark.parametrize("url", [*NOT_URLS, *UNREACHABLE])
def test_a_password_in_a_wrong_url_is_never_shown(url: str) -> None:
    """Whatever part of the URL it was taken for."""
    with pytest.raises((StoreUnavailable, UnknownStore)) as refusal:
        open_store(url)

    assert url in UNREACHABLE or isinstance(refusal.value, UnknownStore)
    assert "s3cr3t" not in str(refusal.value)
    assert str(refusal.value).isprintable()


def test_an_error_of_the_driver_is_not_blamed_on_the_url(postgres_url: str) -> None:
    with engine.PostgresStore(postgres_url) as store, pytest.raises(StoreUnavailable, match="parameter"):
        store._select("SELECT ?")  # noqa: SLF001 - no method makes this mistake


def test_a_wrong_password_is_refused(postgres: Server) -> None:
    postgres.execute(f"DROP ROLE IF EXISTS {USER}")
    postgres.execute(f"CREATE ROLE {USER} SUPERUSER LOGIN PASSWORD '{PASSWORD}'")
    place = postgres.place()
    with open_store(place.replace("postgres@", f"{USER}:{PASSWORD}@")) as store:
        fill(store)
    with pytest.raises(StoreUnavailable, match="password authentication failed") as refusal:
        open_store(place.replace("postgres@", f"{USER}:{PASSWORD}-not@"))

    assert PASSWORD not in str(refusal.value)
    with pytest.raises(StoreUnavailable, match="password"):
        open_store(place.replace("postgres@", f"{USER}@"))


def test_a_missing_database_is_unavailable(postgres: Server) -> None:
    with pytest.raises(StoreUnavailable, match='database "nowhere" does not exist'):
        open_store(postgres.url("nowhere"))


def test_a_missing_store_is_created_only_if_asked_for(postgres_url: str) -> None:
    for _ in range(2):
        with pytest.raises(StoreMissing, match="no store in that database"):
            open_store(postgres_url, create=False)
    open_store(postgres_url).close()
    open_store(postgres_url, create=False).close()


def test_a_read_only_store_refuses_to_write(postgres_url: str) -> None:
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
from noughts.store.errors import UnknownStore
from noughts.store.urls import open_store
try:
    open_store("postgresql://bob:s3cr3t@localhost/games")
except UnknownStore as refusal:
    print(refusal)
"""


def test_without_psycopg_a_sentence_says_what_to_install() -> None:
    ran = run_code(MISSING)

    assert ran.stderr == ""
    assert "pip install 'noughts[postgres]'" in ran.stdout
    assert "s3cr3t" not in ran.stdout


# What a store needs from a server


@pytest.mark.parametrize(
    ("default", "used"),
    [("off", "on"), ("on", "on"), ("local", "local"), ("remote_apply", "remote_apply")],
)
def test_a_commit_waits_for_the_disk_whatever_the_default_is(
    postgres_url: str, default: str, used: str
) -> None:
    """A default that may lose acknowledged commits is overruled, and so is the isolation level."""
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
        connection.execute("CREATE TRIGGER spy AFTER INSERT ON noughts_records EXECUTE FUNCTION spy()")
    with open_store(postgres_url + settings) as store:
        store.append("game", PLACED, expected=3, key="next", at=NOW)  # reads where the game ends
        store.append("game", PLACED, expected=6, key="one-more", at=NOW)  # knows it
    with psycopg.connect(postgres_url) as connection:
        found = [value for (value,) in connection.execute("SELECT value FROM spied").fetchall()]

    assert found == [used, "read committed"] * 2


def test_a_closed_store_leaves_no_connection_behind(postgres: Server) -> None:
    for _ in range(3):
        postgres.execute("CREATE DATABASE leaving")
        with open_store(postgres.url("leaving")) as store, store.watch_all() as watch:
            fill(store)
            assert watch.wait(LONG_DEADLINE_SECONDS)
            store.games()
        postgres.execute("DROP DATABASE leaving")


def test_names_are_kept_whatever_the_default_encoding_is(postgres_url: str) -> None:
    step = (events.PlayerJoined(Mark.X, "名前 Zoë \U0001f3b2"),)
    with open_store(f"{postgres_url}&client_encoding=LATIN1") as store:
        store.append("game", step, expected=0, key="key", at=NOW)
        assert events_of(store.read("game")) == step
    with open_store(postgres_url) as store:
        assert events_of(store.read("game")) == step
        check_recorded(store)


def test_more_threads_than_connections_can_read(postgres_url: str) -> None:
    with open_store(postgres_url) as store:
        fill(store)
        right = feed_of(store)

        assert in_threads(*[partial(feed_of, store)] * 30) == [right] * 30
