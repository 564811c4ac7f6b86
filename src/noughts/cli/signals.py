"""Waiting that a signal always ends.

Python runs the handler of a signal between two of its own steps. If the signal comes just before a system
call that blocks, the handler waits for that call, maybe forever: a player who presses Ctrl-C the moment
the question appears would have to press it twice. So Python also writes each signal into a pipe, and
every wait includes that pipe.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from select import POLLIN, poll


class Poller:
    """Waits for input, time and signals."""

    def __init__(self) -> None:
        self._signals, write_end = os.pipe()
        os.set_blocking(write_end, False)
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)

    def sleep(self, seconds: float) -> None:
        """Wait, unless a signal handler raises."""
        end = time.monotonic() + seconds
        while self.wait((), seconds):
            seconds = max(0.0, end - time.monotonic())

    def wait(self, sources: Iterable[int], seconds: float | None = None) -> list[int]:
        """Wait for input or a signal, and return what is ready; signal handlers have run by then."""
        polling = poll()  # select can only wait for the first 1,024 file descriptors
        for source in (self._signals, *sources):
            polling.register(source, POLLIN)
        ready = [source for source, _ in polling.poll(None if seconds is None else 1000 * seconds)]
        if self._signals in ready:
            os.read(self._signals, 4096)
        return ready
