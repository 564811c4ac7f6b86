"""Lines to complete, threats and forks.

Sets of cells are numbers, one bit a cell, as in `Board`.
"""

from __future__ import annotations

from functools import cache, reduce
from operator import or_

from noughts.core.board import LINES, Cell

CENTRE = 0o020
CORNERS = 0o505
EDGES = 0o252


@cache
def cells(held: int) -> tuple[Cell, ...]:
    """List a set of cells.

    >>> cells(CORNERS)
    (0, 2, 6, 8)
    """
    return tuple(cell for cell in range(9) if held >> cell & 1)


def wins(mine: int, theirs: int) -> int:
    """Return the free cells that complete a line."""
    return _completing(mine) & ~(mine | theirs)


def threats(mine: int, theirs: int) -> int:
    """Return the free cells that threaten to complete a line and don't complete one."""
    return _making(mine, theirs, 1)


def forks(mine: int, theirs: int) -> int:
    """Return the free cells that threaten to complete two lines and don't complete one."""
    return _making(mine, theirs, 2)


def fork_answers(mine: int, theirs: int) -> int:
    """Return the forks that the other side can answer with; a threat leaves it only the block."""
    feared = wins(mine, theirs)
    made = forks(theirs, mine)
    if feared & (feared - 1):
        return 0  # it cannot block both
    return made & feared if feared else made


def fork_blocks(mine: int, theirs: int) -> int:
    """Return the free cells that prevent every fork of the other side, if it threatens one."""
    if not forks(theirs, mine):
        return 0
    free = tokens(mine | theirs)
    return wins(mine, theirs) | sum(token for token in free if not fork_answers(mine | token, theirs))


def open_lines(cell: Cell, theirs: int) -> tuple[int, ...]:
    """Return the lines through a cell without any of `theirs`."""
    return tuple(line for line in LINES if line >> cell & 1 and not line & theirs)


def _making(mine: int, theirs: int, count: int) -> int:
    """Return the free cells after which at least `count` cells complete a line."""
    free = ~(mine | theirs)
    found = 0
    for token in tokens(mine | theirs):
        after = mine | token
        if (_completing(after) & free & ~token).bit_count() >= count:
            found |= token
    return found & ~_completing(mine)


@cache
def tokens(held: int) -> tuple[int, ...]:
    """Return the cells that are not held, as one set each."""
    return tuple(1 << cell for cell in range(9) if not held >> cell & 1)


@cache
def _completing(held: int) -> int:
    """Return the cells that complete a line, free or not."""
    return reduce(or_, (line & ~held for line in LINES if (line & ~held).bit_count() == 1), 0)
