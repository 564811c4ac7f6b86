"""Positions and games: read from the command line (a board, digits or a saved game's id), and as data."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from noughts.cli import options as shared
from noughts.cli.opening import new_game
from noughts.core.board import Board, Mark
from noughts.core.errors import ImpossibleBoard, NotationError, UnreadableBoard
from noughts.core.game import Game, PlaceToken, decide, fold
from noughts.core.notation import parse_board, parse_moves


def add_position(parser: shared.Parser) -> None:
    parser.add_argument(
        "position",
        metavar="BOARD-OR-GAME",
        help="a board such as X_O/_X_/___, the digits of a game, or a saved game's id",
    )
    shared.add_first(parser)
    shared.add_store(parser)


def read_position(options: Namespace) -> Board | Game:
    """Return the board, or the game if its moves are known."""
    text, first = options.position, Mark(options.first)
    if text.isdigit():
        game = new_game(first, ())
        for cell in parse_moves(text, first):
            game = fold(decide(game, PlaceToken(game.board.turn, cell)), game)
        return game
    try:
        return read_board(text, first)
    except UnreadableBoard as error:
        hint = "" if set("XO") & set(text) else " (a game is its digits, such as 51937)"
        return _saved_game(text, options.store, UnreadableBoard(f"{error}{hint}"))


def read_board(text: str, first: Mark) -> Board:
    """Parse a board; if it is only possible with the other mark first, say so."""
    try:
        return parse_board(text, first)
    except ImpossibleBoard as error:
        try:
            parse_board(text, first.other)
        except NotationError:
            raise error from None
        raise ImpossibleBoard(
            f"{error} (or did {first.other} start? then add --first {first.other})"
        ) from None


def _saved_game(text: str, store: str | None, unreadable: UnreadableBoard) -> Game:
    """Return the saved game with that id, if the text is not a board but may be an id."""
    if not set(text) - set("XO_") or not text.translate({ord("-"): "", ord("_"): ""}).isalnum():
        raise unreadable
    # The store is loaded only for a saved game.
    from noughts.cli.recorder import look_up  # noqa: PLC0415
    from noughts.store.errors import InvalidId, NoSuchGame, StoreMissing  # noqa: PLC0415

    try:
        return look_up(text, store).game
    except StoreMissing:
        raise UnreadableBoard(f"{unreadable}, and no game is saved") from None
    except InvalidId:  # longer than an id
        raise unreadable from None
    except NoSuchGame as error:
        raise UnreadableBoard(f"{unreadable}, and {error}") from None


def game_to_dict(position: Board | Game) -> dict[str, Any]:
    """Convert a game for JSON, with cells from 0; the moves that led to a mere board are not known.

    >>> [*game_to_dict(Board())]
    ['board', 'first', 'turn', 'players', 'moves', 'winner', 'resigned']
    """
    game = position if isinstance(position, Game) else Game.at(position)
    return {
        "board": str(game.board),
        "first": str(game.board.first),
        "turn": game.active and str(game.active),
        "players": {str(mark): player.name if (player := game.player(mark)) else None for mark in Mark},
        "moves": [*game.moves] if position is game else None,
        "winner": game.winner and str(game.winner),
        "resigned": game.resigned and str(game.resigned),
    }
