"""`noughts events`: print a saved game's events."""

from __future__ import annotations

from argparse import Namespace

from noughts.cli import options as shared
from noughts.cli.console import Console
from noughts.cli.recorder import look_up

HELP = shared.CommandHelp(
    "Print the events of a saved game, one a line: its whole record. Refused moves are not part of it.",
    {
        "noughts events k7": "the game whose id begins with k7",
        "noughts events k7 --store sqlite:games.sqlite": "from a store of its own",
    },
)


def add_options(parser: shared.Parser) -> None:
    shared.add_game(parser)
    shared.add_store(parser)


def run(options: Namespace, console: Console) -> None:
    events = look_up(options.game, options.store).events
    console.out.writelines(f"{event}\n" for event in events)
