"""How far long work has come, for a person who waits at a terminal; nobody else sees it."""

from __future__ import annotations

from typing import TextIO

WIDTH = 30


class Bar:
    """A bar that grows to the right, in place; it goes where errors go, and never into a file."""

    def __init__(self, total: int, out: TextIO | None) -> None:
        self._total = total
        self._out = out if out and out.isatty() else None

    def show(self, done: int) -> None:
        """Show that so much of it is done."""
        if self._out:
            filled = "#" * (WIDTH * done // self._total)
            self._out.write(f"\r[{filled:<{WIDTH}}] {100 * done // self._total} %")
            self._out.flush()

    def clear(self) -> None:
        """Leave the line as it was."""
        if self._out:
            self._out.write(f"\r{'':<{WIDTH + 8}}\r")
            self._out.flush()
