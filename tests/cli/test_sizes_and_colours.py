"""Colours, small terminals (from twenty columns and five rows) and positions in sentences."""

from __future__ import annotations

import re

import pytest

from support.command import environment
from support.emulator import Emulator
from support.forked import noughts
from support.pseudo_terminal import CTRL_D, Session, in_terminal

SGR = re.compile(r"\x1b\[[0-9;]*m")
BLUE_X, ORANGE_O, RESET = "\x1b[1;94mX\x1b[0m", "\x1b[1;33mO\x1b[0m", "\x1b[0m"
WON_X = f"\x1b[7m{BLUE_X}"

SMALL = 20, 5
ASKED_SMALL = r"\n[XO] 1-9: "
AGAIN_SMALL = r"Play again\? \(y/n\) "
WORDINGS = ["narrative", "gem", "kata"]

WON_BY_X = [5, 1, 9, 2, 3, 6, 7]  # X completes the diagonal of 3, 5 and 7
DRAWN = [1, 2, 3, 5, 4, 6, 8, 7, 9]


def has_board(glass: Emulator, board: list[str]) -> bool:
    """Return whether the rows of a board are visible together."""
    return any(glass.rows[top : top + 3] == board for top in range(len(glass.rows) - 2))


def drawn_small(moves: list[int]) -> list[str]:
    """Draw three short rows, with free cells as numbers, after these moves."""
    held = {cell: "XO"[number % 2] for number, cell in enumerate(moves)}
    signs = [held.get(cell, str(cell)) for cell in range(1, 10)]
    return [" ".join(signs[row : row + 3]) for row in (0, 3, 6)]


def seen(session: Session, size: tuple[int, int] = SMALL) -> Emulator:
    """Return what is visible after all output."""
    glass = Emulator(*size)
    glass.feed(session.output)
    return glass


def in_plain(*arguments: str, typed: str) -> str:
    """Return the output between pipes."""
    return noughts("play", *arguments, typed=typed).stdout


# Colour


