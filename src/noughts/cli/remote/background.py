"""Background threads for requests and streams, which retry and reconnect, and the inbox they report to.

The main thread waits for the keyboard and for the inbox at once. The threads are daemons: none of them
keeps the command from ending.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, Queue
from random import random
from threading import Event as Flag, Thread
from typing import TypeAlias

from noughts.cli.remote.client import BadResponse, Client, TimedOut, Unreachable
from noughts.cli.remote.messages import RoomState, read_event, read_position, read_room
from noughts.core.errors import NoughtsError
from noughts.core.events import Event
from noughts.core.game import Game
from noughts.core.value import Value
from noughts.system import start_thread

INBOX_UPDATES = 100
"""How many updates an inbox holds; a server that sends more is read more slowly."""
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 0.2, 4.0
STABLE_AFTER_SECONDS = 5.0
"""A stream that lasted this long starts again with the first retry pause."""
MAX_EVENTS = 4_000
"""More than the longest game has."""

NO_POSITION = "the server does not say what the game is after a move: it may be older than this noughts"


class Call(Value):
    """A request that can be repeated: the key in its body makes it count once."""

    kind: str
    path: str
    body: dict[str, object] | None = None
    secret: str | None = None


class GameChanged(Value):
    """The game at a version, without its players, and the events since the last update."""

    version: int
    game: Game
    events: tuple[Event, ...]


class RoomChanged(Value):
    room: RoomState


class Disconnected(Value):
    """The connection is lost; it is being restored."""


class Reconnected(Value):
    """The connection is restored."""


class Replied(Value):
    answer: dict[str, object]


class Failed(Value):
    """The call or the stream has ended with this error."""

    error: NoughtsError


Update: TypeAlias = GameChanged | RoomChanged | Disconnected | Reconnected | Replied | Failed
Sender: TypeAlias = "PendingCall | GameStream"


class Inbox:
    """A queue of updates; `readable` is a file descriptor to wait for."""

    def __init__(self) -> None:
        self.readable, self._writable = os.pipe()
        for end in (self.readable, self._writable):
            os.set_blocking(end, False)
        self._updates: Queue[tuple[Sender, Update]] = Queue(INBOX_UPDATES)

    def put(self, sender: Sender, update: Update) -> None:
        """Add an update; wait while the inbox is full."""
        self._updates.put((sender, update))
        self._wake()

    def take(self) -> list[tuple[Sender, Update]]:
        """Remove and return the updates."""
        with suppress(BlockingIOError):
            os.read(self.readable, 1 << 16)
        taken = []
        for _ in range(INBOX_UPDATES):
            try:
                taken.append(self._updates.get_nowait())
            except Empty:
                return taken
        self._wake()  # there may be more
        return taken

    def _wake(self) -> None:
        with suppress(BlockingIOError):  # full, and so readable already
            os.write(self._writable, b".")


class PendingCall:
    """A call in progress: repeated until there is an answer, or sent `once` only."""

    def __init__(self, client: Client, call: Call, inbox: Inbox, *, once: bool = False) -> None:
        self.call = call
        self._client = client
        self._inbox = inbox
        self._once = once
        _start_thread(self._run, lambda error: inbox.put(self, Failed(error)))

    def _run(self) -> None:
        tries = 0
        while True:
            try:
                answer = self._client.request(self.call.path, self.call.body, self.call.secret)
            except Unreachable as error:
                if self._once:
                    raise
                tries += 1
                if tries == 2:  # the first failure is not worth a message
                    self._inbox.put(self, Disconnected())
                time.sleep(_retry_pause(tries, error))
            else:
                self._inbox.put(self, Replied(answer))
                return


class GameStream:
    """Puts what happens in a game after a version into the inbox, until it is closed."""

    def __init__(self, client: Client, game: str, after: int, secret: str | None, inbox: Inbox) -> None:
        self._client = client
        self._game = game
        self._after = after
        self._secret = secret
        self._inbox = inbox
        self._closed = Flag()
        self._disconnect: Callable[[], None] = lambda: None
        self._tries = 0
        self._is_reported = False
        """Whether the inbox knows that the connection is lost."""
        _start_thread(self._run, lambda error: self._put(Failed(error)))

    def close(self) -> None:
        self._closed.set()
        self._disconnect()

    def _run(self) -> None:
        while not self._closed.is_set():
            opened = time.monotonic()
            failure: Unreachable | None = None
            try:
                self._read()
            except Unreachable as error:
                failure = error
            if time.monotonic() - opened > STABLE_AFTER_SECONDS:
                self._tries = 0
            self._tries += 1
            # The first failure is not worth a message, unless the player has waited for it already.
            is_long = self._tries >= 2 or isinstance(failure, TimedOut)
            if is_long and not self._is_reported:
                self._is_reported = True
                self._put(Disconnected())
            self._closed.wait(_retry_pause(self._tries, failure))

    def _read(self) -> None:
        """Read a connection: events count when the position after them is here, and rooms wait for it."""
        version, events, has_position = self._after, list[Event](), False
        room: RoomChanged | None = None
        for message in self._client.stream(self._game, version, self._secret, self._opened):
            if self._closed.is_set():
                return
            match message.event:
                case "message":
                    version, has_position = version + 1, False
                    if message.id != str(version):
                        raise BadResponse("the stream skips an event")
                    events.append(read_event(message.data))
                case "position":
                    game, has_position = read_position(message.data, version), True
                    self._put_game(GameChanged(version, game, tuple(events)))
                    events.clear()
                case "room":
                    room = RoomChanged(read_room(message.data))
            if has_position and room:
                self._put(room)
                room = None
            if not has_position and (message.event == "ping" or len(events) > MAX_EVENTS):
                raise BadResponse(NO_POSITION)

    def _put_game(self, update: GameChanged) -> None:
        self._after = update.version
        if update.events:
            self._tries = 0  # there is progress, however often the connection breaks
        if self._is_reported:
            self._is_reported = False
            self._put(Reconnected())
        self._put(update)

    def _opened(self, disconnect: Callable[[], None]) -> None:
        self._disconnect = disconnect
        if self._closed.is_set():  # closed while it was connecting
            disconnect()

    def _put(self, update: Update) -> None:
        if not self._closed.is_set():
            self._inbox.put(self, update)


def _retry_pause(tries: int, failure: Unreachable | None) -> float:
    """Return a pause in seconds: doubled each time, and random, so that clients don't return at once."""
    longest: float = min(MAX_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2 ** min(tries - 1, 10))
    pause = longest * (0.5 + random() / 2)  # noqa: S311 - not used for security
    return max(pause, failure.retry_after_seconds if failure else 0.0)


def _start_thread(work: Callable[[], None], fail: Callable[[NoughtsError], None]) -> None:
    """Run something in a daemon thread, and pass on its error."""

    def run() -> None:
        try:
            work()
        except NoughtsError as error:
            fail(error)
        except Exception as error:  # noqa: BLE001 - the traceback of a thread is lost
            fail(BadResponse(f"the server's answer cannot be understood ({type(error).__name__})"))

    start_thread(Thread(target=run, daemon=True))
