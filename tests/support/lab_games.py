"""Opponents, places of masks and move sequences for the tests of the environments."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache

import pytest

from noughts import Board, Policy, reachable

places = pytest.mark.parametrize("mask_in", ["observation", "info"])
"""Where an environment has its masks."""


@cache
def resigning(at: int) -> Policy:
    """Return a policy that takes the first free cell, and resigns when `at` tokens are on the board."""

    def policy(board: Board) -> Mapping[int, Fraction]:
        return {board.free_cells[0]: Fraction(1)} if board.count < at else {}

    return policy


first_free = resigning(at=9)


@cache
def moves_to() -> dict[Board, tuple[int, ...]]:
    """Return moves that lead to each position."""
    found: dict[Board, tuple[int, ...]] = {Board(): ()}
    for board in reachable():
        for cell in () if board.is_over else board.free_cells:
            found.setdefault(board.place(cell), (*found[board], cell))
    return found
