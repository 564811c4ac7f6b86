"""One and two processes on PostgreSQL, on all cores."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from benchmarks.report import report
from benchmarks.stores import postgres
from benchmarks.web.rounds import median
from benchmarks.web.servers import Shape, sharing

if TYPE_CHECKING:
    from benchmarks.web.rounds import Bench
    from benchmarks.web.servers import Figures

SHAPE = Shape(200, 5)


def processes(bench: Bench) -> None:
    """Report how much a second process adds on these cores; `cores.py` has the figures of sixteen."""
    with postgres() as database:
        url = database("noughts")
        server = postmaster(url)
        rounds = bench.rounds(
            two=partial(_play, bench, url, 2, server), one=partial(_play, bench, url, 1, server)
        )
    rates = median(rounds["two"], "rate"), median(rounds["one"], "rate")
    busy = " + ".join(f"{median(rounds['two'], key):.0%}" for key in ("server", "database", "client"))
    report(
        "accepted moves, two processes on PostgreSQL and one port against one",
        f"{rates[0] / rates[1]:.2f} × ({rates[0]:,.0f} against {rates[1]:,.0f} a second); "
        f"CPU of servers + PostgreSQL + load {busy}",
        "-",
        reached=None,
    )


def _play(bench: Bench, url: str, workers: int, database: int) -> Figures:
    with tempfile.TemporaryDirectory(dir=bench.folder) as folder:
        start = partial(sharing, url, workers, bench.log)
        figures = bench.played(start, SHAPE, Path(folder) / "plan", pin=False, database=database)
    return bench.keep(f"PostgreSQL, processes: {workers}", SHAPE, figures)


def postmaster(url: str) -> int:
    """Return the parent process of the database."""
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT pg_backend_pid()").fetchone()
        assert row  # noqa: S101 - it always returns a row
        return int(Path(f"/proc/{row[0]}/stat").read_text().rpartition(") ")[2].split()[1])
