"""When idle web games are deleted, and what keeps them."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from typing import Any

import msgspec
import pytest

from noughts import Mark, PlaceToken, open_store
from noughts.service import wall_clock
from noughts.store.appends import append_of
from noughts.store.base import EventStore
from noughts.store.documents import Write
from noughts.store.errors import NoSuchGame, StoreUnavailable
from noughts.web.app import App
from noughts.web.expiry import ROUND_SECONDS, Expiry
from noughts.web.game import LiveGame
from noughts.web.problems import ApiError
from noughts.web.room import Room, RoomSeat, read_room, write_room
from support.postgres_server import Server as Postgres
from support.web.apps import FakeStream, beginning, get as get_path, open_app
from support.web.fake_clock import run, skip
from support.web.serving import Server, wait_until

GAME = "game"
DAY_MS = 24 * 3600 * 1000


class FakeWallClock:
    """Replaces the module `time` in `noughts.service.wall_clock`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._ms = 1_800_000_000_000
        monkeypatch.setattr("noughts.service.time", self)

    def time_ns(self) -> int:
        return self._ms * 1_000_000

    def skip(self, *, days: int = 0, ms: int = 0) -> None:
        self._ms += days * 24 * 3600 * 1000 + ms


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeWallClock:
    return FakeWallClock(monkeypatch)


def new_room() -> Room:
    return Room(X=RoomSeat(), O=RoomSeat(), created=wall_clock(), names=("Ann", "Bob"))


async def begin(app: App, game: str = GAME) -> LiveGame:
    return await app.games.create(game, new_room(), beginning(), "create")


async def is_there(app: App, game: str = GAME) -> bool:
    """Return whether a game exists; check that a deleted one left nothing behind."""
    try:
        await app.games.find(game)
    except ApiError as refused:
        assert refused.code == "notFound"
        assert app.games.store.document(game) is None
        assert app.games.store.read(game) == ()
        return False
    return True


async def get(app: App, live: LiveGame) -> None:
    assert (await get_path(app, f"/games/{live.id}")).status == 200
    await app.expiry.close()  # waits until the reader is noted


async def move(app: App, live: LiveGame) -> None:
    await app.games.command(live, PlaceToken(Mark.X, 4), version=None, key="move")


async def join(app: App, live: LiveGame) -> None:
    await app.games.change_room(live, lambda room: room.seated("O", RoomSeat(key="k"), "Bob"))


async def test_a_game_expires_after_thirty_days_without_anything(clock: FakeWallClock) -> None:
    """Plus the day on which a reader may not be noted."""
    async with open_app() as app:
        await begin(app)
        clock.skip(days=31, ms=-1)
        await app.expiry.delete_expired()
        assert await is_there(app)

        clock.skip(ms=1)
        await app.expiry.delete_expired()
        assert not await is_there(app)
        assert app.expiry.expired == 1
        assert "noughts_games_expired_total 1\n" in app.metrics.text()


@pytest.mark.parametrize("what", [move, join, get])
async def test_using_a_game_keeps_it_for_thirty_days_more(
    clock: FakeWallClock, store: str, what: Callable[[App, LiveGame], Awaitable[None]]
) -> None:
    async with open_app(store) as app:
        live = await begin(app)
        clock.skip(days=25)
        await what(app, live)

        clock.skip(days=30)
        await app.expiry.delete_expired()
        assert await is_there(app)

        clock.skip(days=1)
        await app.expiry.delete_expired()
        assert not await is_there(app)


async def test_a_reader_is_noted_at_most_once_a_day(clock: FakeWallClock) -> None:
    """And not on a day with a move."""
    async with open_app() as app:
        live = await begin(app)
        noted = []
        for days in (0, 1, 0, 1):
            clock.skip(days=days, ms=1)
            await get(app, live)
            noted.append(live.revision)
        clock.skip(days=1)
        await move(app, live)
        await get(app, live)
        assert [*noted, live.revision] == [1, 2, 2, 3, 3]


