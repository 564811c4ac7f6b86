"""`make bench-web`: every figure of the web game, next to boardgame.io, in one run."""

from __future__ import annotations

import argparse
import platform
import resource
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.report import missed, report
from benchmarks.web.page import page
from benchmarks.web.processes import processes
from benchmarks.web.rounds import Bench, median, report_ratio
from benchmarks.web.servers import NO_LIMITS, Shape, disk_of, load, pinned, serving

if TYPE_CHECKING:
    from collections.abc import Callable

STREAMS = 10_000
MAX_STREAM_BYTES = 12_000
MIN_RATE_RATIO = 3.0 if platform.machine() == "x86_64" else 3.5
"""How fast Python runs compared with Node depends on the architecture."""


def rates(bench: Bench) -> None:
    """Compare accepted moves per second, with 200 matches at once."""
    shape = Shape(200, 10)
    rounds = bench.rounds(
        peer_memory=partial(bench.peer, "memory", shape),
        warm=partial(bench.ours, shape),
        peer_flatfile=partial(bench.peer, "flatfile", Shape(200, 2)),
        cold=partial(bench.ours, shape, is_cold=True),
    )
    what = "accepted moves, durable on SQLite, one core, 200 matches"
    for ours, peer, more, limit in (
        ("warm", "peer_memory", "against boardgame.io in memory", MIN_RATE_RATIO),
        ("warm", "peer_flatfile", "against boardgame.io with FlatFile", 15),
        ("cold", "peer_memory", "every game cold, against boardgame.io in memory", 2.3),
    ):
        report_ratio(f"{what}, {more}", rounds, (ours, peer), "rate", limit)


def many_matches(bench: Bench) -> None:
    """Compare accepted moves per second, with 1,000 matches at once."""
    shape = Shape(1_000, 3)
    rounds = bench.rounds(peer=partial(bench.peer, "memory", shape), ours=partial(bench.ours, shape))
    what = "accepted moves, durable on SQLite, one core, 1,000 matches, against boardgame.io in memory"
    report_ratio(what, rounds, ("ours", "peer"), "rate", 2.7)


def thought(bench: Bench) -> None:
    """Compare the latency of a move to both clients when people think; a commit needs the disk."""
    shape = Shape(200, 2, 1_000)
    rounds = bench.rounds(
        peer=partial(bench.peer, "memory", shape), ours=partial(bench.ours, shape), disk=bench.disk
    )
    disk = median(rounds["disk"], "p99")
    is_fast = bool(rounds.get("peer")) and disk < median(rounds["peer"], "p99") / 6
    what = "p99 of move → both clients, 200 matches with a second of thought"
    what += f" (of a commit on this disk: {disk * 1e3:.2f} ms)"
    limit = 1 / 3 if is_fast else 1 / 2
    report_ratio(f"{what}, against boardgame.io in memory", rounds, ("ours", "peer"), "p99", limit)


def memory(bench: Bench) -> None:
    """Compare the memory of a pair that connects and plays a game."""
    shape = Shape(200, 1)
    rounds = bench.rounds(
        peer=partial(bench.peer, "memory", shape), ours=partial(bench.ours, shape, is_cold=True)
    )
    what = "memory for a connected pair"
    for key, more in (("pair", "that has played a game"), ("idle_pair", "that has not played yet")):
        limit = 1 / 3 if key == "pair" else None
        report_ratio(
            f"{what} {more}, against boardgame.io in memory", rounds, ("ours", "peer"), key, limit
        )


def idle_streams(bench: Bench) -> None:
    """Report the memory of many idle streams on one process."""
    with tempfile.TemporaryDirectory(dir=bench.folder) as folder:
        command = pinned(0, bench.command(f"sqlite:{folder}/games"))
        plan = f"{folder}/plan"
        with serving(command, bench.log, **NO_LIMITS) as server:
            load("load", "create", server.port, plan, STREAMS // 2, 1)
        with serving(command, bench.log, **NO_LIMITS) as server:
            figures = load("streams", server.port, plan, server.pid)
    size = max(figures["stream"], figures["kept"])
    figure = f"{size / 1e3:.1f} kB each ({figures['opened']:,.0f} opened a second)"
    report(
        f"{figures['streams']:,.0f} idle streams on one process",
        figure,
        f"≤ {MAX_STREAM_BYTES // 1000} kB each",
        reached=size <= MAX_STREAM_BYTES,
    )


PARTS: dict[str, Callable[[Bench], None]] = {
    "rates": rates,
    "matches": many_matches,
    "thought": thought,
    "memory": memory,
    "streams": idle_streams,
    "processes": processes,
    "page": page,
}


def main() -> int:
    """Measure everything; exit with 1 if a target was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--noughts", required=True, help="the command that serves")
    parser.add_argument(
        "--peer", required=True, type=Path, help="the folder boardgame.io is installed in"
    )
    parser.add_argument("--folder", required=True, type=Path, help="where the games are stored")
    parser.add_argument(
        "parts", nargs="*", choices=[[], *PARTS], help="what to measure; all of it by default"
    )
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # each stream is a file, on both sides
    options.folder.mkdir(parents=True, exist_ok=True)
    disk = disk_of(options.folder)
    bench = Bench(options.noughts, options.peer.resolve(), options.folder)

    print(f"Python {sys.version.split()[0]}; games on {disk}", end="")
    print(" (in memory: nothing here is durable)" if disk in {"tmpfs", "ramfs"} else "", end="\n\n")
    print("| what | figure | reach | |\n| --- | --- | --- | --- |")
    for part in options.parts or PARTS:
        PARTS[part](bench)
    bench.print_runs()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
