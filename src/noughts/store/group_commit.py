"""Group commit: writers that arrive during a commit share the next one.

The first waiting writer commits for all of them: a separate thread would cost a lone writer two
context switches (docs/notes/2026-11-15-the-first-who-waits-writes.md). After a commit each writer wakes
the next one as it leaves, and the last one passes on the lead: woken together, they would queue again
for Python's own lock.

Ctrl-C may arrive at any moment in the main thread. An interrupted writer leaves the queue and passes on
the lead. The other writers of its commit stay queued, and what was committed is found by its key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from threading import Lock
from typing import Any, TypeAlias

Commit: TypeAlias = Callable[[Sequence[Any]], None]

RECHECK_SECONDS = 0.1
"""How long a writer waits before it checks by itself: an interrupted leader may not wake it."""


class GroupCommit:
    def __init__(self, commit: Commit) -> None:
        self._commit = commit
        self._lock = Lock()
        self._waiting: list[_Ticket] = []
        self._leader: _Ticket | None = None

    def record(self, items: Sequence[Any], *, alone: Commit | None = None) -> None:
        """Return when the items are judged, and durable if accepted; raise if the commit failed.

        With `alone`, that function commits the items, without those of other writers.
        """
        ticket = _Ticket(items, alone)
        try:
            if self._take_lead(ticket):
                (alone or self._commit)(items)
                return
            while not ticket.is_settled:
                if self._leader is ticket:
                    self._lead()
                elif ticket.turn:
                    ticket.turn.acquire(timeout=RECHECK_SECONDS)
        finally:
            # Inline and not a function: a call is where an interrupt is delivered.
            interrupted = None
            while True:
                try:
                    if not ticket.is_settled or self._leader is ticket:  # in this order: see _lead
                        self._leave(ticket)
                    if ticket.next:
                        ticket.next.wake()
                    break
                except BaseException as error:  # noqa: BLE001 - raised below
                    interrupted = error
            if interrupted:
                raise interrupted
        if ticket.failure:
            raise _copy_of(ticket.failure)

    def _take_lead(self, ticket: _Ticket) -> bool:
        """Lead if nobody else does; otherwise join the queue."""
        with self._lock:
            if self._leader is None:
                self._leader = ticket
                return True
            ticket.turn = Lock()
            ticket.turn.acquire()
            self._waiting.append(ticket)
            return False

    def _lead(self) -> None:
        """Commit for all waiting writers; the last to leave passes on the lead."""
        with self._lock:
            group = self._next_group()
        failure = None
        try:
            commit = group[0].alone or self._commit
            commit([item for ticket in group for item in ticket.items])
        except Exception as error:  # noqa: BLE001 - each writer it concerns raises it
            failure = error
        with self._lock:
            there = set(self._waiting)  # interrupted writers have left
            leaving = [ticket for ticket in group if ticket in there]
            for ticket, following in pairwise(leaving):
                ticket.next = following
            self._leader = leaving[-1]
            for ticket in group:  # last: a writer that finds itself settled leaves at once
                ticket.failure = failure
                ticket.is_settled = True
            self._waiting = [ticket for ticket in self._waiting if not ticket.is_settled]

    def _next_group(self) -> list[_Ticket]:
        waiting = [ticket for ticket in self._waiting if not ticket.is_settled]
        if waiting[0].alone:
            return waiting[:1]
        return waiting[: next((at for at, ticket in enumerate(waiting) if ticket.alone), None)]

    def _leave(self, ticket: _Ticket) -> None:
        with self._lock:
            leads = self._leader is ticket
            if self._waiting and (leads or not ticket.is_settled):
                self._waiting = [one for one in self._waiting if one is not ticket and not one.is_settled]
            if leads:
                self._leader = self._waiting[0] if self._waiting else None
            following = self._leader
        if following and not following.was_woken:
            following.wake()


class _Ticket:
    __slots__ = ("alone", "failure", "is_settled", "items", "next", "turn", "was_woken")

    def __init__(self, items: Sequence[Any], alone: Commit | None) -> None:
        self.items = items
        self.alone = alone
        self.failure: Exception | None = None
        self.is_settled = False
        self.next: _Ticket | None = None
        self.was_woken = False
        self.turn: Lock | None = None

    def wake(self) -> None:
        self.was_woken = True
        if self.turn:
            try:  # noqa: SIM105 - this runs once for every waiting writer, and suppress is slow
                self.turn.release()
            except RuntimeError:
                pass  # already woken


def _copy_of(failure: Exception) -> Exception:
    """Return a copy for each thread: raising an error changes it."""
    try:
        again = type(failure)(*failure.args)
    except Exception:  # noqa: BLE001 - any class's constructor may fail
        return failure
    again.__cause__ = failure
    return again
