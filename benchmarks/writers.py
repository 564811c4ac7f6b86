"""Threads that append events for some seconds."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def append_rate(append: Callable[[int, int], None], writers: int, seconds: float) -> float:
    """Return the appends per second; `append` gets the writer and its count so far."""
    counts = [0] * writers
    begin = threading.Barrier(writers + 1)

    def write(writer: int) -> None:
        begin.wait()
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            append(writer, counts[writer])
            counts[writer] += 1

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(writers)]
    for thread in threads:
        thread.start()
    begin.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - start)
