"""The moves that never lose, never dawdle, and still hope.

Of the moves that keep what the position is worth, the best are those that win soonest or lose latest;
and of those, the ones that leave most ways to go wrong. How many that are is measured against an
opponent who leaves every answer to chance, while this side plays on like this: the greater its expected
result, the more ways there are.
"""

from __future__ import annotations

from functools import cache

from noughts.players.solver import move_scores, score, sides
from noughts.players.tactics import tokens, wins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from noughts.core.board import Board, Cell

# The number of ways to answer by chance to the end, when so many cells are free.
_WAYS = (1, 1, 2, 3, 8, 15, 48, 105, 384)


def best_cells(board: Board) -> tuple[Cell, ...]:
    """Return the best moves of a position; none when the game is over.

    >>> from noughts.core.board import Board
    >>> best_cells(Board().place(0))
    (4,)
    """
    return () if board.is_over else _plan(*sides(board))[0]


@cache
def _plan(mine: int, theirs: int) -> tuple[tuple[Cell, ...], int]:
    """Return the best moves, and the result to expect of them, times the ways to answer by chance."""
    worth = score(mine, theirs)
    hopes = {
        cell: _hope(mine, theirs, 1 << cell)
        for cell, found in move_scores(mine, theirs).items()
        if found == worth
    }
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
        elif len(answers) > 1:  # and if it is the last, the game is drawn
            hope += _plan(mine, theirs | answer)[1]
    return hope
