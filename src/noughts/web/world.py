"""What the application gets from outside: a store, threads, a clock, ids and randomness."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from random import Random, SystemRandom
from threading import Thread
from typing import Any, Protocol, TypeVar

from noughts.core.errors import NoughtsError
from noughts.service import random_id, wall_clock
from noughts.store.base import Store
from noughts.web.settings import Settings

_SYSTEM_RANDOM = SystemRandom()

Result = TypeVar("Result")


class Runner(Protocol):
    """Runs blocking work outside the event loop."""

    def run(self, work: Callable[[], Result]) -> asyncio.Future[Result]: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What the application needs from outside; timers are the event loop's."""

    settings: Settings
    store: Store
    reading: Runner
    """Threads that read from the store."""
    attending: Runner
    """The thread that writes who is present."""
    thinking: Runner
    """Threads for bots and analyses."""
    end: Callable[[NoughtsError], None]
    """Ends the process, which can't go on."""
    clock: Callable[[], int] = wall_clock
    new_id: Callable[[], str] = random_id
    random: Random = _SYSTEM_RANDOM


class Threads:
    """A pool that takes its work in order.

    The threads are daemons: a process that ends doesn't wait for a database.
    """

    def __init__(self, name: str, size: int = 1) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[tuple[asyncio.Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._size = size
        for number in range(size):
            Thread(target=self._work, name=f"{name}-{number}", daemon=True).start()

    def run(self, work: Callable[[], Result]) -> asyncio.Future[Result]:
        done: asyncio.Future[Result] = self._loop.create_future()
        self._queue.put((done, work))
        return done

    def close(self) -> None:
        """Let each thread end after the work that it has begun."""
        for _ in range(self._size):
            self._queue.put(None)

    def _work(self) -> None:
        while item := self._queue.get():
            done, work = item
            if done.cancelled():
                continue
            outcome: tuple[object, BaseException | None]
            try:
                outcome = work(), None
            except BaseException as error:  # noqa: BLE001 - it is raised where the result is awaited
                outcome = None, error
            try:
                self._loop.call_soon_threadsafe(resolve, done, *outcome)
            except RuntimeError:  # the loop is closed
                return


def resolve(future: asyncio.Future[Any], result: object, failure: BaseException | None = None) -> None:
    """Give a future its outcome, unless it was cancelled."""
    if future.done():
        return
    if isinstance(failure, StopIteration):  # a future refuses it
        failure = RuntimeError(f"the work raised {failure!r}")
    if failure is None:
        future.set_result(result)
    else:
        future.set_exception(failure)
