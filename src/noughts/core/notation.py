"""Reads and writes boards, cells and lists of moves.

A board is written `X_O/_X_/___` (`str(board)` writes it), a cell `5`, `1,1` or `b2`, a game `51937`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from noughts.core.board import Board, Cell, Mark, check_cell
from noughts.core.errors import (
    CellTaken,
    IllegalMove,
    ImpossibleBoard,
    UnreadableBoard,
    UnreadableCell,
    UnreadableMoves,
    quoted,
)

_SIGNS: dict[object, Mark | None] = {
    "X": Mark.X,
    "O": Mark.O,
    Mark.X: Mark.X,
    Mark.O: Mark.O,
    **dict.fromkeys(("_", ".", " ", "", None)),
}

_CELLS = {
    **{str(cell + 1): cell for cell in range(9)},
    **{f"{cell // 3},{cell % 3}": cell for cell in range(9)},
    **{f"{'abc'[cell % 3]}{cell // 3 + 1}": cell for cell in range(9)},
}


def parse_board(written: str | Iterable[object], first: Mark = Mark.X) -> Board:
    """Read a board: nine signs, flat or in three rows, in text or in lists.

    A mark is the letter X or O, a blank is `_`, `.`, a space, an empty string or None; in text, rows
    are separated by `/` or line breaks. A board that no game reaches is refused.

    >>> str(parse_board([["X", "", "O"], ["", "X", ""], ["", "", ""]]))
    'X_O/_X_/___'
    >>> parse_board("XXX/OO_/O__")
    Traceback (most recent call last):
    noughts.core.errors.MoveAfterEnd: X has a line, but O moved after it
    """
    return Board(*_held(written), first)


def game_over(board: Board | str | Iterable[object]) -> tuple[bool, str]:
    """Return whether the game is over, and the winner's mark or an empty string.

    The board can be in any form that `parse_board` reads, whichever mark started.

    >>> game_over(["X", "_", "X", "O", "O", "O", "X", "_", "_"])
    (True, 'O')
    >>> game_over(Board())
    (False, '')
    """
    board = as_board(board)
    return board.is_over, str(board.winner or "")


def as_board(board: Board | str | Iterable[object]) -> Board:
    """Return a board as it is, or read it; X started if possible."""
    if isinstance(board, Board):
        return board
    held = _held(board)
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


def parse_moves(digits: str, first: Mark = Mark.X) -> tuple[Cell, ...]:
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


def _held(written: str | Iterable[object]) -> tuple[int, int]:
    """Return the cells of X and O, one bit a cell."""
    marks = [_mark(sign) for sign in _signs(written)]
    x, o = (sum(1 << cell for cell in range(9) if marks[cell] is mark) for mark in Mark)
    return x, o


def each_move(moves: Iterable[Cell]) -> Iterator[Cell]:
    """Iterate over the moves of a game, or refuse what is not iterable."""
    try:
        return iter(moves)
    except TypeError:
        raise UnreadableMoves(
            f"a game is a list of cells such as [4, 0, 8], not {quoted(moves)}"
        ) from None


def _signs(written: str | Iterable[object]) -> list[object]:
    """Return the nine signs in order, from a flat or nested board."""
    if isinstance(written, str):
        rows = written.replace("\r\n", "\n").removesuffix("\n").replace("/", "\n").split("\n")
        parts = _first_ten(rows if len(rows) > 1 else rows[0])
        nested = len(rows) == 3
    else:
        parts = _first_ten(written)
        nested = len(parts) == 3
    if nested:
        return [sign for number, row in enumerate(parts, start=1) for sign in _row(row, number)]
    if len(parts) != 9:
        raise UnreadableBoard(f"a board is 9 cells or 3 rows of 3, not {quoted(written)}")
    return parts


def _row(row: object, number: int) -> list[object]:
    signs = _first_ten(row)
    if len(signs) != 3:
        raise UnreadableBoard(f"a row has 3 cells, but row {number} is {quoted(row)}")
    return signs


def _first_ten(things: object) -> list[object]:
    """Return at most ten items, one more than a board has."""
    try:
        return list(islice(things, 10))  # type: ignore[call-overload]  # raises if it is not iterable
    except TypeError:
        raise UnreadableBoard(f"a board is text or a list, not {quoted(things)}") from None


def _mark(sign: object) -> Mark | None:
    try:
        return _SIGNS[sign]
    except (KeyError, TypeError):
        raise UnreadableBoard(
            f"{quoted(sign)} is not a mark: a cell is X, O (the letters) or a blank (_ . or a space)"
        ) from None
