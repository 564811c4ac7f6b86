"""Group commit: those who come while a commit is under way share the next one.

One writer writes at a time, and that is the first of those who wait, for all of them. A thread of its
own would do the same, and cost each lone writer two changes of threads
(docs/notes/2026-11-15-the-first-who-waits-writes.md).
"""

from __future__ import annotations

from itertools import takewhile
from threading import Lock

from noughts.core.errors import StoreUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from noughts.store.ledger import Append


class Group:
    """The queue before a store's one door for writing."""

    def __init__(self, commit: Callable[[Sequence[Append]], None]) -> None:
        self._commit = commit
        self._waiting: list[_Ticket] = []
        self._writing = False
        self._lock = Lock()

    def record(self, appends: Sequence[Append], *, alone: bool = False) -> None:
        """Return when the appends are judged, and durable where they were taken; raise if that failed.

        What is to be recorded alone shares its commit with nobody.
        """
        ticket = None
        with self._lock:
            if self._writing:
                ticket = _Ticket(appends, alone)
                self._waiting.append(ticket)
            self._writing = True
        if ticket is None:
            try:
                self._commit(appends)
            finally:
                self._hand_over()
            return
        try:
            ticket.turn.acquire()
        except BaseException:  # Ctrl-C, while waiting
            self._leave(ticket)
            raise
        if not ticket.is_settled:
            self._lead()
        if ticket.failure:
            raise ticket.failure

    def _lead(self) -> None:
        """Write for all who wait, the first of whom is this thread, and tell the others."""
        with self._lock:
            group = [self._waiting[0], *takewhile(lambda ticket: not ticket.alone, self._waiting[1:])]
            if group[0].alone:
                del group[1:]
            del self._waiting[: len(group)]
        failure: Exception | None = StoreUnavailable("the writer was interrupted: try again")
        try:
            self._commit([append for ticket in group for append in ticket.appends])
            failure = None
        except Exception as error:  # noqa: BLE001 - it is raised by each of those it concerns
            failure = error
        finally:
            for ticket in group:
                ticket.is_settled = True
                ticket.failure = failure and _again(failure)
                ticket.turn.release()
            self._hand_over()

    def _hand_over(self) -> None:
        """Let the first of those who have come since write next."""
        with self._lock:
            following = self._waiting[0] if self._waiting else None
            self._writing = following is not None
            if following:
                following.leads = True
        if following:
            following.turn.release()

    def _leave(self, ticket: _Ticket) -> None:
        """Leave the queue; whoever was to lead hands that over."""
        with self._lock:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
        if ticket.leads:
            self._hand_over()


class _Ticket:
    """A place in the queue: its turn comes when it is settled, or when it is to lead."""

    __slots__ = ("alone", "appends", "failure", "is_settled", "leads", "turn")

    def __init__(self, appends: Sequence[Append], alone: bool) -> None:  # noqa: FBT001 - made in one place
        self.appends = appends
        self.alone = alone
        self.failure: Exception | None = None
        self.is_settled = False
        self.leads = False
        self.turn = Lock()
        self.turn.acquire()


def _again(failure: Exception) -> Exception:
    """Return an error of its own for each thread: raising one changes it."""
    again = type(failure)(*failure.args)
    again.__cause__ = failure
    return again
