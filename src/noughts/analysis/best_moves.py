"""The best moves of a position, and those of them that `perfect` plays.

A move is best if no other ends better, wins sooner or loses later. `perfect` breaks ties by the expected
result against an opponent who moves at random, if it goes on like this.
"""

from __future__ import annotations

from functools import cache

from noughts.analysis.solver import move_scores, score, sides
from noughts.analysis.tactics import tokens, wins
from noughts.core.board import Board, Cell

# The number of ways in which the opponent can answer until the end, by free cells.
_WAYS = (1, 1, 2, 3, 8, 15, 48, 105, 384)


def best_cells(board: Board) -> tuple[Cell, ...]:
    """Return the moves that end best and, of those, win soonest or lose latest.

    >>> from noughts.core.board import Board
    >>> best_cells(Board())
    (0, 1, 2, 3, 4, 5, 6, 7, 8)
    >>> best_cells(Board().place(0))
    (4,)
    """
    return () if board.is_over else _best(*sides(board))


def perfect_cells(board: Board) -> tuple[Cell, ...]:
    """Return the best moves with the highest expected result against an opponent who moves at random.

    >>> from noughts.core.board import Board
    >>> perfect_cells(Board())
    (0, 2, 6, 8)
    """
    return () if board.is_over else _plan(*sides(board))[0]


def _best(mine: int, theirs: int) -> tuple[Cell, ...]:
    worth = score(mine, theirs)
    return tuple(cell for cell, found in move_scores(mine, theirs).items() if found == worth)


@cache
def _plan(mine: int, theirs: int) -> tuple[tuple[Cell, ...], int]:
    """Return the moves of `perfect`, and their expected result times the ways to answer."""
    hopes = {cell: _hope(mine, theirs, 1 << cell) for cell in _best(mine, theirs)}
    highest = max(hopes.values())
    return tuple(cell for cell, hope in hopes.items() if hope == highest), highest


def _hope(mine: int, theirs: int, token: int) -> int:
    answers = tokens(mine | theirs | token)
    ways = _WAYS[len(answers)]
    if token & wins(mine, theirs):
        return ways
    mine |= token
    lost = wins(theirs, mine)
    hope = 0
    for answer in answers:
        if answer & lost:
            hope -= ways // len(answers)
        elif len(answers) > 1:  # the last answer draws the game
            hope += _plan(mine, theirs | answer)[1]
    return hope
