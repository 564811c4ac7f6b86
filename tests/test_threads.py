"""Threads start whole, whatever signal arrives meanwhile."""

from __future__ import annotations

import signal
from threading import Event, Thread

import pytest

from noughts.threads import start_thread


class InterruptedThread(Thread):
    def start(self) -> None:
        signal.raise_signal(signal.SIGINT)
        super().start()


def test_ctrl_c_waits_until_a_thread_has_started() -> None:
    has_run = Event()
    thread = InterruptedThread(target=has_run.set)

    with pytest.raises(KeyboardInterrupt):
        start_thread(thread)

    thread.join()
    assert has_run.is_set()
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, ())
