"""The positions that a test walks over: all, or in a short run one of those that look alike."""

from __future__ import annotations

from functools import cache

from noughts import Board, Mark, reachable
from support.length import short_or_long


@cache
def positions(first: Mark = Mark.X) -> tuple[Board, ...]:
    """Return 765 of the 5,478 positions, or all; those that O starts have the marks exchanged."""
    started_by_x = (board for board in reachable() if board.canonical is board)
    short = (board if first is Mark.X else Board(board.o, board.x, first) for board in started_by_x)
    return tuple(short_or_long(short, reachable(first)))
