"""Boards as SVG images, for pages and notebooks.

The background is transparent; the colours are readable in light and dark themes.
"""

from __future__ import annotations

from collections.abc import Iterator

from noughts.analysis.best_moves import best_cells
from noughts.analysis.solver import Result, prospects
from noughts.core.board import LINES, Board, Cell, Mark, X, check_cell
from noughts.core.errors import InvalidArgument
from noughts.core.notation import AnyBoard, as_board, format_cell
from noughts.text.describe import describe

SIZE_PIXELS = 240
"""Width and height, unless the page says otherwise. One cell is 100 units wide."""

INK = {Mark.X: "#2080c8", Mark.O: "#cc6310"}
RULE = "#808080"
LABELS = {Result.WIN: ("+", "#158a62"), Result.DRAW: ("=", "#8a7a30"), Result.LOSS: ("-", "#c05088")}
"""The sign and the colour of what a move is worth."""


_HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 300 300" '
    f'width="{SIZE_PIXELS}" height="{SIZE_PIXELS}" fill="none" stroke-linecap="round">'
)


def svg(board: AnyBoard, last: Cell | None = None, *, coach: bool = False) -> str:
    """Draw a board, its winning lines and, if given, its last move.

    With `coach`, each free cell shows what the move is worth, and the best moves have a frame.

    >>> from noughts.core.board import Board
    >>> print(svg(Board().place(4), last=4).splitlines()[1])
    <title>X on 5; O to move.</title>
    """
    board = as_board(board)
    return "\n".join(
        [
            _HEAD,
            f"<title>{describe(board)}{_best(board) if coach else ''}</title>",
            f'<path d="M100 8v284M200 8v284M8 100h284M8 200h284" stroke="{RULE}" stroke-width="3"/>',
            *_last_move(board, last),
            *_winning_lines(board),
            *(_mark(cell, mark) for cell, mark in enumerate(board) if mark),
            *(_labels(board) if coach else ()),
            "</svg>",
            "",
        ]
    )


def _last_move(board: Board, last: Cell | None) -> Iterator[str]:
    if last is None:
        return
    mark = board[last]
    if mark is None:
        raise InvalidArgument(f"cell {last} is free in '{board}', so it is not the last move")
    left, top = _corner(check_cell(last))
    yield (
        f'<rect x="{left + 8}" y="{top + 8}" width="84" height="84" rx="14" '
        f'fill="{INK[mark]}" fill-opacity="0.18"/>'
    )


def _winning_lines(board: Board) -> Iterator[str]:
    if board.winner is None:
        return
    held = board.x if board.winner is X else board.o
    for line in LINES:
        if held & line == line:
            ends = (line & -line).bit_length() - 1, line.bit_length() - 1
            (left, top), (right, bottom) = map(_corner, ends)
            yield (
                f'<path d="M{left + 50} {top + 50}L{right + 50} {bottom + 50}" '
                f'stroke="{INK[board.winner]}" stroke-width="46" stroke-opacity="0.3"/>'
            )


def _mark(cell: Cell, mark: Mark) -> str:
    left, top = _corner(cell)
    ink = f'stroke="{INK[mark]}" stroke-width="11"'
    if mark is X:
        return f'<path d="M{left + 27} {top + 27}l46 46m0-46l-46 46" {ink}/>'
    return f'<circle cx="{left + 50}" cy="{top + 50}" r="25" {ink}/>'


def _best(board: Board) -> str:
    best = ", ".join(map(format_cell, best_cells(board)))
    return f" Best: {best}." if best else ""


def _labels(board: Board) -> Iterator[str]:
    best = best_cells(board)
    for cell, prospect in prospects(board).items():
        left, top = _corner(cell)
        sign, colour = LABELS[prospect.result]
        worth = (
            prospect.result
            if prospect.result is Result.DRAW
            else f"{prospect.result} {prospect.distance}"
        )
        yield (
            f'<text x="{left + 50}" y="{top + 58}" fill="{colour}" text-anchor="middle" '
            f'font-family="sans-serif" font-weight="bold" font-size="24">{sign}{worth}</text>'
        )
        if cell in best:
            yield (
                f'<rect x="{left + 8}" y="{top + 8}" width="84" height="84" rx="14" '
                f'stroke="{colour}" stroke-width="4"/>'
            )


def _corner(cell: Cell) -> tuple[int, int]:
    row, column = divmod(cell, 3)
    return 100 * column, 100 * row
