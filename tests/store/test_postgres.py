"""A PostgreSQL server that goes away, hangs or waits for its standby, and several processes on one."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from errno import EMFILE
from functools import partial
from itertools import product
from random import Random
from signal import SIGCONT, SIGSTOP
from threading import Thread
from typing import Any, LiteralString, TypeAlias
from unittest.mock import Mock

import psycopg
import pytest
from hypothesis import example, given, strategies as st

from noughts import Mark, events
from noughts.store import postgres as engine, postgres_session as sessions
from noughts.store.base import Change, News, Store, StoredGame, news_of, nothing
from noughts.store.errors import (
    NotAStore,
    StaleVersion,
    StoreMissing,
    StoreUnavailable,
    UnknownStore,
)
from noughts.store.news import MAX_PAYLOAD_BYTES, decode_news, encode_news
from noughts.store.postgres import PostgresStore
from noughts.store.postgres_schema import SCHEMA
from noughts.store.postgres_session import Session
from noughts.store.rows import Row
from noughts.store.urls import open_store
from support.at_once import in_threads
from support.deadlines import LONG_DEADLINE_SECONDS, eventually
from support.figures import Property, record_figure
from support.played import CREATED, PLACED, ROOM, change_of, commit, fill, found, play
from support.postgres_server import PASSWORD, USER, Server
from support.proxy import PostgresProxy
from support.store_games import changes, hashes

Received: TypeAlias = list[Sequence[News] | None]
"""What a follower was called with."""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Start a server that tests may stop; the others use another one."""
    with closing(Server()) as server:
        yield server


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notice soon what hangs."""
    for name, seconds in (("DEADLINE", 0.5), ("GUARD", 0.05), ("OUTAGE", 1.0), ("COMMIT_OUTAGE", 2.0)):
        monkeypatch.setattr(engine, f"{name}_SECONDS", seconds)
    monkeypatch.setattr(sessions, "HANG_SECONDS", 0.3)


def commit_together(store: Store, *batch: Change) -> None:
    store._commit(sorted(batch, key=lambda change: change.id))  # noqa: SLF001 - as the writer does


# The outcome of a commit is unknown

KINDS: dict[str, Callable[[StoredGame], Change]] = {
    "create": lambda game: change_of(nothing(f"new-{game.id}"), CREATED, room=ROOM),
    "move": lambda game: change_of(game, PLACED),
    "room": lambda game: change_of(game, room="{}"),
    "move and room": lambda game: change_of(game, PLACED, room="{}", hour=7),
    "delete": lambda game: Change(game, game.deleted()),
    "nothing": lambda game: Change(game, game),
}


def is_commit(message: bytes) -> bool:
    """Return whether a message has the values of a commit: once prepared, it names no statement."""
    return b"cut-here" in message


@pytest.mark.parametrize(("kind", "way"), [*product([*KINDS, "all"], ("before", "after", "late"))])
def test_what_has_an_unknown_outcome_is_recorded_once(
    postgres: Server, postgres_url: str, kind: str, way: str
) -> None:
    """The retry finds what was committed, or commits it; what is stale beside it stays refused."""
    with PostgresProxy(postgres.folder) as proxy, ExitStack() as stack:
        urls = postgres_url.replace(str(postgres.folder), str(proxy.folder)), postgres_url
        store, rival = (stack.enter_context(open_store(url)) for url in urls)
        game = play(store, "cut-here", [CREATED], room=ROOM)
        other = play(store, "other", [CREATED])
        stale = change_of(other, room=ROOM)
        play(store, "other", [PLACED])
        both = [KINDS["create"](game), KINDS["move"](game), stale]
        batch = [KINDS[kind](game)] if kind in KINDS else both
        proxy.cut(is_commit, way)
        for _ in range(2):  # and again, as a client that got no answer
            commit_together(store, *batch)
            there = hashes(rival)
            for change in batch:
                assert isinstance(change.failure, StaleVersion if change is stale else type(None))
                assert (there[change.id] == change.after.hash) == (change is not stale)
        assert proxy.cuts == 1


def test_a_deadlock_is_tried_again(postgres: Server, postgres_url: str) -> None:
    with open_store(f"{postgres_url}%20-cdeadlock_timeout%3D50ms") as store:
        both = [change_of(play(store, name, [CREATED]), PLACED) for name in "ab"]
        with postgres.connect(postgres_url) as rival, rival.transaction():
            rival.execute("SET LOCAL deadlock_timeout TO '60s'")
            rival.execute("UPDATE games SET hash = hash WHERE id = 'b'")
            committing = Thread(target=commit_together, args=(store, *both))
            committing.start()
            eventually(lambda: postgres.execute("SELECT 1 FROM pg_locks WHERE NOT granted"))
            rival.execute("UPDATE games SET hash = hash WHERE id = 'a'")
        committing.join(LONG_DEADLINE_SECONDS)
        assert hashes(store) == {change.id: change.after.hash for change in both}


def test_a_bad_change_fails_alone(postgres_url: str) -> None:
    with open_store(postgres_url) as store:
        known = play(store, "known", [CREATED])
        bad, worse, good = (change_of(nothing(name), CREATED) for name in ("bad", "worse", "good"))
        bad.after.room, worse.after.room = "\0", "\ud800"
        move = change_of(known, PLACED)
        commit_together(store, bad, worse, good, move)
        assert (good.failure, move.failure) == (None, None)
        assert isinstance(bad.failure, StoreUnavailable)
        assert isinstance(worse.failure, StoreUnavailable)
        assert hashes(store) == {"good": good.after.hash, "known": move.after.hash}


# The server is away, or doesn't answer


@pytest.mark.waits
@pytest.mark.usefixtures("_quick")
def test_a_server_that_is_away_for_long_is_unavailable_and_then_back(server: Server) -> None:
    received: Received = []
    place = server.place()
    with open_store(place) as store, open_store(place) as other:
        store.follow(received.append)
        fill(store)
        before, presence = hashes(store), store.presence("p")
        assert presence
        server.stop()
        for call in (
            *(partial(commit, store, change_of(nothing("x"), CREATED)), partial(store.read, "won")),
            *(store.games, partial(store.confirm, "won"), store.check, partial(presence.renew, 9)),
            partial(open_store, place),
        ):
            with pytest.raises(StoreUnavailable, match=r"is unavailable: |not answered") as refusal:
                call()
            assert str(refusal.value).isprintable()
        server.start()
        eventually(lambda: received[-1] is None and len(received) > 1)

        assert hashes(store) == before
        change = change_of(found(other, "unfinished"), room="{}")
        commit(other, change)
        eventually(lambda: received[-1] == [news_of(change)])


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_server_that_is_away_for_a_moment_is_waited_for(server: Server, mode: str) -> None:
    with open_store(server.place()) as store:
        game = play(store, "game", [CREATED])
        for call in (partial(store.hashes, ["game"]), partial(commit, store, change_of(game, PLACED))):
            server.stop(mode)
            back = Thread(target=server.start)
            back.start()
            assert call()
            back.join(LONG_DEADLINE_SECONDS)
        assert found(store, "game").revision == 2


@pytest.mark.waits
@pytest.mark.usefixtures("_quick")
def test_a_server_that_hangs_is_left_for_the_next(
    postgres: Server, postgres_url: str, record_property: Property
) -> None:
    """Moves go on there, and so does everything else; a single server that hangs is unavailable."""
    received: Received = []
    with PostgresProxy(postgres.folder) as proxy, ExitStack() as stack:
        frozen = postgres_url.replace(str(postgres.folder), str(proxy.folder))
        two = frozen.replace(str(proxy.folder), f"{proxy.folder},{postgres.folder}")
        store, alone, other = (
            stack.enter_context(open_store(url)) for url in (two, frozen, postgres_url)
        )
        store.follow(received.append)
        game = play(store, "game", [CREATED])
        alone.check()
        eventually(lambda: received)
        proxy.is_flowing.clear()
        start = time.monotonic()
        change = store.submit(change_of(game, PLACED))
        with pytest.raises(StoreUnavailable, match="not answered"):
            change.result()
        eventually(lambda: change.is_settled)
        seconds = time.monotonic() - start
        record_figure(
            record_property, "a commit went on {s:.1f} s after its server had frozen", s=seconds
        )
        assert (change.failure, found(store, "game").revision) == (None, 2)
        eventually(lambda: len(received) > 1)  # it listens there
        other.delete("game")
        eventually(lambda: received[-1])
        with pytest.raises(StoreUnavailable, match="unavailable: "):
            alone.check()


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """Return how the guards ask whether a server answers."""
    answers = Mock(wraps=sessions.answers)
    monkeypatch.setattr("noughts.store.postgres.answers", answers)
    return answers


@pytest.mark.usefixtures("_quick")
def test_a_commit_waits_for_its_standby_whatever_ends_the_wait(server: Server, looks: Mock) -> None:
    """Its caller is answered, reads go on, and it is acknowledged nowhere before the standby is back."""

    def waiting() -> list[Any]:
        found = server.execute("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
        return [pid for (pid,) in found]

    place = server.place()
    with open_store(place) as store, open_store(place) as other, open_store(place) as closing_store:
        game, another = play(store, "game", [CREATED]), play(other, "another", [CREATED])
        server.set("synchronous_standby_names", "nobody")
        try:
            change = store.submit(change_of(game, PLACED))
            with pytest.raises(StoreUnavailable, match="it may yet be recorded"):
                change.result()
            writer = store.writer  # the commit may have begun after the change was submitted
            eventually(lambda: writer._committing and writer._is_late(writer._began))  # noqa: SLF001 - as above
            with pytest.raises(StoreUnavailable, match="nothing was recorded"):
                store.submit(change_of(another, PLACED))
            assert store.writer.waiting_seconds() > engine.DEADLINE_SECONDS
            assert found(other, "game").revision == 1
            for end in ("pg_cancel_backend", "pg_terminate_backend") * 2:
                eventually(waiting)
                (pid, *_) = waiting()
                server.execute(f"SELECT {end}({pid})")
                eventually(lambda: pid not in waiting())  # noqa: B023 - called at once
                eventually(lambda: found(other, "game").revision == 2)
                with pytest.raises(StoreUnavailable, match="not answered"):
                    other.confirm("game")
            store.count_hour(0)
            looks.reset_mock()
            eventually(lambda: looks.call_count >= 3)
            clients = "SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend'"
            eventually(lambda: len(server.execute(clients)) <= 8)  # a guard may have one more just now
            assert (change.is_settled, store.hours()) == (False, 1)
            late = closing_store.submit(change_of(another, PLACED))
            closing_store.close()  # although its commit hangs
            eventually(lambda: late.is_settled)
            assert isinstance(late.failure, StoreUnavailable)
        finally:
            server.set("synchronous_standby_names", "")
        eventually(lambda: change.is_settled and not other.writer.waiting_seconds())
        confirmed = other.confirm("game")
        assert (change.failure, confirmed and confirmed.hash) == (None, change.after.hash)
        eventually(lambda: found(store, "another").hash == late.after.hash)  # no commit is cancelled
        hashes(store)


@pytest.mark.usefixtures("_quick")
def test_a_backend_that_hangs_alone_is_waited_for(
    postgres: Server, postgres_url: str, looks: Mock
) -> None:
    """It may wait for a standby: another connection would leave it behind with its locks."""
    with PostgresStore(postgres_url) as store:
        game = play(store, "game", [CREATED])
        ((pid,),) = store._execute(store._commits, "SELECT pg_backend_pid()")  # noqa: SLF001 - where commits are made
        os.kill(pid, SIGSTOP)
        try:
            change = store.submit(change_of(game, PLACED))
            eventually(lambda: looks.call_count >= 3)
            assert store.hashes(["game"]) == {"game": game.hash}
            assert not change.is_settled
        finally:
            os.kill(pid, SIGCONT)
        eventually(lambda: change.is_settled)
        assert change.failure is None
        assert postgres.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", pid)


def test_too_many_open_files_say_nothing_about_the_server(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(psycopg, "connect", Mock(side_effect=OSError(EMFILE, "Too many open files")))
    assert sessions.answers(("127.0.0.1", "", 5432), postgres_url)
    with pytest.raises(StoreUnavailable, match="Too many open files"):
        PostgresStore(postgres_url)


# Where the server is, and what it must allow

BAD_URLS = {
    "postgresql:": UnknownStore,
    "postgresql:games": UnknownStore,
    "postgres:password=s3cr3t": UnknownStore,
    "postgresql://bob:s3cr3t@localhost:5432/games?nonsense=1": UnknownStore,
    "postgresql://bob:s3cr3t%zz@localhost/games": UnknownStore,
    "postgresql://bob:s3cr3t%00@localhost/games": UnknownStore,
    "postgresql://bob:s3cr3t@[::1/games": UnknownStore,
    "postgresql://bob:s3cr3t@localhost:1/games": StoreUnavailable,
    "postgresql://bob:s3cr3t@localhost:0,localhost:1/games": StoreUnavailable,
    "postgresql://bob:s3cr3t@localhost:99999/games": StoreUnavailable,
    "postgresql://bob:s3cr3t@/games?host=/nowhere": StoreUnavailable,
    "postgresql://bob@/games?host=/nowhere&password=s3cr3t": StoreUnavailable,
    "postgresql://bob:s3cr3t@localhost:1/games?sslmode=nonsense": StoreUnavailable,
    # A password whose special characters are not written as %40 and the like ends up anywhere.
    "postgresql://bob:s3cr3t": StoreUnavailable,
    "postgresql://bob:s3cr3t/x@localhost:1/games": StoreUnavailable,
    "postgresql://bob:x@s3cr3t@localhost:1/games": StoreUnavailable,
    "postgresql://bob:x:s3cr3t@localhost:1/games": StoreUnavailable,
}


@pytest.mark.parametrize("url", BAD_URLS)
def test_a_password_in_a_wrong_url_is_never_shown(url: str) -> None:
    """Whatever part of the URL it was taken for."""
    with pytest.raises(BAD_URLS[url]) as refusal:
        open_store(url)
    assert "s3cr3t" not in str(refusal.value)
    assert str(refusal.value).isprintable()


def test_a_wrong_password_is_refused(postgres: Server) -> None:
    postgres.execute(f"DROP ROLE IF EXISTS {USER}")
    postgres.execute(f"CREATE ROLE {USER} SUPERUSER LOGIN PASSWORD '{PASSWORD}'")
    place = postgres.place()
    with open_store(place.replace("postgres@", f"{USER}:{PASSWORD}@")) as store:
        assert PASSWORD not in repr(store)
    for wrong in (f"{USER}:{PASSWORD}-not@", f"{USER}@"):
        with pytest.raises(StoreUnavailable, match="password") as refusal:
            open_store(place.replace("postgres@", wrong))
        assert PASSWORD not in str(refusal.value)
    with pytest.raises(StoreUnavailable, match='database "nowhere" does not exist'):
        open_store(postgres.url("nowhere"))


def test_without_psycopg_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "noughts.store.postgres", None)
    with pytest.raises(UnknownStore, match="needs its driver: pip install 'noughts\\[postgres]'"):
        open_store("postgresql://bob:s3cr3t@localhost/games")


@pytest.mark.parametrize(
    ("default", "used"),
    [("off", "on"), ("on", "on"), ("local", "local"), ("remote_apply", "remote_apply")],
)
def test_a_commit_waits_for_the_disk_whatever_the_default_is(
    postgres: Server, postgres_url: str, default: str, used: str
) -> None:
    """A default that may lose acknowledged commits is overruled; so are isolation and encoding."""
    settings = f"%20-csynchronous_commit%3D{default}%20-cdefault_transaction_isolation%3Dserializable"
    with open_store(f"{postgres_url}{settings}&client_encoding=LATIN1") as store:
        game = play(store, "game", [CREATED])
        for statement in (
            "CREATE TABLE spied (value text)",
            """CREATE FUNCTION spy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO spied VALUES
            (current_setting('synchronous_commit')), (current_setting('transaction_isolation'));
            RETURN NULL; END $$""",
            "CREATE TRIGGER spy AFTER UPDATE ON games EXECUTE FUNCTION spy()",
        ):
            postgres.execute(statement, url=postgres_url)
        named = commit(store, change_of(game, (events.PlayerJoined(Mark.X, "名前 Zoë \U0001f3b2"),)))
        assert found(store, "game").hash == named.hash
    spied = postgres.execute("SELECT value FROM spied", url=postgres_url)
    assert spied == [(used,), ("read committed",)]


@pytest.mark.usefixtures("_quick")
def test_a_read_only_store_refuses_to_write(postgres_url: str) -> None:
    with open_store(postgres_url) as store:
        fill(store)
        before = hashes(store)
    with open_store(f"{postgres_url}%20-cdefault_transaction_read_only%3Don") as store:
        change = change_of(nothing("new"), CREATED)
        with pytest.raises(StoreUnavailable, match="read-only"):
            commit_together(store, change)
        assert hashes(store) == before


def test_more_threads_than_connections_read_and_none_is_left_behind(postgres: Server) -> None:
    """The first of two servers is not there."""
    postgres.execute("CREATE DATABASE leaving")
    with open_store(postgres.url("leaving").replace("host=", "host=/nowhere,")) as store:
        fill(store)
        store.follow(lambda _news: None)
        right = hashes(store)
        assert in_threads(*[partial(hashes, store)] * 30) == [right] * 30
    postgres.execute("DROP DATABASE leaving")


# The tables


def test_a_missing_store_is_created_once_and_only_if_asked_for(postgres_url: str) -> None:
    for _ in range(2):
        with pytest.raises(StoreMissing, match="no store in that database"):
            open_store(postgres_url, create=False)
    in_threads(*[lambda: open_store(postgres_url).close()] * 4)
    open_store(postgres_url, create=False).close()


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("CREATE TABLE games (id int)", "has a table 'games' of another program"),
        ("CREATE VIEW counter AS SELECT 1", "has a table 'counter' of another program"),
        ("CREATE TABLE noughts (name text)", "it has no version"),
        ("CREATE TABLE noughts (schema int)", "it has no version"),
        ("CREATE TABLE noughts AS SELECT 'x' AS schema", "it has no version"),
        ("CREATE VIEW noughts AS SELECT 20 AS schema FROM generate_series(1, 2)", "it has no version"),
        (f"CREATE TABLE noughts AS SELECT {SCHEMA + 1} AS schema", "made by a newer version"),
        (f"CREATE TABLE noughts AS SELECT {SCHEMA - 1} AS schema", "made by an older version"),
    ],
)
def test_a_database_of_something_else_is_refused_untouched(
    postgres: Server, postgres_url: str, statement: LiteralString, sentence: str
) -> None:
    postgres.execute(statement, url=postgres_url)
    objects = "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace"
    before = postgres.execute(objects, url=postgres_url)
    with pytest.raises(NotAStore, match=sentence):
        open_store(postgres_url)
    with pytest.raises(NotAStore if " noughts " in statement else StoreMissing):
        open_store(postgres_url, create=False)
    assert postgres.execute(objects, url=postgres_url) == before


# What processes say to each other

texts = st.sampled_from([None, "", "x" * 6000, "é" * 5000]) | st.text(st.characters(codec="utf-8"))
ids, numbers = st.text("aZ_-9", min_size=1, max_size=64), st.integers(0, 10**15)


@given(st.lists(st.builds(News, ids, numbers, st.binary(max_size=32), texts, texts, numbers), max_size=9))
@example([News("a" * 64, 10**15, b"\xff" * 32, "x", None, 10**15)] * 60)
@example(
    [News("a", 1, b"h", "x" * length) for length in range(MAX_PAYLOAD_BYTES - 60, MAX_PAYLOAD_BYTES)]
)
def test_news_are_read_as_they_were_written(news: list[News]) -> None:
    """In order, each text short enough; what alone is too long has no piece and no room any more."""
    payloads = encode_news("q7-process", news)
    read = [one for payload in payloads for one in decode_news(payload)[1]]
    assert all(len(payload.encode()) <= MAX_PAYLOAD_BYTES for payload in payloads)
    assert {decode_news(payload)[0] for payload in payloads} <= {"q7-process"}
    for after, before in zip(read, news, strict=True):
        if after != before:
            assert after == before._replace(piece=None, room=None)
            assert len(json.dumps(before.piece) + json.dumps(before.room)) > MAX_PAYLOAD_BYTES - 250


@pytest.mark.parametrize("payload", ["", "x", "x 7", "x [7]", 'x [["a"]]', 'x [["a",1,"zz",1,"",""]]'])
def test_what_no_process_writes_is_refused(payload: str) -> None:
    with pytest.raises(ValueError, match="is not news"):
        decode_news(payload)


def news_in(received: Received) -> list[News]:
    return [one for news in tuple(received) for one in news or ()]


def test_others_get_the_news_of_each_change(
    postgres: Server, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody its own; None when some may be missing: at first, after a cut, and for nonsense."""
    urls = postgres_url, postgres_url, postgres.place()
    received: list[Received] = [[], [], []]
    here, there, elsewhere = received
    with ExitStack() as stack:
        stores = [stack.enter_context(PostgresStore(url)) for url in urls]
        for store, each in zip(stores, received, strict=True):
            store.follow(each.append)
        eventually(lambda: all(received))
        played = [*changes(nothing("w"), Random(3))]
        expected = []
        for change in played:
            commit(stores[0], change)
            expected.append(news_of(change))
            if len(json.dumps(expected[-1].room)) > MAX_PAYLOAD_BYTES:
                expected[-1] = expected[-1]._replace(piece=None, room=None)
        eventually(lambda: len(news_in(there)) == len(played))
        assert news_in(there) == expected
        assert {one.piece is None for one in expected} == {True, False}
        assert here == elsewhere == [None]

        postgres.execute("SELECT pg_notify(%s, 'nonsense')", stores[0]._channel)  # noqa: SLF001 - as another program
        eventually(lambda: here == [None, None])
        ends = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
        postgres.execute(ends)
        eventually(lambda: len(here) == 3)
        execute, failures = Session.execute, [psycopg.errors.OutOfMemory("the server is out of memory")]

        def fail_to_listen(session: Session, statement: str, *values: object) -> list[Row]:
            if failures and statement.startswith("LISTEN"):
                raise failures.pop()
            return execute(session, statement, *values)

        monkeypatch.setattr(Session, "execute", fail_to_listen)
        postgres.execute(ends)
        eventually(lambda: len(here) == 4)
        assert not failures
        last = play(stores[1], "w2", [CREATED])
        eventually(lambda: here[-1] == [News("w2", 1, last.hash, last.record, None, 0)])


