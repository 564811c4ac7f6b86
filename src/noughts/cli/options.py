"""The options of the `noughts` command."""

from __future__ import annotations

import argparse
import os
from argparse import _ActionsContainer as Container
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Never

from noughts import __version__
from noughts.cli.exit import BAD_USAGE
from noughts.core.errors import printable, quoted
from noughts.text.wordings import WORDINGS

LONGEST_INTERVAL = 86_400
"""A day, in seconds: some systems cannot sleep for much longer than that."""


class Help(argparse.HelpFormatter):
    """Help as wide as the terminal; argparse asks a module for that which takes long to load."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


class Parser(argparse.ArgumentParser):
    """A parser that refuses in one sentence, in which no control character reaches the terminal."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - they are those of argparse
        super().__init__(formatter_class=Help, **settings)

    def error(self, message: str) -> Never:
        """Leave with that sentence."""
        self.exit(BAD_USAGE, f"{self.prog}: {printable(message[:500])}\nTry '{self.prog} --help'.\n")


def parser(arguments: Sequence[str]) -> Parser:
    """Return the parser of the whole command; `options.command` says what was asked for.

    Of all commands it knows the names, and of those that stand in the arguments the options too: to
    put all of them together would take longer than most commands do.
    """
    whole = Parser(prog="noughts", description="Tic-tac-toe with exact rules.", allow_abbrev=False)
    whole.add_argument("--version", action="version", version=f"noughts {__version__}")
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for name, (words, add_options) in _COMMANDS.items():
        command = commands.add_parser(name, help=words, allow_abbrev=False)
        if name in arguments:
            add_options(command)
    return whole


def _add_play(play: Parser) -> None:
    _add_seats(play)
    _add_first(play)
    _add_live_events(play)
    _add_telling(play, "kata")
    where = play.add_mutually_exclusive_group()
    _add_place(where)
    where.add_argument("--no-save", action="store_true", help="keep no record of the game")


def _add_watch(watch: Parser) -> None:
    _add_seats(watch, "a name for a bot that moves at random")
    _add_first(watch)
    _add_interval(watch, 2)
    watch.add_argument("--seed", metavar="TEXT", help="the same seed plays the same game")
    watch.add_argument("--games", type=_count, metavar="N", help="play N games, and tell the tally")
    _add_live_events(watch)
    _add_telling(watch, "narrative")


def _add_join(join: Parser) -> None:
    join.add_argument(
        "address", metavar="URL", help="of a game, of an invitation to one, or of a server for the list"
    )
    join.add_argument("--name", metavar="NAME", help="what the others call you")
    what = join.add_mutually_exclusive_group()
    what.add_argument("--play", action="store_true", help="take a seat that is free for everybody")
    what.add_argument("--friend", action="store_true", help="a new game, and an invitation to it")
    what.add_argument("--bot", type=_policy, metavar="POLICY", help="a new game with a bot of the server")
    _add_telling(join, "kata")


def _add_show(show: Parser) -> None:
    show.add_argument(
        "position", metavar="BOARD-OR-GAME", help="a board such as X_O/_X_/___, or the digits of a game"
    )
    _add_starter(show)
    _add_interval(show, 0)
    _add_telling(show, "narrative")


def _add_analyse(analyse: Parser) -> None:
    analyse.add_argument(
        "position",
        metavar="BOARD-OR-GAME",
        help="a board such as X_O/_X_/___, the digits of a game, or a saved game's id",
    )
    _add_starter(analyse)
    analyse.add_argument("--json", action="store_true", help="as data")
    _add_colour(analyse)
    _add_place(analyse)


def _add_odds(odds: Parser) -> None:
    odds.add_argument(
        "x",
        type=_policy,
        metavar="X-POLICY",
        nargs="?",
        help="the bot that plays X: a policy, or saved:file=PATH",
    )
    odds.add_argument(
        "o", type=_policy, metavar="O-POLICY", nargs="?", help="the bot that plays O, likewise"
    )
    odds.add_argument("--all", action="store_true", help="every pair of bots, in both seats")
    odds.add_argument("--from", dest="position", metavar="BOARD", help="from this position on")
    _add_starter(odds)
    form = odds.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as data")
    form.add_argument("--csv", action="store_true", help="as a table for a spreadsheet")


def _add_certify(certify: Parser) -> None:
    certify.add_argument(
        "policies", type=_policy, metavar="POLICY", nargs="*", help="which bots (those built in)"
    )


def _add_tournament(tournament: Parser) -> None:
    tournament.add_argument(
        "bots",
        metavar="BOT",
        nargs="+",
        help="a policy, saved:file=PATH or program:COMMAND; two at least",
    )
    tournament.add_argument(
        "--games",
        type=_count,
        default=100,
        metavar="N",
        help="how many games a pair plays in each seat, or its exact odds count for (100)",
    )
    tournament.add_argument("--seed", metavar="TEXT", help="the same seed draws the same lots")
    tournament.add_argument(
        "--jobs", type=_count, metavar="N", help="how many games are played at once (one a core)"
    )
    tournament.add_argument(
        "--patience", type=_seconds, metavar="SECONDS", help="how long a program may think (5)"
    )
    tournament.add_argument("--plot", metavar="FILE", help="draw the ratings, as .svg or .png")
    form = tournament.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as data")
    form.add_argument("--csv", action="store_true", help="as a table for a spreadsheet")


