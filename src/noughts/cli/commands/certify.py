"""`noughts certify`: what is certain about a bot, to read, as data, or as the page docs/bots.md."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from fractions import Fraction
from typing import TextIO, TypeAlias

from noughts.analysis.solver import Result
from noughts.bots.certificate import Certificate, certify
from noughts.bots.ladder import LADDER
from noughts.bots.odds import Odds, percent
from noughts.bots.policy import CachedPolicy
from noughts.bots.registry import BUILT_IN, find_policy, parse_policy
from noughts.cli import options as shared
from noughts.cli.commands.odds import fraction
from noughts.cli.console import Console
from noughts.cli.layout import say, write_table
from noughts.cli.opponents import load_bot
from noughts.cli.progress import DELAY_SECONDS, ProgressBar
from noughts.core.board import Mark
from noughts.core.errors import printable
from noughts.core.notation import format_moves

Seats: TypeAlias = tuple[Certificate, Certificate]
"""The certificates of a bot as X and as O."""

_TITLE = """\
# The bots, and how good they are

`noughts certify --markdown` prints this page. Every number is exact, computed over all games.
`noughts certify POLICY` does the same for any other bot, `noughts certify menace` for your own trained
MENACE, and `noughts odds --all` shows the odds of each against each.
"""

_LEGEND = """\
X starts. A score is 1 for a win, 1/2 for a draw and 0 for a loss. *Games* counts the different games that
a bot can get into against any opponent. *The worst line* is the likeliest of the games that end worst for
the bot, with the chance that it makes all its moves in it. *The least score* is what it gets against an
opponent who knows its policy and plays best against it.
"""


HELP = shared.CommandHelp(
    "Prove what is certain about a bot against any opponent: whether it can lose, and its least score.",
    {
        "noughts certify club": "a bot as it is",
        "noughts certify club:block=0,defence=0": "one that never overlooks a block or a fork",
    },
    shared.DATA_FOLDER,
)


def add_options(parser: shared.Parser) -> None:
    parser.add_argument(
        "policies",
        type=parse_policy,
        metavar="POLICY",
        nargs="*",
        help="bots (default: all built-in ones)",
    )
    formats = parser.add_mutually_exclusive_group()
    shared.add_json(formats)
    formats.add_argument("--markdown", action="store_true", help="print Markdown, with exact fractions")


def run(options: Namespace, console: Console) -> None:
    out = console.out
    sys.set_int_max_str_digits(0)  # exact fractions can be long
    bots = {name: load_bot(name) for name in options.policies}  # load all before printing any
    bots = bots or {name: find_policy(name) for name in BUILT_IN}
    found: dict[str, Seats] = {}
    with ProgressBar(len(bots), console.err, delay_seconds=DELAY_SECONDS) as bar:
        for name, policy in bots.items():
            bar.show(len(found))
            weighed = CachedPolicy(policy)
            found[name] = certify(weighed, Mark.X), certify(weighed, Mark.O)
    if options.json:
        out.write(f"{json.dumps([_to_dict(name, seats) for name, seats in found.items()])}\n")
    elif options.markdown:
        out.write("" if options.policies else f"{_TITLE}\n{_LEGEND}")
        out.writelines(_markdown(name, seats) for name, seats in found.items())
    else:
        for name, seats in found.items():
            _write(name, seats, out)
        legend = " ".join(_LEGEND.replace("*", "").split())
        say(f"{legend} The numbers are rounded; --json has the exact ones.", out)


def _write(name: str, seats: Seats, out: TextIO) -> None:
    """Write a certificate for people to read."""
    verdict = _verdict(*seats).replace("*", "")
    say(f"{printable(name)}\n{_about(name)}{verdict}\n", out)
    write_table([("", "as X", "as O"), *_rows(seats)], out, left=3)
    out.write("\n")


def _markdown(name: str, seats: Seats) -> str:
    """Return a section of docs/bots.md."""
    table = "".join(f"|{'|'.join(row)}|\n" for row in _rows(seats, is_exact=True))
    head = "||as X|as O|\n|---|---|---|\n"
    return f"\n## {printable(name)}\n\n{_about(name)}{_verdict(*seats)}\n\n{head}{table}"


def _rows(seats: Seats, *, is_exact: bool = False) -> list[tuple[str, ...]]:
    """Return the rows of a table, in Markdown if it is exact."""
    quote = "`" if is_exact else ""

    def score(number: Fraction) -> str:
        return fraction(number) if is_exact else f"{float(number):.3f}"

    def odds(found: Odds, mark: Mark) -> str:
        shares = _percentages(found, mark)
        return f"{shares}, score {score(found.score(mark))}" if is_exact else shares

    return [
        ("games won / drawn / lost", *map(_games, seats)),
        ("the worst line", *map(_worst, seats)),
        ("the least score", *(score(seat.least) for seat in seats)),
        (f"against {quote}random{quote}", *(odds(seat.against_random, seat.mark) for seat in seats)),
        (f"against {quote}perfect{quote}", *(odds(seat.against_perfect, seat.mark) for seat in seats)),
    ]


def _to_dict(name: str, seats: Seats) -> dict[str, object]:
    """Return a certificate as data: exact fractions as text, and floats; cells are counted from 0."""
    return {"name": name, **{str(seat.mark).lower(): _seat_to_dict(seat) for seat in seats}}


def _seat_to_dict(seat: Certificate) -> dict[str, object]:
    worst = seat.worst
    return {
        "games": {str(result): count for result, count in seat.games.items()},
        "worst": {"result": str(worst.result), "line": [*worst.line], **_number("chance", worst.chance)},
        "least": _number("score", seat.least),
        "against_random": _odds_to_dict(seat.against_random, seat.mark),
        "against_perfect": _odds_to_dict(seat.against_perfect, seat.mark),
    }


def _odds_to_dict(found: Odds, mark: Mark) -> dict[str, object]:
    chances = {"win": found.win(mark), "draw": found.draw, "loss": found.win(mark.other)}
    chances["score"] = found.score(mark)
    return {
        **{name: str(chance) for name, chance in chances.items()},
        "about": {name: float(chance) for name, chance in chances.items()},
    }


def _number(name: str, number: Fraction) -> dict[str, object]:
    return {name: str(number), "about": {name: float(number)}}


def _about(name: str) -> str:
    if name in LADDER:
        chances = LADDER[name].__dict__.items()
        overlooked = ", ".join(f"{_WHAT[what]} {chance}" for what, chance in chances if chance)
        return f"{BUILT_IN[name].description} The chances that it overlooks something: {overlooked}. "
    return f"{BUILT_IN[name].description} " if name in BUILT_IN else ""


_WHAT = {
    "win": "a win",
    "block": "a block",
    "fork": "a fork of its own",
    "defence": "a fork of the opponent",
    "centre": "the centre",
}


def _verdict(x: Certificate, o: Certificate) -> str:
    lost = x.games[Result.LOSS] + o.games[Result.LOSS]
    every = sum(x.games.values()) + sum(o.games.values())
    if lost:
        return f"It can lose, in {lost:,} of {every:,} games."
    return f"**It never loses**: in none of all {every:,} games, whatever the opponent does."


def _games(seat: Certificate) -> str:
    return " / ".join(f"{seat.games[result]:,}" for result in Result)


def _worst(seat: Certificate) -> str:
    worst = seat.worst
    return f"{worst.result}: {format_moves(worst.line)}, {percent(worst.chance)}"


def _percentages(found: Odds, mark: Mark) -> str:
    shares = (found.win(mark), found.draw, found.win(mark.other))
    return f"{' / '.join(percent(one).removesuffix(' %') for one in shares)} %"
