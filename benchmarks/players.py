"""Benchmarks of the solver, the odds, a bot's move and MENACE."""

from __future__ import annotations

import statistics
import subprocess
import time
from pathlib import Path
from random import Random

from benchmarks.clock import in_turns
from benchmarks.menace_naive import NaiveMenace
from benchmarks.report import report
from noughts import Bot, Menace, Training, find_policy, reachable

HERE = Path(__file__).parent
TRAINING_GAMES = 20_000


def _seconds(interpreter: str, script: str, *arguments: str) -> float:
    """Run a script that prints its own time."""
    ran = subprocess.run(
        [interpreter, HERE / script, *arguments], capture_output=True, text=True, check=True
    )
    return float(ran.stdout.splitlines()[-1])


def report_solver(python: str, peers: str) -> None:
    """Compare solving all positions with OpenSpiel's minimax."""
    what = "all positions solved from nothing, against OpenSpiel's minimax over all states"
    if subprocess.run([peers, "-c", "import pyspiel"], capture_output=True, check=False).returncode:
        seconds = _seconds(python, "solve_noughts.py")
        report(what, f"{seconds * 1e3:.1f} ms; peer absent", "≥ 10 ×", reached=None)
        return
    times = in_turns(
        9,
        ours=lambda: _seconds(python, "solve_noughts.py"),
        peer=lambda: _seconds(peers, "solve_open_spiel.py"),
    )
    ratio = times["peer"] / times["ours"]
    figure = f"{ratio:.1f} × ({times['ours'] * 1e3:.1f} against {times['peer'] * 1e3:.1f} ms)"
    report(what, figure, "≥ 10 ×", reached=ratio >= 10)


def report_odds(python: str) -> None:
    """Time the exact odds of two policies over the whole tree, from nothing."""
    for x, o in (("random", "random"), ("novice", "casual"), ("random", "menace")):
        seconds = statistics.median(_seconds(python, "odds_noughts.py", x, o) for _ in range(9))
        what = f"exact odds of `{x}` and `{o}` over the whole tree, from nothing"
        report(what, f"{seconds * 1e3:.0f} ms", "≤ 150 ms", reached=seconds <= 0.150)


def report_bot_moves() -> None:
    """Time single moves of a bot once it has seen all positions."""
    boards = [board for board in reachable() if not board.is_over]
    for name in ("random", "club", "perfect"):
        choose = Bot(find_policy(name), Random(1)).choose
        for board in boards:
            choose(board)
        times = []
        for board in boards * 5:
            start = time.perf_counter_ns()
            choose(board)
            times.append(time.perf_counter_ns() - start)
        microseconds = statistics.median(times) / 1e3
        what = f"a move of `{name}` once solved, median"
        report(what, f"{microseconds:.2f} µs", "≤ 5 µs", reached=microseconds <= 5)


def report_menace() -> None:
    """Compare MENACE's training with a naive machine's, both against random."""
    naive = NaiveMenace(Random(1))
    ours = Training(Menace(), find_policy("random"), Random(1))
    for machine in (naive, ours):
        machine.play(2_000)  # warm-up: then both have the common boxes

    def rate(machine: NaiveMenace | Training, games: int) -> float:
        start = time.process_time()
        machine.play(games)
        return games / (time.process_time() - start)

    rates = in_turns(
        7, ours=lambda: rate(ours, TRAINING_GAMES), naive=lambda: rate(naive, TRAINING_GAMES // 5)
    )
    ratio = rates["ours"] / rates["naive"]
    figure = f"{ratio:.2f} × ({rates['ours']:,.0f} against {rates['naive']:,.0f} games/s)"
    report(
        "MENACE training against random, against the same rule on a dictionary",
        figure,
        "≥ 3 ×",
        reached=ratio >= 3,
    )
