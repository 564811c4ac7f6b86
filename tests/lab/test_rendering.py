"""Boards as text and as images."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.error import UnsupportedMode
from numpy.typing import NDArray

from noughts import Board, parse_board, reachable
from noughts.lab.rendering import (
    MODES,
    SIZE_PIXELS,
    check_render_mode,
    render_board,
    render_image,
)
from noughts.text.picture import draw_board

CELL = SIZE_PIXELS // 3
PAPER = [0xFA, 0xF8, 0xF3]


def cells(board: Board) -> list[NDArray[np.uint8]]:
    """Return the pixels of each cell, without its edges."""
    painted = render_image(board)
    return [
        painted[CELL * row + 2 : CELL * (row + 1) - 2, CELL * column + 2 : CELL * (column + 1) - 2]
        for row in range(3)
        for column in range(3)
    ]


def test_text_can_be_read_back_for_every_board() -> None:
    for board in reachable():
        rows = draw_board(board).split("\n")

        assert rows[1] == rows[3] == "-+-+-"
        assert parse_board("/".join(row.replace("|", "").ljust(3) for row in rows[::2])) is board


def test_an_image_has_each_mark_in_its_cell() -> None:
    board = parse_board("X_O/_X_/O_X")
    painted = cells(board)

    assert [cell for cell, pixels in enumerate(painted) if (pixels == PAPER).all()] == [1, 3, 5, 7]
    assert np.array_equal(painted[2], painted[6])
    assert not np.array_equal(painted[2], painted[0])
    assert np.array_equal(cells(Board().place(8))[8], cells(Board().place(1))[1])


def test_a_cross_is_blue_and_a_ring_is_orange_with_soft_edges() -> None:
    cross, ring = cells(Board().place(0))[0], cells(Board().place(8).place(0))[0]
    middle = CELL // 2 - 2

    assert cross[middle, middle].tolist() == [0x00, 0x69, 0xA8]
    assert ring[middle, middle].tolist() == PAPER
    assert ring[middle, middle + 28].tolist() == [0xC2, 0x50, 0x0A]
    assert cross[middle, middle + 28].tolist() == PAPER
    assert len(np.unique(cross.reshape(-1, 3), axis=0)) > 5  # soft edges


def test_winning_lines_are_tinted() -> None:

    def tinted(board: Board) -> list[int]:
        return [cell for cell, pixels in enumerate(cells(board)) if (pixels[20, 20] != PAPER).any()]

    assert tinted(parse_board("XXX/OO_/___")) == [0, 1, 2]
    assert tinted(parse_board("XXX/XOO/XOO")) == [0, 1, 2, 3, 6]
    assert tinted(parse_board("XOX/XOO/OXX")) == []


def test_an_image_belongs_to_its_receiver() -> None:
    first = render_image(Board())
    assert first.shape == (SIZE_PIXELS, SIZE_PIXELS, 3)
    assert first.dtype == np.uint8
    first[:] = 0

    assert render_image(Board())[0, 0].tolist() == PAPER


def test_each_mode_returns_text_or_an_image_or_prints(capsys: pytest.CaptureFixture[str]) -> None:
    board = Board().place(4)

    assert render_board(board, "ansi") == draw_board(board)
    painted = render_board(board, "rgb_array")
    assert isinstance(painted, np.ndarray)
    assert np.array_equal(painted, render_image(board))
    assert capsys.readouterr().out == ""
    assert render_board(board, "human") is None
    assert capsys.readouterr().out == draw_board(board) + "\n\n"
    with pytest.warns(UserWarning, match="make the environment with a render_mode"):
        assert render_board(board, None) is None
    assert [check_render_mode(mode) for mode in (None, *MODES)] == [None, *MODES]
    with pytest.raises(UnsupportedMode, match="'video': choose one of human, ansi, rgb_array"):
        check_render_mode("video")
