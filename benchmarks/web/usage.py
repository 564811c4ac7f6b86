"""CPU and memory of a server and its child processes, from /proc."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Usage(NamedTuple):
    """CPU seconds, and resident bytes."""

    cpu: float
    memory: int


def usage(pid: int) -> Usage:
    """Return the usage of a process and its descendants that are still running."""
    processes = {int(path.name): _fields(path) for path in Path("/proc").glob("[0-9]*")}
    family, found = {pid}, 0
    while found < len(family):
        found = len(family)
        family |= {one for one, fields in processes.items() if fields and int(fields[1]) in family}
    ours = [fields for one in family if (fields := processes.get(one))]
    return Usage(
        sum(int(fields[11]) + int(fields[12]) for fields in ours) / _TICKS,
        sum(int(fields[21]) for fields in ours) * _PAGE,
    )


def _fields(process: Path) -> list[str]:
    """Return the fields after a process's name: its state, its parent and so on."""
    try:
        return (process / "stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return []  # it has ended