def test_presence_is_what_other_living_processes_have(postgres: Server, postgres_url: str) -> None:
    """Rows go with the line of their process: when it leaves, or when another one finds it expired."""
    received: Received = []
    with ExitStack() as stack:
        stores = [stack.enter_context(PostgresStore(postgres_url)) for _ in range(3)]
        here, there, dying = (store.presence(f"p{number}") for number, store in enumerate(stores))
        for game, room in (("game", '{"open":"play"}'), ("lobby", '{"open":"seat"}'), ("friend", "{}")):
            play(stores[0], game, [CREATED], room=room)
        stores[0].follow(received.append)
        eventually(lambda: received)
        assert [here.renew(60), there.renew(60), dying.renew(0.3)] == [True] * 3
        assert [here.renew(60), there.renew(60)] == [False, False]
        for each, streams in ((here, (1, 0, 0)), (there, (0, 1, 2)), (dying, (0, 1, 5))):
            each.write({"game": (9, 9, 9)})
            each.write({"game": streams, "gone": None})
        there.write({"lobby": (0, 0, 0), "friend": (1, 1, 0)})  # nobody lists the second
        eventually(lambda: news_in(received).count(News("lobby", 0, b"")) == 1)
        eventually(lambda: here.of(["game", "lobby", "x"]) == {"game": (0, 1, 2), "lobby": (0, 0, 0)})
        assert (there.of(["game"]), sorted(here.lobby())) == ({"game": (1, 0, 0)}, ["game", "lobby"])

        assert there.renew(60) is False
        rows = postgres.execute("SELECT process, game FROM presence ORDER BY 1, 2", url=postgres_url)
        assert rows == [("p0", "game"), ("p1", "friend"), ("p1", "game"), ("p1", "lobby")]
        dying.write({"game": (1, 1, 1)})  # its line is gone: it will have to write it all again
        assert (here.of(["game"]), dying.renew(60)) == ({"game": (0, 1, 2)}, True)
        there.write({"game": None})
        assert here.of(["game", "lobby"]) == {"lobby": (0, 0, 0)}
        there.leave()
        eventually(lambda: news_in(received).count(News("lobby", 0, b"")) == 2)
        assert (here.of(["lobby"]), here.lobby()) == ({}, ["game"])
        postgres.execute("TRUNCATE processes CASCADE", url=postgres_url)  # as after a failover
        assert (here.renew(60), here.lobby()) == (True, [])
