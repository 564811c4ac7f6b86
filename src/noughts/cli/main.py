"""The `noughts` command: the table of its commands, and the dispatch to them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from noughts import __version__
from noughts.cli.console import Console
from noughts.cli.exit import run_to_exit
from noughts.cli.extras import needs_extra
from noughts.cli.options import Parser
from noughts.core.errors import NotInstalled

COMMANDS = {
    "play": "a game with people, bots or programs",
    "watch": "a game between two bots or programs",
    "join": "a game on a server, to play or to watch",
    "show": "draw a position or replay a game",
    "analyse": "what each move is worth, and why; or a whole game",
    "odds": "the exact odds of two bots",
    "certify": "what is certain about a bot against any opponent",
    "menace": "the machine that learns",
    "tournament": "bots and programs against each other, and their ratings",
    "simulate": "millions of games of two bots, next to their exact odds",
    "dataset": "every position, with all that is known about it, as a table",
    "games": "list saved games",
    "resume": "continue a saved game",
    "replay": "show a saved game move by move",
    "events": "print a saved game's events, one a line",
    "export": "write a saved game as JSON lines",
    "serve": "the web game, for browsers and programs",
    "store": "verify, back up, restore, repair, export or import the store of games",
}
"""Each is a module of that name in `cli/commands`, with `add_options` and `run`."""

EXTRAS = {"tournament": "lab", "simulate": "lab", "dataset": "lab", "serve": "web"}
"""The optional dependencies that a command needs."""


def run(arguments: Sequence[str]) -> int:
    """Run the command line, and return the exit code."""
    return run_to_exit(lambda: _dispatch(arguments))


def _dispatch(arguments: Sequence[str]) -> None:
    options = build_parser(arguments).parse_args(arguments)
    options.run(options, Console())


def build_parser(arguments: Sequence[str]) -> Parser:
    """Return the parser of the whole command.

    Only the command that the arguments ask for is loaded. The others are listed for the help, and left
    out if the command comes first: argparse is slow.
    """
    parser = Parser(prog="noughts", description="Tic-tac-toe with exact rules.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"noughts {__version__}")
    parsers = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    asked = next((argument for argument in arguments if not argument.startswith("-")), None)
    for name in [asked] if asked in COMMANDS and arguments[0] == asked else COMMANDS:
        subparser = parsers.add_parser(name, help=COMMANDS[name], allow_abbrev=False)
        if name == asked:
            try:
                with needs_extra(EXTRAS.get(name)):
                    module = import_module(f"noughts.cli.commands.{name}")
            except NotInstalled as missing:
                if not {"-h", "--help"} & {*arguments}:
                    raise
                subparser.epilog = f"Its options are listed once it is installed: {missing}."
                continue
            module.add_options(subparser)
            subparser.set_defaults(run=module.run)
    return parser
