"""Observations, action masks and actions: the same in every environment.

An observation is an int8 array `[row, column, plane]`. Each cell is 1 in one of three planes: 0 if it is
the player's own, 1 if it is the opponent's, 2 if it is free. So even the empty board is not all zeros.
An action is a cell, 0 to 8, row by row.
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

MASK_PLACES = ("observation", "info")

SHAPE = (3, 3, 3)
OWN, THEIRS, FREE = range(3)
"""The planes of an observation."""


def observation_of(board: Board, mark: Mark) -> Plane:
    """Return what the player of a mark observes, in a new array.

    >>> from noughts.core.board import Board, X, O
    >>> seen = observation_of(Board().place(5), O)
    >>> seen[..., THEIRS].tolist()
    [[0, 0, 0], [0, 0, 1], [0, 0, 0]]
    """
    own, theirs = (board.x, board.o) if mark.value == "X" else (board.o, board.x)
    planes = [_bits(own), _bits(theirs), _bits(FULL & ~(own | theirs))]
    return np.array(planes, dtype=np.int8).T.reshape(SHAPE)


def mask_of(board: Board, *, is_over: bool | None = None) -> Plane:
    """Return which actions are legal, in a new array: all of them when the game is over.

    No action is needed then. A softmax over a mask of zeros would give NaN, and PettingZoo's checker
    warns about one.

    >>> from noughts.core.board import Board
    >>> mask_of(Board().place(5)).tolist()
    [1, 1, 1, 1, 1, 0, 1, 1, 1]
    """
    over = board.is_over if is_over is None else is_over
    return np.array(_bits(FULL if over else FULL & ~(board.x | board.o)), dtype=np.int8)


def is_mask_in_info(mask_in: str) -> bool:
    if mask_in not in MASK_PLACES:
        raise BadSetting(f"mask_in is {' or '.join(MASK_PLACES)}, not {quoted(mask_in)}")
    return mask_in == "info"


def with_mask(observation: Plane, mask: Plane) -> dict[str, Plane]:
    return {"observation": observation, "action_mask": mask}


def observation_space(*, has_mask: bool) -> Space[Any]:
    planes = Box(0, 1, SHAPE, np.int8)
    if not has_mask:
        return planes
    return Dict({"observation": planes, "action_mask": Box(0, 1, (9,), np.int8)})


def action_space() -> Discrete[np.int64]:
    return Discrete(9)


def read_action(action: object) -> Cell:
    """Return an integer of any type as an int; refuse anything else, including True.

    >>> read_action(np.int64(4))
    4
    """
    if isinstance(action, bool):
        raise no_such_cell(action)
    try:
        return index(action)  # type: ignore[arg-type]  # it raises
    except TypeError:
        raise no_such_cell(action) from None


def _bits(cells: int) -> list[int]:
    return [cells >> cell & 1 for cell in range(9)]
