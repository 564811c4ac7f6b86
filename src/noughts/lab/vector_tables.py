"""Many games that are not in step with each other, by look-ups: what the vector environment is made of.

A game is the number of its position. What a move leads to is 16 bits: the number, and above it how the
game ended, if it has: as the core knows it, or by an illegal action, which leaves the position as it was.
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
from noughts.lab.alias_tables import mix
from noughts.lab.backends import BITS, Chance
from noughts.lab.lookup import DRAWN, GOING, NO_CELL, O_WON, WIDTH, X_WON
from noughts.lab.observations import FREE, SHAPE, observation_of

Numbers: TypeAlias = NDArray[np.int64]
Outcomes: TypeAlias = NDArray[np.uint16]
Flags: TypeAlias = NDArray[np.bool_]
Small: TypeAlias = NDArray[np.int8]
Faces: TypeAlias = NDArray[np.void]

_WORD = np.iinfo(np.int64)
_PIECE = (1 << BITS) - 1
_ACTIONS = 16
"""Nine cells, and seven numbers that are none, but are looked up all the same."""
_SLOT_BITS = 4
_END_BIT = 13
_NUMBER = np.uint16((1 << _END_BIT) - 1)
_BY_ILLEGAL_ACTION = 4
_ENDS = GOING, X_WON, O_WON, DRAWN, _BY_ILLEGAL_ACTION
OVER = np.uint16(1 << _END_BIT)
"""From this on, a game is over."""
ILLEGAL = np.uint16(_BY_ILLEGAL_ACTION << _END_BIT)
"""From this on, it was ended by an illegal action."""

# All that a learner hears of a game, in one look-up: NumPy copies 32 bytes at once.
FACE = np.dtype([("seen", np.int8, SHAPE), ("is_over", np.bool_), ("reward", np.float32)])
VIEW = 8 << _END_BIT
"""How many rows the faces of all games have, as one player sees them."""


def moved(games: Numbers, actions: NDArray[Any]) -> Outcomes:
    """Return what an action each leads to, whole numbers of any type; an illegal one ends its game."""
    if not 0 <= np.bitwise_or.reduce(actions) < _ACTIONS:  # then one of them is far from any cell
        actions = np.where((actions >= 0) & (actions < NO_CELL), actions, NO_CELL)
    place = actions.astype(np.int64)
    place <<= _END_BIT
    place += games
    return _moves().take(place)


def number(outcomes: Outcomes) -> Numbers:
    """Return in which position each game is, ended or not."""
    return (outcomes & _NUMBER).astype(np.int64)


def look(table: Faces, games: Outcomes | Numbers, is_o: Flags | None = None) -> Faces:
    """Return what is seen of games in a table of faces; one of both views has those of O at its end."""
    place: Numbers = games.astype(np.int64, copy=False)  # NumPy would do so itself, and take longer
    return table.take(place if is_o is None else place + np.where(is_o, VIEW, 0))


def free(seen: Small) -> Small:
    """Return which cells are free in what is seen: the same memory, as rows of nine."""
    return seen[..., FREE].reshape(-1, 9)


class Luck(Chance):
    """Random numbers for a batch of games; those that are left over are copied and kept with it."""

    def __init__(self, seed: int | None, count: int) -> None:
        super().__init__(seed)
        self._count = count
        self._left_over: Numbers | None = None

    def next_pieces(self) -> Numbers:
        """Return a number of `BITS` bits for each game; two of them are cut from one word."""
        words = self._left_over
        if words is None:
            self._left_over = words = self._rng.integers(_WORD.min, _WORD.max, self._count, endpoint=True)
            return words & _PIECE
        self._left_over = None
        return (words >> BITS) & _PIECE


class Answers:
    """A policy that moves in every game of a batch in which it is its turn.

    It is asked about the boards on which a mark of its own is to move, and about no others.
    """

    def __init__(self, policy: Policy, marks: tuple[Mark, ...] = (Mark.X, Mark.O)) -> None:
        x, o = (policy if mark in marks else random for mark in (Mark.X, Mark.O))
        mixed = mix(x, o, lambda _tokens: _SLOT_BITS)
        boards = lookup.positions()
        after = []
        for place, row in enumerate(mixed.after):
            to = mixed.position[row]
            is_here = to == mixed.position[place % len(mixed.threshold)]
            # It resigns for itself, but not for who is to move then.
            end = mixed.status[row] if is_here else lookup.status(boards[to])
            after.append(to | end << _END_BIT)
        self._after = np.array(after, np.uint16)
        self._threshold = np.array(mixed.threshold, np.int32)

    def after(self, games: Numbers, pieces: Numbers) -> Outcomes:
        """Return what the policy's move leads to, drawn by a random number for each; an end stays one."""
        slot = (games << _SLOT_BITS) + (pieces >> (BITS - _SLOT_BITS))
        is_below = (pieces - self._threshold.take(slot)) >> (BITS + 2)  # all bits, or none
        place: Numbers = slot + (is_below & len(self._threshold))
        return self._after.take(place)


@cache
def faces_for(looker: str) -> Faces:
    """Return the faces of all games as X or O sees them, as both do, or as whoever is to `move`.

    The rewards are the looker's own; but those of who is to `move` go to the one who has just moved.
    """
    if looker == "both":
        return np.concatenate([faces_for("X"), faces_for("O")])
    table = np.zeros(VIEW, FACE)
    for place, board in enumerate(lookup.positions()):
        mark = board.turn if looker == "move" else Mark(looker)
        rewarded = mark.other if looker == "move" else mark
        seen = observation_of(board, mark)
        for end in _ENDS:  # whoever resigns, or does what is illegal, ends a game in any position
            table[place | end << _END_BIT] = seen, end != GOING, _reward(end, rewarded)
    return table


def _reward(end: int, mark: Mark) -> int:
    won, lost = (X_WON, O_WON) if mark is Mark.X else (O_WON, X_WON)
    return (end == won) - (end in (lost, _BY_ILLEGAL_ACTION))


@cache
def _moves() -> Outcomes:
    """Return what each action leads to: all positions for the first cell, then all for the second."""
    after, legal = lookup.moves()
    boards = lookup.positions()
    table = np.tile(np.arange(1 << _END_BIT, dtype=np.uint16) | ILLEGAL, _ACTIONS)
    for place, (to, is_legal) in enumerate(zip(after, legal, strict=True)):
        if is_legal:
            game, action = divmod(place, WIDTH)
            table[action << _END_BIT | game] = to | lookup.status(boards[to]) << _END_BIT
    return table
