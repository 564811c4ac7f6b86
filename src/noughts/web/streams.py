"""Server-sent events: who may subscribe to a game, limits, and keep-alive.

`LiveGame.extend` sends the events; `web/peers.py` notices those of other processes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable

from noughts.web.game import LiveGame
from noughts.web.games import Games
from noughts.web.limits import network
from noughts.web.peers import Presence
from noughts.web.problems import ApiError
from noughts.web.request import API_HEADERS, Header, Request, Transport, read_version
from noughts.web.room import MarkName
from noughts.web.seats import SeatAccess

FIRST_FRAME = b"retry: 1000\n\n"
PING_SECONDS = 15
PING = b"event: ping\ndata: {}\n\n"
"""An event and not a comment, which browsers hide from the page: its absence shows a dead stream."""


class EventStream:
    """One subscriber of a game. Events go straight to its transport, which cuts off slow readers."""

    status = 200
    headers: tuple[Header, ...] = (
        (b"content-type", b"text/event-stream; charset=utf-8"),
        (b"x-accel-buffering", b"no"),
        *API_HEADERS,
    )

    __slots__ = ("_after", "_is_closed", "_streams", "_transport", "address", "game", "marks", "room")

    def __init__(
        self, streams: Streams, game: LiveGame, marks: tuple[MarkName, ...], address: str, after: int
    ) -> None:
        self._streams = streams
        self._after = after
        self._transport: Transport | None = None
        self._is_closed = False
        self.game = game
        self.marks = marks
        self.address = address
        self.room = b""

    def start(self, transport: Transport) -> None:
        """Send what the subscriber has missed, and from now on everything."""
        self._transport = transport
        self.game.streams[self] = None
        self.room = self.game.room_frame()
        self._streams.started(self)
        self.send(FIRST_FRAME + self.room + self.game.missed_frames(self._after))

    def send(self, frame: bytes) -> None:
        if self._transport and not self._transport.send(frame):
            self._streams.dropped += 1
            self.close()

    def end(self) -> None:
        """End the stream properly; the subscriber will reconnect."""
        if transport := self._transport:
            self.close()
            transport.end()

    def close(self) -> None:
        """Forget the subscriber: its connection is gone, maybe before the stream has started."""
        if not self._is_closed:
            self._is_closed = True
            self._transport = None
            self._streams.remove(self)


class Streams:
    def __init__(self, games: Games, seats: SeatAccess, presence: Presence) -> None:
        self._games = games
        self._seats = seats
        self._presence = presence
        self.on_join: Callable[[LiveGame], None] = lambda _game: None
        self._open: dict[EventStream, int] = {}
        """All streams, each with its second of the ping interval."""
        self._count = 0
        self._per_address: Counter[str] = Counter()
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._open)

    def subscribe(self, request: Request) -> EventStream | Awaitable[EventStream]:
        """Follow a game: server-sent events, the id of each is the event's version."""
        after = _last_seen(request)
        live = self._games.known(request.id)
        if live is not None and not live.is_stale and not self._games.is_shared:
            secrets = request.secrets()
            marks = live.room.held(secrets)
            if after <= live.version and bool(marks) == bool(secrets):
                return self._admit(request, live, marks, after)
        return self._subscribe_later(request, after)

    async def _subscribe_later(self, request: Request, after: int) -> EventStream:
        while True:
            live = await self._games.find(request.id, is_latest=True)
            if after > live.version:
                await self._games.refresh(live)
            if after > live.version:
                raise ApiError("staleVersion", f"the game has no version {after}", version=live.version)
            marks = await self._seats.held(live, request)
            await self._presence.find(live)
            if self._games.known(live.id) is live:  # else it was deleted meanwhile
                return self._admit(request, live, marks, after)

    def _admit(
        self, request: Request, live: LiveGame, marks: tuple[MarkName, ...], after: int
    ) -> EventStream:
        address, settings = network(request.address), self._games.settings
        if settings.most_streams and len(self._open) >= settings.most_streams:
            raise ApiError("tooBusy", "too many streams are open at this server", retry_after=5)
        most = settings.streams_per_address
        if most and self._per_address[address] >= most:
            raise ApiError("tooMany", f"one address may have {most} streams", retry_after=5)
        stream = EventStream(self, live, marks, address, after)
        self._count += 1
        self._open[stream] = self._count % PING_SECONDS
        self._per_address[address] += 1
        return stream

    def started(self, stream: EventStream) -> None:
        """Note that a stream that was admitted has started."""
        game = stream.game
        self._presence.joined(game, is_player=bool(stream.marks))
        self.on_join(game)
        if self._games.known(game.id) is not game:  # it was deleted meanwhile
            stream.end()
        elif game.is_stale:
            self._games.refresh_soon(game)

    def remove(self, stream: EventStream) -> None:
        del self._open[stream]
        self._per_address[stream.address] -= 1
        if not self._per_address[stream.address]:
            del self._per_address[stream.address]
        if stream.game.streams.pop(stream, self) is None:  # it had started
            self._presence.left(stream.game, is_player=bool(stream.marks))

    def ping(self, second: int) -> None:
        """Ping the streams whose turn it is."""
        now = second % PING_SECONDS
        for stream in [one for one, turn in self._open.items() if turn == now]:
            stream.send(PING)

    def close(self) -> None:
        for stream in tuple(self._open):
            stream.end()


def _last_seen(request: Request) -> int:
    """Return the version that a subscriber has seen."""
    parameters = request.parameters("after")
    last = request.headers.get(b"last-event-id")
    if last is not None:
        return read_version("Last-Event-ID", last.decode("latin-1"))
    return read_version("after", parameters.get("after", "0"))
