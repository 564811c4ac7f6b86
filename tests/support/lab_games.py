"""Opponents and move sequences for the tests of the environments."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from noughts import Board, reachable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from noughts import Policy


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
