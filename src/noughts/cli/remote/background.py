"""The line to a server: asked and heard in the background, and mended as often as it breaks.

Whoever plays waits for the keyboard and for news at the same time. So all that may take long is done in
threads, which put what they hear into an inbox and ring its bell. No thread keeps the
command from ending.
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

from noughts.cli.remote.client import Garbled, Message, Server, TimedOut, Unreachable
from noughts.cli.remote.messages import Room, read_event, read_room
from noughts.core.errors import NoughtsError
from noughts.core.events import Event
from noughts.core.value import Value

MOST_NEWS = 100
"""How much waits in an inbox; a server that says more has to wait itself."""
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 4.0
"""Seconds between two tries."""
STEADY = 5.0
"""Seconds after which a stream counts as mended for good, and the next break as the first."""


class Order(Value):
    """Something that the server is asked for, as often as it takes; its key makes it count once."""

    kind: str
    path: str
    body: dict[str, object] | None = None
    secret: str | None = None


class Told(Value):
    """An event of the game, which has this version with it."""

    version: int
    event: Event


class Around(Value):
    """What stands around the game has changed; `is_first` where it may have changed long ago."""

    room: Room
    is_first: bool


class Broken(Value):
    """The line is broken, and mended as soon as it can be."""


class Mended(Value):
    """The line is whole again."""


class Answered(Value):
    """What the server said to an order."""

    answer: dict[str, object]


class Failed(Value):
    """Nothing more will come of it."""

    error: NoughtsError


News: TypeAlias = Told | Around | Broken | Mended | Answered | Failed
Sender: TypeAlias = "Errand | Stream"


class Inbox:
    """Where news wait to be taken; its bell is rung when there are some."""

    def __init__(self) -> None:
        self.bell, self._rope = os.pipe()
        for end in (self.bell, self._rope):
            os.set_blocking(end, False)
        self._news: Queue[tuple[Sender, News]] = Queue(MOST_NEWS)

    def put(self, sender: Sender, news: News) -> None:
        """Put something in, as soon as there is room, and ring."""
        self._news.put((sender, news))
        with suppress(BlockingIOError):  # it rings already
            os.write(self._rope, b".")

    def take(self) -> list[tuple[Sender, News]]:
        """Take out what is there, and let the bell be still."""
        with suppress(BlockingIOError):
            os.read(self.bell, 1 << 16)
        taken = []
        for _ in range(MOST_NEWS):
            try:
                taken.append(self._news.get_nowait())
            except Empty:
                return taken
        with suppress(BlockingIOError):  # there may be more
            os.write(self._rope, b".")
        return taken


class Errand:
    """An order on its way: sent again until there is an answer, or `once` only."""

    def __init__(self, server: Server, order: Order, inbox: Inbox, *, once: bool = False) -> None:
        self.order = order
        self._server = server
        self._inbox = inbox
        self._once = once
        _in_background(self._run, lambda error: inbox.put(self, Failed(error)))

    def _run(self) -> None:
        tries = 0
        while True:
            try:
                answer = self._server.ask(self.order.path, self.order.body, self.order.secret)
            except Unreachable as error:
                if self._once:
                    raise
                tries += 1
                if tries == 2:  # the first break is mended in silence, if it can be
                    self._inbox.put(self, Broken())
                time.sleep(_pause(tries, error))
            else:
                self._inbox.put(self, Answered(answer))
                return


class Stream:
    """All that happens in a game from a version on, until it is closed."""

    def __init__(self, server: Server, game: str, after: int, secret: str | None, inbox: Inbox) -> None:
        self._server = server
        self._game = game
        self._after = after
        self._secret = secret
        self._inbox = inbox
        self._closed = Flag()
        self._hang_up: Callable[[], None] = lambda: None
        self._tries = 0
        self._is_broken = False
        _in_background(self._run, self._fail)

    def close(self) -> None:
        """Hear no more."""
        self._closed.set()
        self._hang_up()

    def _run(self) -> None:
        while not self._closed.is_set():
            opened = time.monotonic()
            trouble: Unreachable | None = None
            try:
                self._hear()
            except Unreachable as error:
                trouble = error
            if time.monotonic() - opened > STEADY:
                self._tries = 0
            self._tries += 1
            # A first break is repaired without a word, unless the player has waited for it already.
            is_long = self._tries >= 2 or isinstance(trouble, TimedOut)
            if is_long and not self._is_broken:
                self._is_broken = True
                self._put(Broken())
            self._closed.wait(_pause(self._tries, trouble))

    def _hear(self) -> None:
        is_first = True
        for message in self._server.listen(self._game, self._after, self._secret, self._opened):
            if self._closed.is_set():
                return
            if message.event == "room":
                self._put(Around(read_room(message.data), is_first))
                is_first = False
            elif message.event == "message":
                self._put(self._told(message))

    def _told(self, message: Message) -> Told:
        following = self._after + 1
        if message.id != str(following):
            raise Garbled("the stream leaves something out")
        self._after = following
        self._tries = 0  # it goes on, however often it breaks
        return Told(following, read_event(message.data))

    def _opened(self, hang_up: Callable[[], None]) -> None:
        self._hang_up = hang_up
        if self._closed.is_set():  # it was closed while the line was being opened
            hang_up()
        if self._is_broken:
            self._is_broken = False
            self._put(Mended())

    def _fail(self, error: NoughtsError) -> None:
        self._put(Failed(error))

    def _put(self, news: News) -> None:
        if not self._closed.is_set():
            self._inbox.put(self, news)


def _pause(tries: int, trouble: Unreachable | None) -> float:
    """Return how long to wait: longer each time, and not the same for all whom a server has lost."""
    longest: float = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(tries - 1, 10))
    spread = longest * (0.5 + random() / 2)  # noqa: S311 - a pause, no secret
    return max(spread, trouble.rest if trouble else 0.0)


def _in_background(work: Callable[[], None], fail: Callable[[NoughtsError], None]) -> None:
    """Do something in a thread that keeps nobody from leaving; whatever goes wrong is told."""

    def run() -> None:
        try:
            work()
        except NoughtsError as error:
            fail(error)
        except Exception as error:  # noqa: BLE001 - a thread's traceback is nobody's answer
            fail(Garbled(f"the server could not be understood ({type(error).__name__})"))

    Thread(target=run, daemon=True).start()
