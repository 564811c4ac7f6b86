"""`make bench-lab`: every figure of the lab in one run, with its target."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.clock import in_turns, pin_to_one_core, unpin
from benchmarks.lab import rates as noughts
from benchmarks.report import missed, report

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
ROUNDS = 5
PGX_BATCHES = (4_096, 10_000, 100_000, 1_000_000)
BILLION = 10**9


class Pgx:
    """The compiled peer, with its best batch size."""

    def __init__(self, python: str) -> None:
        self._python = python
        self.is_installed = is_installed(python, "pgx")
        self.batch = max(PGX_BATCHES, key=self.games) if self.is_installed else 0

    def games(self, batch: int | None = None, draw: str = "categorical") -> float:
        """Return its games per second."""
        return self._rates(batch, draw)[0]

    def steps(self, draw: str = "categorical") -> float:
        """Return its steps per second."""
        return self._rates(None, draw)[1]

    def _rates(self, batch: int | None, draw: str) -> list[float]:
        output = run(self._python, "games_pgx.py", str(batch or self.batch), "3", draw)
        return [float(rate) for rate in output.split()]


def against_pgx(pgx: Pgx) -> None:
    """Compare whole games, and steps of the vector environment."""
    rows: list[tuple[str, str, float]] = [
        ("games", "complete random games, every move played and recorded, against pgx", 40),
        ("steps", "steps of the Gymnasium vector environment, batch 4,096, against pgx", 15),
    ]
    measures: dict[str, Callable[[], float]] = {
        "games": noughts.recorded_games,
        "steps": partial(noughts.vector_steps, None),
        "answered": partial(noughts.vector_steps, "random"),
    }
    if not pgx.is_installed:
        rates = in_turns(ROUNDS, **measures)
        for name, what, limit in rows:
            report(what, f"{rates[name]:,.0f} a second; peer absent", f"≥ {limit:g} ×", reached=None)
        return
    peers: dict[str, Callable[[], float]] = {
        "pgx_games": pgx.games,
        "pgx_steps": pgx.steps,
        "cheap_games": partial(pgx.games, draw="one-draw"),
        "cheap_steps": partial(pgx.steps, draw="one-draw"),
    }
    rates = in_turns(ROUNDS, **measures, **peers)
    for name, what, limit in rows:
        ratio = rates[name] / rates[f"pgx_{name}"]
        figure = f"{ratio:.1f} × ({rates[name]:,.0f} against {rates[f'pgx_{name}']:,.0f} a second)"
        report(f"{what} (batch {pgx.batch:,})", figure, f"≥ {limit:g} ×", reached=ratio >= limit)
        compare("the same, if pgx's loop chooses by one draw", rates[name], rates[f"cheap_{name}"])
    compare(
        "steps with `random` as the opponent, whose answer is part of them, against pgx",
        rates["answered"],
        rates["pgx_steps"],
    )


def compare(what: str, ours: float, theirs: float) -> None:
    """Report a ratio without a target."""
    report(what, f"{ours / theirs:.1f} × ({ours:,.0f} against {theirs:,.0f} a second)", "-", reached=None)


def against_pettingzoo(python: str, peers: str) -> None:
    """Compare games through our PettingZoo environment with PettingZoo's own."""
    for kind, limit in (("env", 5.0), ("raw_env", None)):
        what = f"random games through `{kind}()` of PettingZoo's kind, against `tictactoe_v3.{kind}()`"
        ours = partial(games_aec, python, "noughts", kind)
        reach = f"≥ {limit:g} ×" if limit else "-"
        if not is_installed(peers, "pettingzoo.classic.tictactoe_v3"):
            report(what, f"{ours():,.0f} a second; peer absent", reach, reached=None)
            continue
        rates = in_turns(ROUNDS, ours=ours, peer=partial(games_aec, peers, "pettingzoo", kind))
        ratio = rates["ours"] / rates["peer"]
        figure = f"{ratio:.1f} × ({rates['ours']:,.0f} against {rates['peer']:,.0f} a second)"
        report(what, figure, reach, reached=ratio >= limit if limit else None)


def against_the_limit() -> None:
    """Compare random games with the bare gathers that they consist of."""
    rates = in_turns(ROUNDS, ours=noughts.recorded_games, bare=noughts.bare_gathers)
    share = rates["ours"] / rates["bare"]
    report(
        "complete random games, recorded, as a share of bare NumPy gathers of the same bytes",
        f"{share:.2f} ({rates['ours']:,.0f} of {rates['bare']:,.0f} games a second)",
        "≥ 0.4",
        reached=share >= 0.4,
    )


def policies() -> None:
    """Compare the moves of policies with those of random play."""
    pairs = {"club": ("club", "club"), "perfect": ("perfect", "perfect"), "uneven": ("random", "perfect")}
    measures = {name: partial(noughts.moves_of, *pair) for name, pair in pairs.items()}
    rates = in_turns(ROUNDS, random=noughts.random_moves, **measures)
    for name, (x, o) in pairs.items():
        ratio = rates[name] / rates["random"]
        has_limit = name != "uneven"  # its games are short, but a batch runs to its longest
        report(
            f"moves of `{x}` against `{o}` in batches, recorded, against random play",
            f"{ratio:.2f} × ({rates[name]:,.0f} against {rates['random']:,.0f} a second)",
            "≥ 0.5 ×" if has_limit else "-",
            reached=ratio >= 0.5 if has_limit else None,
        )


def billion_games() -> None:
    """Play a billion random games on all cores, and compare the counts with the exact odds."""
    output = run(
        sys.executable, "-m", "noughts", "simulate", "--games", str(BILLION), "--seed", "1", "--json"
    )
    found = json.loads(output)
    worst = max(abs(found[end]["errors"]) for end in ("x_wins", "draw", "o_wins"))
    report(
        "10⁹ random games on all cores: counts against the exact odds",
        f"at most {worst:.2f} standard errors off, in {found['seconds']:.0f} s",
        "≤ 4",
        reached=worst <= 4,
    )


def gpu_hint() -> None:
    """Report how to measure it: most machines have no GPU."""
    report(
        "random games on a GPU, every move played (PyTorch, compiled)",
        "`python -m benchmarks.lab.device`, where there is one",
        "≥ 20 × 10⁹ games/s",
        reached=None,
    )


def games_aec(python: str, whose: str, kind: str) -> float:
    """Return the games per second of a PettingZoo environment."""
    return float(run(python, "games_aec.py", whose, kind, "2"))


def run(python: str, *arguments: str) -> str:
    """Run a script of this folder, or a module, and return its output."""
    first, *others = arguments
    script = [first] if first == "-m" else [str(HERE / first)]
    ran = subprocess.run([python, *script, *others], stdout=subprocess.PIPE, text=True, check=True)
    return ran.stdout


def is_installed(python: str, module: str) -> bool:
    """Return whether an interpreter can import a module."""
    ran = subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False)
    return ran.returncode == 0


def main() -> int:
    """Measure everything; exit with 1 if a target was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", required=True, help="the interpreter of the peers' environment")
    options = parser.parse_args()
    all_cores = pin_to_one_core()
    print(f"Python {sys.version.split()[0]}\n\n| what | figure | reach | |\n| --- | --- | --- | --- |")
    against_pgx(Pgx(options.peers))
    against_pettingzoo(sys.executable, options.peers)
    against_the_limit()
    policies()
    unpin(all_cores)  # from here on, processes run in parallel
    billion_games()
    gpu_hint()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
