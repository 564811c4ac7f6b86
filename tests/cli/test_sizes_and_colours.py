"""What is seen: colours where they are wanted, and a whole game on twenty columns and five rows."""

from __future__ import annotations

import re

import pytest

from support.command import environment
from support.forked import noughts
from support.pseudo_terminal import CTRL_D, Session, in_terminal

SGR = re.compile(r"\x1b\[[0-9;]*m")
BLUE_X, ORANGE_O, RESET = "\x1b[1;94mX\x1b[0m", "\x1b[1;33mO\x1b[0m", "\x1b[0m"
WON_X = f"\x1b[7m{BLUE_X}"

SMALL = 20, 5
ASKED_SMALL = r"[XO] 1-9: "
AGAIN_SMALL = r"Play again\? \(y/n\) "
WORDINGS = ["narrative", "gem", "kata"]

WON_BY_X = [5, 1, 9, 2, 3, 6, 7]  # X completes the diagonal of 3, 5 and 7
DRAWN = [1, 2, 3, 5, 4, 6, 8, 7, 9]


class Glass:
    """The glass of a small terminal: text wraps at its edge and scrolls off its top."""

    def __init__(self, columns: int, rows: int) -> None:
        self._columns = columns
        self.rows = [""] * rows

    def show(self, text: str) -> None:
        """Show text as a terminal does: a full row wraps only when one more character comes."""
        for sign in text:
            if sign == "\n":
                self._scroll()
            elif sign != "\r":  # always before a line break here
                if len(self.rows[-1]) == self._columns:
                    self._scroll()
                self.rows[-1] += sign

    def _scroll(self) -> None:
        self.rows = [*self.rows[1:], ""]

    def has_board(self, board: list[str]) -> bool:
        """Tell whether the rows of a board stand together on the glass."""
        seen = [row.rstrip() for row in self.rows]
        return any(seen[top : top + 3] == board for top in range(len(seen) - 2))


def drawn_small(moves: list[int]) -> list[str]:
    """Draw three short rows, free cells as numbers, after X and O have placed tokens in turn."""
    held = {cell: "XO"[number % 2] for number, cell in enumerate(moves)}
    signs = [held.get(cell, str(cell)) for cell in range(1, 10)]
    return [" ".join(signs[row : row + 3]) for row in (0, 3, 6)]


def seen(session: Session, size: tuple[int, int] = SMALL) -> Glass:
    """Return what is on the glass after all that was written."""
    glass = Glass(*size)
    glass.show(SGR.sub("", session.output.decode()))
    return glass


def in_plain(*arguments: str, typed: str) -> str:
    """Return what the game writes between pipes."""
    return noughts("play", *arguments, typed=typed).stdout


def in_colour(*arguments: str, env: dict[str, str] | None = None) -> bool:
    """Tell whether a game in a terminal shows any colour."""
    with in_terminal("play", *arguments, env=env) as session:
        session.wait_for("1 to 9: ")
        session.type("5\n")
        session.wait_for("1 to 9: ")
        session.type(CTRL_D)
        assert session.end() == 0
        return b"\x1b" in session.output


# Colour


def test_a_terminal_gets_colours() -> None:
    """On a terminal marks are coloured without asking."""
    assert in_colour()


def test_no_color_is_respected() -> None:
    """The variable NO_COLOR, set to anything, turns colours off."""
    assert not in_colour(env=environment(NO_COLOR="1"))


def test_an_empty_no_color_counts_for_nothing() -> None:
    """NO_COLOR counts when it is present and not empty, as its authors ask."""
    assert in_colour(env=environment(NO_COLOR=""))


def test_a_dumb_terminal_gets_no_colours() -> None:
    """A terminal that calls itself dumb is believed."""
    assert not in_colour(env=environment(TERM="dumb"))


def test_a_terminal_without_a_name_gets_no_colours() -> None:
    """A terminal of which nothing is known is not sent what it may not understand."""
    nameless = environment()
    del nameless["TERM"]

    assert not in_colour(env=nameless)


def test_colours_can_be_turned_off_on_a_terminal() -> None:
    """The option has the last word: --color never on a terminal is plain."""
    assert not in_colour("--color", "never")


def test_the_option_beats_the_environment() -> None:
    """Colours asked for on the command line come, whatever the environment says."""
    assert in_colour("--color", "always", env=environment(NO_COLOR="1", TERM="dumb"))


