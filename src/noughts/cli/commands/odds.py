"""The exact odds of bots against each other: a pair, or a table of all of them."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from fractions import Fraction
from typing import TextIO

from noughts.bots.errors import UnknownPolicy
from noughts.bots.ladder import random
from noughts.bots.odds import Odds, odds, percent
from noughts.bots.policy import CachedPolicy
from noughts.bots.registry import BUILT_IN, policy_names
from noughts.cli.commands.show import read_board
from noughts.cli.machines import asked_policy
from noughts.core.board import Board, Mark
from noughts.core.errors import NoughtsError, printable
from noughts.core.value import Value

_COLUMNS = "x", "o", "x_wins", "draw", "o_wins", "length"


class Pairing(Value):
    """Two bots, and how they fare."""

    x: str
    o: str
    odds: Odds


def tell_odds(options: Namespace, out: TextIO) -> None:
    """Tell the odds of a pair, or of all pairs in both seats."""
    if options.all and options.x is not None:
        raise UnknownPolicy("--all tells the odds of all bots: name none, or leave it out")
    if not options.all and options.o is None:
        raise UnknownPolicy(f"name two bots, of {', '.join(policy_names())}; or say --all")
    sys.set_int_max_str_digits(0)  # the limit is for numbers from strangers; these are our own
    first = Mark(options.first)
    board = Board(first=first) if options.position is None else read_board(options.position, first)
    names = policy_names() if options.all else (options.x, options.o)
    bots = {name: bot for name in names if (bot := _bot(name, leaves_out=options.all))}
    names = tuple(bots) if options.all else names
    pairs = [(x, o) for x in names for o in names] if options.all else [(options.x, options.o)]
    found = [Pairing(x, o, odds(bots[x], bots[o], board)) for x, o in pairs]
    if options.json:
        out.write(f"{json.dumps([_plain(pairing) for pairing in found])}\n")
    elif options.csv:
        _write_csv(found, out)
    elif options.all:
        _write_table(names, found, out)
    else:
        _write_pair(found[0], out)


def _bot(name: str, *, leaves_out: bool) -> CachedPolicy | None:
    """Return a bot; one of another package that cannot play does not keep the others from the table."""
    try:
        bot = CachedPolicy(asked_policy(name))
        if name not in BUILT_IN:
            odds(bot, random)
            odds(random, bot)
    except NoughtsError as error:
        if not leaves_out:
            raise
        print(f"noughts: {printable(f'{name} is left out: {error}')}", file=sys.stderr)
        return None
    return bot


def _write_pair(pairing: Pairing, out: TextIO) -> None:
    found = pairing.odds
    out.write(printable(f"{pairing.x} (X) against {pairing.o} (O)") + "\n")
    chances = ("X wins", found.x), ("draw", found.draw), ("O wins", found.o)
    out.writelines(f"{what:<7}{percent(chance):>7}  {fraction(chance)}\n" for what, chance in chances)
    out.write(f"length {float(found.length):>6.2f}  {fraction(found.length)}\n")


def _write_table(names: tuple[str, ...], found: list[Pairing], out: TextIO) -> None:
    """Write a row for each bot at X, and in it a column for each at O."""
    out.write("X wins / draw / O wins, in percent. X stands in the rows, O in the columns.\n")
    width = max(14, *(len(name) for name in names)) + 2
    lines = [["", *map(printable, names)]]
    for x in names:
        row = [pairing.odds for pairing in found if pairing.x == x]
        lines.append(
            [printable(x), *(f"{_short(one.x)}/{_short(one.draw)}/{_short(one.o)}" for one in row)]
        )
    out.writelines("".join(f"{text:<{width}}" for text in line).rstrip() + "\n" for line in lines)


def _ends(found: Odds) -> str:
    return "/".join(_short(chance) for chance in (found.x, found.draw, found.o))


def _short(chance: Fraction) -> str:
    return percent(chance).removesuffix(" %")


def _write_csv(found: list[Pairing], out: TextIO) -> None:
    import csv  # noqa: PLC0415 - only who asks for it loads it

    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows(
        (one.x, one.o, one.odds.x, one.odds.draw, one.odds.o, one.odds.length) for one in found
    )


def _plain(pairing: Pairing) -> dict[str, object]:
    """Return a pair as data: exact chances as text, and the same as numbers."""
    found = pairing.odds
    exact = {"x_wins": found.x, "draw": found.draw, "o_wins": found.o, "length": found.length}
    return {
        "x": pairing.x,
        "o": pairing.o,
        **{name: str(value) for name, value in exact.items()},
        "about": {name: float(value) for name, value in exact.items()},
    }


def fraction(number: Fraction) -> str:
    """Write a fraction, if a line has room for it.

    >>> from fractions import Fraction
    >>> fraction(Fraction(1, 3)), fraction(Fraction(1, 10**99))
    ('1/3', 'about 1e-99')
    """
    written = str(number) if number.denominator < 10**40 else ""
    return written or f"about {float(number):.12g}"
