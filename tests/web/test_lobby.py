"""The lists of open games and of games to watch: only those whose players are present, or just left."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from noughts.store.base import Streams
from noughts.store.errors import StoreUnavailable
from noughts.store.memory import MemoryPresence
from noughts.web.app import App
from noughts.web.presence import LEAVE_SECONDS, RENEW_SECONDS
from noughts.web.queries import MAX_LISTED
from support.postgres_server import Server as Postgres
from support.web.apps import cluster, create, follow, get, join, move, open_app, post
from support.web.fake_clock import in_fake_time, skip, turns, wait
from support.web.matches import one_player
from support.web.serving import Client, Server, wait_until


async def lobby(app: App, what: str = "open") -> list[Any]:
    return [game["id"] for game in json.loads((await get(app, "/games")).body)[what]]


@in_fake_time
async def test_the_lobby_lists_open_games_and_games_to_watch_until_they_are_over() -> None:
    """Games between friends are in no list."""
    async with open_app() as app:
        for kind, more in (("friend", {}), ("self", {}), ("bot", {"bot": "random"})):
            await create(app, kind, **more)
        seat = await create(app, "lobby", name="Ann", mark="O", first="X")
        found = json.loads((await get(app, "/games")).body)
        expected = {"id": seat["id"], "name": "Ann", "mark": "X", "first": "X"}
        assert [{**game, "created": 0} for game in found["open"]] == [{**expected, "created": 0}]
        assert found["playing"] == []
        await join(app, seat, name="Bob")
        found = json.loads((await get(app, "/games")).body)
        assert found == {"open": [], "playing": [{"id": seat["id"], "X": "Bob", "O": "Ann"}]}
        await post(app, seat, "resign", version=5, key="r")
        assert json.loads((await get(app, "/games")).body) == {"open": [], "playing": []}


@pytest.mark.parametrize("is_player", [True, False])
@pytest.mark.parametrize("grace", [0, 60])
@in_fake_time
async def test_a_game_is_listed_while_a_player_is_connected_and_for_a_while_after(
    grace: int,
    is_player: bool,  # noqa: FBT001 - a parameter
) -> None:
    """A spectator does not count. It can be joined by its id all the time."""
    async with open_app(lobby_grace_seconds=grace) as app:
        seat = await create(app, "lobby")
        secret = seat["secrets"]["X"] if is_player else ""
        assert bool(await lobby(app)) is (grace > 0)
        for _ in range(2):
            streams = [await follow(app, seat["id"], secret=secret) for _ in range(2)]
            for stream in streams:
                skip(3600)
                assert bool(await lobby(app)) is is_player
                await stream.leave()
            assert bool(await lobby(app)) is (is_player and grace > 0)
            skip(grace)
            assert await lobby(app) == []
        await join(app, seat)


@in_fake_time
async def test_one_of_two_players_is_enough() -> None:
    async with open_app(lobby_grace_seconds=0) as app:
        seat = await create(app, "lobby")
        await join(app, seat)
        assert await lobby(app, "playing") == []
        ann, bob = [await follow(app, seat["id"], secret=seat["secrets"][mark]) for mark in "XO"]
        for stream, is_listed in ((ann, True), (bob, False)):
            await stream.leave()
            assert bool(await lobby(app, "playing")) is is_listed
            assert await lobby(app) == []


@in_fake_time
async def test_those_with_a_player_come_first_then_the_newest_and_fifty_at_most() -> None:
    """Many games that were left do not hide those that are played."""
    async with open_app(creates_per_minute=0) as app:
        waiting, playing = await create(app, "lobby"), await create(app, "lobby")
        await join(app, playing)
        left = [await create(app, "lobby") for _ in range(MAX_LISTED + 3)]
        for seat in (waiting, playing):
            await follow(app, seat["id"], secret=seat["secrets"]["X"])
        created = {
            game["id"]: game["created"] for game in json.loads((await get(app, "/games")).body)["open"]
        }
        assert next(iter(created)) == waiting["id"]
        assert len(created) == MAX_LISTED
        assert {*created} < {seat["id"] for seat in (waiting, *left)}
        times = [*created.values()][1:]
        assert times == sorted(times, reverse=True)
        assert await lobby(app, "playing") == [playing["id"]]


@in_fake_time
async def test_after_a_restart_a_game_is_listed_as_soon_as_its_player_is_back() -> None:
    async with cluster() as found:
        before, after = await found.start(is_shared=False), await found.start(is_shared=False)
        seat = await create(before.app, "lobby")
        await before.app.close()
        assert await lobby(after.app) == []
        stream = await follow(after.app, seat["id"], secret=seat["secrets"]["X"])
        assert await lobby(after.app) == [seat["id"]]
        await stream.leave()
        skip(LEAVE_SECONDS)
        await turns()
        assert await lobby(after.app) == [seat["id"]]
        assert (await move(after.app, seat, 4, 3)).status == 409


@in_fake_time
async def test_somebody_whose_row_may_have_been_written_goes_like_everybody_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A row is written, and the answer is lost; then the player leaves."""
    async with cluster() as found:
        here, there = await found.start(), await found.start()
        seat = await create(here.app, "friend")
        watching = await follow(there.app, seat["id"])
        await wait(1)
        write = MemoryPresence.write

        def fail(table: MemoryPresence, rows: Mapping[str, Streams | None]) -> None:
            monkeypatch.setattr(MemoryPresence, "write", write)
            write(table, rows)
            raise StoreUnavailable("the connection is broken")

        monkeypatch.setattr(MemoryPresence, "write", fail)
        ann = await follow(here.app, seat["id"], secret=seat["secrets"]["X"])
        await wait(2)
        assert watching.named("room")[-1]["seats"]["X"]["present"]
        await ann.leave()
        await wait(int(RENEW_SECONDS) + 2)
        assert not watching.named("room")[-1]["seats"]["X"]["present"]
        await watching.leave()


def test_a_game_at_another_server_is_listed_until_that_stops(postgres: Postgres) -> None:
    """Also by a server that was started later."""
    url = postgres.place()

    def is_listed(client: Client) -> bool:
        return ann.game in [game["id"] for game in client.get("/games").json["open"]]

    with (
        Server(url) as here,
        Server(url) as there,
        there.client() as eve,
        one_player(here, "lobby", name="Ann") as ann,
        ann.follow() as stream,
    ):
        stream.wait(lambda now: now.rooms)
        wait_until(lambda: is_listed(eve))
        with Server(url) as late, late.client() as cid:
            assert is_listed(cid)
        assert here.stop() == 0  # and says so
        wait_until(lambda: not is_listed(eve))