def test_a_pipe_gets_no_colours() -> None:
    """Between pipes everything is plain text."""
    assert "\x1b" not in in_plain(typed="5\n1\n")


def test_a_pipe_gets_the_colours_that_are_asked_for() -> None:
    """With --color always, X is blue, O is orange and free cells are dim."""
    told = in_plain("--color", "always", typed="5\n1\n")

    assert f"{ORANGE_O}|\x1b[2m2{RESET}|\x1b[2m3{RESET}\n-+-+-\n\x1b[2m4{RESET}|{BLUE_X}|" in told


@pytest.mark.parametrize("wording", WORDINGS)
def test_a_winning_line_is_reversed(wording: str) -> None:
    """The three cells of the winning line, and no others, are shown in reverse."""
    told = noughts("show", "X_O/_XO/__X", "--color", "always", "--wording", wording).stdout

    assert told.count(WON_X) == told.count("\x1b[7m") == 3
    assert told.count(ORANGE_O) == 2


def test_both_of_two_winning_lines_are_reversed() -> None:
    """A last token that completes two lines reverses the five cells of both."""
    told = noughts("show", "XXX/OXO/OOX", "--color", "always").stdout

    assert told.count(WON_X) == 5


def test_an_unfinished_board_has_nothing_reversed() -> None:
    """Nothing is reversed before somebody has won."""
    assert "\x1b[7m" not in noughts("show", "X_O/_XO/___", "--color", "always").stdout


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize("moves", [WON_BY_X, DRAWN], ids=["won", "drawn"])
def test_colours_change_nothing_but_colours(wording: str, moves: list[int]) -> None:
    """Without its colour sequences, a game in colour is exactly the plain one."""
    typed = "".join(f"{cell}\n" for cell in moves) + "y\nbad\n5\nundo\nresign\nn\n"

    plain = in_plain("--wording", wording, "--first", "X", typed=typed)
    coloured = in_plain("--wording", wording, "--first", "X", "--color", "always", typed=typed)

    assert coloured != plain
    assert SGR.sub("", coloured) == plain


# Sizes


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize("moves", [WON_BY_X, DRAWN], ids=["won", "drawn"])
def test_board_and_question_stand_on_five_rows(wording: str, moves: list[int]) -> None:
    """On 20 columns and 5 rows, whoever is asked for a move sees the whole board and the question."""
    with in_terminal("play", "--wording", wording, "--first", "X", size=SMALL, echo=True) as session:
        for number, cell in enumerate(moves):
            assert session.wait_for(ASKED_SMALL)
            glass = seen(session)
            assert glass.rows[-1].endswith(f"{'XO'[number % 2]} 1-9: ")
            assert glass.has_board(drawn_small(moves[:number])), glass.rows
            session.type(f"{cell}\n")
        assert session.wait_for(AGAIN_SMALL)


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize("typed", ["5", "bad", "", "\u202e", "9" * 40, "help", "undo"], ids=ascii)
def test_board_and_question_stand_on_five_rows_after_a_refusal(wording: str, typed: str) -> None:
    """On 20 columns and 5 rows the board is seen, too, by whoever is asked once more."""
    moves = [] if typed == "undo" else [5]
    with in_terminal("play", "--wording", wording, "--first", "X", size=SMALL, echo=True) as session:
        for cell in moves:
            assert session.wait_for(ASKED_SMALL)
            session.type(f"{cell}\n")
        assert session.wait_for(ASKED_SMALL)
        session.type(f"{typed}\n")
        assert session.wait_for(ASKED_SMALL)

        glass = seen(session)

        assert glass.has_board(drawn_small(moves)), glass.rows


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize("moves", [WON_BY_X, DRAWN], ids=["won", "drawn"])
def test_the_final_board_stands_on_five_rows(wording: str, moves: list[int]) -> None:
    """On 20 columns and 5 rows the final board is seen when another game is offered."""
    with in_terminal("play", "--wording", wording, "--first", "X", size=SMALL, echo=True) as session:
        for cell in moves:
            assert session.wait_for(ASKED_SMALL)
            session.type(f"{cell}\n")
        assert session.wait_for(AGAIN_SMALL)

        glass = seen(session)

        assert glass.has_board(drawn_small(moves)), glass.rows


