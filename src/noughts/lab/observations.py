"""What a learner sees of a board, what it may do, and how its answer is read: the same everywhere.

An observation is an array of int8, `[row, column, plane]`. Each cell is 1 in one of three planes: 0 if
it is the looker's own, 1 if it is the opponent's, 2 if it is free. So no observation is all zeros, not
even of the empty board. An action is a cell, 0 to 8, row by row.
"""

from __future__ import annotations

from operator import index
from typing import Any, TypeAlias

import numpy as np
from gymnasium import Space
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray

from noughts.core.board import FULL, Board, Cell, Mark, no_such_cell
from noughts.core.errors import quoted
from noughts.lab.errors import BadSetting

Plane: TypeAlias = NDArray[np.int8]
Observation: TypeAlias = dict[str, Plane] | Plane

PLACES = ("observation", "info")
"""Where an environment can put the action mask."""

SHAPE = (3, 3, 3)
OWN, THEIRS, FREE = range(3)
"""The planes of an observation."""


def observation_of(board: Board, mark: Mark) -> Plane:
    """Return what the player of a mark sees, in an array of its own.

    >>> from noughts.core.board import Board, X, O
    >>> seen = observation_of(Board().place(5), O)
    >>> seen[..., THEIRS].tolist()
    [[0, 0, 0], [0, 0, 1], [0, 0, 0]]
    """
    own, theirs = (board.x, board.o) if mark.value == "X" else (board.o, board.x)
    planes = [_bits(own), _bits(theirs), _bits(FULL & ~(own | theirs))]
    return np.array(planes, dtype=np.int8).T.reshape(SHAPE)


def mask_of(board: Board, *, is_over: bool | None = None) -> Plane:
    """Return which actions are legal, in an array of its own: all of them when the game is over.

    Nothing is asked of anybody then. A mask of zeros would only make the largest of no values, or a
    share of none, of what a learner reckons there; PettingZoo's checker warns of one.

    >>> from noughts.core.board import Board
    >>> mask_of(Board().place(5)).tolist()
    [1, 1, 1, 1, 1, 0, 1, 1, 1]
    """
    over = board.is_over if is_over is None else is_over
    return np.array(_bits(FULL if over else FULL & ~(board.x | board.o)), dtype=np.int8)


def is_mask_in_info(mask_in: str) -> bool:
    """Return whether `mask_in` puts the mask into the info; if not, it is in the observation."""
    if mask_in not in PLACES:
        raise BadSetting(f"mask_in is {' or '.join(PLACES)}, not {quoted(mask_in)}")
    return mask_in == "info"


def with_mask(seen: Plane, mask: Plane) -> dict[str, Plane]:
    """Return an observation that has the mask in it."""
    return {"observation": seen, "action_mask": mask}


def observation_space(*, has_mask: bool) -> Space[Any]:
    """Return a new space of observations, with the mask in them or without."""
    planes = Box(0, 1, SHAPE, np.int8)
    if not has_mask:
        return planes
    return Dict({"observation": planes, "action_mask": Box(0, 1, (9,), np.int8)})


def action_space() -> Discrete[np.int64]:
    """Return a new space of actions."""
    return Discrete(9)


def read_action(action: object) -> Cell:
    """Return a whole number of whatever type as Python's own, and refuse what is none, such as True.

    >>> read_action(np.int64(4))
    4
    >>> read_action(4.0)
    Traceback (most recent call last):
    noughts.core.errors.NoSuchCell: 4.0 is not a cell: cells are 0 to 8, row by row
    """
    if isinstance(action, bool):
        raise no_such_cell(action)
    try:
        return index(action)  # type: ignore[arg-type]  # what is none raises
    except TypeError:
        raise no_such_cell(action) from None


def _bits(held: int) -> list[int]:
    return [held >> cell & 1 for cell in range(9)]
