"""`noughts show`: draw a position, or replay a game written as digits."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from noughts.cli import options as shared
from noughts.cli.commands.watch import Pause, show_move
from noughts.cli.console import Console
from noughts.cli.opening import new_game
from noughts.core.board import Board, Mark
from noughts.core.errors import ImpossibleBoard, NotationError, UnreadableBoard, printable
from noughts.core.game import Game
from noughts.core.notation import parse_board, parse_moves
from noughts.files import write_output
from noughts.text.describe import standing

HELP = shared.CommandHelp(
    "Draw a position, or replay a game that is written as digits: the cells in the order of the moves.",
    {
        "noughts show X_O/_X_/___": "a position, row by row from the top",
        "noughts show 51937 --wording kata": "a game, as the kata words it",
    },
)


def add_options(parser: shared.Parser) -> None:
    parser.add_argument(
        "position", metavar="BOARD-OR-GAME", help="a board such as X_O/_X_/___, or the digits of a game"
    )
    shared.add_first(parser)
    shared.add_interval(parser, 0)
    shared.add_display(parser, "narrative")
    parser.add_argument(
        "--svg", metavar="FILE", help="write a picture of the position; - is standard output"
    )


def run(options: Namespace, console: Console) -> None:
    if options.svg is not None:
        _write_svg(options, console)
        return
    screen, first = console.screen(options), Mark(options.first)
    pause = Pause(options.interval, console.poller.sleep)
    if options.position.isdigit():
        game = new_game(first, ())
        for cell in parse_moves(options.position, first):
            pause()
            game = show_move(screen, game, cell)
    else:
        game = Game.at(read_board(options.position, first, or_game=True))
        screen.show(game)
    if game.active and not screen.spoken:
        screen.say(f"{standing(game)}.")


def _write_svg(options: Namespace, console: Console) -> None:
    """Draw the position, or the end of the game with its last move marked."""
    from noughts.text.svg import svg  # noqa: PLC0415 - rarely needed

    text, first = options.position, Mark(options.first)
    moves = parse_moves(text, first) if text.isdigit() else ()
    board = Board.from_moves(moves, first) if moves else read_board(text, first, or_game=True)
    picture = svg(board, moves[-1] if moves else None)
    if options.svg == "-":
        console.out.write(picture)
        return
    write_output(options.svg, picture.encode())
    if Path(options.svg).is_file():  # not a pipe, whose reader may be reading our output too
        console.out.write(printable(f"Wrote {options.svg}.") + "\n")


def read_board(text: str, first: Mark, *, or_game: bool = False) -> Board:
    """Parse a board; if it is only possible with the other mark first, say so."""
    try:
        return parse_board(text, first)
    except UnreadableBoard as error:
        if set("XO") & set(text) or not or_game:
            raise
        raise UnreadableBoard(f"{error} (a game is its digits, such as 51937)") from None
    except ImpossibleBoard as error:
        try:
            parse_board(text, first.other)
        except NotationError:
            raise error from None
        raise ImpossibleBoard(
            f"{error} (or did {first.other} start? then add --first {first.other})"
        ) from None