def test_a_terminal_made_smaller_shows_board_and_question() -> None:
    """In a window made as small as 20 columns and 5 rows in mid-game, the next board is seen whole."""
    with in_terminal("play", echo=True) as session:
        session.expect("1 to 9: ")
        session.resize(*SMALL)
        session.type("5\n")
        assert session.wait_for(r"O 1-9: |1 to 9: ")

        glass = seen(session)

        assert glass.has_board(drawn_small([5])), glass.rows


def test_a_roomy_terminal_shows_the_board_of_the_wording() -> None:
    """On 80 columns and 24 rows nothing is left out."""
    with in_terminal("play", echo=True) as session:
        told = session.expect("Player X, enter a position from 1 to 9: ")

    assert SGR.sub("", told).startswith("1|2|3\r\n-+-+-\r\n4|5|6\r\n-+-+-\r\n7|8|9\r\n")


@pytest.mark.parametrize(
    ("size", "question"),
    [((44, 10), "1 to 9: "), ((43, 10), "X 1-9: "), ((44, 9), "X 1-9: "), ((80, 24), "1 to 9: ")],
)
def test_the_small_board_is_for_small_terminals(size: tuple[int, int], question: str) -> None:
    """From 44 columns and 10 rows on there is room for the board of the wording."""
    with in_terminal("play", size=size) as session:
        session.expect(question)


@pytest.mark.parametrize("typed", ["bad", "5", "\u202e", "undo", "help"], ids=ascii)
def test_board_and_question_stand_on_ten_rows_after_a_refusal(typed: str) -> None:
    """The smallest terminal with room for the large board keeps it in sight."""
    with in_terminal("play", size=(44, 10), echo=True) as session:
        for line in ("5", typed):
            session.expect("1 to 9: ")
            session.type(f"{line}\n")
        session.expect("1 to 9: ")

        screen = seen(session, (44, 10))

    board = ["1|2|3", "-+-+-", "4|5|6" if typed == "undo" else "4|X|6", "-+-+-", "7|8|9"]
    rows = [row.rstrip() for row in screen.rows]
    at = rows.index("1|2|3")
    assert rows[at : at + 5] == board
    assert rows[at + 5] == ""
    assert rows[at + 6].endswith("enter a position from 1 to 9:")


@pytest.mark.parametrize("size", [(1, 1), (0, 0), (65535, 65535), (20, 5), (19, 4)])
def test_any_size_will_do(size: tuple[int, int]) -> None:
    """A terminal of any size, or one that does not know its size, can be played on to the end."""
    with in_terminal("play", size=size) as session:
        session.wait_for(r"\d: ")
        for cell in WON_BY_X:
            session.type(f"{cell}\n")
        session.expect("Player X Won!")
        session.expect("Play again? (y/n) ")
        session.type("n\n")

        assert session.end() == 0


# In words


def test_describe_tells_positions_in_sentences() -> None:
    """With --describe each position is one sentence, and no board is drawn."""
    told = in_plain("--describe", "--x", "Ann", typed="5\n1\nresign\nn\n")

    assert told.splitlines() == [
        "The board is empty; Ann (X) to move.",
        "Ann, enter a position from 1 to 9:",
        "Ann (X) on 5; O to move.",
        "Player O, enter a position from 1 to 9:",
        "Ann (X) on 5, O on 1; Ann (X) to move.",
        "Ann, enter a position from 1 to 9:",
        "Ann resigned.",
        "Ann (X) on 5, O on 1; Ann (X) resigned and O won.",
        "Player O Won!",
        "Score: Ann 0, Player O 1, draws 0",
        "Play again? (y/n)",
        "Goodbye!",
    ]


def test_describe_tells_a_win_and_its_line() -> None:
    """The sentence of a won position names the line, so that nothing needs to be seen."""
    told = noughts("show", "".join(map(str, WON_BY_X)), "--describe").stdout

    assert told.splitlines()[-2:] == [
        "X on 3, 5, 7 and 9, O on 1, 2 and 6; X won with 3, 5 and 7.",
        "PLAYER X WON!",
    ]


def test_describe_draws_nothing_in_a_terminal() -> None:
    """Where somebody listens to a terminal, no board and no colour comes between the words."""
    with in_terminal("play", "--describe") as session:
        told = session.expect("1 to 9: ")

    assert told == ("The board is empty; X to move.\r\nPlayer X, enter a position from 1 to 9: ")
