"""Fair timing: one core, alternating measurements, medians."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def pin_to_one_core() -> set[int]:
    """Keep this process and its children on one core, if possible; return all cores it had."""
    if not hasattr(os, "sched_setaffinity"):
        return set()
    all_cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(all_cores)})
    return all_cores


def unpin(all_cores: set[int]) -> None:
    """Give this process and its children all cores back."""
    if all_cores:
        os.sched_setaffinity(0, all_cores)


def seconds_until(
    command: Sequence[str | os.PathLike[str]], lines: int | None = None, **options: str
) -> float:
    """Time a command to its end, or until it has printed that many lines."""
    start = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd=options.get("cwd")
    ) as process:
        assert process.stdout  # noqa: S101 - stdout is a pipe
        if lines is None:
            process.stdout.read()
            process.wait()
            return time.perf_counter() - start
        for _ in range(lines):
            process.stdout.readline()
        seconds = time.perf_counter() - start
        process.kill()
    return seconds


def in_turns(rounds: int, **measures: Callable[[], float]) -> dict[str, float]:
    """Take each measure once per round, so that load affects all alike; return the medians."""
    taken: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            taken[name].append(measure())
    return {name: statistics.median(times) for name, times in taken.items()}
