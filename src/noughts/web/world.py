"""What the application gets from outside: a store, threads, a clock, ids and randomness."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from queue import SimpleQueue
from random import Random, SystemRandom
from threading import Thread
from typing import Any, Protocol, TypeVar

from noughts.core.errors import NoughtsError
from noughts.service import random_id, wall_clock
from noughts.store.base import EventStore
from noughts.store.errors import StoreLost
from noughts.store.urls import open_store
from noughts.store.watch import ANYTHING
from noughts.web.logging import log
from noughts.web.settings import Settings

READING_THREADS, THINKING_THREADS = 4, 2

STORE_CLOSE_SECONDS = 1.0
"""How long closing the store may take: a database may be away."""

_SYSTEM_RANDOM = SystemRandom()

Result = TypeVar("Result")


class Runner(Protocol):
    """Runs blocking work outside the event loop."""

    def run(self, work: Callable[[], Result]) -> asyncio.Future[Result]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What the application needs from outside; timers are the event loop's."""

    settings: Settings
    store: EventStore
    reading: Runner
    """Threads that read from the store."""
    writing: Runner
    """The one thread that writes to it."""
    thinking: Runner
    """Threads for bots and analyses."""
    changes: Callable[[], Awaitable[set[str] | None]]
    """Waits for what other processes change in the store."""
    documents_cursor: str
    """The end of the store's documents, from before the first of these changes."""
    end: Callable[[NoughtsError], None]
    """Ends the process, which can't go on."""
    close: Callable[[], Awaitable[None]]
    """Closes the threads and the store."""
    clock: Callable[[], int] = wall_clock
    new_id: Callable[[], str] = random_id
    random: Random = _SYSTEM_RANDOM


async def open_world(
    settings: Settings, end: Callable[[NoughtsError], None], *, may_create: bool
) -> World:
    """Open the store, and start threads."""
    reading, watching = Threads("noughts-reader", READING_THREADS), Threads("noughts-watcher")
    writing, thinking = Threads("noughts-writer"), Threads("noughts-thinker", THINKING_THREADS)
    store: EventStore | None = None

    def close_threads() -> None:
        for threads in (reading, watching, writing, thinking):
            threads.close()

    try:
        store = await reading.run(
            lambda: open_store(
                settings.store, create=may_create, checkpoint_file=settings.checkpoint_file
            )
        )
        subscription = await reading.run(store.changes)
        cursor = await reading.run(store.documents_end)  # now, so that nothing is missed after it
    except BaseException:
        if store:
            reading.run(store.close)
        close_threads()
        raise

    async def close() -> None:
        subscription.notify(ANYTHING)
        close_threads()
        try:
            async with asyncio.timeout(STORE_CLOSE_SECONDS):
                await Threads("noughts-closer").run(store.close)
        except (TimeoutError, StoreLost):  # the second is logged
            pass
        except Exception:
            log.exception("closing")

    return World(
        settings=settings,
        store=store,
        reading=reading,
        writing=writing,
        thinking=thinking,
        changes=lambda: watching.run(subscription.wait),
        documents_cursor=cursor,
        end=end,
        close=close,
    )


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
