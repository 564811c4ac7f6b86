"""Threads for work that blocks. They are daemons: a process that ends doesn't wait for a database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")


class Runner(Protocol):
    """Runs blocking work outside the event loop."""

    def run(self, work: Callable[[], Result]) -> asyncio.Future[Result]: ...


class Threads:
    """A pool that takes its work in order."""

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
            result: object = None
            failure: BaseException | None = None
            try:
                result = work()
            except BaseException as error:  # noqa: BLE001 - it is raised where the result is awaited
                failure = error
            try:
                self._loop.call_soon_threadsafe(_settle, done, result, failure)
            except RuntimeError:  # the loop is closed
                return


def _settle(done: asyncio.Future[Any], result: object, failure: BaseException | None) -> None:
    if done.done():  # it was cancelled
        return
    if failure is None:
        done.set_result(result)
    elif isinstance(failure, StopIteration):  # a future refuses it
        done.set_exception(RuntimeError(f"the work raised {failure!r}"))
    else:
        done.set_exception(failure)
