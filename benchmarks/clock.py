"""Fair timing: one core, things to compare taken in turns, medians."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def pin_to_one_core() -> set[int]:
    """Keep this process and its children on one core, where the system lets us; return all there were."""
    if not hasattr(os, "sched_setaffinity"):
        return set()
    everywhere = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(everywhere)})
    return everywhere


def unpin(everywhere: set[int]) -> None:
    """Let this process and its children run where they could before."""
    if everywhere:
        os.sched_setaffinity(0, everywhere)


def seconds_until(
    command: Sequence[str | os.PathLike[str]], lines: int | None = None, **options: str
) -> float:
    """Time a command from its start to its end, or until it has printed so many lines."""
    start = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd=options.get("cwd")
    ) as process:
        assert process.stdout  # noqa: S101 - it was asked for above
        if lines is None:
            process.stdout.read()
            process.wait()
            return time.perf_counter() - start
        for _ in range(lines):
            process.stdout.readline()
        took = time.perf_counter() - start
        process.kill()
    return took


def in_turns(rounds: int, **measures: Callable[[], float]) -> dict[str, float]:
    """Take each measure once a round, so that a busy moment hits all alike; return the medians."""
    taken: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            taken[name].append(measure())
    return {name: statistics.median(times) for name, times in taken.items()}
