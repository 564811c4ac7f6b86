"""Group commit: those who come while a commit is under way share the next one.

One writer writes at a time, and that is the first of those who wait, for all of them. A thread of its
own would do the same, and cost each lone writer two changes of threads
(docs/notes/2026-11-15-the-first-who-waits-writes.md).

Ctrl-C may come at any moment, in the one thread that hears it. Whoever is interrupted leaves the queue
and hands on what was theirs to do; those whose commit was interrupted are still in the queue, and what
was committed of theirs already is found by its key.
"""

from __future__ import annotations

from threading import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias, TypeVar

    Work = TypeVar("Work")
    Commit: TypeAlias = Callable[[Sequence[Any]], None]

A_WHILE = 0.1
"""How long to wait before looking for oneself, in seconds: who was interrupted may not have called."""


class Group:
    """The queue before a store's one door for writing."""

    def __init__(self, commit: Commit) -> None:
        self._commit = commit
        self._lock = Lock()
        self._waiting: list[_Ticket] = []
        self._leader: _Ticket | None = None

    def record(
        self,
        appends: Sequence[Work],
        *,
        alone: bool = False,
        commit: Callable[[Sequence[Work]], None] | None = None,
    ) -> None:
        """Return when the appends are judged, and durable where they were taken; raise if that failed.

        What is to be recorded alone shares its commit with nobody, and what is to be committed in
        another way than usual shares it with those that are committed in the same way.
        """
        ticket = _Ticket(appends, alone, commit or self._commit)
        try:
            if self._is_alone(ticket):
                ticket.commit(appends)
                return
            while not ticket.is_settled:
                if self._leader is ticket:
                    self._lead()
                elif ticket.turn:
                    ticket.turn.acquire(timeout=A_WHILE)
        finally:
            # It stands here and not in a function of its own: a call is where an interrupt comes in.
            interrupted = None
            while self._leader is ticket or not ticket.is_settled:
                try:
                    self._leave(ticket)
                    break
                except BaseException as error:  # noqa: BLE001 - it is raised below
                    interrupted = error
            if interrupted:
                raise interrupted
        if ticket.failure:
            raise _again(ticket.failure)

    def _is_alone(self, ticket: _Ticket) -> bool:
        """Take the lead where nobody is before us; otherwise wait in the queue."""
        with self._lock:
            if self._leader is None:
                self._leader = ticket
                return True
            ticket.wait_for_turn()
            self._waiting.append(ticket)
            return False

    def _lead(self) -> None:
        """Write for all who wait, and tell them; after an interrupt, those who are not told wait on."""
        with self._lock:
            group = self._next_group()
        failure = None
        try:
            if group:
                group[0].commit([append for ticket in group for append in ticket.appends])
        except Exception as error:  # noqa: BLE001 - it is raised by each of those it concerns
            failure = error
        with self._lock:
            for ticket in group:
                ticket.failure = failure
                ticket.is_settled = True
        for ticket in group:
            ticket.call()

    def _next_group(self) -> list[_Ticket]:
        waiting = [ticket for ticket in self._waiting if not ticket.is_settled]
        if not waiting or waiting[0].alone:
            return waiting[:1]
        group = []
        for ticket in waiting:
            if ticket.alone:
                break
            if ticket.commit == waiting[0].commit:
                group.append(ticket)
        return group

    def _leave(self, ticket: _Ticket) -> None:
        """Leave the queue, however it went; if that was the leader, let the first who waits lead."""
        with self._lock:
            leads = self._leader is ticket
            if self._waiting and (leads or not ticket.is_settled):
                self._waiting = [one for one in self._waiting if one is not ticket and not one.is_settled]
            if leads:
                self._leader = self._waiting[0] if self._waiting else None
            following = self._leader
        if following and not following.was_called:
            following.call()


class _Ticket:
    """A place in the queue: its turn comes when it is settled, or when it is to lead."""

    __slots__ = ("alone", "appends", "commit", "failure", "is_settled", "turn", "was_called")

    def __init__(self, appends: Sequence[Any], alone: bool, commit: Commit) -> None:  # noqa: FBT001 - made in one place
        self.appends = appends
        self.alone = alone
        self.commit = commit
        self.failure: Exception | None = None
        self.is_settled = False
        self.was_called = False
        self.turn: Lock | None = None

    def wait_for_turn(self) -> None:
        """Make ready to be called."""
        self.turn = Lock()
        self.turn.acquire()

    def call(self) -> None:
        """Wake whoever holds the ticket."""
        self.was_called = True
        if self.turn:
            try:  # noqa: SIM105 - it is done for each who waits, while nothing else is, and suppress is slow
                self.turn.release()
            except RuntimeError:
                pass  # it was called before


def _again(failure: Exception) -> Exception:
    """Return an error of its own for each thread: raising one changes it."""
    try:
        again = type(failure)(*failure.args)
    except Exception:  # noqa: BLE001 - somebody else's error, that cannot be made again
        return failure
    again.__cause__ = failure
    return again
