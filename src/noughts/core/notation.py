"""Reads and writes boards, cells and lists of moves.

A board is written `X_O/_X_/___` (`str(board)` writes it), a cell `5`, `1,1` or `b2`, a game `51937`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from noughts.core.board import AnyMark, Board, Cell, Mark, check_cell, each_move
from noughts.core.errors import (
    CellTaken,
    IllegalMove,
    ImpossibleBoard,
    UnreadableCell,
    UnreadableMoves,
    quoted,
)
from noughts.core.grid import read_grid

AnyBoard: TypeAlias = Board | str | Iterable[object]
"""A board, or one in any form that `parse_board` reads, whichever mark started."""

_CELLS = {
    **{str(cell + 1): cell for cell in range(9)},
    **{f"{cell // 3},{cell % 3}": cell for cell in range(9)},
    **{f"{'abc'[cell % 3]}{cell // 3 + 1}": cell for cell in range(9)},
}


def parse_board(written: str | Iterable[object], first: AnyMark = Mark.X) -> Board:
    """Read a board: nine signs, flat or in three rows, in text or in lists.

    A mark is the letter X or O, a blank is `_`, `.`, a space, an empty string or None; in text, rows
    are separated by `/` or line breaks. Boards as noughts draws them are read too. A board that no game
    reaches is refused.

    >>> str(parse_board([["X", "", "O"], ["", "X", ""], ["", "", ""]]))
    'X_O/_X_/___'
    >>> parse_board("XXX/OO_/O__")
    Traceback (most recent call last):
    noughts.core.errors.MoveAfterEnd: X has a line, but O moved after it
    """
    return Board.parse(written, first)


def game_over(board: AnyBoard) -> tuple[bool, str]:
    """Return whether the game is over, and the winner's mark or an empty string.

    >>> game_over(["X", "_", "X", "O", "O", "O", "X", "_", "_"])
    (True, 'O')
    >>> game_over(Board())
    (False, '')
    """
    board = as_board(board)
    return board.is_over, str(board.winner or "")


def as_board(board: AnyBoard) -> Board:
    """Return a board as it is, or read it; X started if possible."""
    if isinstance(board, Board):
        return board
    held = read_grid(board)
    try:
        return Board(*held)
    except ImpossibleBoard as error:
        try:
            return Board(*held, Mark.O)
        except ImpossibleBoard:
            raise error from None


def parse_cell(text: str) -> Cell:
    """Read a cell: 1 to 9, `row,column` (0 to 2 each), or a1 to c3.

    Cells are counted row by row from the top left; the letter is the column and its digit the row.

    >>> parse_cell("6"), parse_cell("1,2"), parse_cell("c2")
    (5, 5, 5)
    """
    if not isinstance(text, str):
        raise UnreadableCell(f"a cell is read from text such as '5', not from {quoted(text)}")
    cell = _CELLS.get("".join(text.split()).lower()) if len(text) <= 64 else None
    if cell is None:
        raise UnreadableCell(
            f"{quoted(text)} is not a cell: type 1 to 9, or row,column such as 0,2, or a1 to c3"
        )
    return cell


def format_cell(cell: Cell) -> str:
    """Write a cell as a digit, 1 to 9."""
    return str(check_cell(cell) + 1)


def format_pair(cell: Cell) -> str:
    """Write a cell as `row,column`."""
    row, column = divmod(check_cell(cell), 3)
    return f"{row},{column}"


def format_square(cell: Cell) -> str:
    """Write a cell as a letter for its column and a digit for its row."""
    row, column = divmod(check_cell(cell), 3)
    return f"{'abc'[column]}{row + 1}"


def parse_moves(digits: str, first: AnyMark = Mark.X) -> tuple[Cell, ...]:
    """Read a game, finished or not, from the digits of its moves.

    >>> parse_moves("51937")
    (4, 0, 8, 2, 6)
    >>> parse_moves("515")
    Traceback (most recent call last):
    noughts.core.errors.UnreadableMoves: move 3 of '515': cell 5 holds X in 'O__/_X_/___'
    """
    if not isinstance(digits, str):
        raise UnreadableMoves(f"a game is read from text such as '51937', not from {quoted(digits)}")
    board, moves = Board(first=first), []
    for number, digit in enumerate(digits, start=1):
        if digit not in "123456789":
            raise UnreadableMoves(
                f"a game is written with the digits 1 to 9, and move {number} of {quoted(digits)} is "
                f"{quoted(digit)}"
            )
        cell = int(digit) - 1
        try:
            board = board.place(cell)
        except IllegalMove as error:
            why = why_not_typed(board, cell)
            raise UnreadableMoves(f"move {number} of {quoted(digits)}: {why}") from error
        moves.append(cell)
    return tuple(moves)


def why_not_typed(board: Board, cell: Cell) -> str | None:
    """Say why the next token cannot go on a cell, counting cells from 1; None if it can.

    >>> why_not_typed(Board().place(4), 4)
    "cell 5 holds X in '___/_X_/___'"
    """
    refusal = board.why_not(cell, board.turn)
    if isinstance(refusal, CellTaken):
        return f"cell {format_cell(cell)} holds {board.cells[cell]} in '{board}'"
    return None if refusal is None else str(refusal)


def format_moves(moves: Iterable[Cell]) -> str:
    """Write a game as the digits of its moves.

    >>> format_moves((4, 0, 8, 2, 6))
    '51937'
    """
    return "".join(map(format_cell, each_move(moves)))
