"""Boards as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from noughts.core.board import Board, Cell


def draw_board(
    board: Board,
    blank: str = " ",
    across: str = "|",
    between: str = "-+-+-",
    paint: Callable[[Cell, str], str] = lambda _, sign: sign,
) -> str:
    """Draw a board; without `blank`, free cells show their numbers, and `paint` may add colour.

    >>> from noughts.core.board import Board
    >>> print(draw_board(Board().place(4).place(2), blank=""))
    1|2|O
    -+-+-
    4|X|6
    -+-+-
    7|8|9
    """
    marks = [str(mark) if mark else blank or str(cell + 1) for cell, mark in enumerate(board.cells)]
    return draw_grid([paint(cell, sign) for cell, sign in enumerate(marks)], across, between)


def draw_grid(signs: Sequence[str], across: str = "|", between: str = "-+-+-") -> str:
    """Draw nine signs in three rows."""
    rows = (across.join(signs[row : row + 3]).rstrip() for row in (0, 3, 6))
    return f"\n{between}\n".join(rows) if between else "\n".join(rows)


def rule(width: int) -> str:
    """Return the line between two rows of cells that are `width` characters wide."""
    return "+".join(["-" * width] * 3)
