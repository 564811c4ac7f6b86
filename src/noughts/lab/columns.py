"""The columns of the dataset: all that is known of every position, a row each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from noughts.analysis.coach import Advice, advise
from noughts.analysis.solver import Result, prospect
from noughts.core.board import SYMMETRIES, Board, Cell, reachable

Row: TypeAlias = dict[str, Any]
_Known: TypeAlias = tuple[Board, dict[Cell, Advice]]
"""The board that stands for a class, and what is said of each move on one of its images."""

OF_A_POSITION = {
    "position": "int16",
    "board": "string",
    "x": "int16",
    "o": "int16",
    "tokens": "int8",
    "turn": "string",
    "is_over": "bool",
    "winner": "string",
    "symmetry_class": "int16",
    "canonical": "string",
    "value": "string",
    "score": "int8",
    "distance": "int8",
}
"""What there is once a position, and of which type it is."""

OF_A_MOVE = {
    "move_value": "string",
    "move_score": "int8",
    "move_distance": "int8",
    "move_best": "bool",
    "move_reasons": "list<string>",
}
"""What there is nine times a position, once a cell; and of which type each of the nine is."""

SCORES = {Result.WIN: 1, Result.DRAW: 0, Result.LOSS: -1}


def rows() -> Iterator[Row]:
    """Tell of every position of a game that X starts, each row at the position's own number.

    >>> first = next(rows())
    >>> first["board"], first["value"], first["distance"], first["move_best"][:2]
    ('___/___/___', 'draw', 9, [True, True])
    """
    classes: dict[Board, int] = {}
    known: dict[Board, _Known] = {}
    for number, board in enumerate(reachable()):
        if board not in known:
            known |= _known_of_images(board.canonical)
        alike, moves = known[board]
        yield {
            "position": number,
            **_standing(board),
            "symmetry_class": classes.setdefault(alike, len(classes)),
            "canonical": str(alike),
            **_worth(board),
            **_worth_of_moves([moves.get(cell) for cell in range(9)]),
        }


def _known_of_images(alike: Board) -> dict[Board, _Known]:
    """Return what is said of each move on all images of a board: it is the same, on other cells."""
    advice = advise(alike)
    return {alike.image(way): (alike, {way[move.cell]: move for move in advice}) for way in SYMMETRIES}


def _standing(board: Board) -> Row:
    return {
        "board": str(board),
        "x": board.x,
        "o": board.o,
        "tokens": board.count,
        "turn": str(board.turn),
        "is_over": board.is_over,
        "winner": str(board.winner) if board.winner else None,
    }


def _worth(board: Board) -> Row:
    worth = prospect(board)
    return {"value": str(worth.result), "score": SCORES[worth.result], "distance": worth.distance}


def _worth_of_moves(moves: list[Advice | None]) -> Row:
    return {
        "move_value": [move and str(move.prospect.result) for move in moves],
        "move_score": [move and SCORES[move.prospect.result] for move in moves],
        "move_distance": [move and move.prospect.distance for move in moves],
        "move_best": [move and move.is_best for move in moves],
        "move_reasons": [move and [str(reason.kind) for reason in move.reasons] for move in moves],
    }
