"""The parser, and the options and argument types that several commands share."""

from __future__ import annotations

import argparse
import sys
from argparse import _ActionsContainer as Container
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Never

from noughts.cli.exit import BAD_USAGE
from noughts.cli.layout import fit, window_columns
from noughts.core.errors import did_you_mean, printable, quoted
from noughts.core.value import Value
from noughts.text.wordings import WORDINGS

MAX_INTERVAL_SECONDS = 86_400
"""A day: some systems cannot sleep for much longer."""

DATA_FOLDER = {"XDG_DATA_HOME": "the folder that holds noughts/ and its files (default: ~/.local/share)"}
VARIABLES = {
    "--store": {"NOUGHTS_STORE": "where games are saved, if --store is not given", **DATA_FOLDER},
    "--color": {
        "NO_COLOR": "if not empty, no colours unless --color asks for them",
        "FORCE_COLOR": "if not empty, colours even in a pipe; NO_COLOR and --color win",
    },
    "--plain": {
        "NOUGHTS_PLAIN": "if not empty, lines as with --plain",
        "XDG_CONFIG_HOME": "the folder that holds noughts/settings.json (default: ~/.config)",
        "XDG_STATE_HOME": "the folder that holds noughts/history (default: ~/.local/state)",
    },
}
"""The environment variables that go with an option."""

_REQUIRED = "the following arguments are required: "
"""What argparse says before the names of what is missing."""
_MISSING = {
    "GAME": "name a game, such as k7; noughts games lists them",
    "BOARD-OR-GAME": "give a position, such as X_O/_X_/___, or a game, such as k7",
}


class CommandHelp(Value):
    """What the help of a command says besides its options."""

    description: str
    examples: Mapping[str, str]
    """Command lines, and what each does."""
    variables: Mapping[str, str] = MappingProxyType({})
    """Environment variables that go with none of its options, and what each does."""


class Parser(argparse.ArgumentParser):
    """A parser that refuses in one sentence, with control characters escaped."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - the settings of argparse
        super().__init__(formatter_class=_help_formatter, **settings)
        self.gone: dict[str, str] = {}
        """Options that went, and what to do instead."""

    @property
    def options(self) -> dict[str, argparse.Action]:
        return self._option_string_actions

    @property
    def positionals(self) -> list[argparse.Action]:
        return self._get_positional_actions()

    def explain(self, command: CommandHelp) -> None:
        """Say what the command does; its options must be known."""
        self.description = command.description
        shown = [row for line, what in command.examples.items() for row in (f"# {what}", line)]
        self.add_section("examples", dict.fromkeys(shown, ""))
        variables = dict(command.variables)
        for option in VARIABLES.keys() & self.options:
            variables |= VARIABLES[option]
        self.add_section("environment", dict(sorted(variables.items())))

    def add_section(self, title: str, entries: Mapping[str, str]) -> None:
        """Add words and their meanings to the help, in the form of options."""
        shown = [argparse.Action([], word, metavar=word, help=means) for word, means in entries.items()]
        self.add_argument_group(title)._group_actions += shown  # noqa: SLF001 - argparse has no other way

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401 - as argparse
        """Refuse what the command does not know; argparse would let the parser of `noughts` do it."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown and unknown[0].startswith("-"):
            option = unknown[0].partition("=")[0]
            if option in self.gone:
                self.error(f"{option} is not an option any more: {self.gone[option]}")
            suggestion = did_you_mean(option, self.options)
            self.error(f"unknown option {quoted(option)}{suggestion}")
        if unknown:
            self.error(f"unexpected argument {quoted(unknown[0])}")
        return known, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:  # noqa: ANN401 - as argparse
        """Refuse a word that is not one of the choices, and suggest the one that was meant."""
        if action.choices is None or value in action.choices:
            return
        choices = [*action.choices]
        if action.dest == "command":  # there are too many to list; and help may mean --help
            suggestion = did_you_mean(value, [*choices, *self.options])
            raise argparse.ArgumentError(None, f"unknown command {quoted(value)}{suggestion}")
        known = ", ".join(choices)
        suggestion = did_you_mean(value, choices)
        raise argparse.ArgumentError(action, f"{quoted(value)} is not one of {known}{suggestion}")

    def error(self, message: str) -> Never:
        missing = message.removeprefix(_REQUIRED)
        if missing != message:
            message = _MISSING.get(missing, f"{missing} is missing")
        message = f"{self.prog}: {printable(message[:500])}\nTry '{self.prog} --help'."
        self.exit(BAD_USAGE, f"{fit(message, sys.stderr)}\n")


