"""How the server grows with its processes, on a machine with many cores: python -m benchmarks.web.cores.

Processes share one PostgreSQL: on one port (`uvicorn --workers`), or one port each, with every game sent
to one of them. The load is as many processes as it takes. Prints moves a second, and the ratios to one
process; medians of three rounds.
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
from typing import TYPE_CHECKING

from benchmarks.stores import postgres
from benchmarks.web.servers import ROOT, load, sharing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.web.servers import Serving

MATCHES, GAMES, ROUNDS, LOADS = 200, 12, 3, 4
AIMS = {"2 processes, one port": 1.3, "8 processes, one port": 4.0, "8 processes, routed by game": 5.0}


def measure(url: str, processes: int, folder: Path, *, is_routed: bool) -> float:
    """Return the moves a second of so many processes."""
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
        return sum(_play(plans))


def _play(plans: Sequence[tuple[Serving, Path]]) -> list[float]:
    command = sys.executable, "-m", "benchmarks.web.load", "play"
    running = [
        subprocess.Popen(
            [*command, f"{server.port}", f"{plan}", f"{server.pid}", "0", "0"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for server, plan in plans
    ]
    return [float(json.loads(one.communicate()[0])["rate"]) for one in running]


def main() -> None:
    """Measure one, two and eight processes in turn."""
    shapes = {
        "1 process": (1, False),
        "2 processes, one port": (2, False),
        "8 processes, one port": (8, False),
        "8 processes, routed by game": (8, True),
    }
    found: dict[str, list[float]] = {name: [] for name in shapes}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, postgres() as database:
        url = database("noughts")
        for _ in range(ROUNDS):
            for name, (processes, is_routed) in shapes.items():
                found[name].append(measure(url, processes, Path(folder), is_routed=is_routed))
    one = statistics.median(found["1 process"])
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    for name, rates in found.items():
        ratio, aim = statistics.median(rates) / one, AIMS.get(name)
        reach = f" (aim: {aim} ×)" if aim else ""
        print(f"{name}: {statistics.median(rates):,.0f} moves a second, {ratio:.2f} ×{reach}")


if __name__ == "__main__":
    main()
