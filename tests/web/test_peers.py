"""Who is connected at which process, in fake time; `test_cache.py` has what processes know of games."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from noughts.store.errors import StoreUnavailable
from noughts.store.memory import Database
from noughts.web.app import App
from noughts.web.games import FOLLOW_SECONDS
from noughts.web.presence import RENEW_SECONDS
from support.web.apps import Follower, create, follow, get, join, memory_store, move, open_app, post
from support.web.fake_clock import in_fake_time, turns, wait

GONE_SECONDS = 45
"""When nobody sees the people of a dead process any more."""


class Two:
    """Two processes, and a game between Ann (X) at one and Bob (O) at the other, who follow it."""

    def __init__(self, here: App, there: App, database: Database) -> None:
        self.here, self.there, self.database = here, there, database

    async def start(self, opponent: str = "friend") -> None:
        self.seat = await create(self.here, opponent)
        await join(self.there, self.seat)
        self.ann = await self.follow(self.here, "X")
        self.bob = await self.follow(self.there, "O")
        await wait(1)

    async def follow(self, app: App, mark: str) -> Follower:
        return await follow(app, self.seat["id"], secret=self.seat["secrets"][mark])

    def present(self, follower: Follower) -> list[bool]:
        """Return whether Ann and Bob are there, as somebody was told last."""
        seats = follower.named("room")[-1]["seats"]
        return [seats[mark]["present"] for mark in "XO"]

    def deafen(self, app: App) -> None:
        """Have no news reach a process any more."""
        followers = self.database.followers
        followers[:] = [one for one in followers if one[0] is not app.games.store]

    async def kill(self, app: App) -> None:
        """Let a process do nothing more, in the middle of anything."""
        self.deafen(app)
        for task in app._tasks:  # noqa: SLF001 - nobody but a killer does that
            task.cancel()
        await turns()


@asynccontextmanager
async def two_apps() -> AsyncIterator[Two]:
    database = Database(asyncio.get_running_loop().time)
    async with (
        open_app(memory_store(database, is_shared=True)) as here,
        open_app(memory_store(database, is_shared=True)) as there,
    ):
        yield Two(here, there, database)


async def playing(app: App) -> list[Any]:
    found: list[Any] = json.loads((await get(app, "/games")).body)["playing"]
    return found


@pytest.mark.parametrize("opponent", ["friend", "lobby"])
@in_fake_time
async def test_the_people_of_a_process_that_was_killed_are_gone_soon(opponent: str) -> None:
    """While it lives they stay for as long as they like, and reload as often as they like."""
    async with two_apps() as two:
        await two.start(opponent)
        await wait(3 * GONE_SECONDS)
        assert two.present(two.bob) == two.present(two.ann) == [True, True]
        await two.ann.leave()
        two.ann = await two.follow(two.here, "X")
        await wait(3)
        assert len(two.bob.named("room")) <= 2
        await two.kill(two.here)
        await wait(GONE_SECONDS)
        assert two.present(two.bob) == [False, True]
        assert len(await playing(two.there)) == (opponent == "lobby")
        await two.bob.leave()
        await wait(60 + int(RENEW_SECONDS))  # the grace of the lobby, after its last player
        assert await playing(two.there) == []


@in_fake_time
async def test_presence_is_written_again_after_a_failover() -> None:
    """Tables that are not logged are empty then."""
    async with two_apps() as two:
        await two.start()
        two.database.processes.clear()
        two.database.present.clear()
        await wait(int(FOLLOW_SECONDS))
        assert two.present(two.bob) == [False, True]
        await wait(int(RENEW_SECONDS))
        assert two.present(two.bob) == two.present(two.ann) == [True, True]


@in_fake_time
async def test_what_can_not_be_confirmed_is_not_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A move that is sent again at the other process: the standby may not have it."""

    def fail(game: str) -> None:
        raise StoreUnavailable(f"no standby for {game}")

    async with two_apps() as two:
        await two.start()
        first = await move(two.here, two.seat, 4, 5)
        with monkeypatch.context() as broken:
            broken.setattr(two.there.games.store, "confirm", fail)
            assert (await move(two.there, two.seat, 4, 5)).status == 503
        again = await move(two.there, two.seat, 4, 5)
        assert (again.status, again.body) == (200, first.body)


@in_fake_time
async def test_what_was_true_is_not_answered_again() -> None:
    """Bob asks again for a rematch, and here nobody knows yet that Ann has agreed elsewhere."""
    async with two_apps() as two:
        await two.start()
        await post(two.here, two.seat, "resign", version=5, key="k")
        assert (await post(two.there, two.seat, "rematch", "O", key="bob")).status == 202
        two.deafen(two.there)
        agreed = await post(two.here, two.seat, "rematch", "X", key="ann")
        assert agreed.status == 201
        again = await post(two.there, two.seat, "rematch", "O", key="bob")
        assert (again.status, json.loads(again.body)["id"]) == (200, json.loads(agreed.body)["id"])
