"""`noughts simulate`: count the results of many games, next to the exact odds."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentTypeError, Namespace
from fractions import Fraction
from math import inf, isfinite, sqrt
from time import monotonic
from typing import TextIO

from noughts.bots.odds import Odds, odds
from noughts.bots.policy import CachedPolicy
from noughts.bots.registry import parse_policy
from noughts.cli import options as shared
from noughts.cli.console import Console
from noughts.cli.exit import INTERRUPTED
from noughts.cli.layout import say, write_table
from noughts.cli.opponents import load_bot
from noughts.cli.progress import ProgressBar
from noughts.core.errors import printable, quoted
from noughts.core.value import Value
from noughts.lab.batch_play import NO_GAMES, Tally
from noughts.lab.simulation import Simulation

Z_95 = 1.959963984540054
"""Standard errors on both sides of the mean that hold 95 % of a normal distribution."""


HELP = shared.CommandHelp(
    "Play many games of two bots and count the results, next to their exact odds.",
    {
        "noughts simulate --x club --o expert": "a million games",
        "noughts simulate --games 5000 --seed 7 --json": "the same 5,000 games each time, as JSON",
    },
    shared.DATA_FOLDER,
)


def add_options(parser: shared.Parser) -> None:
    for mark in ("X", "O"):
        parser.add_argument(
            f"--{mark.lower()}",
            type=parse_policy,
            metavar="POLICY",
            default="random",
            help=f"the bot that plays {mark} (default: random)",
        )
    parser.add_argument(
        "--games",
        type=shared.count,
        default=1_000_000,
        metavar="N",
        help="number of games (default: 1000000)",
    )
    shared.add_seed(parser, "plays the same games", _seed)
    shared.add_jobs(parser)
    shared.add_json(parser)


def run(options: Namespace, console: Console) -> None:
    sys.set_int_max_str_digits(0)  # exact fractions can be long
    simulate(options, console.out, ProgressBar(options.games, console.err))


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise ArgumentTypeError(f"{quoted(text)} is not a number of 1 to 19 digits")
    return int(text)


class Share(Value):
    """How often a result was counted, and how often it happens."""

    what: str
    count: int
    games: int
    exact: Fraction

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval, by Wilson's score.

        >>> from fractions import Fraction
        >>> low, high = Share("draw", 127, 1000, Fraction(8, 63)).interval
        >>> round(low, 3), round(high, 3)
        (0.108, 0.149)
        """
        n, share, square = self.games, self.count / self.games, Z_95 * Z_95
        middle = (share + square / (2 * n)) / (1 + square / n)
        reach = Z_95 / (1 + square / n) * sqrt(share * (1 - share) / n + square / (4 * n * n))
        low = 0.0 if self.count == 0 else middle - reach
        high = 1.0 if self.count == n else middle + reach
        return low, high

    @property
    def errors(self) -> float | None:
        """How many standard errors the count is off; None if only this count is possible."""
        deviation = self.count - self.games * self.exact
        variance = self.games * self.exact * (1 - self.exact)
        if not deviation or not variance:
            return 0.0 if variance else None if not deviation else inf
        try:
            size = sqrt(deviation * deviation / variance)
        except OverflowError:  # too unlikely for a float
            size = inf
        return size if deviation > 0 else -size


def simulate(options: Namespace, out: TextIO, bar: ProgressBar) -> None:
    """Play the games, and report the counts; after Ctrl-C, of the games so far."""
    x, o = load_bot(options.x), load_bot(options.o)
    exact = odds(CachedPolicy(x), CachedPolicy(o))
    simulation = Simulation(x, o, options.games, options.seed)
    began, tally, failure = monotonic(), NO_GAMES, None
    try:
        with bar:
            bar.show(0)
            for piece in simulation.run(options.jobs):
                tally += piece
                bar.show(tally.games)
    except (KeyboardInterrupt, ChildProcessError) as error:
        failure = error
    seconds = monotonic() - began
    if options.json:
        out.write(json.dumps(_to_dict(options, simulation.seed, tally, exact, seconds)) + "\n")
    else:
        _write(options, tally, exact, seconds, out)
    if isinstance(failure, KeyboardInterrupt):
        raise SystemExit(INTERRUPTED)
    if failure:
        out.flush()
        raise failure


def shares(tally: Tally, exact: Odds) -> tuple[Share, ...]:
    counted = ("X wins", tally.x, exact.x), ("draw", tally.draw, exact.draw), ("O wins", tally.o, exact.o)
    return tuple(Share(what, count, tally.games, chance) for what, count, chance in counted)


def _write(options: Namespace, tally: Tally, exact: Odds, seconds: float, out: TextIO) -> None:
    games = f"{tally.games:,}" + (f" of {options.games:,}" if tally.games < options.games else "")
    word = "game" if games == "1" else "games"
    title = f"{options.x} (X) against {options.o} (O): {games} {word} in {seconds:.1f} s"
    say(printable(title), out)
    if tally.games:
        write_table(_rows(tally, exact), out)


def _rows(tally: Tally, exact: Odds) -> list[tuple[str, ...]]:
    digits = max(1, len(str(tally.games)) // 2)  # as many as this many games can show
    rows: list[tuple[str, ...]] = [("", "counted", "share", "95 % interval", "exactly", "off by")]
    for share in shares(tally, exact):
        low, high = (f"{100 * end:.{digits}f}" for end in share.interval)
        counted = f"{100 * share.count / share.games:.{digits}f} %"
        exactly = f"{100 * float(share.exact):.{digits}f} %"
        off = "nothing" if not share.errors else f"{round(share.errors, 2) + 0.0:+.2f} std. errors"
        rows.append((share.what, f"{share.count:,}", counted, f"{low} to {high} %", exactly, off))
    length = f"{tally.moves / tally.games:.{digits}f}"
    rows.append(("tokens", f"{tally.moves:,}", length, "", f"{float(exact.length):.{digits}f}", ""))
    return rows


def _to_dict(
    options: Namespace, seed: int | None, tally: Tally, exact: Odds, seconds: float
) -> dict[str, object]:
    """Return it as data: exact fractions as text, and floats."""
    ends = {}
    for name, share in zip(("x_wins", "draw", "o_wins"), shares(tally, exact), strict=True):
        known = {"share": share.count / tally.games, "interval": share.interval} if tally.games else {}
        errors = share.errors if tally.games else None
        ends[name] = {
            "count": share.count,
            **known,
            "exact": str(share.exact),
            "about": float(share.exact),
            "errors": errors if errors is None or isfinite(errors) else None,
        }
    return {
        "x": options.x,
        "o": options.o,
        "games": tally.games,
        "asked": options.games,
        "seed": seed,
        "moves": tally.moves,
        **ends,
        "length": {"exact": str(exact.length), "about": float(exact.length)},
        "seconds": round(seconds, 3),
    }
