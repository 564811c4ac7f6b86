"""How the server grows with its processes, on a machine with many cores: python -m benchmarks.web.cores.

Processes share one PostgreSQL: on one port (`uvicorn --workers`), or one port each, with every game sent
to one of them. The load is as many processes as it takes. Prints moves a second, the ratios to one
process, and how many cores the servers, the database and the load took: medians of three rounds.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.stores import postgres
from benchmarks.web.processes import postmaster
from benchmarks.web.servers import ROOT, load, sharing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.web.servers import Serving

MATCHES, GAMES, ROUNDS, LOADS = 200, 12, 3, 4
AIMS = {"2 processes, one port": 1.3, "8 processes, one port": 4.0, "8 processes, routed by game": 5.0}


class Measured(NamedTuple):
    """Moves a second, and the cores in use meanwhile."""

    rate: float
    servers: float
    database: float
    loads: float


def measure(url: str, processes: int, folder: Path, *, is_routed: bool) -> Measured:
    """Play with so many processes."""
    log = folder / "servers.log"
    with ExitStack() as stack:
        ports, workers = (processes, 1) if is_routed else (1, processes)
        servers = [stack.enter_context(sharing(url, workers, log)) for _ in range(ports)]
        share = max(1, LOADS // ports)
        plans = []
        for server in servers:
            for number in range(share):
                plan = folder / f"plan-{server.port}-{number}"
                load("load", "create", server.port, plan, MATCHES // (ports * share), GAMES, pin=False)
                plans.append((server, plan))
        return _play(plans, share, postmaster(url))


def _play(plans: Sequence[tuple[Serving, Path]], share: int, database: int) -> Measured:
    command = sys.executable, "-m", "benchmarks.web.load", "play"
    running = [
        subprocess.Popen(
            [*command, f"{server.port}", f"{plan}", f"{server.pid}", "0", f"{database}"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for server, plan in plans
    ]
    figures = [json.loads(one.communicate()[0]) for one in running]
    rate, servers, loads = (sum(one[key] for one in figures) for key in ("rate", "server", "client"))
    return Measured(rate, servers / share, max(one["database"] for one in figures), loads)


def main() -> None:
    """Measure one, two and eight processes in turn."""
    shapes = {
        "1 process": (1, False),
        "2 processes, one port": (2, False),
        "8 processes, one port": (8, False),
        "8 processes, routed by game": (8, True),
    }
    found: dict[str, list[Measured]] = {name: [] for name in shapes}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, postgres() as database:
        url = database("noughts")
        for _ in range(ROUNDS):
            for name, (processes, is_routed) in shapes.items():
                found[name].append(measure(url, processes, Path(folder), is_routed=is_routed))
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    one = statistics.median(run.rate for run in found["1 process"])
    for name, runs in found.items():
        rate, *cores = map(statistics.median, zip(*runs, strict=True))
        aim = f" (aim: {AIMS[name]} ×)" if name in AIMS else ""
        busy = " + ".join(f"{number:.1f}" for number in cores)
        print(f"{name}: {rate:,.0f} moves a second, {rate / one:.2f} ×{aim}; cores {busy}")


if __name__ == "__main__":
    main()
