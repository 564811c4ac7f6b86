"""Tables of values as policies."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from noughts import Board, Mark, find_policy, odds, prospects, reachable
from noughts.analysis.solver import Result
from noughts.lab import greedy
from noughts.lab.errors import BadArray

WORTH = {Result.WIN: 1, Result.DRAW: 0, Result.LOSS: -1}


def solved() -> Any:  # noqa: ANN401 - an array
    """Return the true values of all moves, and nonsense for taken cells."""
    values = np.full((5478, 9), 99.0)
    for number, board in enumerate(reachable()):
        for cell, after in prospects(board).items():
            values[number, cell] = WORTH[after.result]
    return values


def test_the_best_cells_are_taken_evenly() -> None:
    policy = greedy(solved())
    for board in reachable():
        if board.is_over:
            continue
        worth = {cell: WORTH[after.result] for cell, after in prospects(board).items()}
        best = [cell for cell in worth if worth[cell] == max(worth.values())]
        assert policy(board) == dict.fromkeys(best, Fraction(1, len(best)))


def test_true_values_never_lose() -> None:
    policy, perfect = greedy(solved()), find_policy("perfect")

    assert odds(policy, perfect).draw == 1
    assert odds(perfect, policy).draw == 1
    assert odds(policy, perfect, Board(first=Mark.O)).draw == 1


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (np.zeros((9, 5478)), r"5478 rows .* and 9 columns, not \(9, 5478\)"),
        (np.zeros(5478), "5478 rows"),
        (np.full((5478, 9), np.nan), "contains NaN"),
        ("values", "is not a table"),
        (None, "5478 rows|not a table"),
        ([[1], [1, 2]], "is not a table"),
    ],
)
def test_an_invalid_table_is_refused(values: object, why: str) -> None:
    with pytest.raises(BadArray, match=why):
        greedy(values)
