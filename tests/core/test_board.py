"""Marks, cells, lines, symmetry and positions."""

from __future__ import annotations

import copy
import json
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import pytest

from noughts import SYMMETRIES, Board, IllegalMove, Mark, O, X, errors, parse_board, reachable, svg
from noughts.core.board import LINES, check_cell, whole_number
from noughts.core.errors import quoted


def test_each_mark_has_the_other_as_opponent() -> None:
    assert X.other is O
    assert O.other is X


def test_marks_are_shown_as_their_letter() -> None:
    assert f"{X}{O}" == "XO"
    assert repr([X, O]) == "[X, O]"


def test_a_new_board_is_empty_and_x_is_to_move() -> None:
    board = Board()

    assert board.cells == (None,) * 9
    assert board.free_cells == tuple(range(9))
    assert (board.first, board.turn, board.winner, board.is_over, board.is_draw) == (
        X,
        X,
        None,
        False,
        False,
    )
    assert board.count == 0


def test_o_may_start() -> None:
    board = Board(first=O)

    assert board.turn is O
    assert str(board.place(4).place(0)) == "X__/_O_/___"


def test_placing_makes_a_new_board() -> None:
    before = Board()

    after = before.place(4, X)

    assert str(after) == "___/_X_/___"
    assert str(before) == "___/___/___"
    assert (after.count, after.turn, after.free_cells) == (1, O, (0, 1, 2, 3, 5, 6, 7, 8))


def test_a_board_is_the_same_object_however_it_was_reached() -> None:
    assert Board().place(0).place(1).place(2) is Board().place(2).place(1).place(0)
    assert Board().place(0).place(1) is not Board(first=O).place(1).place(0)


def test_boards_stay_the_same_object_across_threads_copies_and_pickles() -> None:
    with ThreadPoolExecutor(8) as pool:
        boards = set(pool.map(lambda _: Board(0o021, 0o042, O), range(200)))
    (board,) = boards

    assert copy.copy(board) is copy.deepcopy(board) is board
    assert pickle.loads(pickle.dumps(board)) is board  # noqa: S301 - our own bytes


def test_a_board_cannot_be_changed() -> None:
    board = Board()

    with pytest.raises(AttributeError, match=r"^a board never changes: x cannot be set$"):
        board.x = 1
    with pytest.raises(AttributeError, match=r"^a board never changes: o cannot be deleted$"):
        del board.o


def test_the_repr_of_a_board() -> None:
    assert repr(Board(first=O).place(4)) == "<Board ___/_O_/___, O first>"


@pytest.mark.parametrize("mark", Mark)
@pytest.mark.parametrize("line", LINES)
def test_every_line_wins_for_either_mark(mark: Mark, line: int) -> None:
    cells = tuple(cell for cell in range(9) if line >> cell & 1)
    blocked = next(
        (a, b) for a in range(9) for b in range(9) if a != b and a not in cells and b not in cells
    )
    board = Board(first=mark)

    for own, answer in zip(cells, blocked, strict=False):
        board = board.place(own).place(answer)
    board = board.place(cells[2])

    assert board.winner is mark
    assert board.is_over
    assert not board.is_draw
    assert board.winning_cells == cells


def test_one_token_may_complete_two_lines() -> None:
    board = parse_board("XXX/XOO/XOO")

    assert board.winning_cells == (0, 1, 2, 3, 6)


def test_no_line_no_winning_cells() -> None:
    assert Board().winning_cells == ()
    assert parse_board("XOX/XOO/OXX").winning_cells == ()


def test_a_ninth_token_that_completes_a_line_wins() -> None:
    board = parse_board("XOX/OXO/OXX")

    assert board.winner is X
    assert board.is_over
    assert not board.is_draw


def test_a_full_board_without_a_line_is_a_draw() -> None:
    board = parse_board("XOX/OOX/XXO")

    assert board.winner is None
    assert board.is_over
    assert board.is_draw


def test_the_mark_at_a_column_and_a_row() -> None:
    """`mark_at` takes the column and the row from the top left; a cell is a number, never a mark."""
    board = parse_board("X_O/__X/___")

    assert board.mark_at(0, 0) is X
    assert board.mark_at(x=2, y=0) is O
    assert board.mark_at(x=2, y=1) is X
    assert board.mark_at(x=0, y=2) is None
    assert not hasattr(board, "cell")
    assert [board[row, column] for row in range(3) for column in range(3)] == [*board]


