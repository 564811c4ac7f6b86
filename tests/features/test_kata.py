"""Steps of document 004, the kata."""

from __future__ import annotations

from pytest_bdd import parsers, scenarios, then, when

from noughts import KATA, Board, Cell, IllegalMove, Mark, O, X, parse_board, parse_cell
from support.documents import Ran, questions

scenarios("kata.feature")


# The rules


@then("X is to move where both have as many marks, and O where X has one more")
def turns(positions: tuple[Board, ...]) -> None:
    for board in positions:
        ahead = board.cells.count(X) - board.cells.count(O)
        assert board.turn is {0: X, 1: O}[ahead]


@then("only the mark to move may be placed")
def only_mark_to_move(positions: tuple[Board, ...]) -> None:
    for board in (board for board in positions if not board.is_over):
        for cell in board.free_cells:
            assert board.place(cell, board.turn).cells[cell] is board.turn
            assert _is_refused(board, cell, board.turn.other)


@then("no mark can be placed on another")
def not_on_another(positions: tuple[Board, ...]) -> None:
    for board in positions:
        for cell in set(range(9)).difference(board.free_cells):
            assert all(_is_refused(board, cell, mark) for mark in Mark)


@then(parsers.parse('it asks "{question}" first after "{line}"'))
def asks_first_after(ran: Ran, question: str, line: str) -> None:
    asked = questions(ran.stdout.splitlines())
    assert asked[asked.index(line) + 1] == question


# The board


@when(parsers.parse("position {position} is entered on an empty board"), target_fixture="grids")
def enter(position: str) -> tuple[list[str], list[str], str]:
    board = Board()
    after = board.place(parse_cell(position))
    return KATA.draw(board).split("\n"), KATA.draw(after).split("\n"), position


@then(parsers.parse("the grid shows the position at ({row:d},{column:d}) before, and X after"))
def shows_at(grids: tuple[list[str], list[str], str], row: int, column: int) -> None:
    before, after, position = grids
    assert (before[row][column], after[row][column]) == (position, "X")


@then("all else on the grid is as it was")
def all_else(grids: tuple[list[str], list[str], str]) -> None:
    before, after, position = grids
    assert [row.replace(position, "X") for row in before] == after


@then("each is drawn in 5 lines of 5 characters")
def five_by_five(positions: tuple[Board, ...]) -> None:
    for board in positions:
        assert [len(line) for line in KATA.draw(board).split("\n")] == [5] * 5


@then("the characters between the positions are always")
def between(positions: tuple[Board, ...], docstring: str) -> None:
    for board in positions:
        drawn = KATA.draw(board)
        assert all(wanted in ("?", sign) for wanted, sign in zip(docstring, drawn, strict=True))


@then("a free position shows its number, and a played one its mark")
def shows_number_or_mark(positions: tuple[Board, ...]) -> None:
    for board in positions:
        signs = "".join(line[::2] for line in KATA.draw(board).split("\n")[::2])
        assert signs == "".join(
            str(held) if held else str(number) for number, held in enumerate(board.cells, start=1)
        )


# The end


@then(parsers.re(r'the final board is (?P<board>[XO_/]+), and then it prints "(?P<line>[^"]+)"'))
def board_and_then(ran: Ran, board: str, line: str) -> None:
    assert f"\n{KATA.draw(parse_board(board))}\n{line}\n" in ran.stdout


def _is_refused(board: Board, cell: Cell, mark: Mark) -> bool:
    try:
        board.place(cell, mark)
    except IllegalMove:
        return True
    return False
