"""Access to seats: which seat a request is for.

`Room.held` compares the secrets; what is slower or goes wrong is here.
"""

from __future__ import annotations

from dataclasses import dataclass

from noughts.web.game import LiveGame
from noughts.web.games import Games
from noughts.web.limits import Limit
from noughts.web.problems import absent
from noughts.web.request import Request
from noughts.web.room import MarkName


@dataclass(frozen=True)
class SeatAccess:
    """Checks the secrets that come with requests; wrong ones are limited per address."""

    games: Games
    wrong_secrets: Limit

    async def held(self, live: LiveGame, request: Request) -> tuple[MarkName, ...]:
        """Return the seats whose secrets came with a request."""
        secrets = request.secrets()
        held = live.room.held(secrets)
        if secrets and not held:
            self.wrong_secrets.check(request)
            await self.games.refresh(live)  # another process may have given the seat away just now
            held = live.room.held(secrets)
            if not held:
                self.wrong_secrets.spend(request)
        return held

    async def find(
        self, request: Request, mark: MarkName | None = None, *, is_to_move: bool = True
    ) -> tuple[LiveGame, MarkName]:
        """Return the game and the seat that a command is for, or refuse."""
        live = await self.games.find(request.id)
        seat = live.seat(await self.held(live, request), mark, is_to_move=is_to_move)
        if seat is None:
            raise absent()
        return live, seat
