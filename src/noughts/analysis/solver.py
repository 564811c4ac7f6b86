"""The exact value of every position and of every move: who wins, and how soon.

Both sides play perfectly: the winner wins as soon as possible, the loser loses as late as possible.
All 5,478 positions are solved together, in a few milliseconds, on the first call.
"""

from __future__ import annotations

from enum import Enum
from functools import cache

from noughts.core.board import FULL, LINES, AnyMark, Board, Cell, Mark, as_mark
from noughts.core.notation import AnyBoard, as_board
from noughts.core.value import Value


class Result(Enum):
    """How a game ends for one of the players."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"

    @classmethod
    def of(cls, winner: AnyMark | None, mark: AnyMark) -> Result:
        """Return the result for a mark of a game with that winner, if any."""
        mark = as_mark(mark)
        return cls.DRAW if winner is None else cls.WIN if as_mark(winner) is mark else cls.LOSS

    @property
    def other(self) -> Result:
        """The opponent's result."""
        return _OTHER[self]

    def __str__(self) -> str:
        return self.value

    __repr__ = __str__
    __hash__ = object.__hash__  # hashing the name, as an enum does, is slow


_OTHER = {Result.WIN: Result.LOSS, Result.DRAW: Result.DRAW, Result.LOSS: Result.WIN}


class Prospect(Value):
    """The result of perfect play."""

    result: Result
    distance: int
    """How many tokens both players place until the end."""


def prospect(board: AnyBoard) -> Prospect:
    """Return the prospect of the mark to move.

    >>> from noughts.core.notation import parse_board
    >>> prospect(parse_board("XX_/OO_/___"))
    Prospect(result=win, distance=1)
    >>> prospect(parse_board("XXX/OO_/___"))
    Prospect(result=loss, distance=0)
    """
    board = as_board(board)
    return _prospect(score(*sides(board)), board.count)


def prospects(board: AnyBoard) -> dict[Cell, Prospect]:
    """Return the prospect after each move, for the mark that makes it; the distance counts that move.

    >>> from noughts.core.notation import parse_board
    >>> for cell, after in prospects(parse_board("XX_/OO_/X_O")).items():
    ...     print(cell, after.result, after.distance)
    2 win 1
    5 draw 3
    7 loss 2
    """
    board = as_board(board)
    if board.is_over:
        return {}
    return {cell: _prospect(worth, board.count) for cell, worth in move_scores(*sides(board)).items()}


def sides(board: Board) -> tuple[int, int]:
    """Return the cells of the mark to move and those of the other, one bit a cell."""
    return (board.x, board.o) if board.turn is Mark.X else (board.o, board.x)


def score(mine: int, theirs: int) -> int:
    """Return the value of a position for the side to move.

    0 is a draw, 10 - n a win with token number n of the game, and n - 10 a loss. The score of a position
    is that of its best move, and the score of a move is minus that of the position after it.
    """
    return _scores()[mine << 9 | theirs]


def move_scores(mine: int, theirs: int) -> dict[Cell, int]:
    """Return the score of each move of an unfinished position."""
    known, after = _scores(), theirs << 9 | mine
    return {cell: -known[after | 1 << cell] for cell in range(9) if not (mine | theirs) >> cell & 1}


@cache
def _scores() -> dict[int, int]:
    """Score every reachable position, by `mine << 9 | theirs`."""
    has_line = [any(held & line == line for line in LINES) for held in range(FULL + 1)]
    tokens = [[1 << cell for cell in range(9) if not held >> cell & 1] for held in range(FULL + 1)]
    known: dict[int, int] = {}

    def solve(mine: int, theirs: int) -> int:
        held = mine | theirs
        worst = 10  # for the opponent
        for token in tokens[held]:
            moved = mine | token
            after = theirs << 9 | moved
            left = known.get(after)
            if left is None:
                if has_line[moved]:
                    left = known[after] = held.bit_count() - 9
                elif held | token == FULL:
                    left = known[after] = 0
                else:
                    left = solve(theirs, moved)
            if left < worst:  # noqa: PLR1730 - 16,167 calls of min would take longer
                worst = left
        known[mine << 9 | theirs] = -worst
        return -worst

    solve(0, 0)
    return known


@cache  # a few dozen exist
def _prospect(worth: int, count: int) -> Prospect:
    if worth == 0:
        return Prospect(Result.DRAW, 9 - count)
    return Prospect(Result.WIN if worth > 0 else Result.LOSS, 10 - abs(worth) - count)
