"""Those who follow games: how they begin, how many they may be, and how they are kept awake."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from typing import TYPE_CHECKING

from noughts.core.errors import NoughtsError
from noughts.web.limits import network
from noughts.web.problems import Refused, refusal
from noughts.web.streaming import PING, Stream

if TYPE_CHECKING:
    from noughts.web.asking import Asking
    from noughts.web.connection import Connection, Pending
    from noughts.web.house import House
    from noughts.web.live import Live
    from noughts.web.rooms import MarkName

log = logging.getLogger("noughts.web")

PING_INTERVAL_SECONDS = 15

ROUTE = "/api/v1/games/{id}/events"


class Readers:
    """All streams of this process."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._streams: dict[Stream, int] = {}
        """All readers, each with its second of the ping interval."""
        self._came = 0
        self._of_address: Counter[str] = Counter()
        self._arriving: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._streams)

    def arrive(self, connection: Connection, cycle: Pending, asking: Asking, game: str) -> None:
        """Let somebody follow a game: at once, if all is known that has to be known."""
        try:
            live = self._house.lounge.known(game)
            if live is not None and not live.is_stale and not self._house.is_shared:
                after = self._after(asking)
                secrets = asking.secrets()
                marks = live.room.held(secrets)
                if after <= live.version and bool(marks) == bool(secrets):
                    self._begin(connection, asking, live, marks, after)
                    return
        except NoughtsError as error:
            self._refuse(connection, cycle, error)
            return
        task = asyncio.ensure_future(self._arrive_later(connection, cycle, asking, game))
        self._arriving.add(task)
        task.add_done_callback(self._arriving.discard)

    async def _arrive_later(
        self, connection: Connection, cycle: Pending, asking: Asking, game: str
    ) -> None:
        """Let somebody follow a game of which something has to be looked up first."""
        try:
            live, marks, after = await self._look_up(asking, game)
            if self._house.lounge.known(game) is not live:  # it was deleted meanwhile
                live, marks, after = await self._look_up(asking, game)
            if not connection.transport.is_closing():
                self._begin(connection, asking, live, marks, after)
        except NoughtsError as error:
            self._refuse(connection, cycle, error)
        except Exception:
            log.exception("failure", extra={"data": {"route": ROUTE}})
            self._refuse(
                connection, cycle, Refused("internal", "something went wrong, and was written down")
            )

    async def _look_up(self, asking: Asking, game: str) -> tuple[Live, tuple[MarkName, ...], int]:
        house = self._house
        after = self._after(asking)
        live = await house.lounge.find(game)
        if after > live.version:
            await house.lounge.refresh(live)
        if after > live.version:
            raise Refused("staleVersion", f"the game never was at version {after}", version=live.version)
        marks = await house.held(live, asking)
        await house.presence.find(live)
        return live, marks, after

    def _refuse(self, connection: Connection, cycle: Pending, error: NoughtsError) -> None:
        refused = refusal(error)
        self._house.metrics.requests[ROUTE, refused.status] += 1
        connection.refuse(cycle, refused)

    def _begin(
        self,
        connection: Connection,
        asking: Asking,
        live: Live,
        marks: tuple[MarkName, ...],
        after: int,
    ) -> None:
        address = network(asking.address)
        self._check_room(address)
        stream = Stream(connection, live, marks, address)
        self._came += 1
        self._streams[stream] = self._came % PING_INTERVAL_SECONDS
        self._of_address[address] += 1
        self._house.metrics.requests[ROUTE, 200] += 1
        stream.begin(after)
        self._house.presence.came(live, is_player=bool(marks))
        self._house.expiry.note_reader(live)
        self._house.bots.consider(live)  # which may have been left when it was to move

    def leave(self, stream: Stream) -> None:
        """Hear that a reader has left, or was dropped."""
        stream.is_closed = True
        self._house.metrics.dropped += stream.was_dropped
        self._streams.pop(stream, None)
        address = stream.address
        self._of_address[address] -= 1
        if not self._of_address[address]:
            del self._of_address[address]
        stream.live.streams.discard(stream)
        self._house.presence.left(stream.live, is_player=bool(stream.marks))

    def keep_awake(self, second: int) -> None:
        """Ping the streams whose second it is."""
        now = second % PING_INTERVAL_SECONDS
        for stream in [one for one, turn in self._streams.items() if turn == now]:
            stream.push(PING)

    async def close(self) -> None:
        """Tell all readers that there is no more for now."""
        for task in self._arriving:
            task.cancel()
        for stream in tuple(self._streams):
            stream.end()

    def _after(self, asking: Asking) -> int:
        """Return the version that a reader has seen."""
        if asking.scope["http_version"] == "1.0":
            raise Refused("badRequest", "a game is followed by HTTP/1.1 or later")
        query = asking.query("after")
        last = asking.headers.get(b"last-event-id")
        if last is not None:
            return asking.number("Last-Event-ID", last.decode("latin-1"))
        return asking.number("after", query.get("after", "0"))

    def _check_room(self, address: str) -> None:
        settings = self._house.settings
        if settings.most_streams and len(self._streams) >= settings.most_streams:
            raise Refused("tooBusy", "the server has as many readers as it can hold", retry_after=5)
        most = settings.streams_per_address
        if most and self._of_address[address] >= most:
            raise Refused("tooMany", f"one address may follow {most} games at once", retry_after=5)
