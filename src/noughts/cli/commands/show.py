"""A position drawn, or a game of digits told from its start."""

from __future__ import annotations

from noughts.cli.commands.watch import Pause, show_move
from noughts.cli.opening import new_game
from noughts.cli.screen import Screen
from noughts.core.board import Board, Mark
from noughts.core.errors import ImpossibleBoard, NotationError, UnreadableBoard
from noughts.core.game import Game
from noughts.core.notation import parse_board, parse_moves
from noughts.text.describe import standing


def show(screen: Screen, written: str, first: Mark, pause: Pause) -> None:
    """Draw a position, or replay a game, and say how it stands."""
    if written.isdigit():
        game = new_game(first, ())
        for cell in parse_moves(written, first):
            pause()
            game = show_move(screen, game, cell)
    else:
        game = Game.at(read_board(written, first, or_game=True))
        screen.show(game)
    if game.active and not screen.spoken:
        screen.say(f"{standing(game)}.")


def read_board(written: str, first: Mark, *, or_game: bool = False) -> Board:
    """Read the board, and if it is one that the other mark must have started, say so."""
    try:
        return parse_board(written, first)
    except UnreadableBoard as error:
        if set("XO") & set(written) or not or_game:
            raise
        raise UnreadableBoard(f"{error} (a game is its digits, such as 51937)") from None
    except ImpossibleBoard as error:
        try:
            parse_board(written, first.other)
        except NotationError:
            raise error from None
        raise ImpossibleBoard(
            f"{error} (or did {first.other} start? then say --first {first.other})"
        ) from None
