"""When idle web games are deleted, by hours that servers have run, and what keeps them."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from noughts import CreateGame, Service
from noughts.store.base import Change, Store, StoredGame
from noughts.store.errors import StoreUnavailable
from noughts.store.memory import Database
from noughts.store.sqlite import SQLiteStore
from noughts.web.app import App
from noughts.web.expiry import HOUR_SECONDS
from support.postgres_server import Server as Postgres
from support.web.apps import cluster, create, follow, get, join, memory_store, move, open_app
from support.web.fake_clock import in_fake_time, run, skip, turns

HOURS = 48
"""How long a game is kept that expires after a day: the other day is that of a visit that isn't noted."""
YEAR_DAYS = 365
DRAWN = (8, 0, 1, 2, 4, 3, 5, 7)
"""No three of one player are ever in a line."""


@pytest.fixture
def place(tmp_path: Path) -> Callable[[], Store]:
    """Return how to open a store that commits at once."""
    return lambda: SQLiteStore(str(tmp_path / "games.db"), executor=lambda work: work())


async def serve_hours(hours: int) -> None:
    """Let all servers run for some hours."""
    await turns()
    for _ in range(hours):
        skip(HOUR_SECONDS)
        await turns()


def look(app: App, seat: Any) -> StoredGame:
    """Return a game as it is in the store, without visiting it, which would keep it."""
    stored = app.games.store.look(seat["id"])
    assert stored
    return stored


def is_there(app: App, seat: Any) -> bool:
    return not look(app, seat).is_deleted


def damage(tmp_path: Path, statement: str, *values: str) -> None:
    with closing(sqlite3.connect(tmp_path / "games.db")) as connection:
        connection.execute(statement, values)
        connection.commit()


def logged(caplog: pytest.LogCaptureFixture, event: str) -> list[Any]:
    return [one.__dict__.get("data") for one in caplog.records if one.getMessage() == event]


@in_fake_time
async def test_a_game_expires_after_hours_without_anything(
    place: Callable[[], Store], caplog: pytest.LogCaptureFixture
) -> None:
    """Although it is not in the cache; nothing is left of it, and the log and the metrics say so."""
    caplog.set_level(logging.INFO, "noughts.web")
    async with open_app(place()) as before:
        seat = await create(before)
    async with open_app(place(), expire_days=1) as app:
        await serve_hours(HOURS)
        assert is_there(app, seat)
        await serve_hours(1)
        assert not is_there(app, seat)
        assert look(app, seat).record == look(app, seat).room == ""
        assert b"\nnoughts_games_expired_total 1\n" in (await get(app, "//metrics")).body
        assert (await get(app, f"/games/{seat['id']}")).status == 404
        assert (await move(app, seat, 4, 5)).status == 404
    assert logged(caplog, "expired") == [{"game": seat["id"][:8]}]


async def visit(app: App, seat: Any) -> None:
    assert (await get(app, f"/games/{seat['id']}")).status == 200
    await turns()


async def follow_shortly(app: App, seat: Any) -> None:
    await (await follow(app, seat["id"])).leave()


async def make_a_move(app: App, seat: Any) -> None:
    assert (await move(app, seat, 4, 5)).status == 200


@pytest.mark.parametrize("what", [visit, follow_shortly, make_a_move, join])
@in_fake_time
async def test_using_a_game_keeps_it(place: Callable[[], Store], what: Callable[..., Any]) -> None:
    """Also one that is known here, and need not be read."""
    async with open_app(place(), expire_days=1) as app:
        seat = await create(app, "friend" if what is join else "self")
        await serve_hours(30)
        await what(app, seat)
        await serve_hours(HOURS)
        assert is_there(app, seat)
        await serve_hours(1)
        assert not is_there(app, seat)


