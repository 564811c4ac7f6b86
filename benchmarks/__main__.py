"""`make bench`: every figure in one run, with its target."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.clock import in_turns, pin_to_one_core, seconds_until, unpin
from benchmarks.players import report_bot_moves, report_menace, report_odds, report_solver
from benchmarks.report import missed, report
from benchmarks.stores import (
    SIZES,
    append_rate,
    compare,
    event_rows,
    fill,
    growth,
    load_seconds,
    move_rate,
    postgres,
)
from benchmarks.walk import walk_seconds
from noughts import open_store

HERE = Path(__file__).parent
BOARD_LINES = 6  # "Player X:" and the five lines of a board


def random_games(python: str, peers: str, batch: int) -> None:
    """Compare random games per second with OpenSpiel's."""

    def rate(interpreter: str, script: str) -> float:
        ran = subprocess.run(
            [interpreter, HERE / script, "2", str(batch)], capture_output=True, text=True, check=True
        )
        return float(ran.stdout)

    what = f"random games, against OpenSpiel; the clock read every {batch:,} games"
    if subprocess.run([peers, "-c", "import pyspiel"], capture_output=True, check=False).returncode:
        ours = rate(python, "games_noughts.py")
        report(what, f"{ours:,.0f} games/s; peer absent", "≥ 2.0 ×", reached=None)
        return
    rates = in_turns(
        5, ours=lambda: rate(python, "games_noughts.py"), peer=lambda: rate(peers, "games_open_spiel.py")
    )
    ratio = rates["ours"] / rates["peer"]
    figure = f"{ratio:.2f} × ({rates['ours']:,.0f} against {rates['peer']:,.0f} games/s)"
    report(what, figure, "≥ 2.0 ×", reached=ratio >= 2.0)


def starts(python: str, noughts: str) -> None:
    """Compare the start-up of commands with Python's own."""
    seconds = in_turns(
        40,
        python=lambda: seconds_until([python, "-c", "pass"]),
        version=lambda: seconds_until([noughts, "--version"]),
        watch=lambda: seconds_until([noughts, "watch", "--interval", "0"], lines=BOARD_LINES),
        analyse=lambda: seconds_until([noughts, "analyse", "1593748"]),
    )
    for name, what, limit in (
        ("version", "`noughts --version`, against `python -c pass`", 2.0),
        ("watch", "first board of `noughts watch --interval 0`, against `python -c pass`", 3.5),
        ("analyse", "`noughts analyse` of a game, against `python -c pass`", 5.5),
    ):
        ratio = seconds[name] / seconds["python"]
        figure = f"{ratio:.2f} × ({seconds[name] * 1e3:.0f} against {seconds['python'] * 1e3:.0f} ms)"
        report(what, figure, f"≤ {limit} ×", reached=ratio <= limit)


def fresh_clone() -> None:
    """Time `make play` on a fresh clone until the first question."""
    with tempfile.TemporaryDirectory() as folder:
        clone = str(Path(folder) / "noughts")
        subprocess.run(["git", "clone", "--quiet", str(HERE.parent), clone], check=True)  # noqa: S607 - the user's git
        seconds = seconds_until(["make", "--no-print-directory", "play"], lines=BOARD_LINES, cwd=clone)
    report(
        "`make play` on a fresh clone until the first question",
        f"{seconds:.2f} s",
        "≤ 30 s",
        reached=seconds <= 30,
    )


def durable_appends(python: str, peers: str) -> None:
    """Compare durable appends with the eventsourcing library's."""
    with tempfile.TemporaryDirectory() as folder:
        against_peer(python, peers, "SQLite", (f"sqlite:{folder}/ours", f"sqlite:{folder}/peer"), 5)
    with postgres() as database:
        against_peer(sys.executable, peers, "PostgreSQL", (database("ours"), database("peer")), 12)


def several_processes() -> None:
    """Compare the moves of eight processes on one PostgreSQL server with those of one."""
    for what, writers, delay, limit in (
        ("4 writers each, 5 ms commits", 4, 5_000, 4.0),
        ("32 writers each, no added latency", 32, 0, 1.2),
    ):
        with postgres() as database:
            url = database("games", commit_delay=delay)
            rates = in_turns(
                3, one=partial(move_rate, url, 1, writers), eight=partial(move_rate, url, 8, writers)
            )
        ratio = rates["eight"] / rates["one"]
        report(
            f"moves on PostgreSQL, 8 processes against 1, {what}",
            f"{ratio:.2f} × ({rates['one']:,.0f} → {rates['eight']:,.0f} a second)",
            f"≥ {limit} ×",
            reached=ratio >= limit,
        )


