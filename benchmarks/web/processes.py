"""One and two processes on PostgreSQL, and one on SQLite, on all cores."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from benchmarks.report import report
from benchmarks.stores import postgres
from benchmarks.web.rounds import median
from benchmarks.web.servers import Shape

if TYPE_CHECKING:
    from benchmarks.web.rounds import Bench
    from benchmarks.web.servers import Figures

SHAPE = Shape(200, 5)


def processes(bench: Bench) -> None:
    """Report how much a second process adds, and what PostgreSQL costs."""
    with postgres() as database:
        url = database("noughts")
        postmaster = _postmaster(url)
        rounds = bench.rounds(
            two=partial(_play, bench, "PostgreSQL, two processes", url, 2, postmaster),
            one=partial(_play, bench, "PostgreSQL, one process", url, 1, postmaster),
            sqlite=partial(_play, bench, "SQLite, one process, all cores", "", 1, 0),
        )
    for name, other, what, aim in (
        ("two", "one", "two processes on PostgreSQL against one", 1.0),
        ("two", "sqlite", "two processes on PostgreSQL against one on SQLite", None),
    ):
        rates = median(rounds[name], "rate"), median(rounds[other], "rate")
        busy = " + ".join(f"{median(rounds[name], key):.0%}" for key in ("server", "database", "client"))
        figure = f"{rates[0] / rates[1]:.2f} × ({rates[0]:,.0f} against {rates[1]:,.0f} a second)"
        report(
            f"accepted moves, {what}",
            f"{figure}; CPU of servers + PostgreSQL + load {busy}",
            f"≥ {aim:.1f} ×" if aim else "-",
            reached=rates[0] >= aim * rates[1] if aim else None,
        )


def _play(bench: Bench, what: str, url: str, workers: int, database: int) -> Figures:
    with tempfile.TemporaryDirectory(dir=bench.folder) as folder:
        command = bench.command(url or f"sqlite:{folder}/games", workers)
        figures = bench.played(command, SHAPE, Path(folder) / "plan", pin=False, database=database)
    return bench.keep(what, SHAPE, figures)


def _postmaster(url: str) -> int:
    """Return the parent process of the database."""
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT pg_backend_pid()").fetchone()
        assert row  # noqa: S101 - it always returns a row
        return int(Path(f"/proc/{row[0]}/stat").read_text().rpartition(") ")[2].split()[1])
