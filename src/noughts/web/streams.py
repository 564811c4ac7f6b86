"""Server-sent events: a coroutine for each stream sends what comes after what was sent last.

Nothing is queued: a reader that is slow is merely behind, and gets everything when it reads on. One that
does not read at all for a while is cut off.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, ClassVar, TypeAlias

from noughts.core.errors import NoughtsError
from noughts.store.base import Entry, StoredGame
from noughts.web import schemas
from noughts.web.games import Games
from noughts.web.limits import network
from noughts.web.logging import log
from noughts.web.metrics import Metrics
from noughts.web.presence import NOBODY, Presence
from noughts.web.problems import ApiError, absent
from noughts.web.request import API_HEADERS, Header, Request, read_version
from noughts.web.rooms import Present, offer_of, room_of, visible_room, visible_state
from noughts.web.schemas import MarkName

Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]

FIRST_FRAME = b"retry: 1000\n\n"
PING_SECONDS = 15
PING = b"event: ping\ndata: {}\n\n"
"""An event and not a comment, which browsers hide from the page: its absence shows a dead stream."""

WRITE_SECONDS = 30.0
"""How long a write may take before the reader counts as gone."""

RETRY_SECONDS = 1.0
"""After a read has failed that a stream waits for."""

HEADERS: tuple[Header, ...] = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"x-accel-buffering", b"no"),
    *API_HEADERS,
)


@dataclass(slots=True, eq=False)
class Stream:
    """One subscriber of a game."""

    _streams: Streams
    game: str
    is_in_lobby: bool
    marks: tuple[MarkName, ...]
    address: str
    _after: int
    is_ping_due: bool = False
    writing_since: float = 0.0
    """When the write began that has not finished, by the loop's time."""
    _sent: StoredGame | None = None
    """The value that was sent last."""
    _room: bytes = b""
    _is_awake: bool = False
    _is_ended: bool = False
    _waiter: asyncio.Future[None] | None = None
    _task: asyncio.Task[None] | None = None
    status: ClassVar = 200

    async def run(self, receive: Receive, send: Send) -> None:
        """Send the stream until it ends, or its reader has gone."""
        shared = self._streams.add(self)
        self._task = asyncio.current_task()
        leaving = asyncio.ensure_future(_wait_for_disconnect(receive))
        leaving.add_done_callback(lambda _done: self.end())
        try:
            await send({"type": "http.response.start", "status": 200, "headers": [*HEADERS]})
            await self._feed(send, shared)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except asyncio.CancelledError:
            if not self._is_ended:  # by the server, and not by us
                raise
        except OSError:
            pass  # the reader has gone
        except Exception as error:  # it ends this stream only; uvicorn's log is not ours
            if "handler is closed" not in str(error):  # as uvloop says of a reader that has gone
                log.exception("stream")
        finally:
            self._streams.remove(self)
            leaving.cancel()
            with suppress(asyncio.CancelledError):
                await leaving

    async def _feed(self, send: Send, shared: Followed) -> None:
        while not self._is_ended:
            self._is_awake = False  # before it looks: what comes meanwhile wakes it again
            if frames := await self._next_frames(shared):
                await self._write(send, frames)
            elif self.is_ping_due:
                self.is_ping_due = False
                await self._write(send, PING)
            if not (self._is_awake or self._is_ended):
                self._waiter = asyncio.get_running_loop().create_future()
                await self._waiter
                self._waiter = None

    async def _next_frames(self, shared: Followed) -> bytes:
        """Return what the reader does not have yet."""
        games = self._streams.games
        now, sent = games.known(self.game), self._sent
        if now is None or (sent and now.revision < sent.revision):
            try:
                now = await games.read(self.game)
            except NoughtsError:
                await asyncio.sleep(RETRY_SECONDS)
                self._is_awake = True
                return b""
        if now is None or now.is_deleted or (sent and not _continues(sent, now)):
            self.end()  # its client asks again
            return b""
        after = sent.version if sent else self._after
        frames = shared.frames(now, after) if sent is None or now.version > after else b""
        if sent and frames:
            self._streams.observe(self._streams.time() - shared.changed_at)
        room = shared.room_frame(now, self._streams.presence.shown.get(self.game, NOBODY))
        if room is not self._room:
            frames = FIRST_FRAME + room + frames if sent is None else frames + room
        self._sent, self._room = now, room
        return frames

    async def _write(self, send: Send, frames: bytes) -> None:
        self.writing_since = self._streams.time()
        await send({"type": "http.response.body", "body": frames, "more_body": True})
        self.writing_since = 0.0

    def wake(self) -> None:
        self._is_awake = True
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)

    def end(self) -> None:
        """End the stream; the subscriber will reconnect, if it is still there."""
        self._is_ended = True
        self.wake()

    def cut(self) -> None:
        """End a stream whose reader does not read."""
        self._is_ended = True
        self.writing_since = 0.0
        if self._task:
            self._task.cancel()


