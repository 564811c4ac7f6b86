"""Boards, cells and games as text, and back."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, permutations

import pytest
from hypothesis import given, strategies as st

from noughts import (
    WORDINGS,
    Board,
    Mark,
    NoughtsError,
    O,
    Wording,
    X,
    errors,
    format_cell,
    format_moves,
    format_pair,
    format_square,
    game_over,
    parse_board,
    parse_cell,
    parse_moves,
    reachable,
)
from noughts.core.notation import why_not_typed
from support.strategies import boards, marks

EVERY_SHAPE = {
    "rows with strokes": "X_O/_X_/___",
    "flat": "X_O_X____",
    "points": "X.O/.X./...",
    "spaces": "X O\n X \n   ",
    "flat spaces": "X O X    ",
    "lines": "X_O\n_X_\n___",
    "a last line break": "X_O\n_X_\n___\n",
    "flat and a last line break": "X_O_X____\n",
    "lines from elsewhere": "X_O\r\n_X_\r\n___\r\n",
    "spaces from elsewhere": "X O\r\n X \r\n   \r\n",
    "a flat list": ["X", "_", "O", "", "X", " ", ".", None, ""],
    "a nested list": [["X", "", "O"], ["", "X", ""], ["", "", ""]],
    "rows of text": ["X_O", "_X_", "___"],
    "marks": [[X, None, O], [None, X, None], [None, None, None]],
    "a tuple": tuple("X_O_X____"),
    "a first line break": "\nX_O\n_X_\n___",
    "indented": "\n    X_O\n    _X_\n    ___\n    ",
    "strokes": "X| |O\n-+-+-\n |X|\n-+-+-\n | |",
    "strokes, indented": "\n  X | | O\n  --+-+--\n    |X|\n  --+-+--\n    | |\n  ",
    "strokes with numbers": "X|2|O\n-+-+-\n4|X|6\n-+-+-\n7|8|9",
    "spread": "X _ O\n_ X _\n_ _ _",
    "numbers in a small window": "X 2 O\n4 X 6\n7 8 9",
    "the beads of a box": " X  | 12 | O\n----+----+----\n .  | X  | 3\n----+----+----\n .  | .  | 0",
    "labels": "X | 2 =draw |O/4 -loss 6|X|6 +win 1/7|8 =draw|9",
    "a board": Board(0o021, 0o004),
}


@pytest.mark.parametrize("written", EVERY_SHAPE.values(), ids=EVERY_SHAPE.keys())
def test_a_board_is_read_in_every_shape(written: str | list[object]) -> None:
    assert parse_board(written) is Board(0o021, 0o004)


def test_a_board_is_read_from_any_iterable() -> None:
    assert parse_board(iter("X_O_X____")) is Board(0o021, 0o004)
    with pytest.raises(
        errors.UnreadableBoard, match=r"^a board is 9 cells or 3 rows of 3, not count\(10\)$"
    ):
        parse_board(count())


@pytest.mark.parametrize("first", Mark)
def test_every_board_reads_back(first: Mark) -> None:
    for board in reachable(first):
        assert parse_board(str(board), first) is board


@pytest.mark.thorough
@pytest.mark.parametrize("wording", WORDINGS.values(), ids=WORDINGS.keys())
@pytest.mark.parametrize("first", Mark)
def test_every_drawing_reads_back(first: Mark, wording: Wording) -> None:
    for board in reachable(first):
        drawn = wording.draw(board)
        assert parse_board(drawn, first) is Board.parse(f"\n{drawn}\n", first) is board


@given(boards, st.data())
def test_every_way_to_write_a_board_reads_back(board: Board, data: st.DataObject) -> None:
    blank = st.sampled_from(["_", ".", " "])
    signs = [str(mark) if mark else data.draw(blank) for mark in board.cells]
    rows = ["".join(signs[row : row + 3]) for row in (0, 3, 6)]
    shape: Callable[[], object] = data.draw(
        st.sampled_from(
            [lambda: "".join(signs), lambda: "/".join(rows), lambda: "\n".join(rows), lambda: rows]
        )
    )

    assert parse_board(shape(), board.first) is board  # type: ignore[arg-type]  # each of them is a board


@pytest.mark.parametrize("first", Mark)
def test_game_over_takes_a_board_in_every_form(first: Mark) -> None:
    for board in reachable(first):
        signs = [str(mark or "") for mark in board.cells]
        rows = [signs[:3], signs[3:6], signs[6:]]
        answer = (board.is_over, str(board.winner or ""))
        forms = (board, signs, rows, iter(signs), str(board))
        assert [game_over(form) for form in forms] == [answer] * 5


def test_game_over_refuses_a_board_that_no_game_reaches() -> None:
    with pytest.raises(errors.WrongCounts, match="X has 3 and O has 0: X starts"):
        game_over(["X", "X", "X", "", "", "", "", "", ""])


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("", "a board is 9 cells or 3 rows of 3, not ''"),
        ("X_O", "a board is 9 cells or 3 rows of 3, not 'X_O'"),
        ("X_O_X___", "a board is 9 cells or 3 rows of 3, not 'X_O_X___'"),
        ("X_O_X_____", "a board is 9 cells or 3 rows of 3, not 'X_O_X_____'"),
        ("X_O/_X_", "a board is 9 cells or 3 rows of 3, not 'X_O/_X_'"),
        ("X_O_X____/", "a board is 9 cells or 3 rows of 3, not 'X_O_X____/'"),
        ("///////", "a board is 9 cells or 3 rows of 3, not '///////'"),
        ("X_O/_X/___", "a row has 3 cells, but row 2 is '_X'"),
        ("X_O_X/_X_/___", "a row has 3 cells, but row 1 is 'X_O_X'"),
        ("X_O/_X_/____", "a row has 3 cells, but row 3 is '____'"),
        ([["X"], [], []], "a row has 3 cells, but row 1 is ['X']"),
        ("X_O/_Y_/___", "'Y' is not a mark: a cell is X, O (the letters) or a blank (_ . or a space)"),
        ("X_0/_X_/___", "'0' is not a mark: a cell is X, O (the letters) or a blank (_ . or a space)"),
        ("x_o/___/___", "'x' is not a mark: a cell is X, O (the letters) or a blank (_ . or a space)"),
        (
            "\x1b________",
            "'\\x1b' is not a mark: a cell is X, O (the letters) or a blank (_ . or a space)",
        ),
        ([[]] * 9, "[] is not a mark: a cell is X, O (the letters) or a blank (_ . or a space)"),
        (
            "X|2|O/4|X|6/7|8|x",
            "'x' is not a mark: a cell is X, O (the letters) or a blank (_ . or a space)",
        ),
        ("X|2|O/4|X/7|8|9", "a row has 3 cells, but row 2 is '4|X'"),
        ("X|2|O/4|X|6|/7|8|9", "a row has 3 cells, but row 2 is '4|X|6|'"),
        ("123456789", "'1' is not a mark: a cell is X, O (the letters) or a blank (_ . or a space)"),
        ("X+X/_X_/___", "'+' is not a mark: a cell is X, O (the letters) or a blank (_ . or a space)"),
        ("-+-+-", "a board is 9 cells or 3 rows of 3, not '-+-+-'"),
        ("_" * 10_000_000, "a board is 9 cells or 3 rows of 3, not '________________________________…'"),
    ],
    ids=range(23),
)
def test_what_is_not_a_board_is_refused(written: str, message: str) -> None:
    with pytest.raises(errors.UnreadableBoard) as raised:
        parse_board(written)

    assert str(raised.value) == message


@pytest.mark.parametrize(("written", "wrong"), [(5, "5"), (None, "None"), ([1, 2, 3], "1")])
def test_a_board_is_text_or_a_list(written: str, wrong: str) -> None:
    with pytest.raises(errors.InvalidArgument, match=f"^a board is text or a list, not {wrong}$"):
        parse_board(written)


@given(st.text(alphabet=st.characters() | st.sampled_from("XO_./ \n"), max_size=15), marks)
def test_any_text_is_a_board_or_refused(text: str, first: Mark) -> None:
    try:
        board = parse_board(text, first)
    except errors.NotationError as refusal:
        assert str(refusal).isprintable()
    else:
        assert board.first is first


@pytest.mark.parametrize("write", [format_cell, format_pair, format_square])
def test_every_cell_reads_back(write: Callable[[int], str]) -> None:
    assert [parse_cell(write(cell)) for cell in range(9)] == list(range(9))


def test_cells_are_counted_from_the_top_left() -> None:
    """Row by row as digits; row before column as pairs; column letter before row digit as squares."""
    assert [format_cell(cell) for cell in (0, 2, 6, 8)] == ["1", "3", "7", "9"]
    assert [format_pair(cell) for cell in (0, 2, 6, 8)] == ["0,0", "0,2", "2,0", "2,2"]
    assert [format_square(cell) for cell in (0, 2, 6, 8)] == ["a1", "c1", "a3", "c3"]


@pytest.mark.parametrize("write", [format_cell, format_pair, format_square])
@pytest.mark.parametrize("cell", [9, -1, 4.5, 4.0, True, "4", None])
def test_only_a_cell_can_be_written(write: Callable[[object], str], cell: object) -> None:
    with pytest.raises(errors.NoSuchCell) as raised:
        write(cell)

    assert str(raised.value) == f"{cell!r} is not a cell: cells are 0 to 8, row by row"
    with pytest.raises(errors.NoSuchCell):
        format_moves([0, cell])  # type: ignore[list-item]  # that is the point


@pytest.mark.parametrize("write", [format_cell, format_pair, format_square])
def test_a_cell_of_any_integer_type_is_written_like_pythons_own(write: Callable[[object], str]) -> None:
    class Five:
        def __index__(self) -> int:
            return 5

    assert write(Five()) == write(5)


@pytest.mark.parametrize("thing", [5, None, b"5", ["5"], 5.0])
def test_a_cell_and_a_game_are_read_from_text(thing: object) -> None:
    with pytest.raises(errors.UnreadableCell) as cell:
        parse_cell(thing)  # type: ignore[arg-type]  # that is the point
    with pytest.raises(errors.UnreadableMoves) as moves:
        parse_moves(thing)  # type: ignore[arg-type]  # that is the point

    assert str(cell.value) == f"a cell is read from text such as '5', not from {thing!r}"
    assert str(moves.value) == f"a game is read from text such as '51937', not from {thing!r}"


def test_moves_are_written_from_a_list_of_cells() -> None:
    with pytest.raises(
        errors.UnreadableMoves, match=r"^a game is a list of cells such as \[4, 0, 8\], not 51937$"
    ):
        format_moves(51937)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("text", [" 5 ", "5\t", "1, 1", " 1 , 1 ", "B2", "b 2"])
def test_space_and_capitals_do_not_matter_in_a_cell(text: str) -> None:
    assert parse_cell(text) == 4


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "10",
        "-1",
        "05",
        "5.0",
        "\uff15",
        "d1",
        "a0",
        "a4",
        "1,3",
        "3,0",
        "1;1",
        "five",
        "5" * 100,
    ],
)
def test_text_that_is_not_a_cell_is_refused(text: str) -> None:
    with pytest.raises(errors.UnreadableCell) as raised:
        parse_cell(text)

    assert str(raised.value).startswith(f"'{text[:32]}")
    assert str(raised.value).endswith(
        "is not a cell: type 1 to 9, or row,column such as 0,2, or a1 to c3"
    )


def test_a_cell_may_have_much_space_around_it_but_not_any_amount() -> None:
    assert parse_cell("5".center(64)) == 4
    with pytest.raises(errors.UnreadableCell):
        parse_cell("5".center(65))


@given(st.text())
def test_any_text_is_a_cell_or_refused(text: str) -> None:
    try:
        assert 0 <= parse_cell(text) <= 8
    except errors.UnreadableCell as refusal:
        assert str(refusal).isprintable()


def test_every_game_of_five_moves_reads_back() -> None:
    assert parse_moves("") == ()
    for cells in permutations(range(9), 5):
        assert parse_moves(format_moves(cells)) == cells


@pytest.mark.parametrize(
    ("digits", "first", "message"),
    [
        ("510", X, "a game is written with the digits 1 to 9, and move 3 of '510' is '0'"),
        ("5X", X, "a game is written with the digits 1 to 9, and move 2 of '5X' is 'X'"),
        ("5a", X, "a game is written with the digits 1 to 9, and move 2 of '5a' is 'a'"),
        ("\uff15", X, "a game is written with the digits 1 to 9, and move 1 of '\uff15' is '\uff15'"),
        ("\x1b", X, "a game is written with the digits 1 to 9, and move 1 of '\\x1b' is '\\x1b'"),
        ("55", X, "move 2 of '55': cell 5 holds X in '___/_X_/___'"),
        ("55", O, "move 2 of '55': cell 5 holds O in '___/_O_/___'"),
        ("1292", X, "move 4 of '1292': cell 2 holds O in 'XO_/___/__X'"),
        ("142536", X, "move 6 of '142536': the game is over in 'XXX/OO_/___'"),
    ],
)
def test_digits_that_are_not_a_game_are_refused(digits: str, first: Mark, message: str) -> None:
    with pytest.raises(errors.UnreadableMoves) as raised:
        parse_moves(digits, first)

    assert str(raised.value) == message


def test_a_move_that_can_be_typed_has_no_reason_against_it() -> None:
    board = Board().place(4)

    assert why_not_typed(board, 0) is None
    assert why_not_typed(board, 4) == "cell 5 holds X in '___/_X_/___'"
    assert why_not_typed(parse_board("XXX/OO_/___"), 8) == "the game is over in 'XXX/OO_/___'"
    assert why_not_typed(board, 9) == "9 is not a cell: cells are 0 to 8, row by row"


@given(st.text(alphabet=st.sampled_from("1234567890") | st.characters(), max_size=12))
def test_any_text_is_a_game_or_refused(text: str) -> None:
    try:
        assert format_moves(parse_moves(text)) == text
    except NoughtsError as refusal:
        assert type(refusal) is errors.UnreadableMoves
        assert str(refusal).isprintable()