async def test_a_reader_who_could_not_be_noted_is_noted_the_next_time(
    clock: FakeWallClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise StoreUnavailable("the disk is full")

    async with open_app() as app:
        live = await begin(app)
        clock.skip(days=2)
        with monkeypatch.context() as broken:
            broken.setattr(app.writer, "_write", fail)
            await get(app, live)
        assert live.room.seen == 0
        await get(app, live)
        assert live.room.seen == wall_clock()


async def test_a_game_with_an_open_stream_does_not_expire(clock: FakeWallClock, store: str) -> None:
    """Neither here nor at another process."""
    async with open_app(store) as here, open_app(store) as elsewhere:
        live = await begin(here)
        stream: Any = FakeStream()
        live.streams[stream] = None
        for _ in range(3):
            clock.skip(days=25)
            await here.expiry.delete_expired()
            await here.expiry.close()
            await elsewhere.expiry.delete_expired()
        clock.skip(days=31)  # what is being noted now is not needed here
        await here.expiry.delete_expired()
        assert await is_there(here)
        assert not stream.is_ended

        await here.expiry.close()
        del live.streams[stream]
        clock.skip(days=31)
        await elsewhere.expiry.delete_expired()
        assert not await is_there(elsewhere)


async def test_nothing_expires_with_0_days(clock: FakeWallClock, store: str) -> None:
    async with open_app(store, expire_days=0) as app:
        await begin(app)
        clock.skip(days=10_000)
        await app.expiry.run()  # which returns
        assert await is_there(app)
    async with open_app(store) as app:
        await app.expiry.delete_expired()
        assert not await is_there(app)


async def test_a_game_of_the_terminal_never_expires(clock: FakeWallClock, store: str) -> None:
    async with open_app(store) as app:
        app.games.store.append("first", beginning(), expected=0, key="key", at=wall_clock())
        await begin(app)
        app.games.store.append("last", beginning(), expected=0, key="key", at=wall_clock())
        clock.skip(days=10_000)
        await app.expiry.delete_expired()
        assert not await is_there(app)
        assert {*app.games.store.versions(["first", "last"])} == {"first", "last"}


async def test_a_game_expires_once_at_two_processes(
    clock: FakeWallClock, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_app(store) as one, open_app(store) as other:
        await begin(one)
        await other.games.find(GAME)
        clock.skip(days=31)
        delete = one.games.store.delete

        def overtaken(game: str, *, at: int, expected: int | None = None) -> None:
            other.games.store.delete(game, at=at)
            with pytest.raises(NoSuchGame):
                delete(game, at=at, expected=expected)
            raise NoSuchGame(game)

        monkeypatch.setattr(one.games.store, "delete", overtaken)
        await one.expiry.delete_expired()
        await asyncio.gather(one.expiry.delete_expired(), other.expiry.delete_expired())
        assert (one.expiry.expired, other.expiry.expired) == (0, 0)
        for app in (one, other):
            with pytest.raises(ApiError):
                await app.games.refresh(await app.games.find(GAME))


async def test_a_game_that_can_not_be_deleted_yet_expires_later(
    clock: FakeWallClock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_app() as app:
        for game in ("a", "b", "c"):
            await begin(app, game)
        clock.skip(days=31)
        delete = app.games.store.delete

        def not_yet(game: str, *, at: int, expected: int | None = None) -> None:
            if game == "b":
                raise StoreUnavailable("not yet")
            delete(game, at=at, expected=expected)

        with monkeypatch.context() as early:
            early.setattr(app.games.store, "delete", not_yet)
            await app.expiry.delete_expired()
        assert [await is_there(app, game) for game in ("a", "b", "c")] == [False, True, False]

        await app.expiry.delete_expired()
        assert not await is_there(app, "b")
    assert not [one for one in caplog.records if one.levelno > logging.INFO]


DAMAGE = {
    "a room that was changed": "UPDATE noughts_documents SET text = text || ' ' WHERE name = 'b'",
    "a room that is no text": "UPDATE noughts_documents SET text = x'00' WHERE name = 'b'",
    "a record that was changed": "UPDATE noughts_records SET at = at - 1 WHERE game = 'b'",
}


@pytest.mark.parametrize("damage", DAMAGE)
async def test_a_damaged_game_stops_no_other(
    clock: FakeWallClock, store: str, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    """It stays, with a warning."""
    async with open_app(store) as app:
        for game in ("a", "b", "c"):
            await begin(app, game)
    with closing(sqlite3.connect(store.removeprefix("sqlite:"))) as connection:
        connection.execute(DAMAGE[damage])
        connection.commit()
    clock.skip(days=31)
    async with open_app(store, expire_days=0) as app:
        expiry = Expiry(app.games, days=30)
        await expiry.delete_expired()
        assert expiry.expired == 2
        assert [*app.games.store.versions("abc")] == ["b"]
    (warning,) = [one for one in caplog.records if one.levelno > logging.INFO]
    assert warning.__dict__["data"] == {"game": "b", "problem": "damaged, and left alone"}


async def test_documents_that_are_not_rooms_are_skipped(
    clock: FakeWallClock, store: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_app(store, shared=1) as app:
        app.games.store.write_document("game-abc", '{"X":1}', expected=0, label=GAME)
        app.games.store.write_document("process-abc", "0", expected=0)
        app.games.store.write_document("alone", write_room(new_room()), expected=0)
        await begin(app)
        clock.skip(days=31)
        await app.expiry.delete_expired()
        assert not await is_there(app)
        assert app.games.store.document("alone")
    assert not [one for one in caplog.records if one.levelno > logging.INFO]


async def test_more_games_than_a_page_expire_and_the_young_are_not_read(
    clock: FakeWallClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search ends at the first room that was used recently."""
    monkeypatch.setattr("noughts.web.expiry.PAGE_ROWS", 2)
    read: list[str] = []

    async with open_app(expire_days=0) as app:  # it doesn't look by itself
        expiry = Expiry(app.games, days=30)
        for game in ("a", "b", "c", "d", "e"):
            await begin(app, game)
        clock.skip(days=31)
        for game in ("f", "g", "h"):
            await begin(app, game)
        feed = app.games.store._feed  # noqa: SLF001 - what it reads is what is counted

        def noting(*asked: Any) -> tuple[list[Any], str]:
            rows, cursor = feed(*asked)
            read.extend(row[0] for row in rows)
            return rows, cursor

        monkeypatch.setattr(app.games.store, "_feed", noting)
        await expiry.delete_expired()
        assert expiry.expired == 5
        assert {*app.games.store.versions("abcdefgh")} == {*"fgh"}
    assert read == ["a", "b", "c", "d", "e", "f"]


@pytest.mark.parametrize("databases", [1, 3])
async def test_games_in_postgresql_expire(
    clock: FakeWallClock, postgres: Postgres, databases: int
) -> None:
    url = " ".join(postgres.place() for _ in range(databases))

    async with open_app(url) as app:
        old, young = [f"old{number}" for number in range(9)], [f"young{n}" for n in range(9)]
        for game in old:
            await begin(app, game)
        clock.skip(days=31)
        for game in young:
            await begin(app, game)
        await app.expiry.delete_expired()
        assert {*app.games.store.versions([*old, *young])} == {*young}


async def test_a_stream_that_comes_too_late_ends(
    clock: FakeWallClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_app() as app:
        live = await begin(app)
        clock.skip(days=31)
        delete, stream = app.games.store.delete, FakeStream()

        def late(game: str, *, at: int, expected: int | None = None) -> None:
            delete(game, at=at, expected=expected)
            live.streams[stream] = None

        monkeypatch.setattr(app.games.store, "delete", late)
        await app.expiry.delete_expired()
        assert stream.is_ended
        assert not await is_there(app)


def test_a_server_looks_when_it_starts_and_every_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> list[float]:
        looks: asyncio.Queue[float] = asyncio.Queue()

        async def look(_expiry: Expiry) -> None:
            looks.put_nowait(asyncio.get_running_loop().time())
            raise StoreUnavailable("not now")

        monkeypatch.setattr(Expiry, "delete_expired", look)
        async with open_app():
            times = [await looks.get()]
            for _ in range(2):
                await asyncio.sleep(0)
                skip(ROUND_SECONDS - 1)
                for _ in range(5):
                    await asyncio.sleep(0)
                assert looks.empty()
                skip(1)
                times.append(await looks.get())
            return times

    assert run(play) == [0, ROUND_SECONDS, 2 * ROUND_SECONDS]


def put(store: EventStore, game: str, *, days: int) -> None:
    at = wall_clock() - days * DAY_MS
    room = msgspec.structs.replace(new_room(), created=at)
    write = Write(game, write_room(room), expected=0)
    append = append_of(game, 0, beginning(), key="key", at=at, document=write)
    store.record((append,))
    assert append.refusal is None


def test_a_server_deletes_what_has_expired(store: str) -> None:
    with open_store(store) as kept:
        put(kept, "old", days=32)
        put(kept, "young", days=30)
    with Server(store) as server, server.client() as client:
        wait_until(lambda: b"\nnoughts_games_expired_total 1\n" in client.get("//metrics").body)

        unknown = client.get("/games/unknown")
        assert unknown.status == 404
        assert client.get("/games/old").json == unknown.json
        with client.follow("old") as stream:
            assert stream.refusal
            assert stream.refusal.json == unknown.json
        assert client.read("young")["version"] == 5
        assert server.stop() == 0
        assert b'"event": "expired", "game": "old"' in server.errors


@pytest.mark.parametrize("is_followed", [False, True])
def test_a_server_notes_its_readers(store: str, is_followed: bool) -> None:  # noqa: FBT001 - a parameter
    with open_store(store) as kept:
        put(kept, GAME, days=30)
        before = wall_clock()
        with Server(store) as server, server.client() as client:
            if not is_followed:
                client.read(GAME)
                wait_until(lambda: _seen(kept) >= before)
                return
            with client.follow(GAME) as stream:
                stream.wait_version(5)
                wait_until(lambda: _seen(kept) >= before)
                assert len(stream.rooms) == 1  # nothing that clients see has changed


def _seen(store: EventStore) -> int:
    document = store.document(GAME)
    assert document
    return read_room(document.text).seen
