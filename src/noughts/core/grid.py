"""Reads the nine cells of a board from text or lists: `X_O/_X_/___`, or a board as noughts draws it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from noughts.core.errors import InvalidArgument, UnreadableBoard, quoted

_SIGNS: dict[object, str] = {"X": "X", "O": "O", **dict.fromkeys(("_", ".", " ", "", None), "")}

_COLOUR = "\x1b\\[[0-9;]*m"
_STROKES = str.maketrans("│─┼╲╳╱╭╮╰╯", "|-+\\X/..`'")  # noqa: RUF001 - drawn on purpose
_LARGE_MARKS: dict[tuple[str, ...], str] = {
    ("\\   /", "X", "/   \\"): "X",
    (".---.", "|   |", "`---'"): "O",
}
_LARGE_BOARD_ROWS = 11, 17
_UNTAKEN = frozenset("123456789xo")
"""What a large free cell shows: its number, or in small letters the mark that would go there."""


def read_grid(written: str | Iterable[object]) -> tuple[int, int]:
    """Return the cells of X and of O, one bit a cell.

    >>> read_grid("XO_/___/___")
    (1, 2)
    """
    marks = [_mark(sign) for sign in _signs(written)]
    x, o = (sum(1 << cell for cell in range(9) if marks[cell] == mark) for mark in "XO")
    return x, o


def _signs(written: str | Iterable[object]) -> list[object]:
    """Return the nine signs in order, from a flat or nested board."""
    if isinstance(written, str):
        text = re.sub(_COLOUR, "", written) if "\x1b" in written else written
        text = text.replace("\r\n", "\n").strip("\n")
        if text.count("\n") + 1 in _LARGE_BOARD_ROWS:
            return _large_signs(text.translate(_STROKES).split("\n"), written)
        rows = _lines(text)
        parts = _first_ten(rows[0] if len(rows) == 1 else rows)
        is_nested = len(rows) == 3
    else:
        parts = _first_ten(written)
        is_nested = len(parts) == 3
    if is_nested:
        return [sign for number, row in enumerate(parts, start=1) for sign in _row(row, number)]
    if len(parts) != 9:
        raise _not_a_board(written)
    return parts


def _large_signs(lines: list[str], written: str) -> list[object]:
    """Return the signs of a board with large cells, as a live board has them."""
    rows = len(lines) // 3
    rules = [number for number, line in enumerate(lines) if re.fullmatch(r" *(-+)\+\1\+\1 *", line)]
    if rules != [rows, 2 * rows + 1]:
        raise _not_a_board(written)
    left, stroke = lines[rows].index("-"), lines[rows].index("+")
    columns = stroke - left
    signs: list[object] = []
    for top in (0, rows + 1, 2 * rows + 2):
        inside = lines[top + 1 : top + rows - 1]
        for start in (left, stroke + 1, stroke + columns + 2):
            drawn = tuple(line[start + 1 : start + columns - 1].strip() for line in inside)
            sign = _LARGE_MARKS.get(drawn) or "".join(drawn)
            signs.append("" if sign in _UNTAKEN else sign)
    return signs


def _lines(text: str) -> list[str]:
    """Return the rows of a board, without rules between them."""
    rows = text.replace("/", "\n").split("\n")
    rows = [row for row in rows if "+" not in row or row.strip(" -+")]
    return rows[:3] if len(rows) == 4 and rows[3].isspace() else rows


def _not_a_board(written: object) -> UnreadableBoard:
    return UnreadableBoard(f"a board is 9 cells or 3 rows of 3, not {quoted(written)}")


def _row(row: object, number: int) -> list[object]:
    signs = _first_ten(_spread(row) if isinstance(row, str) else row)
    if len(signs) != 3:
        raise UnreadableBoard(f"a row has 3 cells, but row {number} is {quoted(row)}")
    return signs


def _spread(row: str) -> Iterable[str]:
    """Return the signs of a row such as `X_O`, `X 2 O` or `X| |3`, also if it is indented.

    Cells that are apart may show a number if they are free; between strokes, also a label after it.
    """
    if "|" in row:
        cells = (cell.strip() for cell in row.split("|"))
        return ["" if cell.split(" ")[0].isdigit() else cell for cell in cells]
    bare = row.strip()
    if len(bare) == 5 and bare[1::2] == "  ":
        return ["" if sign.isdigit() else sign for sign in bare[::2]]
    return bare if len(bare) == 3 else row


def _first_ten(things: object) -> list[object]:
    """Return at most ten items, one more than a board has."""
    try:
        return list(islice(things, 10))  # type: ignore[call-overload]  # raises if it is not iterable
    except TypeError:
        raise InvalidArgument(f"a board is text or a list, not {quoted(things)}") from None


def _mark(sign: object) -> str:
    try:
        return _SIGNS[sign]
    except (KeyError, TypeError):
        raise UnreadableBoard(
            f"{quoted(sign)} is not a mark: a cell is X, O (the letters) or a blank (_ . or a space)"
        ) from None
