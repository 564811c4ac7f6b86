"""Changes by other processes: nothing is missed, and little is read."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from typing import Any

import msgspec
import pytest

from noughts import Mark, PlaceToken, Service, open_store
from noughts.core.errors import NoughtsError
from noughts.store.documents import Document
from noughts.store.errors import NoSuchGame, StaleVersion, StoreUnavailable
from noughts.store.memory import MemoryStore
from noughts.store.watch import ANYTHING
from noughts.web.game import LiveGame
from noughts.web.games import Games
from noughts.web.problems import ApiError
from noughts.web.room import Room, RoomSeat
from noughts.web.writer import Writer
from support.deadlines import DEADLINE_SECONDS
from support.postgres_server import Server as Postgres
from support.web.apps import ImmediateThreads, beginning, make_world, open_app
from support.web.matches import two_players
from support.web.serving import Server

GAME = "game"
ROOM = Room(X=RoomSeat(), O=RoomSeat(), created=0, lobby=True, names=("Ann", "Bob"))


@pytest.fixture(params=["sqlite", "postgresql"])
def shared(request: pytest.FixtureRequest) -> str:
    if request.param == "sqlite":
        return str(request.getfixturevalue("store"))
    postgres: Postgres = request.getfixturevalue("postgres")
    return postgres.place()


def test_a_deleted_game_is_gone_at_every_server(shared: str) -> None:
    with Server(shared) as one, Server(shared) as other, two_players(one, other, "lobby") as match:
        with match.X.follow() as ann, match.O.follow() as bob:
            for stream in (ann, bob):
                stream.wait_version(5)
            with open_store(shared) as store:
                store.delete(match.game, at=0)

            for stream in (ann, bob):
                stream.wait_over()
                assert stream.was_ended
        for seat in (match.X, match.O):
            assert seat.client.get(f"/games/{match.game}").status == 404
            assert seat.move(0, 5).status == 404
            with seat.follow() as refused:
                assert refused.refusal
                assert refused.refusal.status == 404
            assert seat.client.get("/games").json["playing"] == []
        for server in (one, other):
            server.stop_cleanly()


async def test_a_command_to_a_deleted_game_finds_no_game() -> None:
    """Even before the deletion was noticed here."""
    async with open_app() as app:
        live = await app.games.create(GAME, ROOM, beginning(), "create")
        app.games.store.delete(GAME, at=0)

        for move in (PlaceToken(Mark.X, 4), PlaceToken(Mark.X, 5)):
            with pytest.raises(ApiError) as refused:
                await app.games.command(live, move, version=5, key=f"key-{move.cell}")
            assert refused.value.code == "notFound"
        assert app.games.known(GAME) is None
        with pytest.raises(NoSuchGame):
            await app.games.create(GAME, ROOM, beginning(), "create")


def test_a_lost_notification_is_made_up_for(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    from noughts.store.postgres import PostgresStore  # noqa: PLC0415 - its driver is an extra

    monkeypatch.setattr(PostgresStore, "_notify", lambda _store, _batch: None)
    url = postgres.place()
    with Server(url) as server, two_players(server) as match, match.X.follow() as stream:
        stream.wait_version(5)
        with open_store(url) as store:
            Service(store).handle(match.game, PlaceToken(Mark.X, 4))
            stream.wait_version(8)
            room = store.document(match.game)
            assert room
            text = room.text[:-1] + ',"next":"another"}'
            store.write_document(match.game, text, expected=room.revision)
            stream.wait_room(lambda room: room["next"] == "another")
            store.delete(match.game, at=0)
            stream.wait_over()
            assert stream.was_ended


async def test_own_writes_are_not_read_back(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the game that another process changed is read."""
    read: set[str] = set()

    async with open_app(store, shared=1) as app:
        ours = await app.games.create("ours", ROOM, beginning(), "create")
        theirs = await app.games.create("theirs", ROOM, beginning(), "create")
        moved = asyncio.Event()
        app.games.on_change = lambda live: moved.set() if live is theirs else None
        monkeypatch.setattr(app.games.store, "read_many", _noting(app.games.store.read_many, read))
        with open_store(store) as other:
            for cell in range(5):
                mark = Mark("XO"[cell % 2])
                moved.clear()
                await app.games.command(ours, PlaceToken(mark, cell), version=None, key=f"key-{cell}")
                Service(other).handle("theirs", PlaceToken(mark, cell))
                await asyncio.wait_for(moved.wait(), DEADLINE_SECONDS)
        assert ours.game.moves == theirs.game.moves
    assert read == {"theirs"}


