"""What can be seen on a board without looking far: lines to complete, threats, forks.

Sets of cells are numbers here, one bit a cell, as in `Board`; `mine` are the cells of the side that the
question is about, `theirs` those of the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from noughts.core.board import LINES, Cell

CENTRE = 0o020
CORNERS = 0o505
EDGES = 0o252


@cache
def cells(held: int) -> tuple[Cell, ...]:
    """Return a set of cells in order.

    >>> cells(CORNERS)
    (0, 2, 6, 8)
    """
    return tuple(cell for cell in range(9) if held >> cell & 1)


def wins(mine: int, theirs: int) -> int:
    """Return the free cells that complete a line."""
    return _completing(mine) & ~(mine | theirs)


def threats(mine: int, theirs: int) -> int:
    """Return the free cells that make one win possible at least, and are none themselves."""
    return _making(mine, theirs, 1)


def forks(mine: int, theirs: int) -> int:
    """Return the free cells that make two wins possible at once, and are none themselves."""
    return _making(mine, theirs, 2)


def fork_answers(mine: int, theirs: int) -> int:
    """Return the forks that the other side may make when `mine` has just moved.

    Where there is a win to be stopped, only what stops it is an answer.
    """
    feared = wins(mine, theirs)
    made = forks(theirs, mine)
    if feared & (feared - 1):
        return 0  # two wins cannot both be stopped
    return made & feared if feared else made


def fork_blocks(mine: int, theirs: int) -> int:
    """Return the free cells after which the other side, which could fork if it moved now, cannot."""
    if not forks(theirs, mine):
        return 0
    free = tokens(mine | theirs)
    return wins(mine, theirs) | _of(token for token in free if not fork_answers(mine | token, theirs))


def open_lines(cell: Cell, theirs: int) -> tuple[int, ...]:
    """Return the lines through a cell in which none of theirs lies."""
    return tuple(line for line in LINES if line >> cell & 1 and not line & theirs)


def _making(mine: int, theirs: int, count: int) -> int:
    """Return the free cells after which `mine` could complete lines on so many cells at least."""
    free = ~(mine | theirs)
    found = 0
    for token in tokens(mine | theirs):
        after = mine | token
        if (_completing(after) & free & ~token).bit_count() >= count:
            found |= token
    return found & ~_completing(mine)


@cache
def tokens(held: int) -> tuple[int, ...]:
    """Return the cells that are not held, each as a set of its own."""
    return tuple(1 << cell for cell in range(9) if not held >> cell & 1)


def _of(tokens: Iterable[int]) -> int:
    found = 0
    for token in tokens:
        found |= token
    return found


@cache
def _completing(held: int) -> int:
    """Return the cells not held that complete a line."""
    return _of(line & ~held for line in LINES if (line & ~held).bit_count() == 1)
