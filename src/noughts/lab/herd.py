"""Many games that are not in step with each other, by look-ups: what the vector environment is made of.

Each game is one number. Its low bits are sixteen times the number of its position, so that a table with
sixteen columns says where each action leads; the bits above them say how the game ended, if it has: as
the core knows it, or by an illegal action, which leaves the position as it was.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from noughts.core.board import Mark
from noughts.lab import tables
from noughts.lab.backends import BITS
from noughts.lab.mixing import mix
from noughts.lab.observing import FREE, SHAPE, observation_of
from noughts.lab.tables import DRAWN, GOING, NO_CELL, O_WON, WIDTH, X_WON

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from noughts.players.policies import Policy

    Numbers: TypeAlias = NDArray[np.int64]
    Flags: TypeAlias = NDArray[np.bool_]
    Small: TypeAlias = NDArray[np.int8]
    Faces: TypeAlias = NDArray[np.void]

_COLUMN_BITS = 4
_COLUMNS = 1 << _COLUMN_BITS
_END_BIT = 17
_PLACE = (1 << _END_BIT) - 1
_BY_ILLEGAL_ACTION = 4
_ENDS = GOING, X_WON, O_WON, DRAWN, _BY_ILLEGAL_ACTION
ILLEGAL = _BY_ILLEGAL_ACTION << _END_BIT
"""From this number on, a game was ended by an illegal action."""

# All that a learner hears of a game, in one look-up: NumPy copies 32 bytes at once.
FACE = np.dtype([("seen", np.int8, SHAPE), ("is_over", np.bool_), ("reward", np.float32)])
VIEW = 8 << (_END_BIT - _COLUMN_BITS)
"""How many rows the faces of all games have, as one player sees them."""


def moved(games: Numbers, actions: NDArray[Any]) -> Numbers:
    """Return the games after an action each, whole numbers of any type; an illegal one ends its game."""
    if not 0 <= np.bitwise_or.reduce(actions) < _COLUMNS:  # then one of them has no column
        actions = np.where((actions >= 0) & (actions < NO_CELL), actions, NO_CELL).astype(np.int64)
    place: Numbers = games + actions
    return _moves().take(place)


def number(games: Numbers) -> Numbers:
    """Return in which position each game is."""
    return (games & _PLACE) >> _COLUMN_BITS


def places(games: Numbers) -> Numbers:
    """Return the games as if none were over, so that a next action can be looked up."""
    return games & _PLACE


def look(table: Faces, games: Numbers, is_o: Flags | None = None) -> Faces:
    """Return what is seen of games in a table of faces; one of both views has those of O at its end."""
    rows = games >> _COLUMN_BITS
    if is_o is not None:
        rows += np.where(is_o, VIEW, 0)
    return table.take(rows)


def free(seen: Small) -> Small:
    """Return which cells are free in what is seen: the same memory, as rows of nine."""
    return seen[..., FREE].reshape(-1, 9)


class Answers:
    """A policy that moves in every game of a batch in which it is its turn."""

    def __init__(self, policy: Policy) -> None:
        mixed = mix(policy, policy, lambda _tokens: _COLUMN_BITS)
        after = np.array(mixed.after, np.int64)
        before = np.tile(np.arange(len(mixed.threshold)) & -_COLUMNS, 2)
        stands = np.array([tables.status(board) for board in tables.positions()])
        ends = np.where(after == before, np.array(mixed.status)[after], stands[after >> _COLUMN_BITS])
        self._after = after + (ends << _END_BIT)  # it resigns for itself, but not for who is to move then
        self._threshold = np.array(mixed.threshold, np.int64)

    def after(self, games: Numbers, pieces: Numbers) -> Numbers:
        """Return the games after the policy's move, drawn by a random number for each.

        A game that is over stays so; one that an illegal action ended would go on.
        """
        slot = (games & _PLACE) + (pieces >> (BITS - _COLUMN_BITS))
        is_below = (pieces - np.take(self._threshold, slot)) >> (BITS + 2)  # all bits, or none
        index: Numbers = slot + (is_below & len(self._threshold))
        return np.take(self._after, index)


@cache
def faces_for(looker: str) -> Faces:
    """Return the faces of all games as X or O sees them, as both do, or as whoever is to `move`.

    The rewards are the looker's own; but those of who is to `move` go to the one who has just moved.
    """
    if looker == "both":
        return np.concatenate([faces_for("X"), faces_for("O")])
    table = np.zeros(VIEW, FACE)
    for place, board in enumerate(tables.positions()):
        mark = board.turn if looker == "move" else Mark(looker)
        rewarded = mark.other if looker == "move" else mark
        seen = observation_of(board, mark)
        for end in _ENDS:  # whoever resigns, or does what is illegal, ends a game in any position
            row = place + (end << (_END_BIT - _COLUMN_BITS))
            table[row] = seen, end != GOING, _reward(end, rewarded)
    return table


def _reward(end: int, mark: Mark) -> int:
    won, lost = (X_WON, O_WON) if mark is Mark.X else (O_WON, X_WON)
    return (end == won) - (end in (lost, _BY_ILLEGAL_ACTION))


@cache
def _moves() -> Numbers:
    after, legal = tables.moves()
    boards = tables.positions()
    table = np.repeat((np.arange(len(boards), dtype=np.int64) << _COLUMN_BITS) + ILLEGAL, _COLUMNS)
    for place, (to, is_legal) in enumerate(zip(after, legal, strict=True)):
        if is_legal:
            row, column = divmod(place, WIDTH)
            end = tables.status(boards[to])
            table[row * _COLUMNS + column] = (to << _COLUMN_BITS) + (end << _END_BIT)
    return table