async def test_documents_are_read_until_a_page_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[int] = []

    monkeypatch.setattr("noughts.web.peers.PAGE_ROWS", 2)
    async with open_app() as app:
        store, loop, ended = app.games.store, asyncio.get_running_loop(), asyncio.Event()

        def changed(*after: Any) -> tuple[tuple[Document, ...], str]:
            documents, cursor = read(*after)
            pages.append(len(documents))
            if any(document.name == last for document in documents):
                loop.call_soon_threadsafe(ended.set)
            return documents, cursor

        read = store.changed_documents
        monkeypatch.setattr(store, "changed_documents", changed)
        for names in (["a", "b", "c"], ["d"]):
            for name in names:
                store.write_document(name, "text", expected=0)
            last = names[-1]
            ended.clear()
            store._wakeups.notify(ANYTHING, is_own=False)  # noqa: SLF001 - as after a lost notification
            await asyncio.wait_for(ended.wait(), DEADLINE_SECONDS)
    assert pages == [2, 1, 1]


def _noting(read: Callable[..., Any], names: set[str]) -> Callable[..., Any]:
    def noting(games: dict[str, int]) -> Any:
        names.update(games)
        return read(games)

    return noting


@pytest.mark.parametrize("table", ["noughts_records", "noughts_games", "noughts_documents"])
async def test_a_game_and_its_room_are_written_together_or_not_at_all(store: str, table: str) -> None:
    file = store.removeprefix("sqlite:")

    async with open_app(store) as app:
        with closing(sqlite3.connect(file)) as connection:
            connection.execute(
                f"CREATE TRIGGER broken BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'no'); END"
            )
            with pytest.raises(NoughtsError):
                await app.games.create(GAME, ROOM, beginning(), "create")
            assert app.games.store.feed()[0] == ()
            assert app.games.store.games() == ()
            assert app.games.store.changed_documents()[0] == ()
            connection.execute("DROP TRIGGER broken")
        await app.games.create(GAME, ROOM, beginning(), "create")
        assert app.games.store.versions([GAME]) == {GAME: 5}
        assert [room.name for room in app.games.store.labelled(ROOM.label)] == [GAME]


async def test_a_game_is_not_created_in_somebody_elses_room() -> None:
    async with open_app() as app:
        app.games.store.write_document(GAME, "{}", expected=0)
        with pytest.raises(StaleVersion):
            await app.games.create(GAME, ROOM, beginning(), "create")
        assert app.games.store.read(GAME) == ()
        assert app.games.known(GAME) is None


class Process:
    """The games of a process without background work."""

    def __init__(self, *, is_shared: bool = False) -> None:
        self.store = MemoryStore()
        self.reads, self.writes = ImmediateThreads(), ImmediateThreads()
        world = make_world(self.store, self.reads, shared=int(is_shared))
        self.games = Games(world, Writer(self.store.record, self.writes))

    def create(self) -> None:
        """Create a game between a person (X) and a bot (O), which starts."""
        self.store.append(GAME, beginning(), expected=0, key="key", at=0)
        self.store.write_document(GAME, '{"X":{},"O":{},"created":0}', expected=0)

    def move(self, cell: int) -> None:
        mark = Service(self.store).look(GAME).game.board.turn
        Service(self.store).handle(GAME, PlaceToken(mark, cell))

    async def notice(self, *, is_named: bool) -> None:
        """Report that the game, or anything, may have changed."""
        games = self.games.split_known([GAME])[0] if is_named else self.games.all_changed()
        await self.games.read_on(games)

    async def find(self) -> LiveGame:
        return await self.games.find(GAME)


