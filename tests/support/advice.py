"""The coach's advice on every move of every position, computed once."""

from __future__ import annotations

from functools import cache

from noughts import Board, Mark, reachable
from noughts.analysis.coach import Advice, advise


@cache
def all_advice(first: Mark = Mark.X) -> tuple[tuple[Board, Advice], ...]:
    return tuple((board, one) for board in reachable(first) for one in advise(board))
