"""Threads start whole, whatever signal arrives meanwhile."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from threading import Event, Thread

import pytest

from noughts.system import start_thread


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


def test_ctrl_c_just_before_leaves_no_signal_blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    set_mask = signal.pthread_sigmask

    def interrupted(how: int, signals: Iterable[int]) -> set[int]:
        before = set_mask(how, signals)
        if how == signal.SIG_BLOCK and signals:
            raise KeyboardInterrupt
        return before

    monkeypatch.setattr("noughts.system.pthread_sigmask", interrupted)
    with pytest.raises(KeyboardInterrupt):
        start_thread(Thread())

    assert not set_mask(signal.SIG_BLOCK, ())
