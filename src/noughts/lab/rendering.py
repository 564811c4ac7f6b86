"""A board as text and as a picture, for environments."""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

import numpy as np
from gymnasium import logger
from gymnasium.error import UnsupportedMode
from numpy.typing import NDArray

from noughts.core.board import Board, Mark, X
from noughts.core.errors import quoted

Canvas: TypeAlias = NDArray[np.floating]

MODES = ("human", "ansi", "rgb_array")
SIZE = 360
"""Pixels a side; a multiple of three, so that all cells are alike."""

# The colours of the web game: calm paper, ink marks.
_PAPER, _RULE = (0xFA, 0xF8, 0xF3), (0xD9, 0xD4, 0xC7)
_INK = {"X": (0x00, 0x69, 0xA8), "O": (0xC2, 0x50, 0x0A)}

# In pixels: the middle of a cell is 0, 0.
_CELL = SIZE // 3
_REACH = 28.0
"""From the middle of a mark to its outermost stroke."""
_STROKE = 4.5
"""Half the width of a mark's stroke."""
_TINT = 0.13
"""How much ink lies on the paper of a line that has won."""


def check_render_mode(mode: str | None) -> str | None:
    """Return a mode that is known, or None for none; refuse any other."""
    if mode is not None and mode not in MODES:
        raise UnsupportedMode(f"there is no render mode {quoted(mode)}: there are {', '.join(MODES)}")
    return mode


def render_board(board: Board, mode: str | None) -> str | NDArray[np.uint8] | None:
    """Render a board as a mode asks: text, a picture, or text that is printed at once."""
    if mode is None:
        logger.warn(f"nothing is rendered: make the environment with a render_mode, {', '.join(MODES)}")
        return None
    if mode == "rgb_array":
        return picture(board)
    if mode == "ansi":
        return drawing(board)
    print(drawing(board), end="\n\n", flush=True)
    return None


def drawing(board: Board) -> str:
    """Draw a board in five lines.

    >>> from noughts.core.board import Board
    >>> print(drawing(Board().place(4).place(2)))
     | |O
    -+-+-
     |X|
    -+-+-
     | |
    """
    signs = [str(mark or " ") for mark in board.cells]
    return "\n-+-+-\n".join("|".join(signs[row : row + 3]).rstrip() for row in (0, 3, 6))


def picture(board: Board) -> NDArray[np.uint8]:
    """Paint a board: `SIZE` by `SIZE` pixels of red, green and blue, in an array of its own."""
    canvas = _empty_board().copy()
    won = board.winning_cells if board.winner else ()
    for cell, mark in enumerate(board.cells):
        if mark is not None:
            top, left = _CELL * (cell // 3), _CELL * (cell % 3)
            square = canvas[top : top + _CELL, left : left + _CELL]
            if cell in won:
                _ink(square, _TINT * _card(), mark)
            _ink(square, _cross() if mark is X else _ring(), mark)
    return np.rint(canvas).astype(np.uint8)


def _ink(canvas: Canvas, cover: Canvas, mark: Mark) -> None:
    """Lay a mark's colour on a canvas, as thick as `cover` says for each pixel."""
    canvas += cover[..., None] * (np.array(_INK[mark.value]) - canvas)


def _cover(distance: Canvas) -> Canvas:
    """Return how much of each pixel lies inside a shape whose edge is that far away."""
    inside: Canvas = np.clip(0.5 - distance, 0, 1)
    return inside


def _grid(size: int) -> tuple[Canvas, Canvas]:
    """Return how far each pixel of a square is right of and below its middle."""
    along = np.arange(size) + 0.5 - size / 2
    return along[None, :], along[:, None]


@cache
def _empty_board() -> Canvas:
    """Return paper with four rules on it."""
    canvas = np.full((SIZE, SIZE, 3), _PAPER, dtype=np.float64)
    for edge in (_CELL, 2 * _CELL):
        canvas[edge - 1 : edge + 1] = _RULE
        canvas[:, edge - 1 : edge + 1] = _RULE
    return canvas


@cache
def _cross() -> Canvas:
    x, y = np.abs(_grid(_CELL)[0]), np.abs(_grid(_CELL)[1])  # its four arms are alike
    along = np.minimum((x + y) / 2, _REACH)
    return _cover(np.hypot(x - along, y - along) - _STROKE)


@cache
def _ring() -> Canvas:
    x, y = _grid(_CELL)
    return _cover(np.abs(np.hypot(x, y) - _REACH) - _STROKE)


@cache
def _card() -> Canvas:
    """Return a square with round corners, a little smaller than a cell."""
    x, y = _grid(_CELL)
    half, corner = _CELL / 2 - 8, 12.0
    across, down = np.abs(x) - half + corner, np.abs(y) - half + corner
    outside = np.hypot(np.maximum(across, 0), np.maximum(down, 0))
    return _cover(outside + np.minimum(np.maximum(across, down), 0) - corner)
