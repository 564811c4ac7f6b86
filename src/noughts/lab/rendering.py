"""Boards as text and as images, for the environments."""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

import numpy as np
from gymnasium import logger
from gymnasium.error import UnsupportedMode
from numpy.typing import NDArray

from noughts.core.board import Board, Mark, X
from noughts.core.errors import quoted
from noughts.text.picture import draw_board

Canvas: TypeAlias = NDArray[np.floating]

MODES = ("human", "ansi", "rgb_array")
SIZE_PIXELS = 360
"""Width and height; a multiple of three, for cells of equal size."""

# The colours of the web game.
_PAPER, _RULE = (0xFA, 0xF8, 0xF3), (0xD9, 0xD4, 0xC7)
_INK = {"X": (0x00, 0x69, 0xA8), "O": (0xC2, 0x50, 0x0A)}

_CELL_PIXELS = SIZE_PIXELS // 3
_RADIUS_PIXELS = 28.0
"""From the middle of a cell to the end of a cross, or to a ring."""
_HALF_STROKE_PIXELS = 4.5
_TINT = 0.13
"""The opacity of the ink behind a winning line."""


def check_render_mode(mode: str | None) -> str | None:
    if mode is not None and mode not in MODES:
        raise UnsupportedMode(f"unknown render mode {quoted(mode)}: choose one of {', '.join(MODES)}")
    return mode


def render_board(board: Board, mode: str | None) -> str | NDArray[np.uint8] | None:
    """Return text or an image, or print the text."""
    if mode is None:
        logger.warn(f"nothing to render: make the environment with a render_mode, {', '.join(MODES)}")
        return None
    if mode == "rgb_array":
        return render_image(board)
    if mode == "ansi":
        return draw_board(board)
    print(draw_board(board), end="\n\n", flush=True)
    return None


def render_image(board: Board) -> NDArray[np.uint8]:
    """Paint a board: `SIZE_PIXELS` by `SIZE_PIXELS` pixels of red, green and blue, in a new array."""
    canvas = _empty_board().copy()
    won = board.winning_cells if board.winner else ()
    for cell, mark in enumerate(board.cells):
        if mark is not None:
            top, left = _CELL_PIXELS * (cell // 3), _CELL_PIXELS * (cell % 3)
            square = canvas[top : top + _CELL_PIXELS, left : left + _CELL_PIXELS]
            if cell in won:
                _ink(square, _TINT * _card(), mark)
            _ink(square, _cross() if mark is X else _ring(), mark)
    return np.rint(canvas).astype(np.uint8)


def _ink(canvas: Canvas, cover: Canvas, mark: Mark) -> None:
    """Blend a mark's colour into a canvas with the opacity `cover`."""
    canvas += cover[..., None] * (np.array(_INK[mark.value]) - canvas)


def _cover(distance: Canvas) -> Canvas:
    """Return the opacity of each pixel, given its distance from the edge of a shape."""
    inside: Canvas = np.clip(0.5 - distance, 0, 1)
    return inside


def _grid(size: int) -> tuple[Canvas, Canvas]:
    """Return how far each pixel of a square is to the right of its centre, and below it."""
    along = np.arange(size) + 0.5 - size / 2
    return along[None, :], along[:, None]


@cache
def _empty_board() -> Canvas:
    canvas = np.full((SIZE_PIXELS, SIZE_PIXELS, 3), _PAPER, dtype=np.float64)
    for edge in (_CELL_PIXELS, 2 * _CELL_PIXELS):
        canvas[edge - 1 : edge + 1] = _RULE
        canvas[:, edge - 1 : edge + 1] = _RULE
    return canvas


@cache
def _cross() -> Canvas:
    x, y = (np.abs(axis) for axis in _grid(_CELL_PIXELS))  # one of four equal arms
    along = np.minimum((x + y) / 2, _RADIUS_PIXELS)
    return _cover(np.hypot(x - along, y - along) - _HALF_STROKE_PIXELS)


@cache
def _ring() -> Canvas:
    x, y = _grid(_CELL_PIXELS)
    return _cover(np.abs(np.hypot(x, y) - _RADIUS_PIXELS) - _HALF_STROKE_PIXELS)


@cache
def _card() -> Canvas:
    """Return a rounded square, a little smaller than a cell."""
    x, y = _grid(_CELL_PIXELS)
    half, corner = _CELL_PIXELS / 2 - 8, 12.0
    across, down = np.abs(x) - half + corner, np.abs(y) - half + corner
    outside = np.hypot(np.maximum(across, 0), np.maximum(down, 0))
    return _cover(outside + np.minimum(np.maximum(across, down), 0) - corner)
