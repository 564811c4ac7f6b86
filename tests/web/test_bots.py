"""Bots move on their turn, whatever fails.

The games and the bots are real. The store and the threads take no time, only turns of the event loop, so
that every order of events can be tried.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from itertools import count
from random import Random
from typing import TypeVar

import pytest

from noughts import Cell, Mark, open_store
from noughts.bots.errors import BadPolicy
from noughts.core.game import PlaceToken
from noughts.service import random_id
from noughts.store.errors import StoreUnavailable
from noughts.web.bots import BotTurns, Roster
from noughts.web.game import LiveGame
from noughts.web.games import Games
from noughts.web.logging import JsonLines
from noughts.web.metrics import Metrics
from noughts.web.room import Room, RoomSeat
from noughts.web.writer import GATHER_SECONDS, Writer
from support.deadlines import DEADLINE_SECONDS
from support.lab_games import first_free
from support.web.apps import ImmediateThreads, beginning, make_world, open_app
from support.web.fake_clock import run, skip

Found = TypeVar("Found")

LOOP_TURNS = 20
"""More turns of the loop than a move takes."""

FAILURES: dict[str, Callable[[], Exception]] = {
    "a policy fails": lambda: BadPolicy("a policy fails in '_________': no idea"),
    "the server itself fails": lambda: RuntimeError("out of order"),
    "the store is away": lambda: StoreUnavailable("the disk is gone"),
}


class Process:
    """The games and bots of a process in which only turns of the loop take time."""

    def __init__(self, failures: Iterable[Exception] = ()) -> None:
        self.asked = 0
        """How often a bot was asked for a move."""
        self._failures = iter(failures)
        store = open_store("memory:")
        self._threads = ImmediateThreads()
        world = make_world(store, self._threads, self)
        self.games = Games(world, Writer(store.record, self._threads))
        roster = Roster({"first": first_free}, Random(1))
        self.bots = BotTurns(self.games, roster, Metrics())
        self.games.on_change = self.bots.start

    def run(self, work: Callable[[], Found]) -> asyncio.Future[Found]:
        self.asked += 1
        for failure in self._failures:
            failed: asyncio.Future[Found] = asyncio.get_running_loop().create_future()
            failed.set_exception(failure)
            return failed
        return self._threads.run(work)

    async def game(self, bot: str = "first") -> LiveGame:
        return await create(self.games, bot)

    async def settle(self) -> None:
        for _ in range(LOOP_TURNS):
            skip(GATHER_SECONDS)  # crowded commits wait so long
            await asyncio.sleep(0)

    async def check(self, seconds: int) -> None:
        for _ in range(seconds):
            skip(1)
            await self.bots.check()
            await self.settle()


async def create(games: Games, bot: str) -> LiveGame:
    """Create a game between a person (X) and a bot (O), which starts."""
    names = ("Ann", f"bot:{bot}")
    room = Room(X=RoomSeat(), O=RoomSeat(bot=bot), created=0, names=names, first="O")
    return await games.create(random_id(), room, beginning(Mark.O, *names), "create")


@pytest.mark.parametrize("loop_turns", range(10))
def test_a_bot_answers_a_move_that_comes_at_any_moment(loop_turns: int) -> None:
    """The person moves some loop turns after the bot's move was recorded."""

    async def play() -> list[Cell]:
        process = Process()
        moved: list[asyncio.Task[object]] = []

        async def move(live: LiveGame) -> None:
            for _ in range(loop_turns):
                await asyncio.sleep(0)
            command = PlaceToken(Mark.X, live.game.board.free_cells[0])
            await process.games.command(live, command, version=live.version, key="ann")

        def on_change(live: LiveGame) -> None:
            process.bots.start(live)
            if len(live.game.moves) == 1:
                moved.append(asyncio.ensure_future(move(live)))

        process.games.on_change = on_change
        live = await process.game()
        await process.settle()
        await asyncio.gather(*moved)
        return list(live.game.moves)

    assert run(play) == [0, 1, 2]


@pytest.mark.parametrize("failure", FAILURES)
def test_a_bot_that_fails_once_is_asked_again(failure: str, caplog: pytest.LogCaptureFixture) -> None:
    """It moves a second later, and the failure is logged."""

    async def play() -> tuple[list[Cell], list[Cell]]:
        process = Process([FAILURES[failure]()])
        live = await process.game()
        await process.settle()
        before = list(live.game.moves)
        await process.check(1)
        return before, list(live.game.moves)

    assert run(play) == ([], [0])
    (logged,) = caplog.records
    assert logged.__dict__["data"]["policy"] == "first"
    assert str(FAILURES[failure]()) in JsonLines().format(logged)


@pytest.mark.parametrize("failure", [*FAILURES, "the bot is not offered any more"])
def test_a_bot_that_always_fails_is_asked_now_and_then(
    failure: str, caplog: pytest.LogCaptureFixture
) -> None:
    """After a minute, every four seconds; a bot that is not offered is logged once."""
    make = FAILURES.get(failure)

    async def play() -> tuple[int, int]:
        process = Process(make() for _ in count()) if make else Process()
        await process.game("first" if make else "nonesuch")
        await process.check(60)
        before = process.asked
        await process.check(100)
        return before, process.asked

    before, after = run(play)
    assert 15 <= before <= 18
    assert after - before == 25
    assert len(caplog.records) == (after if make else 1)


@pytest.mark.parametrize("failures", [1, 50])
def test_a_bot_that_failed_moves_at_once_when_somebody_comes(failures: int) -> None:
    async def play() -> tuple[list[Cell], list[Cell]]:
        process = Process(RuntimeError("out of order") for _ in range(failures))
        live = await process.game()
        while process.asked < failures:
            await process.check(1)
        before = list(live.game.moves)
        process.bots.start(live)
        await process.settle()
        return before, list(live.game.moves)

    assert run(play) == ([], [0])


@pytest.mark.parametrize("games", [1, 600])
def test_a_missed_turn_is_found_by_the_check(games: int, caplog: pytest.LogCaptureFixture) -> None:
    async def play() -> list[list[Cell]]:
        process = Process()
        process.games.on_change = lambda _live: None
        held = [await process.game() for _ in range(games)]
        await process.settle()
        assert not any(live.game.moves for live in held)
        await process.check(1)
        return [list(live.game.moves) for live in held]

    assert run(play) == [[0]] * games
    assert [record.__dict__["data"]["problem"] for record in caplog.records] == [
        "its turn was missed"
    ] * games


async def test_a_server_checks_by_itself() -> None:
    async with open_app() as app:
        moved = asyncio.Event()
        app.games.on_change = lambda live: moved.set() if live.game.moves else None
        live = await create(app.games, "random")
        await asyncio.wait_for(moved.wait(), DEADLINE_SECONDS)
        assert len(list(live.game.moves)) == 1
