"""Why a move is good or bad, as data, with the lines and moves that prove it."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import cache
from operator import index

from noughts.analysis.best_moves import best_cells, perfect_cells
from noughts.analysis.solver import Prospect, Result, prospect, prospects, sides
from noughts.analysis.tactics import (
    CENTRE,
    CORNERS,
    cells,
    fork_answers,
    fork_blocks,
    forks,
    open_lines,
    wins,
)
from noughts.core.board import LINES, Board, Cell
from noughts.core.value import Value


class Kind(Enum):
    """What a move does, the most important first."""

    WINS = "wins"
    GIVES_UP_WIN = "givesUpWin"
    GIVES_UP_DRAW = "givesUpDraw"
    ALLOWS_WIN = "allowsWin"
    ALLOWS_FORK = "allowsFork"
    ALLOWS_FORCED_FORK = "allowsForcedFork"
    WINS_LATER = "winsLater"
    LOSES_SOONER = "losesSooner"
    BLOCKS = "blocks"
    MAKES_FORK = "makesFork"
    FORCES_FORK = "forcesFork"
    BLOCKS_FORK = "blocksFork"
    STOPS_FORCED_FORK = "stopsForcedFork"
    ONLY_WIN = "onlyWin"
    ONLY_MOVE = "onlyMove"
    THREATENS = "threatens"
    CENTRE = "centre"
    CORNER = "corner"
    EDGE = "edge"

    def __str__(self) -> str:
        return self.value

    __repr__ = __str__
    __hash__ = object.__hash__  # hashing the name, as an enum does, is slow


_ORDER = {kind: place for place, kind in enumerate(Kind)}

_WIN_IN_5, _LOSS_IN_6 = Prospect(Result.WIN, 5), Prospect(Result.LOSS, 6)

PLACES = Kind.CENTRE, Kind.CORNER, Kind.EDGE
"""Every move has one of these; it is rarely the reason for the move."""


class Reason(Value):
    """One thing that a move does."""

    kind: Kind
    cells: tuple[Cell, ...] = ()
    """The cells that it threatens, blocks or allows, or the better cells that were missed."""
    lines: tuple[tuple[Cell, ...], ...] = ()
    """The lines that show it: completed, threatened or blocked, or missed."""
    play: tuple[Cell, ...] = ()
    """The moves that prove it, to the end of the game.

    They start with the move itself, except for the better move that was missed (`GIVES_UP_WIN`,
    `WINS_LATER`, `LOSES_SOONER`) and the worse one that was avoided (`STOPS_FORCED_FORK`).
    """


def reasons(board: Board, cell: Cell) -> tuple[Reason, ...]:
    """Return everything that a move does; an illegal move is refused.

    >>> from noughts.core.notation import parse_board
    >>> for reason in reasons(parse_board("X__/_O_/__X"), 2):
    ...     print(reason.kind, reason.cells, reason.play)
    givesUpDraw (1, 3, 5, 7) (2, 6, 3, 7)
    allowsFork (6,) (2, 6, 3, 7)
    threatens (6,) (2, 6, 3, 7)
    corner () ()
    """
    board.place(cell)
    cell = index(cell)
    play = line_of(board, cell)
    found = [
        *_tactical(board, cell, play),
        *_exact(board, cell, play),
        *_forced(board, cell, play),
        _positional(board, cell),
    ]
    return tuple(sorted(found, key=lambda reason: _ORDER[reason.kind]))


@cache  # all positions together take 2 MB
def best_play(board: Board) -> tuple[Cell, ...]:
    """Return the moves to the end if both sides play like `perfect`."""
    return () if board.is_over else line_of(board, perfect_cells(board)[0])


def line_of(board: Board, cell: Cell) -> tuple[Cell, ...]:
    """Return a move, and the moves to the end that `perfect` would make after it."""
    return (cell, *best_play(board.place(cell)))


def _tactical(board: Board, cell: Cell, play: tuple[Cell, ...]) -> Iterator[Reason]:
    """Find the lines that the move or the answer to it completes, stops and threatens."""
    mine, theirs = sides(board)
    token = 1 << cell
    moved = mine | token
    stopped = wins(theirs, mine)
    if stopped & token:
        yield Reason(Kind.BLOCKS, (cell,), _completed(theirs, token))
    if wins(mine, theirs) & token:
        yield Reason(Kind.WINS, (cell,), _completed(mine, token), (cell,))
    elif feared := wins(theirs, moved):
        yield Reason(Kind.ALLOWS_WIN, cells(feared), _completed(theirs, feared), (cell, cells(feared)[0]))
    else:
        yield from _threats(mine, theirs, cell, play)
        if allowed := fork_answers(moved, theirs):
            yield Reason(
                Kind.ALLOWS_FORK,
                cells(allowed),
                _forked(theirs, moved, allowed),
                (cell, *_fork_wins(theirs, moved, cells(allowed)[0])),
            )
        elif not stopped and fork_blocks(mine, theirs) & token and _holds(board, cell):
            forked = forks(theirs, mine)
            yield Reason(Kind.BLOCKS_FORK, cells(forked), _forked(theirs, mine, forked))


def _threats(mine: int, theirs: int, cell: Cell, play: tuple[Cell, ...]) -> Iterator[Reason]:
    """Find new threats."""
    moved = mine | 1 << cell
    threatened = wins(moved, theirs)
    if not threatened & ~wins(mine, theirs):
        return
    lines = _completed(moved, threatened)
    if forks(mine, theirs) >> cell & 1:
        yield Reason(Kind.MAKES_FORK, cells(threatened), lines, _fork_wins(mine, theirs, cell))
    else:
        yield Reason(Kind.THREATENS, cells(threatened), lines, play)


def _fork_wins(mine: int, theirs: int, cell: Cell) -> tuple[Cell, ...]:
    """Return how a fork wins: the fork, a block, and the other line."""
    first, second, *_ = cells(wins(mine | 1 << cell, theirs))
    return cell, first, second


def _holds(board: Board, cell: Cell) -> bool:
    return prospects(board)[cell].result is not Result.LOSS


def _exact(board: Board, cell: Cell, play: tuple[Cell, ...]) -> Iterator[Reason]:
    """Compare the value of the position before and after the move."""
    before, found = prospect(board), prospects(board)
    after = found[cell]
    best = best_cells(board)
    mine, theirs = sides(board)
    missed = _completed(mine, wins(mine, theirs))
    if before.result is Result.WIN and after.result is not Result.WIN:
        yield Reason(Kind.GIVES_UP_WIN, best, missed, best_play(board))
    elif before.result is Result.DRAW and after.result is Result.LOSS:
        yield Reason(Kind.GIVES_UP_DRAW, best, (), play)
    elif after.distance != before.distance and after.result is Result.WIN:
        yield Reason(Kind.WINS_LATER, best, missed, best_play(board))
    elif after.distance != before.distance:
        yield Reason(Kind.LOSES_SOONER, best, (), best_play(board))
    elif after.distance > 1 and len(found) > 1:
        others = {one.result for other, one in found.items() if other != cell}
        if after.result is Result.WIN and Result.WIN not in others:
            yield Reason(Kind.ONLY_WIN, (cell,), (), play)
        elif after.result is Result.DRAW and others == {Result.LOSS}:
            yield Reason(Kind.ONLY_MOVE, (cell,), (), play)


def _forced(board: Board, cell: Cell, play: tuple[Cell, ...]) -> Iterator[Reason]:
    """Find forced forks: after any answer, a fork or a line follows.

    A win in 5 is always one of these.
    """
    found = prospects(board)
    allowing = tuple(other for other, one in found.items() if one == _LOSS_IN_6)
    if found[cell] == _WIN_IN_5:
        yield Reason(Kind.FORCES_FORK, (cell,), (), play)
    elif cell in allowing:
        yield Reason(Kind.ALLOWS_FORCED_FORK, best_cells(board.place(cell)), (), play)
    elif allowing and found[cell].result is prospect(board).result is Result.DRAW:
        yield Reason(Kind.STOPS_FORCED_FORK, allowing, (), line_of(board, allowing[0]))


def _positional(board: Board, cell: Cell) -> Reason:
    """Find where the cell lies, with the lines through it that are open."""
    _, theirs = sides(board)
    kind = Kind.CENTRE if CENTRE >> cell & 1 else Kind.CORNER if CORNERS >> cell & 1 else Kind.EDGE
    return Reason(kind, (), tuple(cells(line) for line in open_lines(cell, theirs)))


def _completed(held: int, wanted: int) -> tuple[tuple[Cell, ...], ...]:
    """Return the lines that lack only one of the wanted cells."""
    return tuple(
        cells(line) for line in LINES if (line & ~held).bit_count() == 1 and line & ~held & wanted
    )


def _forked(held: int, against: int, made: int) -> tuple[tuple[Cell, ...], ...]:
    """Return the lines that the forks on these cells would threaten."""
    found = []
    for fork in cells(made):
        after = held | 1 << fork
        found += [line for line in _completed(after, wins(after, against)) if fork in line]
    return tuple(dict.fromkeys(found))
