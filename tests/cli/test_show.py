"""`noughts show`: positions and games given on the command line."""

from __future__ import annotations

import pytest

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
