"""Bots in the seats of games: clients like any other, who are never waited for.

When it is a bot's turn its policy is asked in a thread, and its move is sent as everybody's is. However
many processes think of one, the version that it answers lets one move be made. A game that was left
while the bot was to move goes on as soon as somebody looks at it.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

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


AGAIN = 2.0
"""After how long a bot tries again that could not move, in seconds."""


class Bots:
    """Sees to it that bots move when it is their turn."""

    def __init__(self, lounge: Lounge, roster: Roster, think: Think, metrics: Metrics) -> None:
        self._lounge = lounge
        self._roster = roster
        self._think = think
        self._metrics = metrics
        self._thinking: dict[str, asyncio.Task[None]] = {}

    def consider(self, live: Live) -> None:
        """Have the bot move whose turn it is, if it is a bot's."""
        if bot_to_move(live) and live.id not in self._thinking:
            task = asyncio.ensure_future(self._play(live))
            self._thinking[live.id] = task
            task.add_done_callback(lambda _done: self._thinking.pop(live.id, None))

    async def _play(self, live: Live) -> None:
        """Move, until it is not a bot's turn any more."""
        while mark := bot_to_move(live):
            policy = live.room.chair(mark).bot or ""
            board, version = live.game.board, live.version
            try:
                cell = await self._think(lambda: self._roster.seated(policy).choose(board))  # noqa: B023 - it is called before the next turn
                command = Resign(Mark(mark)) if cell is None else PlaceToken(Mark(mark), cell)
                await self._lounge.command(live, command, version=version, key=f"bot-{random_id()}")
                self._metrics.moves += cell is not None
            except StaleVersion:
                continue  # somebody was faster, and the board is another one
            except NoughtsError as error:  # the store is away, as a rule
                log.warning("bot", extra={"data": {"policy": policy, "problem": str(error)[:200]}})
                if not isinstance(error, UnknownPolicy):  # who is not offered any more is not waited for
                    asyncio.get_running_loop().call_later(AGAIN, self.consider, live)
                return
            except Exception:  # a policy is anybody's code, and spoils no other game
                log.exception("bot", extra={"data": {"policy": policy}})
                return

    async def close(self) -> None:
        """Let those who think stop."""
        for task in tuple(self._thinking.values()):
            task.cancel()
        await asyncio.gather(*self._thinking.values(), return_exceptions=True)


def bot_to_move(live: Live) -> MarkName | None:
    """Return the seat whose turn it is, if a bot sits there."""
    active = live.game.active
    if active is None or not live.game.is_ready:
        return None
    return active.value if live.room.chair(active.value).bot else None
