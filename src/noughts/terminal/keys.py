"""Single keys, heard without waiting for Enter."""

from __future__ import annotations

import termios
import tty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from noughts.terminal.waiting import Waiting

ARROW = "\x1b["
"""What an arrow key sends, before the letter that says which one it is."""

A_MOMENT = 0.05
"""In seconds: what an arrow sends comes together, while Escape stays alone."""

_BEGUN = ARROW[:1], ARROW


class Keys:
    """The keys of a terminal; leave its `with` block, and the terminal is as it was."""

    def __init__(self, terminal: int, waiting: Waiting) -> None:
        self._terminal = terminal
        self._waiting = waiting
        self._before = termios.tcgetattr(terminal)
        self._typed = ""

    def __enter__(self) -> Self:
        tty.setcbreak(self._terminal)
        return self

    def __exit__(self, *_: object) -> None:
        termios.tcsetattr(self._terminal, termios.TCSADRAIN, self._before)

    def read(self) -> str:
        """Wait for a key, and return it; nothing once the terminal is gone."""
        if not self._typed:
            self._typed = self._hear()
        while self._typed in _BEGUN and self._terminal in self._waiting.wait(self._terminal, A_MOMENT):
            self._typed += self._hear()
        length = len(ARROW) + 1 if self._typed.startswith(ARROW) else 1
        key, self._typed = self._typed[:length], self._typed[length:]
        return key

    def _hear(self) -> str:
        return self._waiting.read(self._terminal, 64).decode("utf-8", "replace")
