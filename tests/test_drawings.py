"""Every drawing of a board that noughts makes is read back."""

from __future__ import annotations

from io import StringIO
from itertools import product
from pathlib import Path

import pytest

from noughts import Board, reachable
from noughts.cli.frame import ASCII, UNICODE, Glyphs, View, lay_out
from noughts.cli.screen import Display, Screen
from noughts.core.errors import UnreadableBoard, quoted
from noughts.text.wordings import WORDINGS, Wording
from support.forked import noughts

EVERY_POSITION = reachable()
SAMPLE = EVERY_POSITION[::400]
NUMBERS, NUMPAD = "123456789", "789456123"
WINDOWS = {"small": (30, 7), "large": (80, 24), "large, no margin": (26, 18), "huge": (200, 60)}

each_wording = pytest.mark.parametrize("wording", WORDINGS.values(), ids=WORDINGS.keys())
each_window = pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS.keys())


def live_board(
    view: View, window: tuple[int, int], glyphs: Glyphs = UNICODE, *, colour: bool = True
) -> str:
    """Return the rows of a window that has only a board in it, below the title."""
    frame = lay_out(view, *window, glyphs, colour=colour)
    return "\n".join(frame.rows[frame.origin[1] :])


@each_wording
def test_lines_are_read(wording: Wording) -> None:
    """Without colours, see `tests/core/test_notation.py`."""
    screen = Screen(StringIO(), Display(wording, colour=True))
    for board in EVERY_POSITION:
        assert Board.parse(screen.drawing(board)) is board


@each_wording
@pytest.mark.parametrize("colour", [False, True])
def test_lines_in_a_tiny_window_are_read(wording: Wording, *, colour: bool) -> None:
    screen = Screen(StringIO(), Display(wording, colour=colour, cramped=lambda: True))
    for board in EVERY_POSITION[::5]:
        assert Board.parse(screen.drawing(board)) is board


@each_window
@pytest.mark.parametrize("free", [NUMBERS, "_" * 9, " " * 9])
def test_a_live_board_is_read(window: tuple[int, int], free: str) -> None:
    for board in EVERY_POSITION[::5]:
        assert Board.parse(live_board(View(board, free), window)) is board


@each_window
@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
@pytest.mark.parametrize("colour", [False, True])
def test_a_live_board_is_read_whatever_is_marked(
    window: tuple[int, int], glyphs: Glyphs, *, colour: bool
) -> None:
    for board, cursor in product(SAMPLE, (None, 0, 4, 8)):
        last = next((cell for cell, mark in enumerate(board) if mark), None)
        view = View(board, NUMPAD, last, cursor)
        assert Board.parse(live_board(view, window, glyphs, colour=colour)) is board


@pytest.mark.parametrize(
    ("command", "rows"),
    [
        *((f"show --wording {title}", 3 if title == "gem" else 5) for title in WORDINGS),
        *(("analyse", 5), ("menace box", 5)),
    ],
)
def test_what_a_command_draws_is_read(command: str, rows: int, tmp_path: Path) -> None:
    colour = () if command == "menace box" else ("--color", "always")
    for board in (Board(), Board.from_moves([4, 0, 8, 2])):
        ran = noughts(*command.split(), str(board), *colour, env={"XDG_DATA_HOME": str(tmp_path)})
        assert Board.parse("\n".join(ran.stdout.splitlines()[:rows])) is board


@pytest.mark.parametrize("window", [(80, 24), (200, 60)])
def test_a_large_board_that_is_damaged_is_refused(window: tuple[int, int]) -> None:
    drawn = live_board(View(Board.from_moves([4, 0]), NUMBERS), window, ASCII, colour=False)
    for sign, another in ("+", "-"), ("X", "Y"), ("9", "99"):
        assert sign in drawn
        damaged = drawn.replace(sign, another)
        with pytest.raises(UnreadableBoard) as refusal:
            Board.parse(damaged)
        assert sign != "+" or str(refusal.value).endswith(quoted(damaged))
