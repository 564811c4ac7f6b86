"""MENACE on the command line: training with a learning curve, and a look into its boxes."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Protocol, TextIO

from noughts.analysis.solver import Result
from noughts.bots.menace.file import load_machine, save_machine
from noughts.bots.menace.machine import RESIGN, Menace, menace_policy
from noughts.bots.menace.training import Training
from noughts.bots.odds import Odds, odds, percent
from noughts.bots.policy import CachedPolicy, Policy
from noughts.bots.registry import read_parameters
from noughts.cli.commands.curve import draw_curve
from noughts.cli.commands.odds import fraction
from noughts.cli.commands.show import read_board
from noughts.cli.machines import asked_policy, kept_file, kept_machine, taught
from noughts.cli.progress import Bar
from noughts.core.board import Board, Mark
from noughts.core.errors import GameOver, printable
from noughts.core.notation import format_cell


class Plot(Protocol):
    """Draws named curves into a file."""

    def __call__(
        self, curves: Mapping[str, Sequence[tuple[int, float]]], file: str, *, ylabel: str
    ) -> None:
        """Draw them."""


POINTS = 30
"""How often the odds are reckoned while it trains, for the curve."""
CHUNK = 5000
"""How many games are played between two looks at the clock, or the keyboard."""


def look_after_machine(
    options: Namespace, out: TextIO, errors: TextIO | None, plot: Plot | None = None
) -> None:
    """Do what is to be done with the machine; the lab may lend something to draw its curve with."""
    file = Path(options.file) if options.file is not None else kept_file()
    if options.task == "train":
        new = None if options.new is None else _new_machine(options.new)
        against = CachedPolicy(asked_policy(options.against))
        with taught(file):
            curve = _train(new or kept_machine(file), against, options, file, out, errors)
        if plot:
            plot(_shares(curve, options), options.plot, ylabel="share of its games, exactly")
    else:
        machine = load_machine(file) if options.file is not None else kept_machine(file)
        _show_box(machine, read_board(options.position, Mark(options.first)), out)


def _train(
    machine: Menace, against: Policy, options: Namespace, file: Path, out: TextIO, errors: TextIO | None
) -> list[Odds]:
    """Let it play and learn, tell what came of it, and return its odds in between."""
    mark = Mark(options.seat)
    seed = os.fsencode(options.seed) if options.seed is not None else None
    training = Training(machine, against, Random(seed), mark)  # noqa: S311 - a game, no secret
    before = dict(machine.results)
    curve = [_odds(machine, against, mark)]
    bar = Bar(options.games, errors)
    points = min(POINTS, options.games)
    try:
        for point in range(1, points + 1):
            target = options.games * point // points
            _play_until(target, sum(before.values()), machine, training, bar)
            curve.append(_odds(machine, against, mark))
    except KeyboardInterrupt:
        done = machine.games - sum(before.values())
        out.write(f"\nIt keeps what it has learned from {done:,} games.\n")
        raise
    finally:
        bar.clear()
        if machine.results != before:
            save_machine(machine, file)
    won, drawn, lost = (machine.results[result] - before[result] for result in Result)
    out.write(draw_curve(curve, mark, options.games))
    out.write(
        f"{options.games:,} games as {mark} against {printable(options.against)}: "
        f"won {won:,}, drew {drawn:,}, lost {lost:,}.\n"
    )
    _tell_odds(curve[-1], mark, machine, out)
    out.write(f"It has learned from {machine.games:,} games, and is kept in {printable(str(file))}.\n")
    return curve


def _shares(curve: list[Odds], options: Namespace) -> dict[str, list[tuple[int, float]]]:
    """Return what it wins, draws and loses after how many games."""
    mark, last = Mark(options.seat), len(curve) - 1
    shares: dict[str, list[tuple[int, float]]] = {"wins": [], "draws": [], "loses": []}
    for point, now in enumerate(curve):
        games = options.games * point // last
        for what, share in zip(shares, (now.win(mark), now.draw, now.win(mark.other)), strict=True):
            shares[what].append((games, float(share)))
    return shares


def _play_until(target: int, before: int, machine: Menace, training: Training, bar: Bar) -> None:
    """Play up to so many games in all; whatever interrupts that, only whole games are learned from."""
    while (done := machine.games - before) < target:
        bar.show(done)
        boxes, results = [list(beads) for beads in machine.boxes], dict(machine.results)
        try:
            training.play(min(CHUNK, target - done))
        except BaseException:
            machine.boxes, machine.results = boxes, results
            raise


def _new_machine(rules: str) -> Menace:
    return menace_policy(**read_parameters(rules)) if rules else Menace()


def _odds(machine: Menace, against: Policy, mark: Mark) -> Odds:
    return odds(machine, against) if mark is Mark.X else odds(against, machine)


def _tell_odds(now: Odds, mark: Mark, machine: Menace, out: TextIO) -> None:
    chances = ("wins", now.win(mark)), ("draws", now.draw), ("loses", now.win(mark.other))
    told = ", ".join(f"{what} {percent(chance)}" for what, chance in chances)
    exact = ", ".join(fraction(chance) for _, chance in chances)
    out.write(f"Now it {told}{'' if 'about' in exact else f'; exactly {exact}'}.\n")
    if now.win(mark.other) == 1 and machine.rules.empty == RESIGN:
        out.write(
            "Its boxes have run empty, so it resigns: --new empty=refill makes one that does not.\n"
        )


def _show_box(machine: Menace, board: Board, out: TextIO) -> None:
    """Draw the box of a position: how many beads stand for each cell."""
    if board.is_over:
        raise GameOver(f"the game is over in '{board}', so there is no box for it")
    beads = machine.beads(board)
    signs = [str(mark) if mark else str(beads.get(cell, ".")) for cell, mark in enumerate(board.cells)]
    width = max(3, *map(len, signs)) + 2
    rows = ["|".join(sign.center(width) for sign in signs[row : row + 3]).rstrip() for row in (0, 3, 6)]
    out.write(f"\n{'+'.join(['-' * width] * 3)}\n".join(rows) + "\n")
    total = sum(beads.values())
    if len(board.free_cells) == 1:
        out.write("There is no box for it: a last cell leaves no choice.\n")
    elif not total:
        out.write("The box is empty: the machine resigns.\n")
    else:
        shares = (f"{format_cell(cell)} {percent(chance)}" for cell, chance in machine(board).items())
        out.write(f"{total:,} beads: {', '.join(shares)}.\n")
    if len(beads) < len(board.free_cells):
        out.write("A cell with . comes to the same as another one, and has no beads of its own.\n")
