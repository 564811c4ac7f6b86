"""`noughts show`: draw a position, or show a game move by move."""

from __future__ import annotations

import json
from argparse import Namespace

from noughts.cli import options as shared
from noughts.cli.commands.watch import Pause, show_move
from noughts.cli.console import Console
from noughts.cli.opening import new_game
from noughts.cli.position import add_position, game_to_dict, read_position
from noughts.cli.screen import Screen
from noughts.core.board import Board
from noughts.core.game import Game
from noughts.text.describe import standing

HELP = shared.CommandHelp(
    "Draw a position, or replay a game that is written as digits: the cells in the order of the moves.",
    {
        "noughts show X_O/_X_/___": "a position, row by row from the top",
        "noughts show 51937 --wording kata": "a game, as the kata words it",
    },
)


def add_options(parser: shared.Parser) -> None:
    add_position(parser)
    shared.add_interval(parser, 0)
    shared.add_display(parser, "narrative")
    form = parser.add_mutually_exclusive_group()
    shared.add_json(form)
    form.add_argument(
        "--svg",
        type=shared.file_name,
        metavar="FILE",
        help="write a picture of the position; - is standard output",
    )


def run(options: Namespace, console: Console) -> None:
    found = read_position(options)
    if options.svg is not None:
        _write_svg(options.svg, found, console)
        return
    if options.json:
        console.out.write(f"{json.dumps(game_to_dict(found))}\n")
        return
    screen = console.screen(options)
    if isinstance(found, Board):
        found = Game.at(found)
        screen.show(found)
    else:
        show_moves(screen, found, Pause(options.interval, screen))
    if found.active and not screen.spoken:
        screen.say(f"{standing(found)}.")


def show_moves(screen: Screen, game: Game, pause: Pause) -> None:
    """Show a game from its first move to its end."""
    now = new_game(game.board.first, game.players)
    for cell in game.moves:
        pause()
        now = show_move(screen, now, cell)
    if game.resigned:
        pause()
        screen.say(screen.wording.say("game.resigned", player=screen.name(game, game.resigned)))
        screen.show(game)


def _write_svg(file: str, found: Board | Game, console: Console) -> None:
    """Draw the position, or the end of the game with its last move marked."""
    from noughts.cli.picture_file import write_svg  # noqa: PLC0415 - slow, and rarely needed

    if isinstance(found, Board):
        write_svg(found, None, file, console.out)
    else:
        write_svg(found.board, found.moves[-1] if found.moves else None, file, console.out)
