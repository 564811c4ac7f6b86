"""What differs between operating systems: threads and signals, locks, syncing folders."""

from __future__ import annotations

import os
from collections.abc import Callable
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
from pathlib import Path
from queue import SimpleQueue
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


def sync_folder(folder: Path) -> None:
    """Sync a folder's entries to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def lock(descriptor: int, *, is_shared: bool = False) -> bool:
    """Lock an open file until it is closed; return False if another process has locked it."""
    try:
        flock(descriptor, (LOCK_SH if is_shared else LOCK_EX) | LOCK_NB)
    except BlockingIOError:
        return False
    return True


class FileLock:
    """A lock on a file, shared or not; it ends with the process, whatever happens to that."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def take(self, *, is_shared: bool) -> bool:
        """Take the lock, or change what was taken; return False if another process has it."""
        if self._descriptor is None:
            # To read the file is enough to lock it: users may share a store through a group.
            self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        if lock(self._descriptor, is_shared=is_shared):
            return True
        self.release()
        return False

    def release(self) -> None:
        """Give the lock back, if it was taken."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class Worker:
    """A thread that does work in order; it starts with the first piece of work.

    It is a daemon: a process that ends doesn't wait for a database.
    """

    def __init__(self, name: str) -> None:
        self._queue: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name=name, daemon=True)
        self._is_started = False

    def __call__(self, work: Callable[[], object]) -> None:
        """Do this after everything that was asked for before."""
        self._queue.put(work)
        if not self._is_started:
            self._is_started = True
            start_thread(self._thread)

    def close(self, timeout: float | None = None) -> None:
        """Wait until everything is done, and end the thread."""
        self._queue.put(None)
        if self._thread.ident is not None:  # a signal may have come just before its start
            self._thread.join(timeout)

    def _work(self) -> None:
        while work := self._queue.get():
            work()
            del work  # what it refers to may be large
