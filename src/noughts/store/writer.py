"""The one writer of a store: it commits whatever waits, and settles a whole batch with one wake-up."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Condition, Lock
from typing import Protocol, TypeAlias

from noughts.core.errors import NoughtsError
from noughts.store.errors import StoreUnavailable
from noughts.store.rows import Change

MAX_CHANGES = 150
"""In a commit; the others wait for the next."""

CROWDED_CHANGES, GATHER_SECONDS = 4, 0.003
"""After a commit of more changes than this, the next waits so long for company: commits are expensive."""

CLOSED = "the store is closed"
LATE = "the store has not answered for seconds: nothing was recorded"

Settled: TypeAlias = Callable[[Sequence[Change]], None]


class Executor(Protocol):
    """Does work in order, one piece at a time."""

    def __call__(self, work: Callable[[], object], /) -> None: ...


class Writer:
    def __init__(
        self,
        commit: Callable[[list[Change]], None],
        executor: Executor,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._commit = commit
        self._executor = executor
        self._pause = pause
        self._lock = Lock()
        self._waiting: list[Change] = []
        self._committing: list[Change] = []
        self._began = 0.0
        self._is_busy = self._is_closed = False
        self._condition = _Threads()
        self.on_settled: Settled = lambda _batch: None
        """Called in the writer's thread with each batch, once it is durable or refused."""
        self.limit_seconds: float | None = None
        """How long anybody waits for a commit; the commit itself goes on."""
        self.commits = self.failed_commits = 0
        self.commit_seconds = 0.0
        """How long the last commit took."""

    def submit(self, change: Change) -> Change:
        """Commit a change together with whatever else waits."""
        change.settled = change.settled or self._condition
        change.since, change.limit_seconds = time.monotonic(), self.limit_seconds
        with self._lock:
            if self._is_closed:
                raise StoreUnavailable(CLOSED)
            if self._committing and self._is_late(self._began):
                raise StoreUnavailable(LATE)  # before it waits: a commit may hang for an hour
            self._waiting.append(change)
            is_busy, self._is_busy = self._is_busy, True
        if not is_busy:
            self._executor(self._commit_next)
        return change

    def waiting_seconds(self) -> float:
        """Return how long the oldest change has waited for its commit."""
        with self._lock:
            since = [change.since for change in (*self._committing, *self._waiting)]
        return time.monotonic() - min(since) if since else 0.0

    def _commit_next(self) -> None:
        with self._lock:
            late = {change for change in self._waiting if self._is_late(change.since)}
            if late:  # nobody waits for these any more
                self._waiting = [change for change in self._waiting if change not in late]
            batch = self._committing = self._take()
            self._is_busy = bool(batch)
            start = self._began = time.monotonic()
        if late:
            self._refuse([*late], LATE)
        if not batch:  # it is in the batch before, or the store was closed
            return
        try:
            self._commit(batch)
        except BaseException as error:  # noqa: BLE001 - each caller raises it
            self.failed_commits += 1
            for change in batch:
                change.failure = change.failure or _copy_of(error)
        self.commit_seconds = time.monotonic() - start
        self.commits += 1
        with self._lock:
            self._committing = []
            self._is_busy = bool(self._waiting)
        self._settle(batch)
        if self._is_busy:
            if len(batch) > CROWDED_CHANGES:
                self._pause(GATHER_SECONDS)
            self._executor(self._commit_next)

    def close(self) -> None:
        """Refuse what waits and what comes; a commit that has begun goes on."""
        with self._lock:
            self._is_closed = True
            late, self._waiting = self._waiting, []
        self._refuse(late, CLOSED)

    def _is_late(self, since: float) -> bool:
        return self.limit_seconds is not None and time.monotonic() - since > self.limit_seconds

    def _refuse(self, changes: list[Change], why: str) -> None:
        for change in changes:
            change.failure = StoreUnavailable(why)
        self._settle(changes)

    def _settle(self, batch: list[Change]) -> None:
        for change in batch:
            change.is_settled = True
        with self._condition:
            self._condition.notify_all()
        self.on_settled(batch)

    def _take(self) -> list[Change]:
        """Take the next batch from what waits: one change of a game, in the order of ids."""
        batch: dict[str, Change] = {}
        later = []
        for change in self._waiting:
            if change.id in batch or len(batch) == MAX_CHANGES:
                later.append(change)
            else:
                batch[change.id] = change
        self._waiting = later
        return [batch[game] for game in sorted(batch)]


class _Threads(Condition):
    """What threads wait for; it looks settled to `on_settled`, since the writer wakes them itself."""

    def done(self) -> bool:
        return True


def _copy_of(failure: BaseException) -> Exception:
    """Return a copy for each caller: raising an error changes it."""
    if not isinstance(failure, NoughtsError):
        again: Exception = StoreUnavailable(f"the writer has failed: {failure!r}")
    else:
        again = type(failure)(*failure.args)
    again.__cause__ = failure
    return again