@in_fake_time
async def test_a_visit_is_noted_at_most_once_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that can't be noted is noted the next time."""
    async with open_app() as app:
        seat = await create(app)
        hours = []
        for wait in (0, 23, 1, 0, 23, 1):
            await serve_hours(wait)
            await visit(app, seat)
            hours.append(look(app, seat).hour)
        assert hours == [0, 0, 24, 24, 24, 48]
        assert look(app, seat).revision == 3

        await serve_hours(24)
        with monkeypatch.context() as broken:
            broken.setattr(app.games.store, "submit", fail)
            await visit(app, seat)
        assert look(app, seat).hour == 48
        await visit(app, seat)
        assert look(app, seat).hour == 72


def fail(*_: object) -> None:
    raise StoreUnavailable("the disk is full")


@in_fake_time
async def test_a_game_with_an_open_stream_stays_and_then_expires_once() -> None:
    """At another process, too; its subscribers get nothing of that."""
    async with cluster() as found:
        apps = [(await found.start(expire_days=1)).app for _ in range(2)]
        seat = await create(apps[0])
        follower = await follow(apps[0], seat["id"])
        before = follower.text
        await serve_hours(5 * HOURS)
        assert is_there(apps[0], seat)
        assert follower.text.replace(b"event: ping\ndata: {}\n\n", b"") == before
        await follower.leave()
        await visit(apps[1], seat)
        await serve_hours(HOURS + 1)
        assert not is_there(apps[0], seat)
        assert sum(app.expiry.expired for app in apps) == 1
        for app in apps:
            assert (await get(app, f"/games/{seat['id']}")).status == 404


