"""Bots in the seats of games: clients like any other, who are never waited for.

When it is a bot's turn its policy is asked in a thread, and its move is sent as everybody's is. However
many processes think of one, the version that it answers lets one move be made. A bot that failed is asked
again by a check every second, which also finds any turn that nobody started. A game that no process
holds goes on as soon as somebody looks at it.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from noughts.core.board import Mark
from noughts.core.errors import NoughtsError, StaleVersion, UnknownPolicy
from noughts.core.game import PlaceToken, Resign
from noughts.service import random_id

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import TypeAlias

    from noughts.core.board import Cell
    from noughts.web.live import Live
    from noughts.web.lounge import Lounge
    from noughts.web.metrics import Metrics
    from noughts.web.rooms import MarkName
    from noughts.web.roster import Roster

    Think: TypeAlias = Callable[[Callable[[], Cell | None]], Awaitable[Cell | None]]

log = logging.getLogger("noughts.web")

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 10.0
"""How long a bot that failed is left alone; each further failure in a row doubles it."""

CHECKED_AT_ONCE = 512
"""How many games are checked before the loop goes on; thousands would hold it up for milliseconds."""


class Bots:
    """Makes bots move when it is their turn."""

    def __init__(self, lounge: Lounge, roster: Roster, think: Think, metrics: Metrics) -> None:
        self._lounge = lounge
        self._roster = roster
        self._think = think
        self._metrics = metrics
        self._thinking: dict[Live, asyncio.Task[None]] = {}
        self._pauses: WeakKeyDictionary[Live, tuple[float, float]] = WeakKeyDictionary()
        """Games whose bot failed: the loop's time until which it rests, and the length of that rest."""
        self._unknown: set[str] = set()
        """Policies that are not offered any more; the log names each once, however many games wait."""

    def consider(self, live: Live) -> None:
        """Have the bot move whose turn it is, if it is a bot's."""
        if bot_to_move(live) and live not in self._thinking:
            self._thinking[live] = asyncio.ensure_future(self._play(live))

    async def check(self) -> None:
        """Start every bot whose turn it is, except those that rest after a failure."""
        now = asyncio.get_running_loop().time()
        for number, live in enumerate(self._lounge.all_known(), 1):
            if not number % CHECKED_AT_ONCE:
                await asyncio.sleep(0)
            if (mark := bot_to_move(live)) and live not in self._thinking:
                pause = self._pauses.get(live)
                if pause is None:
                    _warn(live.room.chair(mark).bot, "its turn was missed")
                elif now < pause[0]:
                    continue
                self.consider(live)

    async def _play(self, live: Live) -> None:
        """Move, until it is not a bot's turn any more."""
        try:
            while mark := bot_to_move(live):
                policy = live.room.chair(mark).bot or ""
                try:
                    await self._move(live, mark, policy)
                    self._pauses.pop(live, None)
                except StaleVersion:
                    continue  # somebody was faster, and the board is another one
                except NoughtsError as error:  # the store is away, as a rule
                    if policy not in self._unknown:
                        _warn(policy, str(error)[:200])
                    if isinstance(error, UnknownPolicy):
                        self._unknown.add(policy)
                    return self._pause(live)
                except Exception:  # a policy is anybody's code, and spoils no other game
                    log.exception("bot", extra={"data": {"policy": policy}})
                    return self._pause(live)
        finally:
            # In the same turn of the loop as the last look: until a later one, a move that is settled
            # would find the bot busy, and nobody would look again.
            del self._thinking[live]

    async def _move(self, live: Live, mark: MarkName, policy: str) -> None:
        board, version = live.game.board, live.version
        cell = await self._think(lambda: self._roster.seated(policy).choose(board))
        command = Resign(Mark(mark)) if cell is None else PlaceToken(Mark(mark), cell)
        await self._lounge.command(live, command, version=version, key=f"bot-{random_id()}")
        self._metrics.moves += cell is not None

    def _pause(self, live: Live) -> None:
        _, last = self._pauses.get(live, (0.0, FIRST_PAUSE_SECONDS / 2))
        seconds = min(2 * last, LONGEST_PAUSE_SECONDS)
        self._pauses[live] = asyncio.get_running_loop().time() + seconds, seconds

    async def close(self) -> None:
        """Let those who think stop."""
        for task in tuple(self._thinking.values()):
            task.cancel()
        await asyncio.gather(*self._thinking.values(), return_exceptions=True)


def bot_to_move(live: Live) -> MarkName | None:
    """Return the seat whose turn it is, if a bot sits there."""
    game = live.game
    if game.is_over or not game.is_ready:
        return None
    turn = game.board.turn
    chair = live.room.X if turn is Mark.X else live.room.O
    return turn.value if chair.bot else None


def _warn(policy: str | None, problem: str) -> None:
    log.warning("bot", extra={"data": {"policy": policy, "problem": problem}})
