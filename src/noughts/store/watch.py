"""Waiting for a game to go on.

A wake-up says nothing: the game is always read. So a lost one delays a watcher, but it misses nothing,
and a needless one shows nothing twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from threading import Event
from typing import Self

from noughts.core.errors import quoted
from noughts.store.errors import CorruptStore, NoSuchGame
from noughts.store.rows import Entry, StoredGame

POLL_SECONDS = 2.0
"""How often a watcher compares hashes anyway."""


class Watch:
    """What the record of a game gains, as it is recorded.

    Iterate to wait for each entry, or call `wait` with a time limit. A deleted game raises `NoSuchGame`.
    After a failure of the store the watch continues where it was.
    """

    def __init__(
        self,
        game: str,
        after: int,
        read: Callable[[str], StoredGame | None],
        hash_of: Callable[[str], bytes | None],
    ) -> None:
        self._id = game
        self._after = after
        self._read = read
        self._hash_of = hash_of
        self._seen: StoredGame | None = None
        self._wakeup = Event()
        self._is_closed = False

    def __repr__(self) -> str:
        return f"<Watch of game {self._id} after {self._after}>"

    @property
    def game(self) -> str:
        return self._id

    def wake(self) -> None:
        self._wakeup.set()

    def wait(self, timeout: float | None = None) -> tuple[Entry, ...]:
        """Return new entries as soon as there are some; none when the time is up."""
        end = None if timeout is None else time.monotonic() + timeout
        while not self._is_closed:
            self._wakeup.clear()
            if found := self._new():
                return found
            left = POLL_SECONDS if end is None else min(POLL_SECONDS, end - time.monotonic())
            if left <= 0:
                break
            self._wakeup.wait(left)
        return ()

    def _new(self) -> tuple[Entry, ...]:
        before = self._seen
        if before and self._hash_of(self._id) == before.hash:
            return ()
        now = self._read(self._id)
        if now is None and before is None:
            return ()
        if now and now.is_deleted:
            raise NoSuchGame(f"game {self._id} was deleted")
        if now is None or (before and not now.record.startswith(before.record)):
            raise CorruptStore(f"game {quoted(self._id)} is not what it was: the store went back")
        self._seen = now
        found = tuple(entry for entry in now.entries if entry.next_version > self._after)
        self._after = max(self._after, now.version)
        return found

    def close(self) -> None:
        """End the watch; a waiting thread returns with nothing."""
        self._is_closed = True
        self.wake()

    def __iter__(self) -> Iterator[Entry]:
        while not self._is_closed:
            yield from self.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
