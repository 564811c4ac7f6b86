"""Rounds of play, ours and the peer's in turn; every run is kept and printed."""

from __future__ import annotations

import shutil
import sqlite3
import statistics
import tempfile
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from benchmarks.report import report
from benchmarks.web.servers import NO_LIMITS, load, peer_load, peer_serving, pinned, serving

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from benchmarks.web.servers import Figures, Serving, Shape

ROUNDS = 3
COMMITS = 2_000

Rounds: TypeAlias = "dict[str, list[Figures]]"


class Bench:
    """Paths and commands, and the figures of every run."""

    def __init__(self, noughts: str, modules: Path, folder: Path) -> None:
        self.noughts = noughts
        self.folder = folder
        self.log = folder / "servers.log"
        self.log.unlink(missing_ok=True)
        self.runs: list[tuple[str, Figures]] = []
        self._modules = modules
        self.has_peer = (
            bool(shutil.which("node")) and (modules / "node_modules" / "boardgame.io").exists()
        )

    def rounds(self, **measures: Callable[[], Figures]) -> Rounds:
        """Take each measure once per round, so that load affects all alike; the peer's if installed."""
        wanted = {
            name: measure for name, measure in measures.items() if self.has_peer or "peer" not in name
        }
        taken: Rounds = {name: [] for name in wanted}
        for _ in range(ROUNDS):
            for name, measure in wanted.items():
                taken[name].append(measure())
        return taken

    def ours(self, shape: Shape, *, is_cold: bool = False) -> Figures:
        """Play on a new server of ours: durable, on SQLite, one process on one core."""
        with self._new_folder() as folder:
            command = pinned(0, self.command(f"sqlite:{folder}/games"))
            start = partial(serving, command, self.log, **NO_LIMITS)
            figures = self.played(start, shape, Path(folder) / "plan", is_cold=is_cold)
        return self.keep(f"noughts{', cold' * is_cold}", shape, figures)

    def peer(self, kind: str, shape: Shape) -> Figures:
        """Play on a new server of the peer's, with its games in memory or in files."""
        with self._new_folder() as folder:
            command = peer_serving(self._modules, kind, Path(folder))
            with serving(command, self.log, NODE_ENV="production") as server:
                figures = peer_load(self._modules, server, shape)
        return self.keep(f"boardgame.io, {kind}", shape, figures)

    def disk(self) -> Figures:
        """Commit small rows to SQLite, as durably as the store does."""
        took = []
        with self._new_folder() as folder:
            connection = sqlite3.connect(f"{folder}/rows", isolation_level=None)
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("CREATE TABLE rows (text TEXT)")
            for _ in range(COMMITS):
                start = time.perf_counter()
                connection.execute("INSERT INTO rows VALUES (?)", ("x" * 200,))
                took.append(time.perf_counter() - start)
                time.sleep(0.001)  # spread out, as when people think
            connection.close()
        return {"p99": statistics.quantiles(took, n=100)[98]}

    def played(
        self,
        start: Callable[[], AbstractContextManager[Serving]],
        shape: Shape,
        plan: Path,
        *,
        is_cold: bool = False,
        pin: bool = True,
        database: int = 0,
    ) -> Figures:
        """Create games on a server of ours and play them; after a restart if they must be cold."""
        with ExitStack() as servers:
            server = servers.enter_context(start())
            created = load("load", "create", server.port, plan, shape.matches, shape.games, pin=pin)
            if is_cold:
                servers.close()
                server = servers.enter_context(start())
            figures = load("load", "play", server.port, plan, server.pid, shape.think, database, pin=pin)
        return created | figures

    def command(self, store: str) -> list[str]:
        """Return the command that serves the games of a store."""
        return [self.noughts, "serve", "--port", "0", "--store", store]

    def _new_folder(self) -> tempfile.TemporaryDirectory[str]:
        """Return a folder for one run; the peer may still write while it is removed."""
        return tempfile.TemporaryDirectory(dir=self.folder, ignore_cleanup_errors=True)

    def keep(self, what: str, shape: Shape, figures: Figures) -> Figures:
        """Keep a run for `print_runs`."""
        thought = f", {shape.think} ms of thought" if shape.think else ""
        self.runs.append((f"{what}; {shape.matches:,} × {shape.games}{thought}", figures))
        return figures

    def print_runs(self) -> None:
        """Print every run."""
        print(
            "\n| run | moves | moves/s | by the server's CPU | p50, p99, worst (ms) |"
            " CPU of server, load, database | created/s | resident at the end |"
            f"\n{'| --- ' * 8}|"
        )
        for name, figures in self.runs:
            late = ", ".join(f"{figures[key] * 1e3:.1f}" for key in ("p50", "p99", "worst"))
            busy = ", ".join(f"{figures.get(key, 0):.0%}" for key in ("server", "client", "database"))
            print(
                f"| {name} | {figures['moves']:,.0f} | {figures['rate']:,.0f} |"
                f" {figures['rate'] / (figures['server'] or 1):,.0f} | {late} | {busy} |"
                f" {figures['created']:,.0f} | {figures['memory'] / 1e6:.0f} MB |"
            )


def median(figures: list[Figures], key: str) -> float:
    """Return the median of a figure over the rounds."""
    return statistics.median(one[key] for one in figures)


def report_ratio(
    what: str, rounds: Rounds, names: tuple[str, str], key: str, limit: float | None
) -> None:
    """Report the median of the rounds' ratios of ours to the peer's.

    A limit of one or more is a minimum, one below a maximum.
    """
    ours, peer = (rounds.get(name, []) for name in names)
    bound = "-" if limit is None else f"≥ {limit:g} ×" if limit >= 1 else f"≤ 1/{1 / limit:g}"
    show = _SHOWN[key]
    if not peer:
        report(what, f"{show(median(ours, key))}; peer absent", bound, reached=None)
        return
    ratio = statistics.median(one[key] / other[key] for one, other in zip(ours, peer, strict=True))
    figure = f"{ratio:.2f} × ({show(median(ours, key))} against {show(median(peer, key))})"
    reached = None if limit is None else ratio >= limit if limit >= 1 else ratio <= limit
    report(what, figure, bound, reached=reached)


_SHOWN: dict[str, Callable[[float], str]] = {
    "rate": lambda rate: f"{rate:,.0f} a second",
    "p50": lambda late: f"{late * 1e3:.2f} ms",
    "p99": lambda late: f"{late * 1e3:.2f} ms",
    "pair": lambda size: f"{size / 1e3:.0f} kB",
    "idle_pair": lambda size: f"{size / 1e3:.0f} kB",
}