def test_no_clock_deletes_a_game(place: Callable[[], Store], monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty days and ten years ahead and back: with games, moves and visits at each wrong time."""
    days, true_time = 0, 1_800_000_000
    monkeypatch.setattr("time.time", lambda: true_time + days * 86_400)
    monkeypatch.setattr("time.time_ns", lambda: (true_time + days * 86_400) * 1_000_000_000)
    seats: list[Any] = []

    async def play() -> None:
        async with open_app(place(), expire_days=1) as app:
            await serve_hours(2)
            for seat in seats:
                await visit(app, seat)
                now = look(app, seat)
                mark = now.game.board.turn.value
                assert (await move(app, seat, DRAWN[len(seats)], now.version, mark)).status == 200
            seats.append(await create(app))
            await serve_hours(2)
            assert all(is_there(app, seat) for seat in seats)
            assert app.expiry.expired == 0

    for days in (0, 40, 10 * YEAR_DAYS, 0, -10 * YEAR_DAYS, -40 * YEAR_DAYS, 40, 0):  # noqa: B007 - the clock
        run(play)
    assert len(seats) == len(DRAWN)


@pytest.mark.parametrize("servers", [1, 3])
@in_fake_time
async def test_an_hour_counts_once_however_many_servers_run(servers: int) -> None:
    """However far apart they were started; one that runs for less than an hour counts none."""
    async with cluster() as found:
        store, hours = memory_store(found.database), []
        for _ in range(servers):
            await found.start()
            await turns()
            skip(HOUR_SECONDS / 4)
        for _ in range(12):
            await turns()
            hours.append(store.hours())
            skip(HOUR_SECONDS / 4)
    for _ in range(3):
        async with open_app(memory_store(found.database)):
            await turns()
            skip(HOUR_SECONDS - 1)
            await turns()
    assert store.hours() == hours[-1] == (12 + servers) // 4
    assert {later - before for before, later in pairwise(hours)} == {0, 1}


@in_fake_time
async def test_a_visit_between_reading_and_deleting_keeps_the_game(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    database = Database()
    async with open_app(memory_store(database), expire_days=1) as app:
        seat = await create(app)
        read = app.games.store.read

        def read_while_somebody_visits(game: str) -> StoredGame:
            stored = read(game)
            assert stored
            visit = Change(stored, stored.followed_by(hour=app.games.hour))
            memory_store(database).submit(visit).result()
            return stored

        monkeypatch.setattr(app.games.store, "read", read_while_somebody_visits)
        await serve_hours(HOURS + 1)
        assert is_there(app, seat)
        assert app.expiry.expired == 0


@in_fake_time
async def test_what_can_not_be_deleted_yet_expires_later(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_app(expire_days=1) as app:
        seat = await create(app)
        with monkeypatch.context() as broken:
            broken.setattr(app.games.store, "submit", fail)
            await serve_hours(HOURS + 3)
        assert is_there(app, seat)
        await serve_hours(1)
        assert not is_there(app, seat)
    assert len(logged(caplog, "store unavailable")) == 1


@in_fake_time
async def test_games_of_the_terminal_never_expire_and_0_days_are_never(
    place: Callable[[], Store],
) -> None:
    with place() as store:
        Service(store).start("terminal", [CreateGame()])
    async with open_app(place(), expire_days=0) as app:
        seat = await create(app)
        await serve_hours(3 * HOURS)
        assert is_there(app, seat)
    async with open_app(place(), expire_days=1) as app:  # the hours were counted all the same
        await serve_hours(1)
        assert not is_there(app, seat)
        assert is_there(app, {"id": "terminal"})


DAMAGES = {
    "a room": "UPDATE games SET room = room || ' ' WHERE id = ?",
    "a record": "UPDATE games SET record = replace(record, 'X', 'O') WHERE id = ?",
    "an hour": "UPDATE games SET hour = hour - 1 WHERE id = ?",
    "a hash": "UPDATE games SET hash = zeroblob(32) WHERE id = ?",
    "a room that is no text": "UPDATE games SET room = x'00' WHERE id = ?",
    "an id": "UPDATE games SET id = CAST(x'FF61' AS TEXT) WHERE id = ?",
    "an id that is none": "UPDATE games SET id = 'a b' WHERE id = ?",
}


@pytest.mark.parametrize("what", DAMAGES)
@in_fake_time
async def test_a_damaged_game_is_left_and_stops_no_other(
    place: Callable[[], Store], tmp_path: Path, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged once, however often the server looks."""
    async with open_app(place()) as app:
        games = sorted([(await create(app))["id"] for _ in range(5)])
    damage(tmp_path, DAMAGES[what], games[2])
    async with open_app(place(), expire_days=1) as app:
        await serve_hours(HOURS + 3)
        assert app.expiry.expired == 4
        assert len([row for row in app.games.store.rows() if row[3]]) == 1
    assert len(logged(caplog, "damaged game")) == ("id" not in what)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE counter SET hours = hours + 100000",
        "UPDATE counter SET hours = 0",
        "UPDATE counter SET hash = zeroblob(32)",
        "UPDATE counter SET hours = 'many'",
        "DELETE FROM counter",
    ],
)
@in_fake_time
async def test_with_a_damaged_count_of_hours_nothing_expires(
    place: Callable[[], Store], tmp_path: Path, statement: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither in a running server nor in one that is started then; the log says so every hour."""
    async with open_app(place(), expire_days=1) as app:
        seat = await create(app)
        await serve_hours(10)
        damage(tmp_path, statement)
        await serve_hours(2 * HOURS)
        assert is_there(app, seat)
    assert len(logged(caplog, "nothing expires")) == 2 * HOURS
    async with open_app(place(), expire_days=1) as app:
        assert len(logged(caplog, "nothing expires")) == 2 * HOURS + 1
        await serve_hours(2 * HOURS)
        assert is_there(app, seat)


async def test_more_games_than_a_page_expire_on_postgresql(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_app(postgres.place(), expire_days=1) as app:
        idle = app.games.store.idle
        monkeypatch.setattr(app.games.store, "idle", lambda before, after: idle(before, after, limit=2))
        old = [await create(app) for _ in range(5)]
        app.games.hour = HOURS + 1
        young = await create(app)
        await app.expiry.delete_expired()
        assert [is_there(app, seat) for seat in (*old, young)] == [False] * 5 + [True]
        assert app.expiry.expired == 5
