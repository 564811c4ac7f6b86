"""Waiting for changes: wake-ups, and reading on from where the last read ended.

A wake-up only names what may have changed; the data is always read from the store. So a lost wake-up
delays a watcher, but it misses nothing, and a needless one shows nothing twice.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from threading import Condition, Lock
from typing import Any, Self, TypeAlias
from weakref import WeakSet

from noughts.store.records import Record

Read: TypeAlias = Callable[[Any], tuple[tuple[Record, ...], Any]]
"""Returns the records after a place, and the place after them."""

ANYTHING = None
"""In place of names: anything may have changed."""


class Wakeups:
    def __init__(self) -> None:
        self.are_wanted = False
        """Whether anybody has ever subscribed."""
        self._subscriptions: WeakSet[Subscription] = WeakSet()
        self._lock = Lock()

    def subscribe(self, name: str | None = None, *, only_others: bool = False) -> Subscription:
        """Subscribe to changes of one name or of all; `only_others` leaves out those made here."""
        subscription = Subscription(name, only_others=only_others)
        with self._lock:
            self._subscriptions.add(subscription)
            self.are_wanted = True
        return subscription

    def notify(self, names: Iterable[str] | None, *, is_own: bool) -> None:
        changed = ANYTHING if names is ANYTHING else set(names)
        with self._lock:
            subscriptions = tuple(self._subscriptions)
        for subscription in subscriptions:
            if not (is_own and subscription.only_others):
                subscription.notify(changed)


class Subscription:
    """Collects changes between two calls of `wait`."""

    def __init__(self, name: str | None = None, *, only_others: bool = False) -> None:
        self.only_others = only_others
        self._name = name
        self._changed: set[str] | None = set()
        self._arrival = Condition()

    def notify(self, names: set[str] | None) -> None:
        if names is not ANYTHING and self._name is not None and self._name not in names:
            return
        with self._arrival:
            if names is ANYTHING or self._changed is ANYTHING:
                self._changed = ANYTHING
            else:
                self._changed |= names
            self._arrival.notify_all()

    def wait(self, timeout: float | None = None) -> set[str] | None:
        """Return the names of what has changed; none when the time is up, None for anything."""
        with self._arrival:
            self._arrival.wait_for(lambda: self._changed != set(), timeout)
            changed, self._changed = self._changed, set()
            return changed


class Watch:
    """The records of a game, or of all games, as they are recorded.

    Iterate to wait for each, or call `wait` with a time limit. After a failure of the store the watch
    goes on where it was.
    """

    def __init__(self, read: Read, after: int | str, subscription: Subscription) -> None:
        self._read = read
        self._after = after
        self._subscription = subscription
        self._unread: deque[Record] = deque()
        self._is_closed = False

    def __repr__(self) -> str:
        return f"<Watch after {self._after!r}>"

    def wait(self, timeout: float | None = None) -> tuple[Record, ...]:
        """Return new records as soon as there are some; none when the time is up."""
        self._read_on(timeout)
        found = tuple(self._unread)
        self._unread.clear()
        return found

    def _read_on(self, timeout: float | None) -> None:
        end = None if timeout is None else time.monotonic() + timeout
        while not self._unread and not self._is_closed:
            found, self._after = self._read(self._after)
            self._unread.extend(found)
            left = None if end is None else end - time.monotonic()
            if found or (left is not None and left <= 0):
                return
            self._subscription.wait(left)

    def close(self) -> None:
        """End the watch; a waiting thread returns with nothing."""
        self._is_closed = True
        self._subscription.notify(ANYTHING)

    def __iter__(self) -> Iterator[Record]:
        while True:
            self._read_on(None)
            if not self._unread:
                return
            yield self._unread.popleft()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
