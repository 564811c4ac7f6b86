"""Two policies as tables to draw moves from, each move in the same few steps whatever the chances are.

Every position has a row of slots, a power of two of them, one for each free cell at least. A random
number says which slot it is, and in the slot which of two choices: below its threshold the one, and from
there on the other. Chances that are not made of so many bits are rounded, by 2⁻²⁴ at most; one that is
less than 2⁻²⁸ may become none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from noughts.bots.policy import RESIGNS, Policy, Weights, weigh
from noughts.core.board import Board, Cell, Mark
from noughts.lab.backends import BITS
from noughts.lab.lookup import NO_MOVE, O_WON, X_WON, numbers, positions, status

Choice: TypeAlias = tuple[int, Cell]
"""The row that it leads to, and what is chosen."""


class Mixed(NamedTuple):
    """The choices of X's policy where X is to move, and of O's where O is.

    `after` and `cell` are two halves: first what is chosen from the threshold of a slot on, then what is
    chosen below it.
    """

    row: list[int]
    """Where the row of a position begins."""
    threshold: list[int]
    after: list[int]
    """The row after a choice."""
    cell: list[Cell]
    """What is chosen, or `NO_MOVE`."""
    position: list[int]
    """Which position's row this is."""
    status: list[int]
    """How the game stands in that row: whoever resigns there has lost."""


def slot_bits(tokens: int) -> int:
    """Return how many bits say which slot it is, when so many tokens lie on the board."""
    return max(0, 8 - tokens).bit_length()


def mix(x: Policy, o: Policy, bits: Callable[[int], int] = slot_bits) -> Mixed:
    """Ask two policies about every position, and make the tables of it.

    Games that are not in step with each other need the same number of slots in all positions.
    """
    policies = {Mark.X: x, Mark.O: o}
    row: list[int] = []
    position: list[int] = []
    for number, board in enumerate(positions()):
        row.append(len(position))
        position += [number] * (1 << bits(board.count))
    threshold: list[int] = []
    upper: list[Choice] = []
    lower: list[Choice] = []
    stands: list[int] = []
    for number, board in enumerate(positions()):
        weights = RESIGNS if board.is_over else weigh(policies[board.turn], board)
        slot_size = 1 << (BITS - bits(board.count))
        nowhere = row[number], NO_MOVE
        after = {cell: (row[numbers()[board.place(cell)]], cell) for cell in weights.cells}
        stands += [_status(board, weights)] * (1 << bits(board.count))
        for slot, (share, low, high) in enumerate(fill(weights, 1 << bits(board.count))):
            threshold.append(slot * slot_size + round(share * slot_size / (weights.total or 1)))
            lower.append(after.get(low, nowhere))
            upper.append(after.get(high, nowhere))
    both = upper + lower
    return Mixed(
        row, threshold, [after for after, _ in both], [cell for _, cell in both], position, stands
    )


def fill(weights: Weights, slots: int) -> list[tuple[int, Cell, Cell]]:
    """Spread chances over slots: of `total` parts of a slot, `share` go to one cell, the rest to another.

    This is Walker's alias method in whole numbers. A slot that is not full yet is filled up from a cell
    that has more than a slot's worth, until all are full.

    >>> from noughts.bots.policy import Weights
    >>> fill(Weights((4, 8), (2, 1), 3), 2)
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
