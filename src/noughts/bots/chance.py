"""A bot that leaves it to chance: it neither blocks nor wins on purpose."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from noughts.core.board import Board, Cell, Mark
from noughts.core.notation import as_board


def random_cell(board: Board, rng: Random) -> Cell:
    """Choose evenly among the free cells."""
    return board.free_cells[rng.randrange(len(board.free_cells))]


def next_move(board: Board | str | Iterable[object], mark: Mark, rng: Random | None = None) -> Board:
    """Return the board with one more `mark` on a random free cell; a finished board is refused.

    The board may also be written in any form that `parse_board` reads. With a generator of your own,
    the moves can be repeated.

    >>> from noughts.core.board import Board, X
    >>> next_move(Board(), X).count
    1
    """
    before = as_board(board)
    if rng is None:
        from random import Random  # noqa: PLC0415 - it takes long to load, and the command brings its own

        rng = Random()  # noqa: S311 - a game, not a secret
    return before.place(0 if before.is_over else random_cell(before, rng), mark)
