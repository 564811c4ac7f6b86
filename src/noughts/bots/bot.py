"""Players that move at random: `Bot` by the chances of a policy, `next_move` with equal chances."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable
from itertools import accumulate
from random import Random

from noughts.bots.policy import Policy, weigh
from noughts.core.board import Board, Cell, Mark, game_is_over
from noughts.core.notation import as_board


class Bot:
    """Draws its moves from a policy, which it asks once for each board.

    >>> from random import Random
    >>> from noughts.core.board import Board
    >>> from noughts.bots.ladder import perfect
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


def next_move(board: Board | str | Iterable[object], mark: Mark, rng: Random | None = None) -> Board:
    """Return the board with one more `mark` on a random free cell; a finished board is refused.

    The board can be in any form that `parse_board` reads. Pass a seeded generator to repeat the moves.

    >>> from noughts.core.board import Board, X
    >>> next_move(Board(), X).count
    1
    """
    before = as_board(board)
    if before.is_over:
        return before.place(0, mark)  # refuses it
    rng = rng or Random()  # noqa: S311 - a game, not a secret
    return before.place(before.free_cells[rng.randrange(len(before.free_cells))], mark)
