"""`noughts odds`: the exact odds of two bots, or a table of all of them."""

from __future__ import annotations

import csv
import json
import sys
from argparse import Namespace
from fractions import Fraction
from itertools import product
from typing import TextIO, TypeAlias

from noughts.bots.errors import UnknownPolicy
from noughts.bots.ladder import random
from noughts.bots.odds import Odds, odds, percent
from noughts.bots.policy import CachedPolicy
from noughts.bots.registry import BUILT_IN, parse_policy, policy_names
from noughts.cli import options as shared
from noughts.cli.console import Console
from noughts.cli.layout import say, write_table
from noughts.cli.opponents import load_bot
from noughts.cli.position import read_board
from noughts.cli.progress import DELAY_SECONDS, ProgressBar
from noughts.core.board import Board, Mark
from noughts.core.errors import NoughtsError, printable

_COLUMNS = "x", "o", "x_wins", "draw", "o_wins", "length"

MAX_DENOMINATOR = 10**31
"""A fraction up to this one fits into a window of 80 columns, beside its name and its percentage."""

Pairings: TypeAlias = dict[tuple[str, str], Odds]
"""The odds by the names of X and O."""


HELP = shared.CommandHelp(
    "Compute the exact odds of two bots against each other, without playing.",
    {
        "noughts odds club perfect": "club as X, perfect as O",
        "noughts odds --all --csv": "each against each, as exact fractions",
    },
    shared.DATA_FOLDER,
)


def add_options(parser: shared.Parser) -> None:
    for mark in ("X", "O"):
        parser.add_argument(
            mark.lower(),
            type=parse_policy,
            metavar=f"{mark}-POLICY",
            nargs="?",
            help=f"the bot that plays {mark}: a policy, or saved:file=PATH",
        )
    parser.add_argument("--all", action="store_true", help="every pair of bots, in both seats")
    parser.add_argument("--from", dest="position", metavar="BOARD", help="start from this position")
    shared.add_first(parser)
    shared.add_data_formats(parser)


def run(options: Namespace, console: Console) -> None:
    if options.all and options.x is not None:
        raise UnknownPolicy("--all shows the odds of all bots: don't name any, or leave it out")
    if not options.all and options.o is None:
        raise UnknownPolicy(f"name two bots, of {', '.join(policy_names())}; or use --all")
    sys.set_int_max_str_digits(0)  # exact fractions can be long
    first = Mark(options.first)
    board = Board(first=first) if options.position is None else read_board(options.position, first)
    names = policy_names() if options.all else (options.x, options.o)
    bots = {name: bot for name in names if (bot := load_checked(name, may_skip=options.all))}
    pairs = [*product(bots, repeat=2)] if options.all else [(options.x, options.o)]
    found: Pairings = {}
    with ProgressBar(len(pairs), console.err, delay_seconds=DELAY_SECONDS) as bar:
        for x, o in pairs:
            bar.show(len(found))
            found[x, o] = odds(bots[x], bots[o], board)
    out = console.out
    if options.json:
        out.write(f"{json.dumps([_to_dict(x, o, chances) for (x, o), chances in found.items()])}\n")
    elif options.csv:
        _write_csv(found, out)
    elif options.all:
        _write_table([*bots], found, out)
    else:
        _write_pair(options.x, options.o, found[options.x, options.o], out)


def load_checked(name: str, *, may_skip: bool) -> CachedPolicy | None:
    """Return a bot; one of another package that cannot play may be skipped, with a warning."""
    try:
        bot = CachedPolicy(load_bot(name))
        if name not in BUILT_IN:
            odds(bot, random)
            odds(random, bot)
    except NoughtsError as error:
        if not may_skip:
            raise
        if sys.stderr:
            say(printable(f"noughts: {name} is skipped: {error}"), sys.stderr)
        return None
    return bot


def _write_pair(x: str, o: str, found: Odds, out: TextIO) -> None:
    say(printable(f"{x} (X) against {o} (O)"), out)
    chances = ("X wins", found.x), ("draw", found.draw), ("O wins", found.o)
    out.writelines(f"{what:<7}{percent(chance):>7}  {fraction(chance)}\n" for what, chance in chances)
    out.write(f"length {float(found.length):>6.2f}  {fraction(found.length)}\n")


def _write_table(names: list[str], found: Pairings, out: TextIO) -> None:
    """Write a row for each bot as X, with a column for each as O."""
    say("X wins / draw / O wins, in percent. Rows are X, columns are O.", out)
    rows = [["", *map(printable, names)]]
    rows += [[printable(x), *(_percentages(found[x, o]) for o in names)] for x in names]
    write_table(rows, out, left=len(rows))


def _percentages(found: Odds) -> str:
    return "/".join(percent(chance).removesuffix(" %") for chance in (found.x, found.draw, found.o))


def _write_csv(found: Pairings, out: TextIO) -> None:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows((*names, one.x, one.draw, one.o, one.length) for names, one in found.items())


def _to_dict(x: str, o: str, found: Odds) -> dict[str, object]:
    """Return a pair as data: exact fractions as text, and floats."""
    exact = {"x_wins": found.x, "draw": found.draw, "o_wins": found.o, "length": found.length}
    return {
        "x": x,
        "o": o,
        **{name: str(value) for name, value in exact.items()},
        "about": {name: float(value) for name, value in exact.items()},
    }


def fraction(number: Fraction) -> str:
    """Format a fraction exactly, or as a decimal if it is too long for a line.

    >>> from fractions import Fraction
    >>> fraction(Fraction(1, 3)), fraction(Fraction(1, 10**99))
    ('1/3', 'about 1e-99')
    """
    written = str(number) if number.denominator < MAX_DENOMINATOR else ""
    return written or f"about {float(number):.12g}"
