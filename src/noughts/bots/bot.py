"""A player that draws its moves from a policy."""

from __future__ import annotations

from bisect import bisect
from itertools import accumulate
from random import Random

from noughts.bots.policy import Policy, weigh
from noughts.core.board import Board, Cell, game_is_over


class Bot:
    """A policy at the table; each board is thought about once.

    >>> from random import Random
    >>> from noughts.core.board import Board
    >>> from noughts.bots.registry import perfect
    >>> Bot(perfect, Random(1)).choose(Board().place(0))
    4
    """

    def __init__(self, policy: Policy, rng: Random) -> None:
        self._policy = policy
        self._below = rng.randrange
        self._known: dict[Board, tuple[tuple[Cell, ...], list[int], int]] = {}

    def choose(self, board: Board) -> Cell | None:
        """Return the cell to take, or None to resign; a finished board is refused."""
        known = self._known.get(board)
        if known is None:
            if board.is_over:
                raise game_is_over(board)
            weights = weigh(self._policy, board)
            known = weights.cells, list(accumulate(weights.shares)), weights.total
            self._known[board] = known
        cells, marks, total = known
        if total > 1:
            return cells[bisect(marks, self._below(total))]
        return cells[0] if cells else None
