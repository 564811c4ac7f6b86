"""Single keys, heard without waiting for Enter."""

from __future__ import annotations

import os
import re
import signal
import termios
import tty
from contextlib import suppress
from typing import Self

from noughts.cli.signals import Waiting

A_MOMENT = 0.05
"""In seconds: what an arrow sends comes together, while Escape stays alone."""

NO_KEY = "\0"
"""What is heard when the terminal is ours again after a stop."""

_KEY = re.compile("\x1b(?:\\[[0-9;]*[A-Za-z~]|O[A-Za-z])|.", re.DOTALL)
_BEGUN = re.compile("\x1b(?:\\[[0-9;]*|O)?")


class Keys:
    """The keys of a terminal; leave its `with` block, and the terminal is as it was."""

    def __init__(self, terminal: int, waiting: Waiting) -> None:
        self._terminal = terminal
        self._waiting = waiting
        self._before = termios.tcgetattr(terminal)
        self._typed = ""

    def __enter__(self) -> Self:
        self._prepare()
        signal.signal(signal.SIGCONT, self._come_back)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGCONT, signal.SIG_DFL)
        with suppress(termios.error):  # the terminal may be gone
            termios.tcsetattr(self._terminal, termios.TCSADRAIN, self._before)

    def read(self) -> str:
        """Wait for a key, and return it; nothing once the terminal is gone."""
        if not self._typed:
            if self._terminal not in self._waiting.wait([self._terminal]):
                return NO_KEY
            self._typed = self._hear()
        while _BEGUN.fullmatch(self._typed) and self._more_comes():
            self._typed += self._hear()
        key = _KEY.match(self._typed)
        self._typed = self._typed[key.end() :] if key else ""
        return key.group() if key else ""

    def _prepare(self) -> None:
        """Hear keys at once."""
        tty.setcbreak(self._terminal)

    def _come_back(self, *_: object) -> None:
        """Hear keys at once again: a shell that stopped us meanwhile has made the terminal its own."""
        with suppress(termios.error):  # a terminal that goes says so with this signal, too
            self._prepare()

    def _more_comes(self) -> bool:
        return self._terminal in self._waiting.wait([self._terminal], A_MOMENT)

    def _hear(self) -> str:
        return os.read(self._terminal, 64).decode("utf-8", "replace")
