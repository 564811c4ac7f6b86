"""`noughts show`: positions and games given on the command line."""

from __future__ import annotations

import pytest

from support.forked import noughts

DRAWN = "X| |O\n-+-+-\n |X|\n-+-+-\n | |\n"


@pytest.mark.parametrize(
    "written", ["X_O/_X_/___", "X_O_X____", "X.O.X....", "X O X    ", "X_O\n_X_\n___"]
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
    ("written", "message"),
    [
        ("", "a board is 9 cells or 3 rows of 3, not '' (a game is its digits, such as 51937)"),
        (
            "hello",
            "a board is 9 cells or 3 rows of 3, not 'hello' (a game is its digits, such as 51937)",
        ),
        (
            "X_O/_X_/__Z",
            "'Z' is not a mark: a cell is X, O (the letters) or a blank (_ . or a space)",
        ),
        ("XX_/___/___", "X has 2 and O has 0: X starts, so X has as many as O or one more"),
        ("XXX/OOO/___", "X and O both have a line, but the first one ends the game"),
        (
            "XXX/OO_/O__",
            "X has a line, but O moved after it (or did O start? then add --first O)",
        ),
        ("XXX/OO_/OO_", "X has 3 and O has 4: X starts, so X has as many as O or one more"),
        (
            "51 937",
            "a board is 9 cells or 3 rows of 3, not '51 937' (a game is its digits, such as 51937)",
        ),
        ("55", "move 2 of '55': cell 5 holds X in '___/_X_/___'"),
        ("142536", "move 6 of '142536': the game is over in 'XXX/OO_/___'"),
        ("0", "a game is written with the digits 1 to 9, and move 1 of '0' is '0'"),
    ],
)
def test_bad_positions_are_refused(written: str, message: str) -> None:
    ran = noughts("show", written)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == f"noughts: {message}\n"
