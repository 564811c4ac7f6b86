"""`make bench`: every figure in one run, with what it is to reach."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.clock import in_turns, pin_to_one_core, seconds_until
from benchmarks.walk import timed_walk

HERE = Path(__file__).parent
BOARD_LINES = 6  # "Player X:" and the five lines of a board


missed: list[str] = []


def report(what: str, figure: str, limit: str, *, reached: bool | None) -> None:
    """Print one row, and remember what was not reached."""
    if reached is False:
        missed.append(what)
    verdict = {True: "reached", False: "NOT REACHED", None: "-"}[reached]
    print(f"| {what} | {figure} | {limit} | {verdict} |", flush=True)


def random_games(python: str, peers: str, batch: int) -> None:
    """Compare random games a second with OpenSpiel's, each for a few seconds in turn."""

    def rate(interpreter: str, script: str) -> float:
        ran = subprocess.run(
            [interpreter, HERE / script, "2", str(batch)], capture_output=True, text=True, check=True
        )
        return float(ran.stdout)

    what = f"random games, against OpenSpiel; the clock looked at once in {batch:,}"
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
    """Compare the command's start with Python's own."""
    seconds = in_turns(
        40,
        python=lambda: seconds_until([python, "-c", "pass"]),
        version=lambda: seconds_until([noughts, "--version"]),
        watch=lambda: seconds_until([noughts, "watch", "--interval", "0"], lines=BOARD_LINES),
    )
    for name, what, limit in (
        ("version", "`noughts --version`, against `python -c pass`", 2.5),
        ("watch", "first board of `noughts watch --interval 0`, against `python -c pass`", 4.0),
    ):
        ratio = seconds[name] / seconds["python"]
        figure = f"{ratio:.2f} × ({seconds[name] * 1e3:.0f} against {seconds['python'] * 1e3:.0f} ms)"
        report(what, figure, f"≤ {limit} ×", reached=ratio <= limit)


def fresh_clone() -> None:
    """Time `make play` on a fresh clone until the first question stands."""
    with tempfile.TemporaryDirectory() as folder:
        clone = str(Path(folder) / "noughts")
        subprocess.run(["git", "clone", "--quiet", str(HERE.parent), clone], check=True)  # noqa: S607 - the user's git
        took = seconds_until(["make", "--no-print-directory", "play"], lines=BOARD_LINES, cwd=clone)
    report(
        "`make play` on a fresh clone until the first question",
        f"{took:.2f} s",
        "≤ 30 s",
        reached=took <= 30,
    )


def main() -> int:
    """Measure everything; the exit code says whether all was reached."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--alone", required=True, help="the bin folder of an environment with noughts alone"
    )
    parser.add_argument("--peers", required=True, help="the interpreter of the peers' environment")
    options = parser.parse_args()
    python, noughts = (str(Path(options.alone) / name) for name in ("python", "noughts"))

    pin_to_one_core()
    print(f"Python {sys.version.split()[0]}\n\n| what | figure | reach | |\n| --- | --- | --- | --- |")
    for batch in (1, 1_000):  # looking at the clock takes time too, and the faster loop feels it more
        random_games(python, options.peers, batch)
    took = timed_walk()
    report(
        "all 255,168 games walked through `decide`/`evolve`",
        f"{took:.1f} s",
        "≤ 30 s",
        reached=took <= 30,
    )
    starts(python, noughts)
    fresh_clone()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
