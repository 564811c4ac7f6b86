"""Two policies as alias tables: drawing a move takes constant time, whatever the chances are.

Every position has a row of slots: a power of two, and at least one for each free cell. A random number
selects a slot, and then one of the slot's two choices: the lower one if the number is below the slot's
threshold, otherwise the upper one. Chances are rounded by at most 2⁻²⁴; one below 2⁻²⁸ may become 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Self, TypeAlias

from noughts.bots.policy import RESIGNS, Policy, Weights, weigh
from noughts.core.board import Board, Cell, Mark
from noughts.lab.backends import DRAW_BITS
from noughts.lab.lookup import NO_MOVE, O_WON, X_WON, numbers, positions, rows_of, status

Choice: TypeAlias = tuple[int, Cell]
"""The row that it leads to, and the cell."""


def slot_bits(tokens: int) -> int:
    """Return how many bits select a slot when that many tokens are on the board."""
    return max(0, 8 - tokens).bit_length()


class AliasTables(NamedTuple):
    """The choices of X's policy where X is to move, and of O's where O is.

    Like a `ChoiceTable` of slots, but `after` and `cell` have two halves: first the upper choice of every
    slot, then the lower one.
    """

    row: list[int]
    threshold: list[int]
    after: list[int]
    cell: list[Cell]
    position: list[int]
    status: list[int]
    """The status of the game in that row; a player who resigns there has lost."""

    @classmethod
    def build(cls, x: Policy, o: Policy, bits: Callable[[int], int] = slot_bits) -> Self:
        """Query two policies in every position.

        Games that are not in step with each other need the same number of slots in all positions.
        """
        policies = {Mark.X: x, Mark.O: o}
        sizes = [1 << bits(board.count) for board in positions()]
        row, position = rows_of(sizes)
        threshold: list[int] = []
        upper: list[Choice] = []
        lower: list[Choice] = []
        statuses: list[int] = []
        for number, (board, slots) in enumerate(zip(positions(), sizes, strict=True)):
            weights = RESIGNS if board.is_over else weigh(policies[board.turn], board)
            slot_size = (1 << DRAW_BITS) // slots
            stay = row[number], NO_MOVE
            after = {cell: (row[numbers()[board.place(cell)]], cell) for cell in weights.cells}
            statuses += [_status(board, weights)] * slots
            for slot, (share, low, high) in enumerate(alias(weights, slots)):
                threshold.append(slot * slot_size + round(share * slot_size / (weights.total or 1)))
                lower.append(after.get(low, stay))
                upper.append(after.get(high, stay))
        both = upper + lower
        cells = [cell for _, cell in both]
        return cls(row, threshold, [after for after, _ in both], cells, position, statuses)


def alias(weights: Weights, slots: int) -> list[tuple[int, Cell, Cell]]:
    """Spread weights over slots by Walker's alias method, in whole numbers.

    Each slot is (share, low, high): `share` of its `weights.total` parts go to `low`, the rest to `high`.

    >>> from noughts.bots.policy import Weights
    >>> alias(Weights((4, 8), (2, 1), 3), 2)
    [(2, 8, 4), (3, 4, 4)]
    """
    if not weights.total:
        return [(0, NO_MOVE, NO_MOVE)] * slots
    total = weights.total
    shares = [(share * slots, cell) for share, cell in zip(weights.shares, weights.cells, strict=True)]
    shares += [(0, weights.cells[0])] * (slots - len(shares))
    small = [one for one in shares if one[0] < total]
    large = [one for one in shares if one[0] >= total]
    filled = []
    while small:
        share, cell = small.pop()
        rest, donor = large.pop()
        filled.append((share, cell, donor))
        left = rest - (total - share)
        (small if left < total else large).append((left, donor))
    filled += [(total, cell, cell) for _, cell in large]
    return filled


def _status(board: Board, weights: Weights) -> int:
    if weights.total or board.is_over:
        return status(board)
    return O_WON if board.turn is Mark.X else X_WON
