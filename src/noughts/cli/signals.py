"""Waiting that a signal always ends.

Python notes a signal and handles it between two of its own steps. One that comes after the last step
before a system call is handled only when that call is over, which may be never: a player who presses
Ctrl-C the moment the question appears would have to press it twice. So the note is also written into
a pipe, and whatever waits, waits for that pipe as well.
"""

from __future__ import annotations

import io
import os
import signal
import time
from collections.abc import Iterable
from select import POLLIN, poll
from typing import Any, BinaryIO


class Waiting:
    """The pipe that signals are noted in, and the ways to wait for it."""

    def __init__(self) -> None:
        self._notes, note = os.pipe()
        os.set_blocking(note, False)
        signal.set_wakeup_fd(note, warn_on_full_buffer=False)

    def sleep(self, seconds: float) -> None:
        """Wait so long, unless the handler of a signal raises."""
        end = time.monotonic() + seconds
        while self.wait((), seconds):
            seconds = max(0.0, end - time.monotonic())

    def reader(self, source: BinaryIO) -> BinaryIO:
        """Return the same input, read in such a way that a signal ends the wait for it."""
        return io.BufferedReader(_Input(source.fileno(), self))

    def wait(self, sources: Iterable[int], seconds: float | None = None) -> list[int]:
        """Wait for input or a signal, and return what came; the handlers of signals have run by then."""
        polling = poll()  # and not select, which knows the first 1,024 files only
        for source in (self._notes, *sources):
            polling.register(source, POLLIN)
        ready = [source for source, _ in polling.poll(None if seconds is None else 1000 * seconds)]
        if self._notes in ready:
            os.read(self._notes, 4096)
        return ready


class _Input(io.RawIOBase):
    """A file descriptor that is read only when there is something to read."""

    def __init__(self, number: int, waiting: Waiting) -> None:
        self._number = number
        self._waiting = waiting

    def readable(self) -> bool:
        """Say that it can be read, as `BufferedReader` wants to know."""
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - any writeable buffer; it has no name yet
        """Read what there is, once there is something."""
        while self._number not in self._waiting.wait([self._number]):
            pass
        return os.readv(self._number, [buffer])
