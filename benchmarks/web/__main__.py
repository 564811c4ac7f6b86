"""`make bench-web`: every figure of the web game, next to boardgame.io, in one run."""

from __future__ import annotations

import argparse
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
MAX_STREAM_BYTES = 25_000


def rates(bench: Bench) -> None:
    """Compare accepted moves per second, with 200 matches at once, and the latency at that load."""
    shape = Shape(200, 10)
    rounds = bench.rounds(
        peer_memory=partial(bench.peer, "memory", shape),
        warm=partial(bench.ours, shape),
        peer_flatfile=partial(bench.peer, "flatfile", Shape(200, 2)),
        cold=partial(bench.ours, shape, is_cold=True),
    )
    what = "accepted moves, durable on SQLite, one core, 200 matches"
    memory, files = "against boardgame.io in memory", "against boardgame.io with FlatFile"
    report_ratio(f"{what}, {memory}", rounds, ("warm", "peer_memory"), "rate", 1)
    report_ratio(f"{what}, {files}", rounds, ("warm", "peer_flatfile"), "rate", 3)
    report_ratio(f"{what}, every game cold, {memory}", rounds, ("cold", "peer_memory"), "rate", None)
    report_ratio(f"p50 at that load, {memory}", rounds, ("warm", "peer_memory"), "p50", 1 / 2)


def thought(bench: Bench) -> None:
    """Compare the latency of a move to both clients when people think; a commit needs the disk."""
    shape = Shape(200, 2, 1_000)
    rounds = bench.rounds(
        peer=partial(bench.peer, "memory", shape), ours=partial(bench.ours, shape), disk=bench.disk
    )
    disk = median(rounds["disk"], "p99")
    what = "p99 of move → both clients, 200 matches with a second of thought"
    what += f" (of a commit on this disk: {disk * 1e3:.2f} ms)"
    report_ratio(f"{what}, against boardgame.io in memory", rounds, ("ours", "peer"), "p99", 1 / 2)


def memory(bench: Bench) -> None:
    """Compare the memory of a pair that connects and plays a game."""
    shape = Shape(200, 1)
    rounds = bench.rounds(
        peer=partial(bench.peer, "memory", shape), ours=partial(bench.ours, shape, is_cold=True)
    )
    what = "memory for a connected pair"
    for key, more in (("pair", "that has played a game"), ("idle_pair", "that has not played yet")):
        limit = 1 / 2 if key == "pair" else None
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