def start(work: Awaitable[Any]) -> asyncio.Future[Any]:
    return asyncio.ensure_future(work)


async def turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.mark.parametrize("is_named", [True, False])
async def test_a_change_is_not_missed_while_the_game_is_loaded(*, is_named: bool) -> None:
    """The move comes after the game was read, before it is known here."""
    process = Process()
    process.create()
    process.reads.hold()
    loading = start(process.find())
    await turns()
    process.move(4)
    noticed = start(process.notice(is_named=is_named))
    await turns()
    process.reads.release()
    await noticed
    assert int((await loading).version) == 8


async def test_a_read_during_a_load_has_what_was_acknowledged_before() -> None:
    process = Process(is_shared=True)
    process.create()
    process.reads.hold()
    first = start(process.games.find(GAME, is_latest=True))
    await turns()
    process.move(4)
    second = start(process.games.find(GAME, is_latest=True))
    await turns()
    process.reads.release()
    await first
    assert (await second).version == process.store.versions([GAME])[GAME] == 8


async def test_a_room_that_may_be_written_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit may have succeeded although it failed here."""
    process = Process()
    process.create()
    live = await process.find()
    record = process.store.record

    def fail(items: Any) -> None:
        record(items)
        raise StoreUnavailable("the connection was lost")

    monkeypatch.setattr(process.games._writer, "_write", fail)  # noqa: SLF001 - the store fails here
    with pytest.raises(StoreUnavailable):
        await process.games.change_room(live, lambda room: msgspec.structs.replace(room, lobby=True))
    await turns()
    assert live.room.lobby


@pytest.mark.parametrize("is_named", [True, False])
async def test_a_change_is_not_missed_while_the_game_is_created(*, is_named: bool) -> None:
    """The move comes after the game was recorded, before it is known here."""
    process = Process()
    process.writes.hold()
    creating = start(process.games.create(GAME, ROOM, beginning(), "create"))
    await turns()
    process.move(4)
    await process.notice(is_named=is_named)
    process.writes.release()
    assert int((await creating).version) == 8


async def test_a_game_that_changes_while_it_is_refreshed_is_read_again() -> None:
    process = Process()
    process.create()
    live = await process.find()
    process.reads.hold()
    process.move(4)
    process.games.refresh_soon(live)
    await turns()
    process.move(0)
    process.games.refresh_soon(live)
    process.reads.release()
    await turns()
    assert live.version == 11


@pytest.mark.parametrize("theirs", [0, 1], ids=["only our move", "their move, too"])
@pytest.mark.parametrize("is_named", [True, False])
async def test_a_change_that_comes_with_our_own_move_is_not_missed(
    *, theirs: int, is_named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The game is read only if there is more than our own move."""
    read: set[str] = set()

    process = Process()
    process.create()
    live = await process.find()
    monkeypatch.setattr(process.store, "read_many", _noting(process.store.read_many, read))
    process.writes.hold()
    moving = start(process.games.command(live, PlaceToken(Mark.X, 4), version=5, key="ours"))
    await turns()
    if theirs:
        process.move(0)
    read.clear()
    await process.notice(is_named=is_named)
    assert not read
    process.writes.release()
    await moving
    await turns()
    assert live.version == 8 + 3 * theirs
    assert read == ({GAME} if theirs else set())


async def test_a_store_with_another_history_ends_the_game_here() -> None:
    process = Process()
    process.create()
    live = await process.find()
    live.version -= 1  # as if the store had been replaced by one that has a longer command there
    process.move(4)
    await process.notice(is_named=False)
    assert process.games.known(GAME) is None
    assert (await process.find()).version == 8
