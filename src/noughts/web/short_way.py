"""The short way of a move: read, judged and handed to the writer in one go, without waiting for anything.

It is answered when it is on the disk. Whatever is not plain is left to the long way, which says at length
what is wrong.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from noughts.core.errors import NoughtsError
from noughts.service import wall_clock
from noughts.web.api import BASE, JSON, MOVE
from noughts.web.connection import Seated
from noughts.web.placing import after, placed
from noughts.web.problems import API_HEADERS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from noughts.web.api import Reply
    from noughts.web.asking import Asking, Message, Scope
    from noughts.web.connection import Connection, Pending
    from noughts.web.house import House
    from noughts.web.live import Live
    from noughts.web.rooms import MarkName, Room

PREFIX, MOVES, EVENTS = f"{BASE}/games/".encode(), b"/moves", b"/events"
HEADERS = b"".join([b"%b: %b\r\n" % header for header in (JSON, *API_HEADERS)])
ROUTE = f"{BASE}/games/{{id}}/moves"


class ShortWay:
    """Takes moves that are plain."""

    def __init__(
        self,
        house: House,
        long_way: Callable[[Asking], Awaitable[Reply]],
    ) -> None:
        self._house = house
        self._long_way = long_way
        self._tasks: set[asyncio.Task[None]] = set()

    def __call__(
        self, connection: Connection, cycle: Pending, scope: Scope, path: bytes, body: bytes
    ) -> bool:
        """Take a request that is plain, and tell whether it was taken."""
        if not path.startswith(PREFIX):
            return False
        asking = self._house.asking(scope, _nothing)
        if scope["method"] == "GET":
            game = path[len(PREFIX) : -len(EVENTS)].decode("latin-1")
            self._house.readers.arrive(connection, cycle, asking, game)
            return True
        live = self._house.lounge.known(path[len(PREFIX) : -len(MOVES)].decode("latin-1"))
        if live is None or live.is_busy or live.is_stale or not live.game.is_ready:
            return False
        return self._move(connection, cycle, asking, live, body)

    def _move(
        self, connection: Connection, cycle: Pending, asking: Asking, live: Live, body: bytes
    ) -> bool:
        """Take a move, and tell whether it was taken."""
        try:
            asking.check_origin(self._house.settings.origin)
            asking.check_json()
            move = MOVE.decode(body)
            mark = live.seat(_held(connection, asking, live.room), move.mark)
            token = placed(live.game, move.cell)
            if (
                token is None
                or mark != live.game.board.turn.value
                or move.version != live.version
                or move.key in live.keys
            ):
                return False
        except (NoughtsError, msgspec.MsgspecError, UnicodeDecodeError):
            return False

        append = token.append(live.id, move.version, move.key, wall_clock())
        version = move.version + len(token.events)

        def settled(failure: Exception | None) -> None:
            if failure or append.refusal:  # somebody was faster, or the store is away: judge again
                task = asyncio.ensure_future(self._again(connection, cycle, asking, live.id, body))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                return
            told = b'{"version":%d,"events":[%b],"offer":null}' % (version, token.texts)
            connection.answer(cycle, 200, HEADERS, told)
            self._house.metrics.moves += 1
            self._house.metrics.requests[ROUTE, 200] += 1

        self._house.lounge.record(
            live,
            append,
            token.kept(move.key),
            after(live.game, move.cell),
            settled,
            token.frame(move.version) if live.streams else b"",
        )
        return True

    async def _again(
        self, connection: Connection, cycle: Pending, first: Asking, game: str, body: bytes
    ) -> None:
        """Answer by the long way after all."""

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        scope = {**first.scope, "path_params": {"id": game}}
        reply = await self._long_way(self._house.asking(scope, receive))
        headers = b"".join([b"%b: %b\r\n" % header for header in (*reply.headers, *API_HEADERS)])
        connection.answer(cycle, reply.status, headers, reply.body)


def _held(connection: Connection, asking: Asking, room: Room) -> tuple[MarkName, ...]:
    """Return the seats whose secrets came with a request; most come again and again."""
    authorization = asking.headers.get(b"authorization")
    if authorization is None or b"cookie" in asking.headers:
        return room.held(asking.secrets())
    before = connection.seated
    marks = before.marks_of(authorization, room) if before else ()
    if not marks:
        marks = room.held(asking.secrets())
        if marks:
            connection.seated = Seated(authorization, room, marks)
    return marks


async def _nothing() -> Message:
    return {"type": "http.disconnect"}