@pytest.mark.parametrize(
    ("options", "changes", "is_coloured"),
    [
        ([], {}, True),
        ([], {"NO_COLOR": "1"}, False),
        ([], {"NO_COLOR": ""}, True),
        ([], {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ([], {"TERM": "dumb"}, False),
        ([], {"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        ([], {"TERM": None}, False),
        (["--color", "never"], {}, False),
        (["--color", "always"], {"NO_COLOR": "1", "TERM": "dumb"}, True),
    ],
)
def test_a_terminal_has_colours_unless_turned_off(
    options: list[str], changes: dict[str, str | None], *, is_coloured: bool
) -> None:
    env = {name: value for name, value in {**environment(), **changes}.items() if value is not None}
    with in_terminal("play", *options, env=env) as session:
        for typed in ("5\n", CTRL_D):
            session.wait_for("1 to 9: ")
            session.type(typed)
        assert session.end() == 0

    assert (b"\x1b" in session.output) == is_coloured


@pytest.mark.parametrize(
    ("options", "changes", "is_coloured"),
    [
        ([], {}, False),
        ([], {"FORCE_COLOR": ""}, False),
        ([], {"FORCE_COLOR": "0"}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": ""}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (["--color", "never"], {"FORCE_COLOR": "1"}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
    ],
)
@pytest.mark.parametrize("command", [["play"], ["show", "5"], ["analyse", "X__/_O_/__X"]], ids=" ".join)
def test_a_pipe_has_colours_only_if_forced(
    command: list[str], options: list[str], changes: dict[str, str], *, is_coloured: bool
) -> None:
    ran = noughts(*command, *options, typed="5\n", env=environment(**changes))

    assert ("\x1b" in ran.stdout) == is_coloured


def test_the_colours_of_a_board() -> None:
    shown = in_plain("--color", "always", typed="5\n1\n")

    assert f"{ORANGE_O}|\x1b[2m2{RESET}|\x1b[2m3{RESET}\n-+-+-\n\x1b[2m4{RESET}|{BLUE_X}|" in shown


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize(("board", "cells"), [("X_O/_XO/__X", 3), ("XXX/OXO/OOX", 5), ("X_O/_XO/___", 0)])
def test_winning_lines_are_reversed(wording: str, board: str, cells: int) -> None:
    shown = noughts("show", board, "--color", "always", "--wording", wording).stdout

    assert shown.count(WON_X) == shown.count("\x1b[7m") == cells
    assert shown.count(ORANGE_O) == board.count("O")


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize("moves", [WON_BY_X, DRAWN], ids=["won", "drawn"])
def test_colours_change_nothing_but_colours(wording: str, moves: list[int]) -> None:
    typed = "".join(f"{cell}\n" for cell in moves) + "y\nbad\n5\nundo\nresign\nn\n"

    plain = in_plain("--wording", wording, "--first", "X", typed=typed)
    coloured = in_plain("--wording", wording, "--first", "X", "--color", "always", typed=typed)

    assert coloured != plain
    assert SGR.sub("", coloured) == plain


# Sizes


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize("moves", [WON_BY_X, DRAWN], ids=["won", "drawn"])
def test_five_rows_show_board_and_question(wording: str, moves: list[int]) -> None:
    with in_terminal("play", "--wording", wording, "--first", "X", size=SMALL, echo=True) as session:
        for number, cell in enumerate(moves):
            session.expect(f"{'XO'[number % 2]} 1-9: ")
            glass = seen(session)
            assert glass.rows[glass.cursor[1]] == f"{'XO'[number % 2]} 1-9:"
            assert has_board(glass, drawn_small(moves[:number])), glass.rows
            session.type(f"{cell}\n")
        assert session.wait_for(AGAIN_SMALL)
        glass = seen(session)
        assert has_board(glass, drawn_small(moves)), glass.rows


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize("typed", ["5", "bad", "", "\u202e", "9" * 40, "help", "undo"], ids=ascii)
def test_five_rows_show_board_and_question_after_a_refusal(wording: str, typed: str) -> None:
    moves = [] if typed == "undo" else [5]
    with in_terminal("play", "--wording", wording, "--first", "X", size=SMALL, echo=True) as session:
        for cell in moves:
            assert session.wait_for(ASKED_SMALL)
            session.type(f"{cell}\n")
        assert session.wait_for(ASKED_SMALL)
        session.type(f"{typed}\n")
        assert session.wait_for(ASKED_SMALL)

        glass = seen(session)

        assert has_board(glass, drawn_small(moves)), glass.rows


def test_a_terminal_made_smaller_shows_board_and_question() -> None:
    with in_terminal("play", echo=True) as session:
        session.expect("1 to 9: ")
        session.resize(*SMALL)
        session.type("5\n")
        session.expect("O 1-9: ")

        glass = seen(session)

        assert has_board(glass, drawn_small([5])), glass.rows


def test_a_roomy_terminal_shows_the_board_of_the_wording() -> None:
    with in_terminal("play", echo=True) as session:
        shown = session.expect("Player X, enter a position from 1 to 9: ")

    assert SGR.sub("", shown).startswith("1|2|3\r\n-+-+-\r\n4|5|6\r\n-+-+-\r\n7|8|9\r\n")


@pytest.mark.parametrize(
    ("size", "question"),
    [((44, 10), "1 to 9: "), ((43, 10), "X 1-9: "), ((44, 9), "X 1-9: "), ((80, 24), "1 to 9: ")],
)
def test_the_small_board_is_for_small_terminals(size: tuple[int, int], question: str) -> None:
    with in_terminal("play", size=size) as session:
        session.expect(question)


@pytest.mark.parametrize("typed", ["bad", "5", "\u202e", "undo", "help"], ids=ascii)
def test_ten_rows_show_board_and_question_after_a_refusal(typed: str) -> None:
    """The smallest terminal with room for the large board."""
    with in_terminal("play", size=(44, 10), echo=True) as session:
        session.expect("Player X, enter a position from 1 to 9: ")
        session.type("5\n")
        session.expect("Player O, enter a position from 1 to 9: ")
        session.type(f"{typed}\n")
        session.expect(f"\n\r\nPlayer {'X' if typed == 'undo' else 'O'}, enter a position from 1 to 9: ")

        screen = seen(session, (44, 10))

    board = ["1|2|3", "-+-+-", "4|5|6" if typed == "undo" else "4|X|6", "-+-+-", "7|8|9"]
    rows = screen.rows
    at = max(number for number, row in enumerate(rows) if row == "1|2|3")
    assert rows[at : at + 5] == board
    assert rows[at + 5] == ""
    assert rows[at + 6].endswith("enter a position from 1 to 9:")


@pytest.mark.parametrize("size", [(1, 1), (0, 0), (65535, 65535), (20, 5), (19, 4)])
def test_any_size_works(size: tuple[int, int]) -> None:
    with in_terminal("play", size=size) as session:
        session.wait_for(r"\d: ")
        for cell in WON_BY_X:
            session.type(f"{cell}\n")
        session.expect("Player X Won!")
        session.expect("Play again? (y")
        session.type("n\n")

        assert session.end() == 0


# In words


def test_describe_draws_nothing_in_a_terminal() -> None:
    with in_terminal("play", "--describe") as session:
        shown = session.expect("1 to 9: ")

    assert shown == ("The board is empty; X to move.\r\nPlayer X, enter a position from 1 to 9: ")
