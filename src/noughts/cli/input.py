"""What is typed while something else is waited for, too: whole lines, taken in as they come."""

from __future__ import annotations

import os
from collections import deque
from io import BytesIO

from noughts.cli.keyboard import LONGEST_LINE, read_line

MOST_LINES = 100
"""How many lines wait to be heard: those after them stay where they are."""


class Typed:
    """A keyboard, or a file or pipe in its place; `None` is one that nobody types on."""

    def __init__(self, number: int | None) -> None:
        self._number = number
        self._lines: deque[bytes] = deque()
        self._begun = b""
        self.has_ended = number is None

    @property
    def sources(self) -> list[int]:
        """What to wait for."""
        waits = self._number is not None and not self.has_ended and len(self._lines) < MOST_LINES
        return [self._number] if waits and self._number is not None else []

    def take_in(self) -> None:
        """Take in what there is; of a line that is too long, so much that this is seen."""
        if self._number is None:
            return
        more = os.read(self._number, 1 << 16)
        *ended, begun = (self._begun + more).split(b"\n")
        self._lines.extend(line[: LONGEST_LINE + 1] for line in ended)
        self._begun = begun[: LONGEST_LINE + 1]
        if not more:
            self.has_ended = True
            if self._begun:  # a last line without an end counts
                self._lines.append(self._begun)

    def __bool__(self) -> bool:
        """Tell whether there is a line to hear."""
        return bool(self._lines)

    def next_line(self) -> str:
        """Return the next line; what is no plain text is refused, and gone."""
        return read_line(BytesIO(self._lines.popleft() + b"\n")) or ""
