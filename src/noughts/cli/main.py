"""The `noughts` command: the table of its commands, and the dispatch to them."""

from __future__ import annotations

from argparse import SUPPRESS, Namespace
from collections.abc import Sequence
from importlib import import_module

from noughts import __version__
from noughts.cli.console import Console
from noughts.cli.exit import DONE, INTERRUPTED, run_to_exit
from noughts.cli.extras import needs_extra
from noughts.cli.options import Parser
from noughts.cli.prompt import Quit
from noughts.core.errors import NotInstalled

GROUPS = {
    "Play": {
        "play": "play a game with people, bots or programs",
        "watch": "watch a game between two bots or programs",
        "join": "play or watch a game on a server",
    },
    "Saved games": {
        "games": "list saved games, or delete one",
        "resume": "continue a saved game",
        "replay": "show a saved game move by move",
        "events": "print a saved game's events, one a line",
        "store": "verify, back up, export or import all of them",
    },
    "Understand": {
        "show": "draw a position, or replay a game from its digits",
        "analyse": "what each move is worth, and why; or where a game was decided",
    },
    "Bots and lab": {
        "bots": "list the bots, how good they are and how to name them",
        "odds": "the exact odds of two bots",
        "certify": "what is certain about a bot against any opponent",
        "menace": "train the machine of matchboxes, or look into one",
        "tournament": "rate bots and programs by their games",
        "simulate": "count millions of games of two bots",
        "dataset": "write every position, solved, as a table",
    },
    "Serve and set up": {
        "serve": "serve the web game to browsers",
        "completion": "complete commands with TAB in bash, zsh or fish",
    },
}
"""The commands as the help lists them. Each is a module in `cli/commands`, with `HELP`, `add_options` and
`run`."""

COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}

EXTRAS = {"tournament": "lab", "simulate": "lab", "dataset": "lab", "serve": "web"}
"""The optional dependencies that a command needs."""


def run(arguments: Sequence[str]) -> int:
    """Run the command line, and return the exit code."""
    return run_to_exit(lambda: _dispatch(arguments))


def _dispatch(arguments: Sequence[str]) -> None:
    console = Console()
    if not arguments:
        arguments = _ask(console) if console.is_terminal() else ["play"]
    parser = build_parser(arguments)
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.error("name a command, such as play")
    try:
        options.run(options, console)
    except KeyboardInterrupt:
        if is_data(options):
            raise SystemExit(INTERRUPTED) from None
        raise


def is_data(options: Namespace) -> bool:
    """Return whether the command prints data, which a goodbye would spoil."""
    return any(getattr(options, name, False) for name in ("json", "csv", "data"))


def _ask(console: Console) -> Sequence[str]:
    """Return what somebody who typed only `noughts` would like."""
    from noughts.cli import menu  # noqa: PLC0415 - only if somebody is asked

    try:
        return menu.ask(console)
    except Quit:
        raise SystemExit(DONE) from None


def build_parser(arguments: Sequence[str]) -> Parser:
    """Return the parser of the whole command.

    Only the command that the arguments ask for is loaded. If it comes first, nothing else is added:
    argparse is slow.
    """
    parser = Parser(
        prog="noughts",
        usage="noughts [-h] [--version] [COMMAND ...]",
        description="Tic-tac-toe with exact rules: play it, understand it, build players for it.",
        epilog="noughts alone asks whom to play. noughts COMMAND --help explains a command.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"noughts {__version__}")
    parsers = parser.add_subparsers(prog="noughts", metavar="COMMAND", dest="command", help=SUPPRESS)
    asked = next((argument for argument in arguments if not argument.startswith("-")), None)
    names = [asked] if asked in COMMANDS and arguments[0] == asked else [*COMMANDS]
    for name in names:
        subparser = parsers.add_parser(name, allow_abbrev=False)
        if name == asked:
            try:
                with needs_extra(EXTRAS.get(name)):
                    module = import_module(f"noughts.cli.commands.{name}")
            except NotInstalled as missing:
                if not {"-h", "--help"} & {*arguments}:
                    raise
                subparser.description = f"{COMMANDS[name].capitalize()}."
                subparser.epilog = f"Its options are listed once it is installed: {missing}."
                continue
            module.add_options(subparser)
            subparser.explain(module.HELP)
            subparser.set_defaults(run=module.run)
    if len(names) > 1:
        for title, commands in GROUPS.items():
            parser.add_section(title, {name: _summary(name) for name in commands})
    return parser


def _summary(name: str) -> str:
    return COMMANDS[name] + (f" (needs noughts[{EXTRAS[name]}])" if name in EXTRAS else "")
