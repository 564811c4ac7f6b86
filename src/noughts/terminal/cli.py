"""The `noughts` command: its options, its exit codes, and how it leaves."""

from __future__ import annotations

import argparse
import os
import sys
from random import Random

from noughts import __version__
from noughts.core.board import Mark
from noughts.core.errors import InvalidName, quoted
from noughts.core.player import Player
from noughts.terminal.leaving import BAD_USAGE, leave_well
from noughts.terminal.screen import Screen, colours_wanted, is_cramped
from noughts.terminal.waiting import Waiting
from noughts.words.wording import WORDINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Never

LONGEST_INTERVAL = 86_400
"""A day, in seconds: some systems cannot sleep for much longer than that."""


def run(arguments: Sequence[str]) -> int:
    """Obey the command line, and return the exit code."""
    return leave_well(lambda: _obey(arguments))


def _obey(arguments: Sequence[str]) -> None:
    options = _parser().parse_args(arguments)
    options.command(options)


def _play(options: argparse.Namespace) -> None:
    from noughts.terminal.table import Table  # noqa: PLC0415 - what a command does not need is not loaded

    screen, players = _screen(options), _players(options)
    first = _first(options, screen, players, Random())  # noqa: S311 - a game, no secret
    Table(screen, Waiting().reader(sys.stdin.buffer) if sys.stdin else None, players).play(first)


def _watch(options: argparse.Namespace) -> None:
    from noughts.terminal.watch import Pause, watch  # noqa: PLC0415 - the same

    screen, players = _screen(options), _players(options)
    rng = Random(os.fsencode(options.seed) if options.seed is not None else None)  # noqa: S311 - the same
    starters = (_first(options, screen, players, rng) for _ in range(options.games or 1))
    pause = Pause(options.interval, Waiting().sleep)
    watch(screen, players, starters, rng, pause, with_tally=options.games is not None)


def _show(options: argparse.Namespace) -> None:
    from noughts.terminal.show import show  # noqa: PLC0415 - the same
    from noughts.terminal.watch import Pause  # noqa: PLC0415 - the same

    pause = Pause(options.interval, Waiting().sleep)
    show(_screen(options), options.position, Mark(options.first), pause)


def _screen(options: argparse.Namespace) -> Screen:
    if sys.stdout:
        # A name that the terminal has no letters for is shown in escapes, and ends nothing.
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # it is a file
    out = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - until the end
    return Screen(
        out=out,
        wording=WORDINGS[options.wording],
        colour=colours_wanted(options.color, out, os.environ),
        spoken=options.describe,
        cramped=lambda: is_cramped(out),
        interactive=out.isatty() and bool(sys.stdin) and sys.stdin.isatty(),
    )


def _players(options: argparse.Namespace) -> tuple[Player, ...]:
    """Return those who have names; what is wrong with them is said before anything else."""
    from noughts.terminal.table import new_game  # noqa: PLC0415 - the same

    named = (Mark.X, options.x), (Mark.O, options.o)
    game = new_game(Mark.X, (Player(name, mark) for mark, name in named if name is not None))
    wording = WORDINGS[options.wording]
    for player in game.players:
        other = player.mark.other
        calls = [words.format(mark=other) for words in (wording.player, wording.winner)]
        if player.name in calls and not game.player(other):
            raise InvalidName(
                f"the players need different names, and {quoted(player.name)} means {other}"
            )
    return game.players


def _first(options: argparse.Namespace, screen: Screen, players: tuple[Player, ...], rng: Random) -> Mark:
    """Return who starts; if that is left to chance, tell whom it fell on."""
    if options.first != "random":
        return Mark(options.first)
    first = rng.choice(list(Mark))
    name = next((player.name for player in players if player.mark is first), None)
    player = name or screen.wording.player.format(mark=first)
    screen.say(screen.wording.drawn_by_lot.format(player=player))
    return first


class _Parser(argparse.ArgumentParser):
    """A parser that refuses in one sentence, in which no control character reaches the terminal."""

    def error(self, message: str) -> Never:
        clean = "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in message[:500])
        self.exit(BAD_USAGE, f"{self.prog}: {clean}\nTry '{self.prog} --help'.\n")


def _parser() -> _Parser:
    parser = _Parser(prog="noughts", description="Tic-tac-toe with exact rules.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"noughts {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="play|watch|show", required=True)

    play = commands.add_parser("play", help="two people at one keyboard", allow_abbrev=False)
    _add_seats(play)
    _add_telling(play, "kata")
    play.set_defaults(command=_play)

    watch = commands.add_parser("watch", help="two bots that move at random", allow_abbrev=False)
    _add_seats(watch)
    _add_interval(watch, 2)
    watch.add_argument("--seed", metavar="TEXT", help="the same seed plays the same game")
    watch.add_argument("--games", type=_count, metavar="N", help="play N games, and tell the tally")
    _add_telling(watch, "narrative")
    watch.set_defaults(command=_watch)

    show = commands.add_parser("show", help="draw a position or replay a game", allow_abbrev=False)
    show.add_argument(
        "position", metavar="BOARD-OR-GAME", help="a board such as X_O/_X_/___, or the digits of a game"
    )
    show.add_argument("--first", choices=["X", "O"], default="X", help="who started (X)")
    _add_interval(show, 0)
    _add_telling(show, "narrative")
    show.set_defaults(command=_show)
    return parser


def _add_seats(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--x", metavar="NAME", help="who plays X")
    parser.add_argument("--o", metavar="NAME", help="who plays O")
    parser.add_argument("--first", choices=["X", "O", "random"], default="X", help="who starts (X)")


def _add_interval(parser: argparse.ArgumentParser, default: int) -> None:
    parser.add_argument(
        "--interval", type=_seconds, default=default, metavar="SECONDS", help=f"between moves ({default})"
    )


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
