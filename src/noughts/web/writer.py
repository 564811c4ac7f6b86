"""Group commit: writes that arrive during a commit share the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeAlias

from noughts.store.appends import Append
from noughts.store.documents import Write
from noughts.web.logging import log
from noughts.web.problems import WRITER_CRASHED, ServerFailed
from noughts.web.world import Runner, resolve

Item: TypeAlias = Append | Write
Settle: TypeAlias = Callable[[Exception | None], None]

CROWDED_ITEMS, GATHER_SECONDS = 4, 0.005
"""After a commit of more items than this, the next waits so long for company: commits are expensive."""

MAX_ITEMS = 150
"""Per commit; the others wait for the next."""


def outcome_of(item: Item) -> tuple[asyncio.Future[None], Settle]:
    """Return a future for the outcome of a write, and the function that settles it."""
    written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    return written, lambda failure: resolve(written, None, failure or item.refusal)


class Writer:
    """Writes commands and documents in the order in which they come."""

    def __init__(self, write: Callable[[Sequence[Item]], None], thread: Runner) -> None:
        self._write = write
        self._thread = thread
        self._loop = asyncio.get_running_loop()
        self._waiting: list[tuple[Item, Settle]] = []
        self._is_committing = False
        self._idle: asyncio.Future[None] | None = None
        self.commits = self.failed_commits = self.commands = 0
        self.on_crash: Callable[[BaseException], None] = lambda _error: None
        """Called if a commit ends in something other than an exception that it can report."""

    def add(self, item: Item, settle: Settle) -> None:
        """Write an item with the next commit; then `settle` is called, whatever the outcome."""
        self._waiting.append((item, settle))
        if not self._is_committing:
            self._is_committing = True
            self._commit()

    async def write(self, item: Item) -> None:
        """Write an item; raise if the commit fails or the item is refused."""
        written, settle = outcome_of(item)
        self.add(item, settle)
        await written

    async def close(self) -> None:
        """Wait until everything is settled."""
        if self._is_committing:
            self._idle = self._loop.create_future()
            await self._idle

    def _commit(self) -> None:
        batch, self._waiting = self._waiting[:MAX_ITEMS], self._waiting[MAX_ITEMS:]
        items = [item for item, _ in batch]
        commit = self._thread.run(lambda: self._write(items))
        commit.add_done_callback(lambda done: self._settle(batch, done))

    def _settle(self, batch: list[tuple[Item, Settle]], commit: asyncio.Future[None]) -> None:
        if commit.cancelled():
            return
        self._begin_next(len(batch))  # first, so that the thread works while others are answered
        self.commits += 1
        self.commands += len(batch)
        error = commit.exception()
        failure = error if isinstance(error, Exception) else None
        if error and not failure:
            self.on_crash(error)
            failure = ServerFailed(WRITER_CRASHED)
        self.failed_commits += failure is not None
        for _, settle in batch:
            try:
                settle(failure)
            except Exception:  # the others are settled all the same
                log.exception("settling")

    def _begin_next(self, last: int) -> None:
        self._is_committing = bool(self._waiting)
        if not self._waiting:
            if self._idle:
                resolve(self._idle, None)
        elif last > CROWDED_ITEMS:
            self._loop.call_later(GATHER_SECONDS, self._commit)
        else:
            self._commit()
