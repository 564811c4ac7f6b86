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
MAX_MARGIN_COLUMNS, MAX_MARGIN_ROWS = 300, 100
ROOMY_COLUMNS, ROOMY_ROWS = 100, 30
KEY_COLUMNS = 16
PAGE_INDENT = 3
MIN_PANEL_AREA = 30 * 7

Paint: TypeAlias = Callable[[str, str], str]
"""Adds a style, which is an escape sequence, to a text."""

Footers: TypeAlias = tuple[str, str, str]
"""The last row of a page: at its end, and where there is more, also in short."""

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
    free: str
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
    notice: str = ""
    """The answer to a key that could not do anything: it hides the messages, and gets its room first."""


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


class Layout(Value):
    """Where the board and the sentences are in a window."""

    size: CellSize
    is_beside: bool
    """Whether the sentences are beside the board, not below it."""
    left: int
    top: int
    """Of the board, from 0."""
    gap_columns: int
    has_heading: bool
    panel_columns: int
    panel_rows: int

    @property
    def is_short(self) -> bool:
        """Whether only the shortest sentences fit."""
        return self.panel_columns * self.panel_rows < MIN_PANEL_AREA


def plan(columns: int, rows: int) -> Layout:
    """Divide a window; in a roomy one, everything is in the middle."""
    size, is_beside = _choose_size(columns, rows)
    needed = size.board_columns + GAP_COLUMNS if is_beside else 0
    has_margin = columns >= MARGIN_COLUMNS + max(needed + MIN_PANEL_COLUMNS, size.board_columns)
    left, gap = (MARGIN_COLUMNS, GAP_COLUMNS) if has_margin else (0, 1)
    panel_columns = columns - left - (size.board_columns + gap if is_beside else 0)
    panel_columns = min(panel_columns, MAX_PANEL_COLUMNS)
    panel_rows = rows - (0 if is_beside else size.board_rows + 1)
    has_heading = panel_rows >= HEADING_ROWS + (size.board_rows if is_beside else MIN_PANEL_ROWS)
    top = HEADING_ROWS if has_heading else 0
    if size is HUGE:
        left = min((columns - size.board_columns - gap - panel_columns) // 2, MAX_MARGIN_COLUMNS)
        top += min((rows - size.board_rows - HEADING_ROWS) // 2, MAX_MARGIN_ROWS)
    return Layout(size, is_beside, left, top, gap, has_heading, panel_columns, panel_rows - top)


def _choose_size(columns: int, rows: int) -> tuple[CellSize, bool]:
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


def lay_out(view: View, columns: int, rows: int, glyphs: Glyphs, *, colour: bool) -> Frame:
    """Draw everything into a window."""
    layout = plan(columns, rows)
    size, left, top = layout.size, layout.left, layout.top
    if layout.panel_columns < 1 or rows < size.board_rows:  # there is hardly room for the board
        drawn = _draw(view, size, glyphs, lambda text, _: text)
        return Frame(tuple(row[:columns] for row in drawn[:rows]))
    board = _draw(view, size, glyphs, _coloured if colour else _uncoloured)
    panel = _panel(view, layout)
    if layout.is_beside:
        height = max(len(board), len(panel))
        board += [" " * size.board_columns] * (height - len(board))
        panel += [""] * (height - len(panel))
        gap = " " * layout.gap_columns
        body = [f"{drawn}{gap}{text}" for drawn, text in zip(board, panel, strict=True)]
    else:
        body = [*board, "", *panel]
    above = [_heading(view, layout, columns), ""] if layout.has_heading else []
    found = [*[""] * (top - len(above)), *above, *(f"{' ' * left}{row}".rstrip() for row in body)]
    return Frame(tuple(found[:rows]), _cursor(view, layout), (left, top), size)


def lay_out_page(text: str, top: int, columns: int, rows: int, footers: Footers) -> Frame:
    """Show a page of a longer text from a row on."""
    lines = [
        row
        for line in text.split("\n")
        # An address stays whole, to be copied.
        for row in wrap(line, columns - 1, PAGE_INDENT, cuts_words="://" not in line)
    ]
    room = max(rows - 1, 1)
    last_top = max(len(lines) - room, 0)
    top = min(top, last_top)
    at_end, *more = footers
    footers_here = more if top < last_top else [at_end]
    footer = next((one for one in footers_here if display_width(one) < columns), "")
    shown = (*lines[top : top + room], f"{FREE}{footer}{RESET}")
    return Frame(shown[:rows], last_top=last_top)


def _heading(view: View, layout: Layout, columns: int) -> str:
    title = f"{' ' * layout.left}noughts  "
    if layout.is_beside:
        title = pad(title, layout.left + layout.size.board_columns + layout.gap_columns)
    width = display_width(view.score)
    if columns - len(title) < width <= columns - layout.left:  # the score says more than the title
        return f"{' ' * layout.left}{view.score}"
    return f"{_STRONG}{title}{RESET}{view.score if width <= columns - len(title) else ''}"


def _cursor(view: View, layout: Layout) -> tuple[int, int] | None:
    if view.cursor is None:
        return None
    row, column = divmod(view.cursor, 3)
    size = layout.size
    return (
        layout.left + column * (size.columns + 1) + size.columns // 2,
        layout.top + row * (size.rows + 1) + size.rows // 2,
    )


def _panel(view: View, layout: Layout) -> list[str]:
    """Fit the sentences into the space, the most important first; the keys have a place of their own.

    They end with the board, so that they stay where they are whatever is said above them.
    """
    columns, rows = layout.panel_columns, layout.panel_rows
    keys, fewest = _key_rows(view.keys, columns), _fewest_key_rows(view.keys, columns)
    question = _lines(view.question, columns)[: max(rows - len(fewest) - 1, 0)]
    room = max(rows - len(fewest) - len(question), 0)
    notice = _lines(view.notice, columns)
    status = _lines(view.status, columns)[: max(room - len(notice), 0)]
    if view.is_over and not layout.has_heading:  # show the score with the result
        both = _lines(f"{view.status} {view.score}".rstrip(), columns)
        status = both if len(both) <= room else status
    status = [f"{_STRONG}{line}{RESET}" for line in status]
    room -= len(status)
    messages = notice[:room] or _latest(view.messages, columns, room)
    if len(keys) > room + len(fewest) - len(messages):
        keys = fewest
    said = [part for part in (status, messages) if part]
    height = min(rows, max(layout.size.board_rows, LARGE.board_rows))
    spare = rows - sum(map(len, (*said, question, keys)))
    gap = [""] if spare >= len(said) else []
    found = [line for part in said for line in (*part, *gap)]
    found += [""] * (height - len(found) - len(question) - len(keys))
    return [*found, *question, *keys][:rows]


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
    """Put the keys in two columns, as far as they fit."""
    width = min(columns // 2, KEY_COLUMNS)
    rows: list[str] = []
    left = ""
    for key in keys:
        both = f"{pad(left, width - 2)}  {key}"
        if left and display_width(both) <= 2 * width:
            rows[-1], left = both, ""
        else:
            rows.append(key)
            left = key
    return rows if all(display_width(row) <= columns for row in rows) else _fewest_key_rows(keys, columns)


def _key_row(keys: Sequence[str], columns: int) -> str:
    """Return a row of the keys that fit: the first before the others, and of those the last."""
    shown: set[str] = set()
    for key in (*keys[:1], *reversed(keys[1:])):
        if display_width(" ".join([*shown, key])) <= columns:
            shown.add(key)
    return " ".join(key for key in keys if key in shown)


def _fewest_key_rows(keys: Sequence[str], columns: int) -> list[str]:
    """Return one row of keys; two if the first and the last don't fit into it together."""
    row = _key_row(keys, columns)
    alone = _key_row(keys[-1:], columns)
    return [row, alone] if row and alone not in row else [row] if row else []


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
        sign, style = view.free[cell], FREE
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
