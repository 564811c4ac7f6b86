"""`noughts certify`: what is certain about a bot; docs/bots.md is its output for all built-in bots."""

from __future__ import annotations

from argparse import Namespace

from noughts.analysis.solver import Result
from noughts.bots.certificate import Certificate, certify
from noughts.bots.ladder import LADDER
from noughts.bots.odds import Odds, percent
from noughts.bots.policy import CachedPolicy, Policy
from noughts.bots.registry import BUILT_IN, find_policy, parse_policy
from noughts.cli.commands.odds import fraction
from noughts.cli.console import Console
from noughts.cli.opponents import load_bot
from noughts.cli.options import DATA_FOLDER, CommandHelp, Parser
from noughts.core.board import Mark
from noughts.core.errors import printable
from noughts.core.notation import format_moves

_PAGE = """\
# The bots, and how good they are

`noughts certify` prints this page. Every number is exact, computed over all games.
`noughts certify POLICY` does the same for any other bot, `noughts certify menace` for your own trained
MENACE, and `noughts odds --all` shows the odds of each against each.

X starts. A score is 1 for a win, 1/2 for a draw and 0 for a loss. *Games* counts the different games that
a bot can get into against any opponent. *The worst line* is the likeliest of the games that end worst for
the bot, with the chance that it makes all its moves in it. *The least score* is what it gets against an
opponent who knows its policy and plays best against it.
"""


HELP = CommandHelp(
    "Prove what is certain about a bot against any opponent: whether it can lose, and its least score.",
    {
        "noughts certify club": "a bot as it is",
        "noughts certify club:block=0,defence=0": "one that never overlooks a block or a fork",
    },
    DATA_FOLDER,
)


def add_options(parser: Parser) -> None:
    parser.add_argument(
        "policies",
        type=parse_policy,
        metavar="POLICY",
        nargs="*",
        help="bots (default: all built-in ones)",
    )


def run(options: Namespace, console: Console) -> None:
    bots = {name: load_bot(name) for name in options.policies}  # load all before printing any
    if not bots:
        console.out.write(_PAGE)
        bots = {name: find_policy(name) for name in BUILT_IN}
    console.out.writelines(_section(name, policy) for name, policy in bots.items())


def _section(name: str, policy: Policy) -> str:
    weighed = CachedPolicy(policy)
    x, o = (certify(weighed, mark) for mark in Mark)
    rows = [
        ("games won / drawn / lost", *(_games(seat) for seat in (x, o))),
        ("the worst line", *(_worst(seat) for seat in (x, o))),
        ("the least score", *(fraction(seat.least) for seat in (x, o))),
        ("against `random`", *(_odds(seat.against_random, seat.mark) for seat in (x, o))),
        ("against `perfect`", *(_odds(seat.against_perfect, seat.mark) for seat in (x, o))),
    ]
    head = "||as X|as O|\n|---|---|---|\n"
    table = "".join(f"|{'|'.join(row)}|\n" for row in rows)
    return f"\n## {printable(name)}\n\n{_about(name)}{_verdict(x, o)}\n\n{head}{table}"


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


def _odds(found: Odds, mark: Mark) -> str:
    shares = (found.win(mark), found.draw, found.win(mark.other))
    chances = " / ".join(percent(one).removesuffix(" %") for one in shares)
    return f"{chances} %, score {fraction(found.score(mark))}"
