"""A progress bar for a person at a terminal."""

from __future__ import annotations

import time
from typing import Self, TextIO

from noughts.cli.layout import window_columns

BAR_COLUMNS = 30
DELAY_SECONDS = 1.0
"""How long work takes before its progress is worth showing."""


class ProgressBar:
    """A bar that grows in place, only on a terminal; it is cleared at the end of its `with` block."""

    def __init__(self, total: int, out: TextIO | None, *, delay_seconds: float = 0) -> None:
        has_room = (window_columns(out) or 80) > BAR_COLUMNS + 10
        self._total = total
        self._out = out if out and out.isatty() and has_room else None
        self._start = time.monotonic() + delay_seconds
        self._is_shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def show(self, done: int) -> None:
        if self._out and (self._is_shown or time.monotonic() >= self._start):
            self._is_shown = True
            filled = "#" * (BAR_COLUMNS * done // self._total)
            self._out.write(f"\r[{filled:<{BAR_COLUMNS}}] {100 * done // self._total} %")
            self._out.flush()

    def clear(self) -> None:
        if self._out and self._is_shown:
            self._is_shown = False
            self._out.write(f"\r{'':<{BAR_COLUMNS + 8}}\r")
            self._out.flush()
