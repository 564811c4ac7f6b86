"""`noughts menace`: train the machine, or look into one of its boxes."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TextIO

from noughts.analysis.solver import Result
from noughts.bots.menace.file import load_machine, save_machine
from noughts.bots.menace.machine import RESIGN, Menace, menace_policy
from noughts.bots.menace.training import Training
from noughts.bots.odds import Odds, odds, percent
from noughts.bots.policy import CachedPolicy, Policy
from noughts.bots.registry import parse_policy, read_parameters
from noughts.cli import options as shared
from noughts.cli.commands.odds import fraction
from noughts.cli.console import Console
from noughts.cli.extras import needs_extra
from noughts.cli.layout import say
from noughts.cli.opponents import (
    count_games,
    load_bot,
    load_or_create_machine,
    lock_machine,
    menace_file,
)
from noughts.cli.position import read_board
from noughts.cli.progress import ProgressBar
from noughts.core.board import Board, Mark
from noughts.core.errors import GameOver, printable
from noughts.core.notation import format_cell
from noughts.text.picture import draw_grid, rule

CURVE_POINTS = 30
"""How often the odds are computed during a training."""
CURVE_ROWS = 10
CHUNK_GAMES = 5000
"""How many games are played between two updates of the progress bar."""


HELP = shared.CommandHelp(
    "Train MENACE, Michie's machine of matchboxes, or look into a box. Playing bot:menace trains it too.",
    {
        "noughts menace train --against random --games 5000": "let it learn, and draw how it got better",
        "noughts menace box X_O/___/___": "the beads that decide its next move",
    },
    shared.DATA_FOLDER,
)


def add_options(parser: shared.Parser) -> None:
    tasks = parser.add_subparsers(title="tasks", metavar="TASK", dest="task", required=True)
    train = shared.add_task(tasks, "train", "let it play, and learn")
    train.add_argument(
        "--against",
        type=parse_policy,
        metavar="POLICY",
        default="random",
        help="its opponent (default: random)",
    )
    train.add_argument(
        "--games", type=shared.count, default=1000, metavar="N", help="number of games (default: 1000)"
    )
    train.add_argument("--seat", choices=["X", "O"], default="X", help="its mark; X starts (default: X)")
    shared.add_seed(train, "gives the same training")
    shared.add_plot(train, "the learning curve")
    train.add_argument(
        "--new", metavar="RULES", nargs="?", const="", help="a new machine, such as empty=refill,win=5"
    )
    box = shared.add_task(tasks, "box", "show the beads in the box of a position")
    box.add_argument("position", metavar="BOARD", help="a board such as X_O/___/___")
    shared.add_first(box)
    for task in (train, box):
        task.add_argument(
            "--file",
            type=shared.file_name,
            metavar="PATH",
            help="where the machine is kept (default: noughts/menace.json in ~/.local/share)",
        )
        shared.add_json(task)


def run(options: Namespace, console: Console) -> None:
    file = Path(options.file) if options.file is not None else menace_file()
    if options.task == "train":
        _train(options, console, file)
        return
    machine = load_machine(file) if options.file is not None else load_or_create_machine(file)
    board = read_board(options.position, Mark(options.first))
    if board.is_over:
        raise GameOver(f"the game is over in '{board}', so it has no box")
    if options.json:
        console.out.write(f"{json.dumps(_box_to_dict(machine, board))}\n")
    else:
        _show_box(machine, board, console.out)


def _train(options: Namespace, console: Console, file: Path) -> None:
    plot = None if options.plot is None else _plotter(options.plot)
    new = None
    if options.new is not None:
        new = menace_policy(**read_parameters(options.new)) if options.new else Menace()
    against = CachedPolicy(load_bot(options.against))
    with lock_machine(file):
        curve = _learn(new or load_or_create_machine(file), against, options, file, console)
    if plot:
        plot(_shares(curve, options))


def _plotter(file: str) -> Callable[[dict[str, list[tuple[int, float]]]], None]:
    with needs_extra("lab"):
        from noughts.lab.plots import check_plot, plot_curves  # noqa: PLC0415 - matplotlib is optional
    check_plot(file)
    return lambda curves: plot_curves(curves, file, ylabel="share of its games, exactly")


def _learn(
    machine: Menace, against: Policy, options: Namespace, file: Path, console: Console
) -> list[Odds]:
    """Let it play and learn, report the result, and return its odds in between."""
    mark, out = Mark(options.seat), console.out
    training = Training(machine, against, console.rng(options.seed), mark)
    before = dict(machine.results)
    curve = [_odds(machine, against, mark)]
    bar = ProgressBar(options.games, console.err)
    points = min(CURVE_POINTS, options.games)
    try:
        for point in range(1, points + 1):
            target = options.games * point // points
            _play_until(target, sum(before.values()), machine, training, bar)
            curve.append(_odds(machine, against, mark))
    except KeyboardInterrupt:
        if not options.json:
            done = machine.games - sum(before.values())
            say(f"\nIt keeps what it has learned from {count_games(done)}.", out)
        raise
    finally:
        bar.clear()
        if machine.results != before:
            save_machine(machine, file)
    won, drawn, lost = (machine.results[result] - before[result] for result in Result)
    if options.json:
        counts = {"won": won, "drawn": drawn, "lost": lost}
        out.write(f"{json.dumps(_training_to_dict(options, counts, curve, machine, file))}\n")
        return curve
    out.write(draw_curve(curve, mark, options.games))
    results = f"won {won:,}, drew {drawn:,}, lost {lost:,}"
    games = count_games(options.games)
    say(f"{games} as {mark} against {printable(options.against)}: {results}.", out)
    _write_odds(curve[-1], mark, machine, out)
    learned = count_games(machine.games)
    say(f"It has learned from {learned}, and is kept in {printable(str(file))}.", out)
    return curve


def _training_to_dict(
    options: Namespace, counts: dict[str, int], curve: list[Odds], machine: Menace, file: Path
) -> dict[str, object]:
    """Return a training as data: the odds now as exact fractions, and the curve as floats."""
    sys.set_int_max_str_digits(0)  # exact fractions can be long
    now, mark = curve[-1], Mark(options.seat)
    chances = {"wins": now.win(mark), "draws": now.draw, "loses": now.win(mark.other)}
    return {
        "against": options.against,
        "seat": options.seat,
        "games": options.games,
        **counts,
        **{name: str(chance) for name, chance in chances.items()},
        "about": {name: float(chance) for name, chance in chances.items()},
        "curve": _shares(curve, options),
        "learned": machine.games,
        "file": str(file),
    }


def _shares(curve: list[Odds], options: Namespace) -> dict[str, list[tuple[int, float]]]:
    """Return its shares of wins, draws and losses, each with the number of games before."""
    mark, last = Mark(options.seat), len(curve) - 1
    shares: dict[str, list[tuple[int, float]]] = {"wins": [], "draws": [], "loses": []}
    for point, now in enumerate(curve):
        games = options.games * point // last
        for what, share in zip(shares, (now.win(mark), now.draw, now.win(mark.other)), strict=True):
            shares[what].append((games, float(share)))
    return shares


def _play_until(target: int, before: int, machine: Menace, training: Training, bar: ProgressBar) -> None:
    """Play until this number of games; an interrupted chunk is not learned from."""
    while (done := machine.games - before) < target:
        bar.show(done)
        boxes, results = [list(beads) for beads in machine.boxes], dict(machine.results)
        try:
            training.play(min(CHUNK_GAMES, target - done))
        except BaseException:
            machine.boxes, machine.results = boxes, results
            raise


def _odds(machine: Menace, against: Policy, mark: Mark) -> Odds:
    return odds(machine, against) if mark is Mark.X else odds(against, machine)


def _write_odds(now: Odds, mark: Mark, machine: Menace, out: TextIO) -> None:
    chances = ("wins", now.win(mark)), ("draws", now.draw), ("loses", now.win(mark.other))
    rounded = ", ".join(f"{what} {percent(chance)}" for what, chance in chances)
    exact = ", ".join(fraction(chance) for _, chance in chances)
    say(f"Now it {rounded}{'' if 'about' in exact else f'; exactly {exact}'}.", out)
    if now.win(mark.other) == 1 and machine.rules.empty == RESIGN:
        say("Its boxes have run empty, so it resigns: --new empty=refill makes one that does not.", out)


def _show_box(machine: Menace, board: Board, out: TextIO) -> None:
    """Draw the box of a position: the number of beads for each cell."""
    beads = machine.beads(board)
    signs = [str(mark) if mark else str(beads.get(cell, ".")) for cell, mark in enumerate(board.cells)]
    width = max(3, *map(len, signs)) + 2
    out.write(draw_grid([sign.center(width) for sign in signs], between=rule(width)) + "\n")
    total = sum(beads.values())
    if len(board.free_cells) == 1:
        say("It has no box: a last cell leaves no choice.", out)
    elif not total:
        say("The box is empty: the machine resigns.", out)
    else:
        shares = (f"{format_cell(cell)} {percent(chance)}" for cell, chance in machine(board).items())
        say(f"{total:,} beads: {', '.join(shares)}.", out)
    if len(beads) < len(board.free_cells):
        say("A cell with . is symmetric to another one, and has no beads of its own.", out)


def _box_to_dict(machine: Menace, board: Board) -> dict[str, object]:
    """Return a box as data; a cell without beads of its own is symmetric to another one."""
    beads = machine.beads(board)
    chances = machine(board) if sum(beads.values()) else {}
    moves = [
        {"cell": cell, "beads": count, "chance": str(Fraction(chances.get(cell, 0)))}
        for cell, count in sorted(beads.items())
    ]
    return {"board": str(board), "first": str(board.first), "turn": str(board.turn), "moves": moves}


def draw_curve(points: list[Odds], mark: Mark, games: int) -> str:
    """Draw how the odds of a player have changed: wins as w, draws as d, losses as l.

    >>> from fractions import Fraction
    >>> from noughts.core.board import Mark
    >>> from noughts.bots.odds import Odds
    >>> chances = [(0, 10), (2, 8), (5, 4), (7, 1), (8, 0)]
    >>> points = [Odds(*(Fraction(part, 10) for part in (won, 10 - won - lost, lost)), length=Fraction(9))
    ...           for won, lost in chances]
    >>> print(draw_curve(points, Mark.X, 100), end="")
    100 % |l
          |
          | l  w
          |   w
          |
     50 % |  w
          |  l
          |
          | w dd
          |  dl
      0 % |wd  l
          +-----
           0 to 100 games; w wins, d draws, l losses
    """
    width = len(points)
    rows = [[" "] * width for _ in range(CURVE_ROWS + 1)]
    for column, point in enumerate(points):
        for letter, chance in (("d", point.draw), ("w", point.win(mark)), ("l", point.win(mark.other))):
            rows[CURVE_ROWS - round(CURVE_ROWS * chance)][column] = letter
    labels = {0: "100 %", CURVE_ROWS // 2: "50 %", CURVE_ROWS: "0 %"}
    drawn = [f"{labels.get(number, ''):>5} |{''.join(row)}".rstrip() for number, row in enumerate(rows)]
    under = f"      +{'-' * width}", f"       0 to {count_games(games)}; w wins, d draws, l losses"
    return "".join(f"{line}\n" for line in (*drawn, *under))
