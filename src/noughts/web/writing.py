"""The writer: a thread that records whatever waits, whenever it is free, in one commit.

The loop hands events over and goes on; when they are on the disk it is called back. What comes while a
commit is under way shares the next one.
"""

from __future__ import annotations

import logging
import time
from queue import Empty, SimpleQueue
from threading import Thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable
    from typing import TypeAlias

    from noughts.store.appends import Append
    from noughts.store.base import EventStore

    Settle: TypeAlias = Callable[[Append, Exception | None], None]
    Waiting: TypeAlias = tuple[Append, Settle]

log = logging.getLogger("noughts.web")

CROWD, GATHERING = 4, 0.005
"""When more than so many shared a commit, the next one waits so long for company, in seconds.

A commit costs as much as many moves do, and who is alone, or nearly, never waits.
"""

MOST_EVENTS = 400
"""How many events one commit records at most: what comes then waits for the next."""


class Writer:
    """Records appends in the order in which they are handed over."""

    def __init__(self, store: EventStore, loop: AbstractEventLoop) -> None:
        self._store = store
        self._loop = loop
        self._queue: SimpleQueue[Waiting | None] = SimpleQueue()
        self._thread = Thread(target=self._write, name="noughts-writer", daemon=True)
        self._thread.start()
        self.commits = 0
        self.recorded = 0

    def record(self, append: Append, settle: Settle) -> None:
        """Have something recorded; `settle` is called in the loop, when it is done or has failed."""
        self._queue.put((append, settle))

    def close(self) -> None:
        """Record what waits, and end."""
        self._queue.put(None)
        self._thread.join()

    def _write(self) -> None:
        batch: list[Waiting] = []
        while (first := self._queue.get()) is not None:
            if len(batch) > CROWD:
                time.sleep(GATHERING)
            batch, is_last = self._batch(first)
            failure = None
            try:
                self._store.record([append for append, _ in batch])
            except Exception as error:  # noqa: BLE001 - each of those it concerns is told
                failure = error
            self.commits += 1
            self.recorded += len(batch)
            try:
                self._loop.call_soon_threadsafe(_settle, batch, failure)
            except RuntimeError:  # the loop is closed, and nobody waits any more
                return
            if is_last:
                return

    def _batch(self, first: Waiting) -> tuple[list[Waiting], bool]:
        batch = [first]
        events = first[0].count
        while events < MOST_EVENTS:
            try:
                following = self._queue.get_nowait()
            except Empty:
                break
            if following is None:
                return batch, True
            batch.append(following)
            events += following[0].count
        return batch, False


def _settle(batch: list[Waiting], failure: Exception | None) -> None:
    for append, settle in batch:
        try:
            settle(append, failure)
        except Exception:  # one game's trouble is no other's
            log.exception("settling")
