"""Positions and games that `noughts show` and `noughts analyse` refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.forked import noughts
from support.saved_games import saving


@pytest.mark.parametrize("command", ["show", "analyse"])
@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("", "a board is 9 cells or 3 rows of 3, not '' (a game is its digits, such as 51937)"),
        (
            "51 937",
            "a board is 9 cells or 3 rows of 3, not '51 937' (a game is its digits, such as 51937)",
        ),
        (
            "\x1b[2J",
            "a board is 9 cells or 3 rows of 3, not '\\x1b[2J' (a game is its digits, such as 51937)",
        ),
        ("X_O/_X_/__Z", "'Z' is not a mark: a cell is X, O (the letters) or a blank (_ . or a space)"),
        ("XX_/___/___", "X has 2 and O has 0: X starts, so X has as many as O or one more"),
        ("XXX/OO_/OO_", "X has 3 and O has 4: X starts, so X has as many as O or one more"),
        (
            "O__/___/___",
            (
                "X has 0 and O has 1: X starts, so X has as many as O or one more "
                "(or did O start? then add --first O)"
            ),
        ),
        ("XXX/OOO/___", "X and O both have a line, but the first one ends the game"),
        (
            "XXX/OO_/O__",
            "X has a line, but O moved after it (or did O start? then add --first O)",
        ),
        ("55", "move 2 of '55': cell 5 holds X in '___/_X_/___'"),
        ("142536", "move 6 of '142536': the game is over in 'XXX/OO_/___'"),
        ("0", "a game is written with the digits 1 to 9, and move 1 of '0' is '0'"),
        (
            "\u0665",
            "a game is written with the digits 1 to 9, and move 1 of '\u0665' is '\u0665'",
        ),
    ],
)
def test_bad_positions_and_games_are_refused(
    command: str, written: str, message: str, tmp_path: Path
) -> None:
    check_refused(command, written, message, tmp_path)


@pytest.mark.parametrize("command", ["show", "analyse"])
def test_what_might_be_an_id_is_refused(command: str, tmp_path: Path) -> None:
    for written in ("hello", "nonesuch"):
        no_board = "a board is 9 cells or 3 rows of 3, not {!r} (a game is its digits, such as 51937)"
        check_refused(command, written, f"{no_board.format(written)}, and no game is saved", tmp_path)


def check_refused(command: str, written: str, message: str, folder: Path) -> None:
    """No store is created to look for a game."""
    ran = noughts(command, written, env=saving(folder))

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == f"noughts: {message}\n"
    assert list(folder.iterdir()) == []
