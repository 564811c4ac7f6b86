"""The commands of players: moves, resigning, taking back."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from msgspec.structs import replace

from noughts.core.board import Mark
from noughts.core.errors import NoughtsError
from noughts.core.game import Command, PlaceToken, Resign, TakeBack
from noughts.service import judge
from noughts.store.appends import append_of, serialize
from noughts.store.errors import StaleVersion
from noughts.web import schemas
from noughts.web.game import LiveGame
from noughts.web.games import Games, check_legal
from noughts.web.limits import Limit
from noughts.web.metrics import Metrics
from noughts.web.problems import ApiError
from noughts.web.request import Pending, Request, Response
from noughts.web.room import MARKS, MarkName, RoomOffer, hash_secret
from noughts.web.seats import SeatAccess

TOKENS = {(mark, cell): PlaceToken(Mark(mark), cell) for mark in MARKS for cell in range(9)}
ROUTE = f"{schemas.BASE}/games/{{id}}/moves"


@dataclass(frozen=True)
class MoveHandlers:
    """Judges commands, and records what they lead to."""

    games: Games
    seats: SeatAccess
    metrics: Metrics
    limit: Limit
    start: Callable[[str, Coroutine[None, None, Response]], Pending[Response]]
    """Runs a handler in a task whose result is a response, whatever happens."""

    def move(self, request: Request) -> Pending[Response]:
        """Place a mark."""
        self.limit.spend(request)
        body = request.json(schemas.Move)
        live = self.games.known(request.id)
        # Most moves only wait for the commit, and need no task.
        if live and live.game.is_ready and not live.is_busy and not live.is_stale:
            mark = live.seat(live.room.held(request.secrets()), body.mark)
            if mark and (pending := self._record(request, body, live, mark)):
                return pending
        return self.start(ROUTE, self._move(request, body))

    def _record(
        self, request: Request, body: schemas.Move, live: LiveGame, mark: MarkName
    ) -> Pending[Response] | None:
        """Record a move without waiting, unless it must be judged again with what the store has."""
        command = TOKENS[mark, body.cell]
        try:
            answer, new = judge(
                live.id, live.commands, live.game, command, version=body.version, key=body.key
            )
            check_legal(answer)
        except NoughtsError:
            return None
        if not new:
            return None
        append = append_of(live.id, live.version, new, key=body.key, at=self.games.clock())
        pending: Pending[Response] = Pending()

        def settle(failure: Exception | None) -> None:
            if failure or append.refusal:
                self.start(ROUTE, self._move(request, body)).then(pending.resolve)
            else:
                self.metrics.moves += 1
                self.metrics.requests[ROUTE, 200] += 1
                pending.resolve(_moved(200, answer.version, append.text))

        self.games.record(live, append, answer.game, settle)
        return pending

    async def _move(self, request: Request, body: schemas.Move) -> Response:
        live, mark = await self.seats.find(request, body.mark)
        if not live.game.is_ready:
            await self.games.refresh(live)
        if not live.game.is_ready:
            raise ApiError("notReady", "nobody has joined yet", version=live.version)
        return await self._act(live, TOKENS[mark, body.cell], body.version, body.key)

    async def resign(self, request: Request) -> Response:
        """Resign."""
        body = request.json(schemas.Action)
        live, mark = await self.seats.find(request, body.mark)
        return await self._act(live, Resign(Mark(mark)), body.version, body.key)

    async def take_back(self, request: Request) -> Response:
        """Take back the last token, or ask the opponent to allow it."""
        body = request.json(schemas.Action)
        live, mark = await self.seats.find(request, body.mark, is_to_move=False)
        command = TakeBack(Mark(mark))
        if not live.room.needs_consent:
            return await self._act(live, command, body.version, body.key)
        if self.games.is_shared or body.version > live.version:
            await self.games.refresh(live)
        with _naming_version(live):
            answer, new = judge(
                live.id, live.commands, live.game, command, version=body.version, key=body.key
            )
        if not new:  # it was taken back before
            return _moved(200, answer.version, serialize(answer.events)[0])
        offer = RoomOffer("takeBack", mark, live.version)
        await self.games.change_room(live, lambda room: replace(room, offer=offer))
        return _moved(202, live.version, "", offer)

    async def answer(self, request: Request) -> Response:
        """Allow the opponent to take back, or refuse."""
        body = request.json(schemas.TakeBackReply)
        live, mark = await self.seats.find(request)
        if self.games.is_shared:
            await self.games.refresh(live)
        theirs, key = TakeBack(Mark(mark).other), hash_secret(body.key)
        if any(command.key == body.key for command in live.commands):
            return await self._act(live, theirs, live.version, body.key)
        if not body.accept and live.room.declined == key:  # it was declined before
            return _moved(200, live.version, "")
        offer = live.offer
        if offer is None or offer.kind != "takeBack" or offer.mark == mark:
            raise ApiError("noOffer", "no offer is waiting for your answer", version=live.version)
        if body.accept:
            return await self._act(live, theirs, offer.version, body.key)
        await self.games.change_room(live, lambda room: replace(room, offer=None, declined=key))
        return _moved(200, live.version, "")

    async def _act(self, live: LiveGame, command: Command, version: int, key: str) -> Response:
        before = live.version
        with _naming_version(live):
            answer = await self.games.command(live, command, version=version, key=key)
        self.metrics.moves += answer.version > before and command.__class__ is PlaceToken
        return _moved(200, answer.version, serialize(answer.events)[0])


@contextmanager
def _naming_version(live: LiveGame) -> Iterator[None]:
    """Refuse a stale command with the version that the game is at."""
    try:
        yield
    except StaleVersion as error:
        raise ApiError("staleVersion", str(error), version=live.version) from None


def _moved(status: int, version: int, text: str, offer: RoomOffer | None = None) -> Response:
    """Return what a command led to; the text is that of the record."""
    offered = f'{{"kind":"{offer.kind}","mark":"{offer.mark}"}}' if offer else "null"
    events = text.replace("\n", ",")
    return Response(status, f'{{"version":{version},"events":[{events}],"offer":{offered}}}'.encode())
