"""How a live board and the sentences beside it fill a window of any size.

Large cells where there is room, the 5×5 drawing where there is not. Everything here is plain data in and
lines out; `LiveScreen` writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from noughts.cli.screen import COLOURS, FREE, RESET, WON
from noughts.core.board import Board, Cell
from noughts.core.value import Value
from noughts.text.columns import display_width, pad, wrap

GAP_COLUMNS = 3
MIN_PANEL_COLUMNS, MIN_PANEL_ROWS = 24, 5
MAX_PANEL_COLUMNS = 60
MARGIN_COLUMNS, HEADING_ROWS = 2, 2
ROOMY_COLUMNS, ROOMY_ROWS = 100, 30
KEY_COLUMNS = 16
PAGE_INDENT = 3
SHORT_PANEL_COLUMNS, SHORT_PANEL_ROWS = 30, 7

Paint: TypeAlias = Callable[[str, str], str]
"""Adds a style, which is an escape sequence, to a text."""

Footers: TypeAlias = tuple[str, str]
"""The last row of a page at its end, and where there is more."""

_LAST = "\x1b[4m"
_STRONG = "\x1b[1m"


class CellSize(Value):
    columns: int
    rows: int

    @property
    def board_columns(self) -> int:
        return 3 * self.columns + 2

    @property
    def board_rows(self) -> int:
        return 3 * self.rows + 2


HUGE, LARGE, SMALL = CellSize(11, 5), CellSize(7, 3), CellSize(1, 1)


class Glyphs(Value):
    """The signs of the drawing."""

    rules: tuple[str, str, str]
    """Between the cells of a row, between rows, and where these cross."""
    last: str
    """Below the last move."""
    corners: tuple[str, str, str, str]
    """Of the box around the cursor, clockwise from the top left."""
    marks: dict[str, tuple[str, ...]]
    """X and O in three rows."""


UNICODE = Glyphs(
    ("│", "─", "┼"),
    "═",
    ("┌", "┐", "┘", "└"),
    {
        "X": ("╲   ╱", "  ╳  ", "╱   ╲"),  # noqa: RUF001 - drawn on purpose
        "O": ("╭───╮", "│   │", "╰───╯"),
    },
)
ASCII = Glyphs(
    ("|", "-", "+"),
    "=",
    ("+", "+", "+", "+"),
    {"X": ("\\   /", "  X  ", "/   \\"), "O": (".---.", "|   |", "`---'")},
)


class View(Value):
    """What is to be seen."""

    board: Board
    numbers: str
    """What the free cells show, from the top left."""
    last: Cell | None = None
    """The cell of the last move."""
    cursor: Cell | None = None
    score: str = ""
    status: str = ""
    """Whose move it is, or who won."""
    messages: tuple[str, ...] = ()
    question: str = ""
    keys: tuple[str, ...] = ()
    """What can be pressed, such as "h hint"."""
    is_over: bool = False


class Frame(Value):
    """The rows of a window, where the cursor is, and which cell is where."""

    rows: tuple[str, ...]
    cursor: tuple[int, int] | None = None
    """Column and row, from 0."""
    origin: tuple[int, int] = (0, 0)
    size: CellSize = SMALL
    last_top: int = 0
    """The last row that a page can start from."""

    def cell_at(self, column: int, row: int) -> Cell | None:
        """Return the cell that a click means; a click on a rule means nothing."""
        across, in_column = divmod(column - self.origin[0], self.size.columns + 1)
        down, in_row = divmod(row - self.origin[1], self.size.rows + 1)
        is_inside = across in range(3) and down in range(3)
        is_on_rule = in_column == self.size.columns or in_row == self.size.rows
        return 3 * down + across if is_inside and not is_on_rule else None


def choose_size(columns: int, rows: int) -> tuple[CellSize, bool]:
    """Return how large cells are, and whether the sentences go beside the board or below it."""
    for size in (HUGE, LARGE, SMALL):
        if size is HUGE and (columns < ROOMY_COLUMNS or rows < ROOMY_ROWS):
            continue
        beside = columns - MARGIN_COLUMNS - size.board_columns - GAP_COLUMNS
        if beside >= MIN_PANEL_COLUMNS and rows >= size.board_rows:
            return size, True
        if columns > size.board_columns and rows >= size.board_rows + HEADING_ROWS + MIN_PANEL_ROWS:
            return size, False
    return SMALL, True


def panel_size(columns: int, rows: int) -> tuple[int, int]:
    """Return the columns and rows that are left for sentences."""
    size, is_beside = choose_size(columns, rows)
    left, top = _margins(size, columns, rows, is_beside=is_beside)
    if is_beside:
        beside = columns - left - size.board_columns - _gap(columns)
        return min(beside, MAX_PANEL_COLUMNS), rows - top
    return min(columns - left, MAX_PANEL_COLUMNS), rows - top - size.board_rows - 1


def is_short(columns: int, rows: int) -> bool:
    """Return whether only the shortest sentences fit."""
    wide, high = panel_size(columns, rows)
    return wide < SHORT_PANEL_COLUMNS or high < SHORT_PANEL_ROWS


def lay_out(view: View, columns: int, rows: int, glyphs: Glyphs, *, colour: bool) -> Frame:
    """Draw everything into a window."""
    size, is_beside = choose_size(columns, rows)
    left, top = _margins(size, columns, rows, is_beside=is_beside)
    panel_columns, panel_rows = panel_size(columns, rows)
    if panel_columns < 1 or rows < size.board_rows:  # there is hardly room for the board
        drawn = _draw(view, size, glyphs, lambda text, _: text)
        return Frame(tuple(row[:columns] for row in drawn[:rows]))
    if view.is_over and not top:  # no room for a heading: show the score with the result
        view = view.replace(status=f"{view.status} {view.score}".rstrip())
    board = _draw(view, size, glyphs, _coloured if colour else _uncoloured)
    panel = _panel(view, panel_columns, panel_rows)
    margin = " " * left
    found = [_heading(view, left, size, columns, is_beside=is_beside), ""][:top]
    if is_beside:
        gap = " " * _gap(columns)
        height = max(len(board), len(panel))
        blank = " " * size.board_columns
        board += [blank] * (height - len(board))
        panel += [""] * (height - len(panel))
        found += [
            f"{margin}{drawn}{gap}{text}".rstrip() for drawn, text in zip(board, panel, strict=True)
        ]
    else:
        found += [*(f"{margin}{row}" for row in board), "", *(f"{margin}{row}" for row in panel)]
    return Frame(tuple(found[:rows]), _cursor(view, size, left, top), (left, top), size)


def lay_out_page(text: str, top: int, columns: int, rows: int, footers: Footers) -> Frame:
    """Show a page of a longer text from a row on."""
    lines = wrap(text, columns - 1, indent=PAGE_INDENT)
    room = max(rows - 1, 1)
    last_top = max(len(lines) - room, 0)
    top = min(top, last_top)
    footer = footers[top < last_top]
    shown = (*lines[top : top + room], f"{FREE}{footer[: columns - 1]}{RESET}")
    return Frame(shown[:rows], last_top=last_top)


def _gap(columns: int) -> int:
    return GAP_COLUMNS if columns > 2 * MIN_PANEL_COLUMNS else 1


def _margins(size: CellSize, columns: int, rows: int, *, is_beside: bool) -> tuple[int, int]:
    """Return the empty columns at the left, and the rows of the heading."""
    needed = size.board_rows + HEADING_ROWS + (0 if is_beside else MIN_PANEL_ROWS)
    left = MARGIN_COLUMNS if columns > 2 * MIN_PANEL_COLUMNS else 0
    return left, HEADING_ROWS if rows >= needed else 0


def _heading(view: View, left: int, size: CellSize, columns: int, *, is_beside: bool) -> str:
    title = f"{' ' * left}noughts  "
    if is_beside:
        title = pad(title, left + size.board_columns + _gap(columns))
    score = view.score if display_width(view.score) <= columns - len(title) else ""
    return f"{_STRONG}{title}{RESET}{score}"


def _cursor(view: View, size: CellSize, left: int, top: int) -> tuple[int, int] | None:
    if view.cursor is None:
        return None
    row, column = divmod(view.cursor, 3)
    return (
        left + column * (size.columns + 1) + size.columns // 2,
        top + row * (size.rows + 1) + size.rows // 2,
    )


def _panel(view: View, columns: int, rows: int) -> list[str]:
    """Fit the sentences into the space, the most important first."""
    status = [f"{_STRONG}{line}{RESET}" for line in _lines(view.status, columns)]
    question = _lines(view.question, columns)
    keys = _key_rows(view.keys, columns)
    room = rows - len(status) - len(question)
    messages = _latest(view.messages, columns, room - bool(keys))
    if len(keys) > room - len(messages):
        keys = [_key_row(view.keys, columns)] if room > len(messages) else []
    parts = [part for part in (status, messages, question, keys) if part]
    gap = [""] if sum(map(len, parts)) + len(parts) - 1 <= rows else []
    found = [line for part in parts for line in (*gap, *part)]
    return found[len(gap) :][:rows]


def _lines(text: str, columns: int) -> list[str]:
    return wrap(text, columns, cuts_words=True) if text else []


def _latest(messages: Iterable[str], columns: int, rows: int) -> list[str]:
    """Return the latest messages that fit whole; of one that is too long, its beginning."""
    found: list[str] = []
    for message in reversed([*messages]):
        lines = _lines(message, columns)
        if len(lines) + len(found) > rows:
            return found or lines[: max(rows, 0)]
        found = lines + found
    return found


def _key_rows(keys: Sequence[str], columns: int) -> list[str]:
    """Put the keys in two columns; one that is too wide has a row of its own."""
    width = min(columns // 2, KEY_COLUMNS)
    rows: list[str] = []
    left = ""
    for key in keys:
        is_wide = display_width(key) >= width
        if left and not is_wide:
            rows[-1] = f"{pad(left, width)}{key}"
            left = ""
        else:
            rows.append(key)
            left = "" if is_wide else key
    return rows if all(display_width(row) <= columns for row in rows) else [_key_row(keys, columns)]


def _key_row(keys: Sequence[str], columns: int) -> str:
    """Return a row of the keys that fit: the first before the others, and of those the last."""
    shown: set[str] = set()
    for key in (*keys[:1], *reversed(keys[1:])):
        if display_width(" ".join([*shown, key])) <= columns:
            shown.add(key)
    return " ".join(key for key in keys if key in shown)


def _draw(view: View, size: CellSize, glyphs: Glyphs, paint: Paint) -> list[str]:
    """Draw the board, every row as wide as the others."""
    cells = [_draw_cell(view, cell, size, glyphs, paint) for cell in range(9)]
    across, along, crossing = (ASCII if size is SMALL else glyphs).rules
    rule = crossing.join([along * size.columns] * 3)
    found: list[str] = []
    for row in (0, 3, 6):
        found += [rule] if row else []
        found += [across.join(cell[line] for cell in cells[row : row + 3]) for line in range(size.rows)]
    return found


def _draw_cell(view: View, cell: Cell, size: CellSize, glyphs: Glyphs, paint: Paint) -> list[str]:
    mark, has_cursor, is_last = view.board.cells[cell], cell == view.cursor, cell == view.last
    if mark:
        sign, style = str(mark), COLOURS[str(mark)]
        style += WON if cell in view.board.winning_cells else ""
    elif has_cursor and size is not SMALL:
        sign, style = str(view.board.turn).lower(), FREE  # the mark that would go there
    else:
        sign, style = view.numbers[cell], FREE
    if size is SMALL:
        return [paint(sign, style + (_LAST if is_last else ""))]
    width = size.columns - 2
    inside = glyphs.marks[sign] if size is HUGE and mark else ("",) * (size.rows // 2 - 1) + (sign,)
    inside += ("",) * (size.rows - 2 - len(inside))
    across, along, _ = glyphs.rules if has_cursor else (" ",) * 3
    top_left, top_right, bottom_right, bottom_left = glyphs.corners if has_cursor else (" ",) * 4
    below = glyphs.last * 3 if is_last else ""
    return [
        f"{top_left}{along * width}{top_right}",
        *(f"{across}{paint(text.center(width), style)}{across}" for text in inside),
        f"{bottom_left}{below.center(width, along)}{bottom_right}",
    ]


def _coloured(text: str, style: str) -> str:
    return f"{style}{text}{RESET}" if style and text.strip() else text


def _uncoloured(text: str, style: str) -> str:
    for colour in COLOURS.values():
        style = style.replace(colour, "")
    return _coloured(text, style)
