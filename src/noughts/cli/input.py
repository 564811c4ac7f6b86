"""Input: whole lines from a keyboard, a file or a pipe, and single keys from a terminal."""

from __future__ import annotations

import os
import re
import signal
import termios
import tty
from collections import deque
from contextlib import suppress
from io import BytesIO
from typing import BinaryIO, Self

from noughts.cli.signals import Poller
from noughts.core.errors import NoughtsError

MAX_LINE_BYTES = 1000
MAX_BUFFERED_LINES = 100
ESCAPE_SEQUENCE_SECONDS = 0.05
"""The bytes of an arrow key come together; Escape comes alone."""

NO_KEY = "\0"
"""Read when a signal ended the wait, such as a return from the background."""

_KEY = re.compile("\x1b(?:\\[[0-9;]*[A-Za-z~]|O[A-Za-z])|.", re.DOTALL)
_INCOMPLETE_KEY = re.compile("\x1b(?:\\[[0-9;]*|O)?")


class UnreadableLine(NoughtsError):
    """A line that is too long or not plain text."""


def read_line(source: BinaryIO | None) -> str | None:
    """Return the next line, or None at the end of input."""
    if source is None or not (line := source.readline(MAX_LINE_BYTES + 1)):
        return None
    if len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
        while (more := source.readline(1 << 16)) and not more.endswith(b"\n"):
            pass  # skip the rest of the line without keeping it
        raise UnreadableLine(f"a line has at most {MAX_LINE_BYTES} bytes, and this one has more")
    try:
        text = line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise UnreadableLine("that is not text: it is not UTF-8") from None
    if not text.replace("\t", " ").isprintable():
        raise UnreadableLine("that is not plain text: it has characters that cannot be shown")
    return text


class LineBuffer:
    """Lines that come while the program also waits for other things."""

    def __init__(self, source: int | None) -> None:
        self._source = source
        self._lines: deque[bytes] = deque()
        self._incomplete = b""
        self.has_ended = source is None

    @property
    def sources(self) -> list[int]:
        """What to wait for: nothing at the end of input, or while too many lines wait to be read."""
        waits = not self.has_ended and len(self._lines) < MAX_BUFFERED_LINES
        return [self._source] if waits and self._source is not None else []

    def feed(self) -> None:
        """Read what there is; of a line that is too long, just enough to notice."""
        if self._source is None:
            return
        more = os.read(self._source, 1 << 16)
        *lines, incomplete = (self._incomplete + more).split(b"\n")
        self._lines.extend(line[: MAX_LINE_BYTES + 1] for line in lines)
        self._incomplete = incomplete[: MAX_LINE_BYTES + 1]
        if not more:
            self.has_ended = True
            if self._incomplete:  # the last line may have no newline
                self._lines.append(self._incomplete)

    def __bool__(self) -> bool:
        return bool(self._lines)

    def next_line(self) -> str:
        """Return and remove the next line."""
        return read_line(BytesIO(self._lines.popleft() + b"\n")) or ""


class Keys:
    """The keys of a terminal, without waiting for Enter; `with` restores the terminal at the end."""

    def __init__(self, terminal: int, poller: Poller) -> None:
        self._terminal = terminal
        self._poller = poller
        self._before = termios.tcgetattr(terminal)
        self._pending = ""

    def __enter__(self) -> Self:
        tty.setcbreak(self._terminal)
        signal.signal(signal.SIGCONT, self._on_continue)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGCONT, signal.SIG_DFL)
        with suppress(termios.error):  # the terminal may be gone
            termios.tcsetattr(self._terminal, termios.TCSADRAIN, self._before)

    def read(self) -> str:
        """Wait for a key, and return it; "" once the terminal is gone."""
        if not self._pending:
            if self._terminal not in self._poller.wait([self._terminal]):
                return NO_KEY
            self._pending = self._read_available()
        while _INCOMPLETE_KEY.fullmatch(self._pending) and self._has_more():
            self._pending += self._read_available()
        key = _KEY.match(self._pending)
        self._pending = self._pending[key.end() :] if key else ""
        return key.group() if key else ""

    def _on_continue(self, *_: object) -> None:
        """Set the terminal up again: the shell changed it while we were stopped."""
        with suppress(termios.error):  # a terminal that closes sends this signal, too
            tty.setcbreak(self._terminal)

    def _has_more(self) -> bool:
        return self._terminal in self._poller.wait([self._terminal], ESCAPE_SEQUENCE_SECONDS)

    def _read_available(self) -> str:
        return os.read(self._terminal, 64).decode("utf-8", "replace")
