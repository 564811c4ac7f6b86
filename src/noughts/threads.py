"""Threads whose start no signal interrupts."""

from __future__ import annotations

from signal import SIG_BLOCK, SIG_SETMASK, SIGHUP, SIGINT, SIGTERM, pthread_sigmask
from threading import Thread


def start_thread(thread: Thread) -> None:
    """Start a thread; a signal whose handler raises waits until the thread has started.

    The thread itself, and what it starts, leaves those signals to the others.
    """
    before = pthread_sigmask(SIG_BLOCK, ())
    try:
        pthread_sigmask(SIG_BLOCK, (SIGHUP, SIGINT, SIGTERM))  # raises if a signal has just come
        thread.start()
    finally:
        pthread_sigmask(SIG_SETMASK, before)