@pytest.mark.parametrize("place", [(3, 0), (0, 3), (-1, 0), (0, -1)])
def test_a_cell_off_the_board_is_refused(place: tuple[int, int]) -> None:
    row, column = place
    refusal = f"^no cell is in row {row} and column {column}: each is 0, 1 or 2$"

    with pytest.raises(errors.NoSuchCell, match=refusal):
        Board().mark_at(x=column, y=row)
    with pytest.raises(errors.NoSuchCell, match=refusal):
        Board()[place]


def test_a_cell_has_one_row_and_one_column() -> None:
    with pytest.raises(
        errors.NoSuchCell, match=r"^\(1, 1, 1\) is not a cell: cells are 0 to 8, row by row$"
    ):
        Board()[1, 1, 1]  # type: ignore[index]  # that is the point


FINISHED = parse_board("XXX/OO_/___")
NINE_BITS = (
    "Board takes the cells of X and of O as two numbers of nine bits, not {}: "
    "Board.parse reads text and lists"
)


@pytest.mark.parametrize(
    ("board", "cell", "mark", "kind", "message"),
    [
        (FINISHED, 8, O, errors.GameOver, "the game is over in 'XXX/OO_/___'"),
        (Board(), 9, X, errors.NoSuchCell, "9 is not a cell: cells are 0 to 8, row by row"),
        (Board(), -1, X, errors.NoSuchCell, "-1 is not a cell: cells are 0 to 8, row by row"),
        (Board(), 4, O, errors.NotYourTurn, "it is X's turn, not O's, in '___/___/___'"),
        (Board().place(4), 4, O, errors.CellTaken, "cell 4 holds X in '___/_X_/___'"),
        (Board().place(4).place(0), 0, X, errors.CellTaken, "cell 0 holds O in 'O__/_X_/___'"),
    ],
)
def test_an_illegal_token_is_refused_with_its_reason(
    board: Board, cell: int, mark: Mark, kind: type[IllegalMove], message: str
) -> None:
    refusal = board.why_not(cell, mark)

    assert type(refusal) is kind
    assert str(refusal) == message
    with pytest.raises(kind) as raised:
        board.place(cell, mark)
    assert str(raised.value) == message


def test_faults_are_checked_in_order() -> None:
    """The end comes before the cell, the cell before what it holds, that before the turn."""
    assert type(FINISHED.why_not(9, X)) is errors.GameOver
    assert type(Board().why_not(9, O)) is errors.NoSuchCell
    assert type(Board().place(4).why_not(4, X)) is errors.CellTaken


def test_a_legal_token_has_no_reason_against_it() -> None:
    board = Board().place(4)

    assert all(board.why_not(cell, O) is None for cell in board.free_cells)


class Several:
    """Several numbers that compare element by element, like an array."""

    def __ge__(self, other: object) -> Several:
        return self

    def __eq__(self, other: object) -> bool:
        raise ValueError("the truth value of several is ambiguous")

    __hash__ = None  # type: ignore[assignment]  # as arrays have it

    def __bool__(self) -> bool:
        raise ValueError("the truth value of several is ambiguous")

    def __repr__(self) -> str:
        return "several"


NO_CELLS = [4.0, True, False, "4", None, 9, -1, 10**5000, -(10**5000), [4], Several()]


@pytest.mark.parametrize("cell", NO_CELLS, ids=quoted)
def test_only_an_integer_from_0_to_8_is_a_cell(cell: object) -> None:
    for known in range(9):
        Board().place(known)

    with pytest.raises(errors.NoSuchCell) as raised:
        Board().place(cell)  # type: ignore[arg-type]  # that is the point
    assert str(raised.value) == f"{quoted(cell)} is not a cell: cells are 0 to 8, row by row"
    with pytest.raises(errors.NoSuchCell):
        Board().place(cell, X)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("cell", NO_CELLS, ids=quoted)
def test_a_bad_cell_is_refused_everywhere(cell: object) -> None:
    with pytest.raises(errors.NoSuchCell) as raised:
        check_cell(cell)

    assert str(raised.value) == f"{quoted(cell)} is not a cell: cells are 0 to 8, row by row"
    assert whole_number(cell, 9) is None
    assert [check_cell(Whole(number)) for number in range(9)] == list(range(9))
    assert type(check_cell(Whole(4))) is int