@dataclass(slots=True)
class Followed:
    """What the streams of a game share: frames are made once for all of them."""

    streams: dict[Stream, None] = field(default_factory=dict)
    changed_at: float = 0.0
    """When the game changed last, by the loop's time."""
    _frames: tuple[StoredGame | None, int, bytes] = (None, 0, b"")
    """What was sent last: the value, the version before it, and the frames."""
    _room: tuple[tuple[object, ...], bytes] = ((), b"")
    """What the frame of the room is made of, and the frame."""

    def frames(self, now: StoredGame, after: int) -> bytes:
        """Return the events of the game after a version, and its position."""
        game, version, frames = self._frames
        if game is not now or version != after:
            new = [*takewhile(lambda one: one.next_version > after, reversed(now.entries))][::-1]
            events = "".join([event_frames(one, after) for one in new])
            frames = events.encode() + position_frame(now)
            self._frames = now, after, frames
        return frames

    def room_frame(self, now: StoredGame, present: Present) -> bytes:
        """Return the room of the game: the same object for as long as nothing changes in it."""
        seen = now.room, now.game.players, offer_of(now), present
        before, frame = self._room
        if seen != before:
            frame = b"event: room\ndata: %b\n\n" % schemas.encode(visible_room(now, present))
            self._room = seen, frame
        return frame


class Streams:
    def __init__(self, games: Games, presence: Presence, metrics: Metrics) -> None:
        self.games = games
        self.presence = presence
        self.observe = metrics.stream_seconds.observe
        self.time = asyncio.get_running_loop().time
        self._open: dict[Stream, int] = {}
        """All streams, each with its second of the ping interval."""
        self._followed: dict[str, Followed] = {}
        self._count = self._second = 0
        self._per_address: Counter[str] = Counter()
        self.ended = 0
        """How many streams were cut because their reader did not read."""
        games.followed = self._followed.keys()
        presence.wake = self.wake

    def __len__(self) -> int:
        return len(self._open)

    async def open(self, request: Request, stored: StoredGame, marks: tuple[MarkName, ...]) -> Stream:
        """Admit a stream of a game, as it was just found; it counts once it runs."""
        after = _last_seen(request)
        if after > stored.version:
            found = await self.games.read(stored.id)
            if found is None or found.is_deleted:
                raise absent()
            if after > found.version:
                raise ApiError("staleVersion", f"the game has no version {after}", version=found.version)
        address, settings = network(request.address), self.games.world.settings
        if settings.most_streams and len(self._open) >= settings.most_streams:
            raise ApiError("tooBusy", "too many streams are open at this server", retry_after=5)
        most = settings.streams_per_address
        if most and self._per_address[address] >= most:
            raise ApiError("tooMany", f"one address may have {most} streams", retry_after=5)
        is_in_lobby = room_of(stored).open is not None
        return Stream(self, stored.id, is_in_lobby, marks, address, after)

    def add(self, stream: Stream) -> Followed:
        self._count += 1
        self._open[stream] = self._count % PING_SECONDS
        self._per_address[stream.address] += 1
        shared = self._followed.setdefault(stream.game, Followed())
        shared.streams[stream] = None
        self.presence.came(stream.game, stream.marks, is_in_lobby=stream.is_in_lobby)
        return shared

    def remove(self, stream: Stream) -> None:
        del self._open[stream]
        self._per_address[stream.address] -= 1
        if not self._per_address[stream.address]:
            del self._per_address[stream.address]
        shared = self._followed[stream.game]
        del shared.streams[stream]
        if not shared.streams:
            del self._followed[stream.game]
        self.presence.left(stream.game, stream.marks)

    def wake(self, game: str, *, has_changed: bool = False) -> None:
        """Have the streams of a game look whether there is something new."""
        if shared := self._followed.get(game):
            if has_changed:
                shared.changed_at = self.time()
            for stream in shared.streams:
                stream.wake()

    def look(self) -> None:
        """Ping the streams whose turn it is, and cut those whose readers have stopped reading."""
        self._second = (self._second + 1) % PING_SECONDS
        late = self.time() - WRITE_SECONDS
        for stream, turn in [*self._open.items()]:
            if stream.writing_since and stream.writing_since < late:
                self.ended += 1
                stream.cut()
            elif turn == self._second:
                stream.is_ping_due = True
                stream.wake()

    def end(self) -> None:
        """End all streams: the server stops."""
        for stream in [*self._open]:
            stream.end()


def _continues(sent: StoredGame, now: StoredGame) -> bool:
    return now.revision >= sent.revision and now.record.startswith(sent.record)


def _last_seen(request: Request) -> int:
    """Return the version that a subscriber has seen."""
    parameters = request.parameters("after")
    last = request.headers.get(b"last-event-id")
    if last is not None:
        return read_version("Last-Event-ID", last.decode("latin-1"))
    return read_version("after", parameters.get("after", "0"))


def event_frames(entry: Entry, after: int) -> str:
    """Return the events of an entry as server-sent events, from a version on."""
    lines = enumerate(entry.text.split("\n"), entry.version + 1)
    return "".join([f"id: {version}\ndata: {line}\n\n" for version, line in lines if version > after])


def position_frame(stored: StoredGame) -> bytes:
    """Return a `schemas.Position` as a server-sent event, so that no client has to fold events."""
    position = {"version": stored.version, **visible_state(stored.game)}
    return b"event: position\ndata: %b\n\n" % schemas.encode(position)


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
