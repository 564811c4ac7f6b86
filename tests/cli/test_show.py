"""`noughts show`: drawings as input, and pictures as output."""

from __future__ import annotations

from pathlib import Path

import pytest

from noughts import Board, svg
from support.forked import noughts

DRAWN = "X| |O\n-+-+-\n |X|\n-+-+-\n | |\n"


@pytest.mark.parametrize("written", [DRAWN, f"\n{DRAWN}"])
def test_a_drawing_is_read_back(written: str) -> None:
    assert noughts("show", written).stdout == DRAWN + "O to move.\n"


@pytest.mark.parametrize(
    ("written", "picture"),
    [("X_O/_X_/___", svg(Board.parse("X_O/_X_/___"))), ("519", svg(Board.from_moves([4, 0, 8]), last=8))],
)
def test_a_picture_is_written(written: str, picture: str, tmp_path: Path) -> None:
    """To standard output or a file, which is replaced."""
    file = tmp_path / "board.svg"
    for _ in range(2):
        assert noughts("show", written, "--svg", str(file)).stdout == f"Wrote {file}.\n"
        assert file.read_text() == picture
    assert noughts("show", written, "--svg", "-").stdout == picture
    assert [*tmp_path.iterdir()] == [file]