@pytest.mark.parametrize("number", [1.0, True, "1", None, 3, [1], Several()], ids=quoted)
def test_a_column_and_a_row_are_whole_numbers(number: object) -> None:
    for x, y in ((number, 1), (1, number)):
        with pytest.raises(errors.NoSuchCell) as raised:
            Board().mark_at(x, y)  # type: ignore[arg-type]  # that is the point
        assert str(raised.value).startswith(f"no cell is in row {quoted(y)} and column {quoted(x)}: ")


class Whole:
    """An integer of another type, as numeric libraries have."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __index__(self) -> int:
        return self.number


@pytest.mark.usefixtures("empty_board_cache")
def test_a_whole_number_of_any_kind_names_a_cell() -> None:
    cell = cast("int", Whole(4))

    once, again = Board().place(cell), Board().place(cell)

    assert once is again is Board().place(4)
    assert Board().place(0).mark_at(cast("int", Whole(0)), cast("int", Whole(0))) is X
    with pytest.raises(errors.NoSuchCell):
        Board().place(cast("int", Whole(9)))


def test_a_board_holds_ints_whatever_it_was_made_of() -> None:
    board = Board(cast("int", Whole(0o401)), cast("int", Whole(0o042)))

    assert board is Board(0o401, 0o042)
    assert type(board.x) is type(board.o) is int


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("number", [1.0, True, "1", None, [1], Several()], ids=quoted)
@pytest.mark.usefixtures("empty_board_cache")
def test_a_board_is_made_of_whole_numbers(number: object, *, known: bool) -> None:
    """Whether or not that board exists already: 1.0 and True are equal to 1, and not it."""
    if known:
        Board(1, 0)
        Board(2, 1)

    message = re.escape(NINE_BITS.format(quoted(number)))
    with pytest.raises(errors.ImpossibleBoard, match=message):
        Board(number, 0)  # type: ignore[arg-type]  # that is the point
    with pytest.raises(errors.ImpossibleBoard, match=message):
        Board(2, number)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("first", ["x", None, 1, [], Several()], ids=quoted)
def test_a_board_is_started_by_a_mark(first: object) -> None:
    with pytest.raises(errors.InvalidArgument) as raised:
        Board(1, 0, first)  # type: ignore[arg-type]  # that is the point

    assert str(raised.value) == f"a mark is X or O, not {quoted(first)}"


def test_there_is_one_kind_of_board() -> None:
    """A subclass would break the identity of equal boards."""
    with pytest.raises(TypeError, match=r"^Board cannot be subclassed: each position is one object$"):
        type("Other", (Board,), {})


def test_an_image_is_by_one_of_the_eight_symmetries() -> None:
    with pytest.raises(errors.InvalidArgument, match=r"^\(0, 0, 0\) is not one of the eight symmetries$"):
        Board().image((0, 0, 0))


@pytest.mark.parametrize("bad", [None, 5, "012345678", [], Several(), (Several(),) * 9], ids=quoted)
def test_what_cannot_be_compared_is_not_a_symmetry(bad: object) -> None:
    with pytest.raises(errors.InvalidArgument, match=r" is not one of the eight symmetries$"):
        Board().image(bad)  # type: ignore[arg-type]  # that is the point


def test_a_symmetry_is_known_by_its_numbers() -> None:
    quarter = cast("tuple[int, ...]", tuple(map(float, SYMMETRIES[1])))

    assert Board().place(0).place(1).image(quarter) is Board().place(0).place(1).image(SYMMETRIES[1])


def test_the_mark_to_place_can_be_left_out() -> None:
    assert Board().place(4).place(0) is Board().place(4, X).place(0, "O")


@pytest.mark.parametrize(
    ("x", "o", "first", "kind", "message"),
    [
        (3, 0, X, errors.WrongCounts, "X has 2 and O has 0: X starts, so X has as many as O or one more"),
        (0, 1, X, errors.WrongCounts, "X has 0 and O has 1: X starts, so X has as many as O or one more"),
        (1, 0, O, errors.WrongCounts, "O has 0 and X has 1: O starts, so O has as many as X or one more"),
        (0o007, 0o070, X, errors.TwoWinners, "X and O both have a line, but the first one ends the game"),
        (0o007, 0o130, X, errors.MoveAfterEnd, "X has a line, but O moved after it"),
        (0o107, 0o070, X, errors.TwoWinners, "X and O both have a line, but the first one ends the game"),
        (0o055, 0o700, X, errors.MoveAfterEnd, "O has a line, but X moved after it"),
        (1, 1, X, errors.ImpossibleBoard, "X and O are both on cell 0"),
        (0o420, 0o021, X, errors.ImpossibleBoard, "X and O are both on cell 4"),
        (512, 1, X, errors.ImpossibleBoard, NINE_BITS.format(512)),
        (1, -2, X, errors.ImpossibleBoard, NINE_BITS.format(-2)),
        (0, 512, X, errors.ImpossibleBoard, NINE_BITS.format(512)),
        (0, 0, "Y", errors.InvalidArgument, "a mark is X or O, not 'Y'"),
    ],
)
def test_an_impossible_board_is_refused(
    x: int, o: int, first: Mark, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind) as raised:
        Board(x, o, first)

    assert type(raised.value) is kind
    assert str(raised.value) == message


def test_there_are_eight_symmetries_and_they_form_a_group() -> None:
    assert len(set(SYMMETRIES)) == 8
    assert SYMMETRIES[0] == tuple(range(9))
    products = {tuple(a[b[cell]] for cell in range(9)) for a in SYMMETRIES for b in SYMMETRIES}
    assert products == set(SYMMETRIES)


def test_symmetries_keep_the_lines() -> None:
    for symmetry in SYMMETRIES:
        images = {sum(1 << symmetry[cell] for cell in range(9) if line >> cell & 1) for line in LINES}
        assert images == set(LINES)


def test_an_image_moves_both_marks() -> None:
    """A quarter turn takes the top left to the top right, clockwise; the first mark stays the first."""
    board = Board(first=O).place(0).place(1)

    turned = board.image(SYMMETRIES[1])

    assert str(turned) == "__O/__X/___"
    assert turned.first is O


@pytest.mark.parametrize("first", Mark)
def test_a_board_is_a_row_of_nine_marks(first: Mark) -> None:
    for board in reachable(first):
        assert [board[cell] for cell in range(9)] == [*board] == [*board.cells]


@pytest.mark.parametrize("cell", [9, -1, True, "4", None, slice(3)], ids=repr)
def test_only_a_cell_of_a_board_can_be_looked_up(cell: object) -> None:
    with pytest.raises(errors.NoSuchCell, match="is not a cell: cells are 0 to 8"):
        Board()[cell]  # type: ignore[index]  # that is the point


def test_a_board_has_one_status() -> None:
    statuses = {(board.winner, board.is_over): board.status for board in reachable()}

    assert statuses == {
        (None, False): "in play",
        (None, True): "draw",
        (X, True): "X won",
        (O, True): "O won",
    }


@pytest.mark.parametrize("first", Mark)
def test_a_board_is_the_result_of_moves(first: Mark) -> None:
    after = Board(first=first).place(4).place(0).place(8)

    assert Board.from_moves((4, 0, 8), first) is Board.from_moves(iter([4, 0, 8]), first) is after
    assert Board.from_moves([], first) is Board(first=first)


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        ([4, 4], "cell 4 holds X in '___/_X_/___'"),
        ([9], "9 is not a cell: cells are 0 to 8, row by row"),
        ([0, 3, 1, 4, 2, 5], "the game is over in 'XXX/OO_/___'"),
        ("519", "moves are cells such as [4, 0, 8]: parse_moves reads '519'"),
        (5, "a game is a list of cells such as [4, 0, 8], not 5"),
    ],
)
def test_a_board_is_not_the_result_of_illegal_moves(moves: list[int], message: str) -> None:
    with pytest.raises(errors.NoughtsError) as raised:
        Board.from_moves(moves)

    assert str(raised.value) == message


def test_a_mark_is_its_letter() -> None:
    """Also as a key, and in what other programs read; but a letter is not a mark."""
    for mark, letter in ((X, "X"), (O, "O")):
        assert mark == letter == str(mark) == repr(mark) == f"{mark}" == Mark(letter)
        assert {mark: 1}[letter] == 1  # type: ignore[index]  # that is the point
        assert json.dumps([mark]) == json.dumps([letter])
        assert mark != mark.other


def test_a_notebook_shows_a_picture() -> None:
    board = Board.parse("XXX/OO_/___")

    assert board._repr_html_() == svg(board)