def add_task(tasks: argparse._SubParsersAction[Parser], name: str, summary: str) -> Parser:
    """Add a task of a command, such as `verify` of `store`."""
    description = f"{summary[0].upper()}{summary[1:]}."
    return tasks.add_parser(name, help=summary, description=description, allow_abbrev=False)


def add_seats(parser: Parser, name: str = "a name, ") -> None:
    """Add who plays, how long a program may think, and who starts."""
    for mark in ("X", "O"):
        parser.add_argument(
            f"--{mark.lower()}",
            metavar="SEAT",
            help=f"who plays {mark}: {name}bot:POLICY, bot:saved:file=PATH or program:COMMAND; "
            "noughts bots lists the policies",
        )
    add_patience(parser)
    parser.add_argument(
        "--first",
        choices=["X", "O", "random", "loser"],
        help="who starts every game (default: X; in the wording of the gem, random)",
    )


def add_patience(parser: Parser) -> None:
    parser.add_argument(
        "--patience", type=seconds, metavar="SECONDS", help="how long a program may think (default: 5)"
    )


def add_first(parser: Parser) -> None:
    parser.add_argument("--first", choices=["X", "O"], default="X", help="who started (default: X)")


def add_events(parser: Container) -> None:
    parser.add_argument(
        "--events",
        action="store_true",
        help="also print each event on a line, such as playerPlacedToken(1,1,X)",
    )


def add_interval(parser: Parser, default: int | None) -> None:
    help_ = f"seconds between moves (default: {'a key for each' if default is None else default})"
    parser.add_argument("--interval", type=seconds, default=default, metavar="SECONDS", help=help_)


def add_live(parser: Parser) -> None:
    parser.add_argument("--plain", action="store_true", help="print lines instead of a board in place")


def add_display(parser: Parser, wording: str) -> None:
    parser.add_argument(
        "--wording", choices=list(WORDINGS), help=f"how it is worded and drawn (default: {wording})"
    )
    parser.set_defaults(usual_wording=wording)
    parser.add_argument(
        "--describe", action="store_true", help="describe positions in sentences, for screen readers"
    )
    add_colour(parser)


def add_colour(parser: Parser) -> None:
    parser.add_argument(
        "--color",
        choices=["auto", "always", "never"],
        default="auto",
        help="colours; auto: on a terminal (default: auto)",
    )


def add_seed(parser: Parser, effect: str, read: Callable[[str], object] = str) -> None:
    parser.add_argument("--seed", type=read, metavar="SEED", help=f"the same seed {effect}")


def add_json(parser: Container) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def prints_data(parser: Parser) -> None:
    """Note that the command prints data, whatever its options are."""
    parser.set_defaults(data=True)


def add_data_formats(parser: Parser) -> None:
    formats = parser.add_mutually_exclusive_group()
    add_json(formats)
    formats.add_argument("--csv", action="store_true", help="print CSV")


def add_jobs(parser: Parser) -> None:
    parser.add_argument("--jobs", type=count, metavar="N", help="processes to use (default: one a core)")


def add_plot(parser: Parser, what: str) -> None:
    parser.add_argument("--plot", type=file_name, metavar="FILE", help=f"draw {what}, as .svg or .png")


def add_game(parser: Parser) -> None:
    parser.add_argument("game", metavar="GAME", help="its id, or the beginning of it")


def add_store(parser: Container, file: str = "saved.sqlite") -> None:
    parser.add_argument(
        "--store",
        metavar="URL",
        help="where games are saved: sqlite:PATH, postgresql://USER@HOST/DATABASE or memory: "
        f"(default: NOUGHTS_STORE, or noughts/{file} in ~/.local/share)",
    )


def _help_formatter(prog: str) -> argparse.HelpFormatter:
    """Return help as wide as the terminal; argparse would load a slow module to find the width."""
    return argparse.HelpFormatter(prog, width=(window_columns(sys.stdout) or 80) - 2)


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


def file_name(text: str) -> str:
    """Refuse an empty name, which would mean the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("'' is not the name of a file")
    return text


def count(text: str) -> int:
    try:
        number = int(text) if text.isascii() and text.isdecimal() else 0
    except ValueError:  # Python reads at most 4,300 digits
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{quoted(text)} is not a whole number of at least 1")
    return number
