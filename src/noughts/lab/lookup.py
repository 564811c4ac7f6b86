"""The rules as tables of numbers, made from the core: where every move leads, and how every game ends.

A position is its number in `reachable()`: the empty board is 0, and fewer tokens come first. X starts.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from noughts.core.board import Board, Cell, Mark, reachable

POSITIONS = 5478
GOING, X_WON, O_WON, DRAWN = range(4)
"""How a game stands."""

WIDTH = 10
"""Nine cells, and a tenth column for whatever is no cell."""
NO_CELL = 9
NO_MOVE = -1
"""Stands in a record where no move was made any more."""


class Moves(NamedTuple):
    """Where the actions of every position lead: `WIDTH` entries for each."""

    after: list[int]
    """The position after an action; the same position, if it is illegal."""
    legal: list[bool]


class Choices(NamedTuple):
    """The free cells of every position, in order, with nothing between them: a position is a row.

    A finished game has a row as well, as long as it has free cells, in which every choice leads nowhere:
    so a batch can be played to the end of its longest game without a question asked.
    """

    row: list[int]
    """Where the row of a position begins."""
    after: list[int]
    """The row after a choice."""
    cell: list[Cell]
    """What is chosen, or `NO_MOVE`."""
    position: list[int]
    """Which position's row this is."""


@cache
def positions() -> tuple[Board, ...]:
    """Return the board of every number."""
    return reachable()


@cache
def numbers() -> dict[Board, int]:
    """Return the number of every board."""
    return {board: number for number, board in enumerate(positions())}


def moves() -> Moves:
    """Return where every action leads."""
    after, legal = [], []
    for number, board in enumerate(positions()):
        free = () if board.is_over else board.free_cells
        legal += [cell in free for cell in range(WIDTH)]
        after += [numbers()[board.place(cell)] if cell in free else number for cell in range(WIDTH)]
    return Moves(after, legal)


def choices() -> Choices:
    """Return the free cells of every position."""
    row: list[int] = []
    position: list[int] = []
    for number, board in enumerate(positions()):
        row.append(len(position))
        position += [number] * (len(board.free_cells) or 1)
    after, cell = [], []
    for number, board in enumerate(positions()):
        if board.is_over:
            size = len(board.free_cells) or 1
            after += [row[number]] * size
            cell += [NO_MOVE] * size
        else:
            after += [row[numbers()[board.place(free)]] for free in board.free_cells]
            cell += board.free_cells
    return Choices(row, after, cell, position)


def status(board: Board) -> int:
    """Return how a game stands."""
    if not board.is_over:
        return GOING
    return DRAWN if board.winner is None else X_WON if board.winner is Mark.X else O_WON


# A random game is an order of the nine cells: of 9 × 8 × 7 ways to begin it and 6! ways to go on.
OPENINGS, ENDINGS = 504, 720


def digits() -> list[list[int]]:
    """Return what each way to begin, or to go on, chooses: one list for each move, the last excepted.

    There is no choice in the last one.
    """
    lists = []
    for ways, sizes in ((OPENINGS, (9, 8, 7)), (ENDINGS, (6, 5, 4, 3, 2))):
        rest = ways
        for size in sizes:
            rest //= size
            lists.append([way // rest % size for way in range(ways)])
    return lists
