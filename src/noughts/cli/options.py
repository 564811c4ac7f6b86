"""The parser, and the options and argument types that several commands share."""

from __future__ import annotations

import argparse
import os
from argparse import _ActionsContainer as Container
from functools import cache
from typing import Any, Never

from noughts.cli.exit import BAD_USAGE
from noughts.core.errors import printable, quoted
from noughts.text.wordings import WORDINGS

MAX_INTERVAL_SECONDS = 86_400
"""A day: some systems cannot sleep for much longer."""


class Parser(argparse.ArgumentParser):
    """A parser that refuses in one sentence, with control characters escaped."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - the settings of argparse
        super().__init__(formatter_class=_help_formatter, **settings)

    def error(self, message: str) -> Never:
        self.exit(BAD_USAGE, f"{self.prog}: {printable(message[:500])}\nTry '{self.prog} --help'.\n")


def add_seats(parser: Parser, name: str = "a name, ") -> None:
    """Add who plays, how long a program may think, and who starts."""
    for mark in ("X", "O"):
        parser.add_argument(
            f"--{mark.lower()}",
            metavar="SEAT",
            help=f"who plays {mark}: {name}bot:POLICY, bot:saved:file=PATH or program:COMMAND",
        )
    add_patience(parser)
    parser.add_argument(
        "--first",
        choices=["X", "O", "random", "loser"],
        help="who starts every game (narrative: the loser, X at first; gem: random; kata: X)",
    )


def add_patience(parser: Parser) -> None:
    parser.add_argument(
        "--patience", type=seconds, metavar="SECONDS", help="how long a program may think (default: 5)"
    )


def add_first(parser: Parser) -> None:
    parser.add_argument("--first", choices=["X", "O"], default="X", help="who started (default: X)")


def add_events(parser: Parser) -> None:
    parser.add_argument(
        "--events", action="store_true", help="also print each event, such as playerPlacedToken(1,1,X)"
    )


def add_interval(parser: Parser, default: int | None) -> None:
    help_ = "seconds between moves" + ("" if default is None else f" (default: {default})")
    parser.add_argument("--interval", type=seconds, default=default, metavar="SECONDS", help=help_)


def add_display(parser: Parser, wording: str) -> None:
    parser.add_argument(
        "--wording", choices=list(WORDINGS), default=wording, help=f"style (default: {wording})"
    )
    parser.add_argument(
        "--describe", action="store_true", help="describe positions in sentences, for listening"
    )
    add_colour(parser)


def add_colour(parser: Parser) -> None:
    parser.add_argument(
        "--color", choices=["auto", "always", "never"], default="auto", help="colours (default: auto)"
    )


def add_json(parser: Container) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_data_formats(parser: Parser) -> None:
    formats = parser.add_mutually_exclusive_group()
    add_json(formats)
    formats.add_argument("--csv", action="store_true", help="print CSV")


def add_jobs(parser: Parser) -> None:
    parser.add_argument("--jobs", type=count, metavar="N", help="processes to use (default: one a core)")


def add_plot(parser: Parser, what: str) -> None:
    parser.add_argument("--plot", metavar="FILE", help=f"draw {what}, as .svg or .png")


def add_game(parser: Parser) -> None:
    parser.add_argument("game", metavar="GAME", help="its id, or the beginning of it")


def add_store(parser: Container) -> None:
    parser.add_argument(
        "--store",
        metavar="URL",
        help="where games are saved: sqlite:PATH, postgresql://USER@HOST/DATABASE or memory:",
    )


def _help_formatter(prog: str) -> argparse.HelpFormatter:
    """Return help as wide as the terminal; argparse would load a slow module to find the width."""
    return argparse.HelpFormatter(prog, width=_columns() - 2)


@cache
def _columns() -> int:
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80


def seconds(text: str) -> float:
    try:
        number = -1 if "_" in text else float(text)
    except ValueError:
        number = -1
    if not 0 <= number <= MAX_INTERVAL_SECONDS:
        raise argparse.ArgumentTypeError(
            f"{quoted(text)} is not a number of seconds from 0 to {MAX_INTERVAL_SECONDS}"
        )
    return number


def count(text: str) -> int:
    try:
        number = int(text) if text.isascii() and text.isdecimal() else 0
    except ValueError:  # Python reads at most 4,300 digits
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{quoted(text)} is not a whole number of at least 1")
    return number
