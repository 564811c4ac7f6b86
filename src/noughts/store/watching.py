"""Waiting for what is recorded next: a bell that is rung, and a place in the record to read on from.

The bell only wakes: what is new is always read from the store, from where the last reading ended. So
nothing is missed if the bell was not heard, and nothing is told twice if it rings for no reason.
"""

from __future__ import annotations

import time
from collections import deque
from threading import Condition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from noughts.store.chain import Recorded


class Bell:
    """Rung when something was recorded, or may have been."""

    def __init__(self) -> None:
        self._rung = object()
        self._waiting = 0
        self._heard = Condition()

    @property
    def rung(self) -> object:
        """The last time it was rung: ask before you read, and wait for the next."""
        return self._rung

    def ring(self) -> None:
        """Wake all who wait."""
        self._rung = object()
        if self._waiting:  # nearly always nobody does
            with self._heard:
                self._heard.notify_all()

    def wait(self, rung: object, timeout: float | None = None) -> None:
        """Return when it was rung after that time, or when the time is over."""
        with self._heard:
            self._waiting += 1
            try:
                self._heard.wait_for(lambda: self._rung is not rung, timeout)
            finally:
                self._waiting -= 1


class Watch:
    """The events of a game, or of all games, from a place on, as they are recorded.

    Iterate over it, and it waits for each; or ask it to `wait`, for so long and no longer. After a
    failure of the store it can be asked again, and goes on where it was.
    """

    def __init__(
        self,
        read: Callable[[int], tuple[Recorded, ...]],
        place: Callable[[Recorded], int],
        after: int,
        bell: Bell,
    ) -> None:
        self._read = read
        self._place = place
        self._after = after
        self._bell = bell
        self._unread: deque[Recorded] = deque()
        self._is_closed = False

    def wait(self, timeout: float | None = None) -> tuple[Recorded, ...]:
        """Return what is new as soon as there is something; nothing once the time is over."""
        self._read_on(timeout)
        found = tuple(self._unread)
        if found:
            self._after = self._place(found[-1])
            self._unread.clear()
        return found

    def _read_on(self, timeout: float | None) -> None:
        """Read what is new, unless something is left from the last time."""
        end = None if timeout is None else time.monotonic() + timeout
        while not self._unread:
            rung = self._bell.rung  # before anything is looked at: what comes after it will ring again
            if self._is_closed:
                return
            self._unread.extend(self._read(self._after))
            left = None if end is None else end - time.monotonic()
            if self._unread or (left is not None and left <= 0):
                return
            self._bell.wait(rung, left)

    def close(self) -> None:
        """End the watch; whoever waits is told at once that there is no more."""
        self._is_closed = True
        self._bell.ring()

    def __iter__(self) -> Iterator[Recorded]:
        while True:
            self._read_on(None)
            if not self._unread:
                return
            record = self._unread.popleft()
            self._after = self._place(record)
            yield record

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
