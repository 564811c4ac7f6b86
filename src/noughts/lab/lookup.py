"""The rules as tables of numbers, generated from the core.

A position is its number in `reachable()`: the empty board is 0, and fewer tokens come first. X starts.
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from typing import NamedTuple

from noughts.core.board import Board, Cell, Mark, reachable

POSITIONS = 5478
GOING, X_WON, O_WON, DRAWN = range(4)
"""The status of a game."""

ACTION_COLUMNS = 10
"""Nine cells, and a tenth column for anything that is not a cell."""
NO_CELL = 9
NO_MOVE = -1
"""Fills a record after the last move."""

OPENINGS, ENDINGS = 504, 720
"""A random game is an order of the nine cells: 9 × 8 × 7 openings times 6! endings."""


class ChoiceTable(NamedTuple):
    """The free cells of every position in order, one row of entries for each position.

    A finished game has a row too, whose choices all lead back to it: a batch runs to the end of its
    longest game without branching.
    """

    row: list[int]
    """The index where a position's row starts."""
    after: list[int]
    """The row that a choice leads to."""
    cell: list[Cell]
    """The chosen cell, or `NO_MOVE`."""
    position: list[int]
    """The position that an entry belongs to."""
    status: list[int]
    """The status of the game there."""


@cache
def positions() -> tuple[Board, ...]:
    return reachable()


@cache
def numbers() -> dict[Board, int]:
    return {board: number for number, board in enumerate(positions())}


def move_table() -> tuple[list[int], list[bool]]:
    """Return the next position after every action, and whether it is legal; otherwise nothing changes.

    There are `ACTION_COLUMNS` entries for each position.
    """
    after, legal = [], []
    for number, board in enumerate(positions()):
        free = () if board.is_over else board.free_cells
        legal += [cell in free for cell in range(ACTION_COLUMNS)]
        after += [
            numbers()[board.place(cell)] if cell in free else number for cell in range(ACTION_COLUMNS)
        ]
    return after, legal


def choice_table() -> ChoiceTable:
    sizes = [len(board.free_cells) or 1 for board in positions()]
    row, position = rows_of(sizes)
    after, cell, statuses = [], [], []
    for number, (board, size) in enumerate(zip(positions(), sizes, strict=True)):
        statuses += [status(board)] * size
        if board.is_over:
            after += [row[number]] * size
            cell += [NO_MOVE] * size
        else:
            after += [row[numbers()[board.place(free)]] for free in board.free_cells]
            cell += board.free_cells
    return ChoiceTable(row, after, cell, position, statuses)


def rows_of(sizes: list[int]) -> tuple[list[int], list[int]]:
    """Return where the row of each position starts, and the position of each entry.

    >>> rows_of([1, 3, 2])
    ([0, 1, 4], [0, 1, 1, 1, 2, 2])
    """
    starts = [end - size for end, size in zip(accumulate(sizes), sizes, strict=True)]
    return starts, [number for number, size in enumerate(sizes) for _ in range(size)]


def status(board: Board) -> int:
    if not board.is_over:
        return GOING
    return DRAWN if board.winner is None else X_WON if board.winner is Mark.X else O_WON


def choice_digits() -> list[list[int]]:
    """Return, for each move but the last (which is forced), what every opening or ending chooses."""
    lists = []
    for orders, sizes in ((OPENINGS, (9, 8, 7)), (ENDINGS, (6, 5, 4, 3, 2))):
        rest = orders
        for size in sizes:
            rest //= size
            lists.append([order // rest % size for order in range(orders)])
    return lists
