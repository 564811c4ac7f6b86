"""Lookup tables for many games that are not in step with each other, for the vector environment.

A game is the number of its position. The outcome of a move is 16 bits: that number, and above it how the
game has ended, if it has: by the rules, or by an illegal action, which leaves the position unchanged.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from noughts.bots.ladder import random
from noughts.bots.policy import Policy
from noughts.core.board import Mark
from noughts.lab import lookup
from noughts.lab.alias_tables import AliasTables
from noughts.lab.backends import DRAW_BITS
from noughts.lab.lookup import ACTION_COLUMNS, DRAWN, GOING, NO_CELL, O_WON, X_WON
from noughts.lab.observations import FREE, SHAPE, observation_of

Numbers: TypeAlias = NDArray[np.int64]
Outcomes: TypeAlias = NDArray[np.uint16]
Flags: TypeAlias = NDArray[np.bool_]
Small: TypeAlias = NDArray[np.int8]
Views: TypeAlias = NDArray[np.void]

_ACTIONS = 16
"""Nine cells, and seven numbers that are not cells but are looked up all the same."""
_SLOT_BITS = 4
_END_BIT = 13
_NUMBER_MASK = np.uint16((1 << _END_BIT) - 1)
_BY_ILLEGAL_ACTION = 4
_ENDS = GOING, X_WON, O_WON, DRAWN, _BY_ILLEGAL_ACTION
OVER = np.uint16(1 << _END_BIT)
"""Outcomes from here on are finished games."""
ILLEGAL = np.uint16(_BY_ILLEGAL_ACTION << _END_BIT)
"""Outcomes from here on were ended by an illegal action."""

# Everything a learner gets from a game in one lookup: NumPy copies 32 bytes at once.
VIEW = np.dtype([("seen", np.int8, SHAPE), ("is_over", np.bool_), ("reward", np.float32)])
VIEW_ROWS = 8 << _END_BIT
"""One row for each outcome, as one player sees it."""


def apply_actions(games: Numbers, actions: NDArray[Any]) -> Outcomes:
    """Return the outcome of one action in each game; an illegal one ends its game."""
    if not 0 <= np.bitwise_or.reduce(actions) < _ACTIONS:  # at least one is out of range
        actions = np.where((actions >= 0) & (actions < NO_CELL), actions, NO_CELL)
    place = actions.astype(np.int64)
    place <<= _END_BIT
    place += games
    return _outcomes().take(place)


def position_numbers(outcomes: Outcomes) -> Numbers:
    return (outcomes & _NUMBER_MASK).astype(np.int64)


def take_views(table: Views, games: Outcomes | Numbers, is_o: Flags | None = None) -> Views:
    """Look up what is seen of games; in a table for both marks, O's rows are at the end."""
    place: Numbers = games.astype(np.int64, copy=False)  # faster than NumPy's own conversion
    return table.take(place if is_o is None else place + np.where(is_o, VIEW_ROWS, 0))


def free_cells(seen: Small) -> Small:
    """Return the plane of free cells as rows of nine, in the same memory."""
    return seen[..., FREE].reshape(-1, 9)


class OpponentTable:
    """A policy that replies in every game of a batch in which it is to move.

    It is only queried for boards on which one of its marks is to move.
    """

    def __init__(self, policy: Policy, marks: tuple[Mark, ...] = (Mark.X, Mark.O)) -> None:
        x, o = (policy if mark in marks else random for mark in (Mark.X, Mark.O))
        tables = AliasTables.build(x, o, lambda _tokens: _SLOT_BITS)
        boards = lookup.positions()
        outcomes = []
        for place, row in enumerate(tables.after):
            to = tables.position[row]
            stays = to == tables.position[place % len(tables.threshold)]
            # The policy resigns for itself, not for the learner who is to move next.
            end = tables.status[row] if stays else lookup.status(boards[to])
            outcomes.append(to | end << _END_BIT)
        self._outcomes = np.array(outcomes, np.uint16)
        self._threshold = np.array(tables.threshold, np.int32)

    def reply(self, games: Numbers, draws: Numbers) -> Outcomes:
        """Return the outcome of the policy's move in each game; finished games stay as they are."""
        slot = (games << _SLOT_BITS) + (draws >> (DRAW_BITS - _SLOT_BITS))
        is_below = (draws - self._threshold.take(slot)) >> (DRAW_BITS + 2)  # all bits set, or none
        place: Numbers = slot + (is_below & len(self._threshold))
        return self._outcomes.take(place)


@cache
def views_for(viewer: str) -> Views:
    """Return the views of all outcomes for `X`, `O`, `both`, or the player `to move`.

    The rewards are the viewer's, except that those of `to move` are for the player who has just moved.
    """
    if viewer == "both":
        return np.concatenate([views_for("X"), views_for("O")])
    table = np.zeros(VIEW_ROWS, VIEW)
    for number, board in enumerate(lookup.positions()):
        mark = board.turn if viewer == "to move" else Mark(viewer)
        rewarded = mark.other if viewer == "to move" else mark
        seen = observation_of(board, mark)
        for end in _ENDS:  # resigning or an illegal action can end a game in any position
            table[number | end << _END_BIT] = seen, end != GOING, _reward(end, rewarded)
    return table


def _reward(end: int, mark: Mark) -> int:
    won, lost = (X_WON, O_WON) if mark is Mark.X else (O_WON, X_WON)
    return (end == won) - (end in (lost, _BY_ILLEGAL_ACTION))


@cache
def _outcomes() -> Outcomes:
    """Return the outcome of each action: all positions for cell 0, then all for cell 1, and so on."""
    after, legal = lookup.move_table()
    boards = lookup.positions()
    table = np.tile(np.arange(1 << _END_BIT, dtype=np.uint16) | ILLEGAL, _ACTIONS)
    for place, (to, is_legal) in enumerate(zip(after, legal, strict=True)):
        if is_legal:
            game, action = divmod(place, ACTION_COLUMNS)
            table[action << _END_BIT | game] = to | lookup.status(boards[to]) << _END_BIT
    return table
