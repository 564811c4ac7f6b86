"""Operations that change nothing: games, the lobby, analyses, QR codes, bots, health."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO

import segno

from noughts.core.errors import quoted
from noughts.store.errors import CorruptStore
from noughts.text.speaker import CellNames
from noughts.web import analysis, schemas
from noughts.web.bots import Roster
from noughts.web.expiry import Expiry
from noughts.web.games import Games
from noughts.web.limits import Limit
from noughts.web.peers import Presence
from noughts.web.problems import ApiError, GamesUnavailable
from noughts.web.request import Request, Response, read_version
from noughts.web.room import MARKS, OPEN, PLAYING, read_room
from noughts.web.seats import SeatAccess

MAX_LISTED = 50
READY_TIMEOUT_SECONDS = 2.0
_CELLS: dict[str, CellNames] = {"numbers": "numbers", "places": "places"}


@dataclass(frozen=True)
class Queries:
    """The operations that read."""

    games: Games
    seats: SeatAccess
    presence: Presence
    expiry: Expiry
    roster: Roster
    check_store: Callable[[], None]
    analyses: Limit
    drawings: Limit

    async def read(self, request: Request) -> Response:
        """Return a game as it is, or as it was at a version."""
        parameters = request.parameters("version")
        live = await self.games.find(request.id, is_latest=True)
        self.expiry.note_reader(live)
        you = await self.seats.held(live, request)
        version = live.version
        if "version" in parameters:
            version = read_version("version", parameters["version"])
            if version > live.version:
                await self.games.refresh(live)
            if not 1 <= version <= live.version:
                raise ApiError(
                    "notFound", f"the game has versions 1 to {live.version}", version=live.version
                )
        await self.presence.find(live)
        return Response(200, schemas.encode(live.snapshot(version, you)))

    async def lobby(self, request: Request) -> Response:
        """List the games of the lobby: first those with a player present, of these the newest first."""
        request.parameters()
        store = self.games.store
        attended = await self.presence.attended()
        rooms = {game: live.room for game in attended if (live := self.games.known(game))}
        others = [game for game in attended if game not in rooms][-2 * MAX_LISTED :]
        damaged: dict[str, CorruptStore] = {}
        documents = await self.games.threads.run(
            lambda: (
                *store.labelled(OPEN, MAX_LISTED, damaged.__setitem__),
                *store.labelled(PLAYING, MAX_LISTED, damaged.__setitem__),
                *store.documents_named(others, damaged.__setitem__),
            )
        )
        for game, error in damaged.items():  # they don't hide the others
            self.games.report_damage(game, error)
        for document in documents:
            try:
                rooms[document.name] = read_room(document.text)
            except CorruptStore as error:
                self.games.report_damage(document.name, error)
        newest = self.games.clock() - 1000 * self.games.settings.lobby_grace_seconds
        listed = sorted(
            [
                (game, room)
                for game, room in rooms.items()
                if game in attended or room.created > newest  # its player may still be connecting
            ],
            key=lambda found: (not attended.get(found[0]), -found[1].created),
        )
        found = schemas.Lobby(
            open=[
                schemas.OpenGame(
                    id=game,
                    name=next((name for name in room.names if name), ""),
                    mark=room.free or "O",
                    first=room.first,
                    created=room.created,
                )
                for game, room in listed
                if room.label == OPEN
            ][:MAX_LISTED],
            playing=[
                schemas.PlayedGame(id=game, X=room.names[0] or "", O=room.names[1] or "")
                for game, room in listed
                if room.label == PLAYING
            ][:MAX_LISTED],
        )
        return Response(200, schemas.encode(found))

    async def analyse(self, request: Request) -> Response:
        """Return what each move of a position is worth, and why; or a review of a game."""
        self.analyses.spend(request)
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
        if "board" in parameters:
            work = self.games.world.thinking.run(
                lambda: analysis.position(parameters["board"], first, cells)
            )
        else:
            work = self.games.world.thinking.run(lambda: analysis.game(parameters["moves"], first, cells))
        return Response(200, await work)

    async def qr(self, request: Request) -> Response:
        """Draw a link as a QR code."""
        self.drawings.spend(request)
        link = request.json(schemas.Link).link
        svg = await self.games.world.thinking.run(lambda: _draw(link))
        return Response(200, schemas.encode(schemas.LinkImage(svg=svg)))

    async def bots(self, request: Request) -> Response:
        """List the bots, and exactly how strong each is."""
        request.parameters()
        return Response(200, await self.games.world.thinking.run(lambda: analysis.bots(self.roster)))

    def health(self, _request: Request) -> Response:
        """Report that the server answers, and has not lost its store."""
        self.check_store()
        return Response(200, schemas.encode(schemas.Health()))

    async def ready(self, _request: Request) -> Response:
        """Report whether the games can be reached."""
        self.check_store()
        try:
            async with asyncio.timeout(READY_TIMEOUT_SECONDS):
                await self.games.threads.run(self.games.store.check)
        except TimeoutError:
            raise GamesUnavailable("the store does not answer") from None
        return Response(200, schemas.encode(schemas.Health()))


@lru_cache(maxsize=256)  # of 9 kB at most
def _draw(link: str) -> str:
    image = BytesIO()
    segno.make_qr(link, error="m").save(image, "svg", xmldecl=False, dark="#000", light="#fff")
    return image.getvalue().decode()
