"""The options of the `noughts` command."""

from __future__ import annotations

import argparse

from noughts import __version__
from noughts.core.errors import quoted
from noughts.terminal.leaving import BAD_USAGE, printable
from noughts.words.wording import WORDINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import _ActionsContainer as Container
    from argparse import _SubParsersAction
    from typing import Never, TypeAlias

    Commands: TypeAlias = "_SubParsersAction[Parser]"

LONGEST_INTERVAL = 86_400
"""A day, in seconds: some systems cannot sleep for much longer than that."""


class Parser(argparse.ArgumentParser):
    """A parser that refuses in one sentence, in which no control character reaches the terminal."""

    def error(self, message: str) -> Never:
        """Leave with that sentence."""
        self.exit(BAD_USAGE, f"{self.prog}: {printable(message[:500])}\nTry '{self.prog} --help'.\n")


def parser() -> Parser:
    """Return the parser of the whole command; `options.command` says what was asked for."""
    whole = Parser(prog="noughts", description="Tic-tac-toe with exact rules.", allow_abbrev=False)
    whole.add_argument("--version", action="version", version=f"noughts {__version__}")
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    _add_playing(commands)
    _add_saved(commands)
    _add_store(commands)
    return whole


def _add_playing(commands: Commands) -> None:
    play = commands.add_parser("play", help="two people at one keyboard", allow_abbrev=False)
    _add_seats(play)
    _add_telling(play, "kata")
    where = play.add_mutually_exclusive_group()
    _add_place(where)
    where.add_argument("--no-save", action="store_true", help="keep no record of the game")

    watch = commands.add_parser("watch", help="two bots that move at random", allow_abbrev=False)
    _add_seats(watch)
    _add_interval(watch, 2)
    watch.add_argument("--seed", metavar="TEXT", help="the same seed plays the same game")
    watch.add_argument("--games", type=_count, metavar="N", help="play N games, and tell the tally")
    _add_telling(watch, "narrative")

    show = commands.add_parser("show", help="draw a position or replay a game", allow_abbrev=False)
    show.add_argument(
        "position", metavar="BOARD-OR-GAME", help="a board such as X_O/_X_/___, or the digits of a game"
    )
    show.add_argument("--first", choices=["X", "O"], default="X", help="who started (X)")
    _add_interval(show, 0)
    _add_telling(show, "narrative")


def _add_saved(commands: Commands) -> None:
    games = commands.add_parser("games", help="list saved games", allow_abbrev=False)
    games.add_argument("--player", metavar="NAME", help="only games of this player")
    ended = games.add_mutually_exclusive_group()
    ended.add_argument("--finished", dest="is_over", action="store_const", const=True, help="only those")
    ended.add_argument(
        "--unfinished", dest="is_over", action="store_const", const=False, help="only those"
    )
    games.add_argument("--limit", type=_count, default=20, metavar="N", help="how many at most (20)")
    _add_place(games)

    resume = commands.add_parser("resume", help="play on where a game was left", allow_abbrev=False)
    _add_game(resume, nargs="?", words="the game, if it is not the one left last")
    _add_telling(resume, "kata")
    _add_place(resume)

    replay = commands.add_parser("replay", help="tell a saved game again", allow_abbrev=False)
    _add_game(replay)
    _add_interval(replay, None)
    _add_telling(replay, "narrative")
    _add_place(replay)

    export = commands.add_parser("export", help="write a saved game as JSON lines", allow_abbrev=False)
    _add_game(export)
    _add_place(export)


def _add_store(commands: Commands) -> None:
    store = commands.add_parser("store", help="look after the store of games", allow_abbrev=False)
    tasks = store.add_subparsers(title="tasks", metavar="TASK", dest="task", required=True)
    for task, words in (
        ("verify", "look for anything that has changed since it was recorded"),
        ("backup", "copy everything into a new file"),
        ("export", "write all games as JSON lines"),
        ("import", "record games from JSON lines; all of them, or none"),
    ):
        one = tasks.add_parser(task, help=words, allow_abbrev=False)
        if task in ("backup", "import"):
            one.add_argument("file", metavar="FILE")
        _add_place(one)


def _add_seats(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--x", metavar="NAME", help="who plays X")
    parser.add_argument("--o", metavar="NAME", help="who plays O")
    parser.add_argument("--first", choices=["X", "O", "random"], default="X", help="who starts (X)")


def _add_interval(parser: argparse.ArgumentParser, default: int | None) -> None:
    words = "between moves" + ("" if default is None else f" ({default})")
    parser.add_argument("--interval", type=_seconds, default=default, metavar="SECONDS", help=words)


def _add_telling(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument(
        "--wording", choices=list(WORDINGS), default=default, help=f"how the game is told ({default})"
    )
    parser.add_argument(
        "--describe", action="store_true", help="tell positions in sentences, for listening"
    )
    parser.add_argument(
        "--color", choices=["auto", "always", "never"], default="auto", help="colour the marks (auto)"
    )


def _add_game(
    parser: argparse.ArgumentParser,
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
