"""The coach's advice on every move of the positions, computed once."""

from __future__ import annotations

from functools import cache

from noughts import Board, Mark
from noughts.analysis.coach import Advice, advise
from support.positions import positions


@cache
def all_advice(first: Mark = Mark.X) -> tuple[tuple[Board, Advice], ...]:
    return tuple((board, one) for board in positions(first) for one in advise(board))
