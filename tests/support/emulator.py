"""A small terminal emulator: what a person sees after everything that a command has written."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder

from noughts.text.columns import display_width

_PART = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|\x1b[78]|(\r)|(\n)|([^\x1b\r\n])", re.DOTALL)

_INCOMPLETE = re.compile(r"\x1b(?:\[[?0-9;]*)?\Z")


class Emulator:
    """The rows of a window, with its two pages; text that is too wide wraps, as terminals do it."""

    def __init__(self, columns: int, rows: int) -> None:
        self.size = columns, rows
        self.modes: set[str] = set()
        self.has_scrolled = False
        self.frames: list[str] = []
        """What was to be seen each time that the full screen had been drawn."""
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self._pending = ""
        self._pages = {False: [""] * rows, True: [""] * rows}
        self._cursors = {False: (0, 0), True: (0, 0)}

    @property
    def is_full_screen(self) -> bool:
        return "?1049" in self.modes

    @property
    def rows(self) -> list[str]:
        """The visible rows, without spaces at their ends."""
        return [row.replace("\0", "").rstrip() for row in self._pages[self.is_full_screen]]

    @property
    def text(self) -> str:
        return "\n".join(self.rows)

    @property
    def cursor(self) -> tuple[int, int]:
        """The column and row of the cursor."""
        return self._cursors[self.is_full_screen]

    def resize(self, columns: int, rows: int) -> None:
        self.size = columns, rows
        for page, content in self._pages.items():
            self._pages[page] = [*content, *[""] * rows][:rows]
            column, row = self._cursors[page]
            self._cursors[page] = column, min(row, rows - 1)

    def feed(self, output: bytes) -> None:
        text = self._pending + self._decode(output)
        self._pending = found.group() if (found := _INCOMPLETE.search(text)) else ""
        for found in _PART.finditer(text.removesuffix(self._pending)):
            numbers, command, back, down, sign = found.groups()
            if command:
                self._control(numbers, command)
            elif back:
                self._move(0, self.cursor[1])
            elif down:
                self._go_down()
            elif sign:
                self._write(sign)

    def _control(self, numbers: str, command: str) -> None:
        column, row = self.cursor
        page = self._pages[self.is_full_screen]
        values = [int(number) for number in numbers.strip("?").split(";") if number]
        match command:
            case "H":
                down, across = values or (1, 1)
                self._move(across - 1, down - 1)
            case "C":
                self._move(column + (values or [1])[0], row)
            case "K":
                page[row] = page[row][:column]
            case "J":
                page[row:] = [page[row][:column], *[""] * (len(page) - row - 1)]
                if self.is_full_screen:
                    self.frames.append(self.text)
            case "h" | "l" if command == "h":
                self.modes.add(numbers)
            case "l":
                self.modes.discard(numbers)

    def _move(self, column: int, row: int) -> None:
        self._cursors[self.is_full_screen] = column, min(row, self.size[1] - 1)

    def _go_down(self) -> None:
        column, row = self.cursor
        if row == self.size[1] - 1:
            page = self._pages[self.is_full_screen]
            page[:] = [*page[1:], ""]
            self.has_scrolled |= self.is_full_screen
        self._move(column, row + 1)

    def _write(self, sign: str) -> None:
        width = display_width(sign)
        if self.cursor[0] + width > self.size[0]:
            self._move(0, self.cursor[1])
            self._go_down()
        column, row = self.cursor
        page = self._pages[self.is_full_screen]
        line = page[row].ljust(column)
        written = sign + "\0" * (width - 1)  # a wide sign takes two places
        page[row] = line[:column] + written + line[column + max(width, 1) :]
        self._move(column + width, row)
