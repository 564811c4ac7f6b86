"""A table of values as a policy."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from noughts.bots.policy import Policy
from noughts.core.board import Board, Cell, Mark
from noughts.core.errors import quoted
from noughts.core.notation import AnyBoard, as_board
from noughts.lab.backends import Array
from noughts.lab.errors import BadArray
from noughts.lab.lookup import POSITIONS, numbers


def greedy(values: Array) -> Policy:
    """Return the policy that takes the free cell of the highest value, breaking ties evenly.

    `values` has a row for each position and a column for each cell: the value for the player to move. In
    a game that O starts, the marks are swapped first.

    >>> values = np.zeros((5478, 9))
    >>> values[0, 4] = 1
    >>> greedy(values)(Board())
    {4: Fraction(1, 1)}
    """
    table = _checked(values)
    known = numbers()

    def best(position: AnyBoard) -> Mapping[Cell, Fraction]:
        board = as_board(position)
        started_by_x = board if board.first is Mark.X else Board(board.o, board.x)
        row = table[known[started_by_x]]
        highest = max(row[cell] for cell in board.free_cells)
        cells = [cell for cell in board.free_cells if row[cell] == highest]
        return dict.fromkeys(cells, Fraction(1, len(cells)))

    return best


def _checked(values: Array) -> list[list[float]]:
    try:
        table = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise BadArray(f"{quoted(values)} is not a table of numbers") from error
    if table.shape != (POSITIONS, 9):
        raise BadArray(f"a table has {POSITIONS} rows (positions) and 9 columns, not {table.shape}")
    if np.isnan(table).any():
        raise BadArray("the table contains NaN")
    return list(table.tolist())
