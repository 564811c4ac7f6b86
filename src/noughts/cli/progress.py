"""A progress bar for a person at a terminal."""

from __future__ import annotations

from typing import Self, TextIO

BAR_COLUMNS = 30


class ProgressBar:
    """A bar that grows in place, only on a terminal; it is cleared at the end of its `with` block."""

    def __init__(self, total: int, out: TextIO | None) -> None:
        self._total = total
        self._out = out if out and out.isatty() else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def show(self, done: int) -> None:
        if self._out:
            filled = "#" * (BAR_COLUMNS * done // self._total)
            self._out.write(f"\r[{filled:<{BAR_COLUMNS}}] {100 * done // self._total} %")
            self._out.flush()

    def clear(self) -> None:
        if self._out:
            self._out.write(f"\r{'':<{BAR_COLUMNS + 8}}\r")
            self._out.flush()
