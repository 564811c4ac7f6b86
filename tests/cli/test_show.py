"""`noughts show`: positions and games given on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from noughts import Board, svg
from support.forked import noughts

DRAWN = "X| |O\n-+-+-\n |X|\n-+-+-\n | |\n"


@pytest.mark.parametrize(
    "written",
    ["X_O/_X_/___", "X_O_X____", "X.O.X....", "X O X    ", "X_O\n_X_\n___", DRAWN, f"\n{DRAWN}"],
)
def test_a_position_is_drawn_and_described(written: str) -> None:
    assert noughts("show", written).stdout == DRAWN + "O to move.\n"


@pytest.mark.parametrize(
    ("written", "result"),
    [
        ("XXX/OO_/___", "PLAYER X WON!"),
        ("XX_/OOO/X__", "PLAYER O WON!"),
        ("XOX/OOX/XXO", "THE GAME ENDS WITH A DRAW!"),
        ("XOX/OXO/OXX", "PLAYER X WON!"),
    ],
)
def test_the_end_of_a_game_is_shown(written: str, result: str) -> None:
    assert noughts("show", written).stdout.splitlines()[-1] == result


def test_a_game_is_replayed_from_its_digits() -> None:
    lines = noughts("show", "51937", "--wording", "gem").stdout.splitlines()

    assert lines == [
        *("Player X:", "_ _ _", "_ X _", "_ _ _"),
        *("Player O:", "O _ _", "_ X _", "_ _ _"),
        *("Player X:", "O _ _", "_ X _", "_ _ X"),
        *("Player O:", "O _ O", "_ X _", "_ _ X"),
        *("Player X:", "O _ O", "_ X _", "X _ X"),
        "O to move.",
    ]


def test_a_game_may_have_been_started_by_o() -> None:
    lines = noughts("show", "5", "--first", "O").stdout.splitlines()

    assert (lines[0], lines[3], lines[-1]) == ("Player O:", " |O|", "X to move.")


def test_positions_can_be_described() -> None:
    assert noughts("show", "X_O/_X_/___", "--describe").stdout == "X on 1 and 5, O on 3; O to move.\n"
    assert noughts("show", "51", "--describe").stdout.splitlines() == [
        "Player X:",
        "X on 5; O to move.",
        "Player O:",
        "X on 5, O on 1; X to move.",
    ]


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


@pytest.mark.parametrize(
    ("written", "file", "code", "message"),
    [
        ("X_O/_X_/___", "missing/board.svg", 1, "cannot be written: No such file or directory\n"),
        ("X_O/_X_/___", "", 1, "cannot be written: Is a directory\n"),
        ("515", "board.svg", 2, "move 3 of '515': cell 5 holds X in 'O__/_X_/___'\n"),
    ],
)
def test_a_picture_that_cannot_be_written_is_reported(
    written: str, file: str, code: int, message: str, tmp_path: Path
) -> None:
    ran = noughts("show", written, "--svg", f"{tmp_path}/{file}")

    assert (ran.returncode, ran.stdout) == (code, "")
    assert message in ran.stderr
    assert not [*tmp_path.iterdir()]