def _add_simulate(simulate: Parser) -> None:
    for mark in ("X", "O"):
        simulate.add_argument(
            f"--{mark.lower()}",
            type=_policy,
            metavar="POLICY",
            default="random",
            help=f"the bot that plays {mark} (random)",
        )
    simulate.add_argument(
        "--games", type=_count, default=1_000_000, metavar="N", help="how many (1000000)"
    )
    simulate.add_argument("--seed", type=_whole, metavar="N", help="the same seed plays the same games")
    simulate.add_argument(
        "--jobs", type=_count, metavar="N", help="how many processes share the work (one a core)"
    )
    simulate.add_argument("--json", action="store_true", help="as data")


def _add_dataset(dataset: Parser) -> None:
    dataset.add_argument("file", metavar="FILE", nargs="?", help="where to write it (to the terminal)")
    dataset.add_argument(
        "--format",
        choices=["csv", "jsonl", "parquet"],
        help="how it is written (as the file's name ends, or csv)",
    )


def _add_menace(menace: Parser) -> None:
    tasks = menace.add_subparsers(title="tasks", metavar="TASK", dest="task", required=True)
    train = tasks.add_parser("train", help="let it play, and learn", allow_abbrev=False)
    train.add_argument(
        "--against", type=_policy, metavar="POLICY", default="random", help="whom it plays (random)"
    )
    train.add_argument("--games", type=_count, default=1000, metavar="N", help="how many (1000)")
    train.add_argument("--seat", choices=["X", "O"], default="X", help="its mark; X starts (X)")
    train.add_argument("--seed", metavar="TEXT", help="the same seed teaches the same")
    train.add_argument("--plot", metavar="FILE", help="draw the learning curve, as .svg or .png")
    train.add_argument(
        "--new", metavar="RULES", nargs="?", const="", help="a new machine, such as empty=refill,win=5"
    )
    _add_machine(train)
    box = tasks.add_parser("box", help="the beads in the box of a position", allow_abbrev=False)
    box.add_argument("position", metavar="BOARD", help="such as X_O/___/___")
    _add_starter(box)
    _add_machine(box)


def _add_games(games: Parser) -> None:
    games.add_argument("--player", metavar="NAME", help="only games of this player")
    ended = games.add_mutually_exclusive_group()
    ended.add_argument("--finished", dest="is_over", action="store_const", const=True, help="only those")
    ended.add_argument(
        "--unfinished", dest="is_over", action="store_const", const=False, help="only those"
    )
    games.add_argument("--delete", metavar="GAME", help="delete a game for good; you are asked first")
    games.add_argument("--limit", type=_count, default=20, metavar="N", help="how many at most (20)")
    _add_place(games)


def _add_resume(resume: Parser) -> None:
    _add_game(resume, nargs="?", words="the game, if it is not the one left last")
    _add_seats(resume)
    _add_first(resume)
    _add_telling(resume, "kata")
    _add_place(resume)


def _add_replay(replay: Parser) -> None:
    _add_game(replay)
    _add_interval(replay, None)
    _add_telling(replay, "narrative")
    _add_place(replay)


def _add_events(events: Parser) -> None:
    _add_game(events)
    _add_place(events)


def _add_export(export: Parser) -> None:
    _add_game(export)
    _add_place(export)


def _add_store(store: Parser) -> None:
    tasks = store.add_subparsers(title="tasks", metavar="TASK", dest="task", required=True)
    for task, words in (
        ("verify", "look for anything that has changed or is missing since it was recorded"),
        ("backup", "copy everything into a new file"),
        ("restore", "put a backup in place; the store that is there is kept under a new name"),
        ("repair", "copy every sound game into a new file, and list what is left behind"),
        ("export", "write all games as JSON lines"),
        ("import", "record games from JSON lines; all of them, or none"),
    ):
        one = tasks.add_parser(task, help=words, allow_abbrev=False)
        if task in ("backup", "restore", "import"):
            one.add_argument("file", metavar="FILE")
        if task == "repair":
            one.add_argument("file", metavar="FILE", nargs="?", help="the new file")
        if task == "verify":
            one.add_argument("--json", action="store_true", help="as data")
        _add_place(one)


def _add_serve(serve: Parser) -> None:
    environment = os.environ.get
    serve.add_argument(
        "--host", default=environment("NOUGHTS_HOST") or "127.0.0.1", help="the address (127.0.0.1)"
    )
    serve.add_argument(
        "--port", type=_port, default=environment("NOUGHTS_PORT") or "8000", help="0 for any (8000)"
    )
    serve.add_argument(
        "--workers",
        type=_count,
        default=environment("NOUGHTS_WORKERS") or "1",
        metavar="N",
        help="how many processes share the work (1)",
    )
    serve.add_argument(
        "--bot",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="a saved policy that can be played against by that name; as many as you like",
    )
    _add_place(serve)