def against_peer(python: str, peers: str, engine: str, urls: tuple[str, str], limit: float) -> None:
    """Compare durable moves of 64 writers with those of the peer's recorders."""
    for kind in ("application", "aggregate"):
        what = f"durable moves (3 events) on {engine}, 64 writers, against `eventsourcing` ({kind})"
        if subprocess.run(
            [peers, "-c", "import eventsourcing"], capture_output=True, check=False
        ).returncode:
            report(what, "peer absent", f"≥ {limit} ×", reached=None)
            continue
        ratio, rates = compare(
            5,
            ours=lambda: append_rate(python, "appends_noughts", urls[0], 64),
            peer=partial(append_rate, peers, "appends_eventsourcing", urls[1], 64, kind),
        )
        figure = f"{ratio:.2f} × ({rates['ours']:,.0f} against {rates['peer']:,.0f} a second)"
        # The aggregate recorder does not keep the order of all events, so it does less than a store must.
        has_limit = kind == "application"
        report(
            what,
            figure,
            f"≥ {limit} ×" if has_limit else "-",
            reached=ratio >= limit if has_limit else None,
        )


def loads() -> None:
    """Compare loading and folding a finished game with selecting its events as one row each."""
    with tempfile.TemporaryDirectory() as folder, open_store(f"sqlite:{folder}/games") as store:
        games = fill(store, 100_000)
        with event_rows(store, games) as select:
            ratio, times = compare(9, ours=lambda: load_seconds(store, games), rows=select)
    report(
        "load and fold of a finished game, against a SELECT of its events as one row each",
        f"{ratio:.2f} × ({times['ours'] * 1e6:.0f} against {times['rows'] * 1e6:.0f} µs)",
        "≤ 1.5 ×",
        reached=ratio <= 1.5,
    )


def grown_stores() -> None:
    """Report how the cost of a move and of a load grows with the size of the store."""
    with tempfile.TemporaryDirectory() as folder:
        _report_growth("SQLite", {size: f"sqlite:{folder}/{size}" for size in SIZES})
    with postgres() as database:
        _report_growth("PostgreSQL", {size: database(f"noughts_{size}") for size in SIZES})


def _report_growth(engine: str, urls: dict[int, str]) -> None:
    for what, times in growth(urls).items():
        worst = max(times) / min(times)
        figure = f"{worst:.2f} × ({' / '.join(f'{one * 1e6:.0f}' for one in times)} µs)"
        title = f"{what} on {engine} with 1 k / 100 k / 2 M events in the store"
        report(title, figure, "≤ 1.3 ×", reached=worst <= 1.3)


def main() -> int:
    """Measure everything; exit with 1 if a target was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--alone", required=True, help="the bin folder of an environment with noughts alone"
    )
    parser.add_argument("--peers", required=True, help="the interpreter of the peers' environment")
    options = parser.parse_args()
    python, noughts = (str(Path(options.alone) / name) for name in ("python", "noughts"))

    home = tempfile.TemporaryDirectory()
    os.environ["XDG_DATA_HOME"] = home.name  # not among the user's own games
    all_cores = pin_to_one_core()
    print(f"Python {sys.version.split()[0]}\n\n| what | figure | reach | |\n| --- | --- | --- | --- |")
    for batch in (1, 1_000):  # reading the clock costs the faster loop more
        random_games(python, options.peers, batch)
    seconds = walk_seconds()
    report(
        "all 255,168 games walked through `decide`/`evolve`",
        f"{seconds:.1f} s",
        "≤ 30 s",
        reached=seconds <= 30,
    )
    starts(python, noughts)
    report_solver(python, options.peers)
    report_odds(python)
    report_bot_moves()
    report_menace()
    fresh_clone()
    loads()
    unpin(all_cores)  # from here on, processes and threads run in parallel
    durable_appends(python, options.peers)
    several_processes()
    grown_stores()
    home.cleanup()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
