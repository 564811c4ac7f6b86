"""Operations that change nothing: games, streams, the lobby, analyses, QR codes, bots, health."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from io import BytesIO

import msgspec
import segno

from noughts.core.errors import NoughtsError, quoted
from noughts.core.game import fold
from noughts.store.base import StoredGame
from noughts.text.describe import describe
from noughts.text.speaker import CellNames
from noughts.web import analysis, schemas
from noughts.web.bots import Roster
from noughts.web.games import Games
from noughts.web.limits import Limits
from noughts.web.presence import Presence
from noughts.web.problems import ApiError
from noughts.web.request import Request, Response, read_version
from noughts.web.rooms import MARKS, Present, room_of, visible_room, visible_state
from noughts.web.schemas import MarkName
from noughts.web.streams import Stream, Streams

MAX_LISTED = 50
READY_SECONDS = 2.0
"""How long the store may take to answer, to be ready."""
LATE_SECONDS = 5.0
"""A commit that takes longer makes the server not ready."""
_CELLS: dict[str, CellNames] = {"numbers": "numbers", "places": "places"}


@dataclass(frozen=True)
class Queries:
    """The operations that read."""

    games: Games
    presence: Presence
    streams: Streams
    roster: Roster
    limits: Limits

    async def read(self, request: Request) -> Response:
        """Return a game as it is, or as it was at a version."""
        parameters = request.parameters("version")
        stored = await self.games.find(request.id)
        you = self._held(request, stored)
        version = stored.version
        if "version" in parameters:
            version = read_version("version", parameters["version"])
            if not 1 <= version <= stored.version:
                raise ApiError(
                    "notFound", f"the game has versions 1 to {stored.version}", version=stored.version
                )
        present = await self.presence.look(stored.id)
        return Response(200, schemas.encode(snapshot(stored, version, you, present)))

    async def subscribe(self, request: Request) -> Stream:
        """Follow a game: server-sent events, the id of each is the event's version."""
        stored = await self.games.find(request.id)
        return await self.streams.open(request, stored, self._held(request, stored))

    def _held(self, request: Request, stored: StoredGame) -> tuple[MarkName, ...]:
        """Return the seats whose secrets came with a request; wrong ones are limited per address."""
        secrets = request.secrets()
        held = room_of(stored).held(secrets)
        if secrets and not held:
            self.limits.wrong_secrets.spend(request)
        return held

    async def lobby(self, request: Request) -> Response:
        """List the games of the lobby: first those with a player present, of these the newest first."""
        request.parameters()
        attended = await self.presence.attended()
        found = [one for one in await asyncio.gather(*map(self._find, attended)) if one]
        found.sort(key=lambda one: (not attended[one.id], -room_of(one).created))
        lobby = schemas.Lobby(
            open=[
                schemas.OpenGame(
                    id=one.id,
                    name=one.columns.x or one.columns.o or "",
                    mark=room_of(one).free or "O",
                    first=one.game.board.first.value,
                    created=room_of(one).created,
                )
                for one in found
                if one.columns.open == "seat"
            ][:MAX_LISTED],
            playing=[
                schemas.PlayedGame(id=one.id, X=one.columns.x or "", O=one.columns.o or "")
                for one in found
                if one.columns.open == "play"
            ][:MAX_LISTED],
        )
        return Response(200, schemas.encode(lobby))

    async def _find(self, game: str) -> StoredGame | None:
        with suppress(NoughtsError):  # deleted, or damaged, which is in the log
            return await self.games.find(game)
        return None

    async def analyse(self, request: Request) -> Response:
        """Return what each move of a position is worth, and why; or a review of a game."""
        self.limits.analyses.spend(request)
        parameters = request.parameters("board", "moves", "first", "cells")
        first = parameters.get("first", "X")
        if first not in MARKS:
            raise ApiError("badRequest", f"first must be X or O, not {quoted(first)}")
        cells = _CELLS.get(parameters.get("cells", "numbers"))
        if cells is None:
            names, given = " or ".join(_CELLS), quoted(parameters["cells"])
            raise ApiError("badRequest", f"cells must be {names}, not {given}")
        if ("board" in parameters) == ("moves" in parameters):
            raise ApiError("badRequest", "give either board or moves, such as moves=519")
        analyse = analysis.position if "board" in parameters else analysis.game
        written = parameters.get("board") or parameters.get("moves", "")
        return Response(200, await self.games.world.thinking.run(partial(analyse, written, first, cells)))

    async def qr(self, request: Request) -> Response:
        """Draw a link as a QR code."""
        self.limits.drawings.spend(request)
        link = request.json(schemas.Link).link
        svg = await self.games.world.thinking.run(lambda: _draw(link))
        return Response(200, schemas.encode(schemas.LinkImage(svg=svg)))

    async def bots(self, request: Request) -> Response:
        """List the bots, and exactly how strong each is."""
        request.parameters()
        return Response(200, await self.games.world.thinking.run(lambda: analysis.bots(self.roster)))

    async def health(self, _request: Request) -> Response:
        """Report that the server answers, and has not lost its store."""
        self.games.check_store()
        return Response(200, schemas.encode(schemas.Health()))

    async def ready(self, _request: Request) -> Response:
        """Report whether the games can be reached."""
        self.games.check_store()
        waiting = self.games.store.writer.waiting_seconds()
        if waiting > LATE_SECONDS:
            raise _unready(
                f"a commit has waited for {waiting:.0f} s: the disk or a standby does not answer"
            )
        try:
            async with asyncio.timeout(READY_SECONDS):
                await self.games.world.reading.run(self.games.store.check)
        except TimeoutError:
            raise _unready(f"the store has not answered for {READY_SECONDS:.0f} s") from None
        return Response(200, schemas.encode(schemas.Health()))


def _unready(why: str) -> ApiError:
    """Return the answer for a load balancer; players learn less."""
    return ApiError("storeUnavailable", why, retry_after=1)


def snapshot(stored: StoredGame, version: int, you: Sequence[MarkName], present: Present) -> schemas.Game:
    """Return a game as it was at a version, at least 1."""
    lines = [line for entry in stored.entries for line in entry.text.split("\n")][:version]
    game = stored.game
    if version != stored.version:
        game = fold(stored.events[:version]) or game
    return schemas.Game(
        id=stored.id,
        version=version,
        board=str(game.board),
        active=game.active.value if game.active else None,
        ready=game.is_ready,
        description=describe(game),
        events=[msgspec.Raw(line.encode()) for line in lines],  # type: ignore[misc]  # as they are stored
        you=list(you),
        room=visible_room(stored, present),
        **visible_state(game),
    )


@lru_cache(maxsize=256)  # of 9 kB at most
def _draw(link: str) -> str:
    image = BytesIO()
    segno.make_qr(link, error="m").save(image, "svg", xmldecl=False, dark="#000", light="#fff")
    return image.getvalue().decode()