_COMMANDS: dict[str, tuple[str, Callable[[Parser], None]]] = {
    "play": ("a game with people, bots or programs", _add_play),
    "watch": ("two bots, or programs", _add_watch),
    "join": ("a game on a server, to play or to watch", _add_join),
    "show": ("draw a position or replay a game", _add_show),
    "analyse": ("what each move is worth, and why; or a whole game", _add_analyse),
    "odds": ("how two bots fare, exactly", _add_odds),
    "certify": ("what is certain about a bot, whoever it plays", _add_certify),
    "menace": ("the machine that learns", _add_menace),
    "tournament": ("bots and programs against each other, and their ratings", _add_tournament),
    "simulate": ("millions of games of two bots, beside their exact odds", _add_simulate),
    "dataset": ("every position, with all that is known of it, as a table", _add_dataset),
    "games": ("list saved games", _add_games),
    "resume": ("play on where a game was left", _add_resume),
    "replay": ("tell a saved game again", _add_replay),
    "events": ("print a saved game's events, one a line", _add_events),
    "export": ("write a saved game as JSON lines", _add_export),
    "serve": ("the web game, for browsers and programs", _add_serve),
    "store": ("look after the store of games", _add_store),
}


def _add_seats(parser: Parser, name: str = "a name") -> None:
    for mark in ("X", "O"):
        parser.add_argument(
            f"--{mark.lower()}",
            metavar="SEAT",
            help=f"who plays {mark}: {name}, bot:POLICY, bot:saved:file=PATH or program:COMMAND",
        )
    parser.add_argument(
        "--patience", type=_seconds, metavar="SECONDS", help="how long a program may think (5)"
    )


def _add_first(parser: Parser) -> None:
    parser.add_argument(
        "--first",
        choices=["X", "O", "random", "loser"],
        help="who starts every game (narrative: the loser, X at first; gem: random; kata: X)",
    )


def _add_live_events(parser: Parser) -> None:
    parser.add_argument(
        "--events", action="store_true", help="also print each event, such as playerPlacedToken(1,1,X)"
    )


def _add_starter(parser: Parser) -> None:
    parser.add_argument("--first", choices=["X", "O"], default="X", help="who started (X)")


def _add_machine(parser: Parser) -> None:
    parser.add_argument("--file", metavar="PATH", help="where the machine is kept")


def _add_interval(parser: Parser, default: int | None) -> None:
    words = "between moves" + ("" if default is None else f" ({default})")
    parser.add_argument("--interval", type=_seconds, default=default, metavar="SECONDS", help=words)


def _add_telling(parser: Parser, default: str) -> None:
    parser.add_argument(
        "--wording", choices=list(WORDINGS), default=default, help=f"how the game is told ({default})"
    )
    parser.add_argument(
        "--describe", action="store_true", help="tell positions in sentences, for listening"
    )
    _add_colour(parser)


def _add_colour(parser: Parser) -> None:
    parser.add_argument(
        "--color", choices=["auto", "always", "never"], default="auto", help="colour the marks (auto)"
    )


def _add_game(
    parser: Parser,
    nargs: str | None = None,
    words: str = "its id, or the beginning of it",
) -> None:
    parser.add_argument("game", metavar="GAME", nargs=nargs, help=words)


def _add_place(parser: Container) -> None:
    parser.add_argument(
        "--store",
        metavar="URL",
        help="where games are saved: sqlite:PATH, postgresql://USER@HOST/DATABASE or memory:",
    )


@cache
def _columns() -> int:
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80


def _policy(text: str) -> str:
    """Return the policy that is named; `bot:` may stand before it."""
    from noughts.bots.registry import parse_policy  # noqa: PLC0415 - only who names one needs it

    return parse_policy(text)


def _seconds(text: str) -> float:
    try:
        seconds = -1 if "_" in text else float(text)
    except ValueError:
        seconds = -1
    if not 0 <= seconds <= LONGEST_INTERVAL:
        raise argparse.ArgumentTypeError(
            f"{quoted(text)} is not a number of seconds from 0 to {LONGEST_INTERVAL}"
        )
    return seconds


def _count(text: str) -> int:
    try:
        number = int(text) if text.isascii() and text.isdecimal() else 0
    except ValueError:  # Python reads no number of more than 4,300 digits
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{quoted(text)} is not a whole number from 1 on")
    return number


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise argparse.ArgumentTypeError(f"{quoted(text)} is not a whole number of at most 19 digits")
    return int(text)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 6 and int(text) < 65536):
        raise argparse.ArgumentTypeError(f"{quoted(text)} is no port: they are 0 to 65535")
    return int(text)
