"""A bot that leaves it to chance: it neither blocks nor wins on purpose."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from random import Random

    from noughts.core.board import Board, Cell, Mark


def random_cell(board: Board, rng: Random) -> Cell:
    """Choose evenly among the free cells."""
    return board.free_cells[rng.randrange(len(board.free_cells))]


def next_move(board: Board, mark: Mark, rng: Random) -> Board:
    """Return the board with one more `mark` on a random free cell; a finished board is refused.

    >>> from random import Random
    >>> from noughts.core.board import Board, X
    >>> next_move(Board(), X, Random(1)).count
    1
    """
    return board.place(0 if board.is_over else random_cell(board, rng), mark)
