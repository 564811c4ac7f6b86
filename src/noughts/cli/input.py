"""Input: whole lines from a keyboard, a file or a pipe, and single keys from a terminal."""

from __future__ import annotations

import os
import re
from codecs import getincrementaldecoder
from collections import deque
from collections.abc import Callable, Iterable
from typing import Protocol

from noughts.cli.signals import Poller
from noughts.core.errors import NoughtsError

MAX_LINE_BYTES = 1000
MAX_BUFFERED_LINES = 100
ESCAPE_SEQUENCE_SECONDS = 0.05
"""The bytes of an arrow key come together; Escape comes alone."""

_KEY = re.compile("\x1b(?:\\[M...|\\[\\[?[0-?]*[ -/]*[@-~]|O[A-Za-z])|.", re.DOTALL)
"""A character or a sequence; `[M` and three characters are the mouse, `[[` is a function key of Linux."""
_INCOMPLETE_KEY = re.compile("\x1b(?:\\[M.{0,2}|\\[\\[?[0-?]*[ -/]*|O)?", re.DOTALL)


class UnreadableLine(NoughtsError):
    """A line that is too long or not plain text."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key
        """The key of the sentence that says what is wrong."""


class LineSource(Protocol):
    """Where a player's lines come from."""

    has_ended: bool

    @property
    def sources(self) -> list[int]:
        """What to wait for; nothing at the end of input."""

    def feed(self) -> None:
        """Read what there is."""

    def __bool__(self) -> bool:
        """Return whether a line is complete."""

    def next_line(self) -> str:
        """Return and remove the next line; raise `UnreadableLine` if it is not one."""

    def read(self) -> str | None:
        """Wait for the next line; None at the end of input."""

    def redraw(self, question: str) -> None:
        """Show what is being typed behind a question that has just been asked."""

    def refresh(self) -> None:
        """Show the question again if it may be gone, as after a return from the background."""


class LineBuffer:
    """The lines of an input, for a program that also waits for other things."""

    def __init__(
        self, source: int | None, wait: Callable[[Iterable[int]], Iterable[int]] = tuple
    ) -> None:
        """Read from a file descriptor; `wait` returns those of several that can be read."""
        self._source = source
        self._wait = wait
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
        return _decode(self._lines.popleft())

    def read(self) -> str | None:
        """Wait for the next line; None at the end of input."""
        while not self and not self.has_ended:
            if {*self.sources} & {*self._wait(self.sources)}:
                self.feed()
        return self.next_line() if self else None

    def redraw(self, question: str) -> None:
        """Do nothing: the terminal itself shows what is typed."""

    def refresh(self) -> None:
        """Do nothing, as above."""


def _decode(line: bytes) -> str:
    if len(line) > MAX_LINE_BYTES:
        raise UnreadableLine("prompt.too_long")
    try:
        text = line.decode("utf-8").rstrip("\r")
    except UnicodeDecodeError:
        raise UnreadableLine("prompt.not_text") from None
    if not text.replace("\t", " ").isprintable():
        raise UnreadableLine("prompt.not_plain_text")
    return text


class KeyReader:
    """Splits what a terminal sends into keys: characters, and sequences such as those of arrows."""

    def __init__(self, terminal: int, poller: Poller) -> None:
        self.terminal = terminal
        self.poller = poller
        self.unread: deque[str] = deque()
        """The keys that have arrived, and that no screen has used yet."""
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self.has_ended = False
        """Whether the terminal is gone."""

    def feed(self) -> None:
        """Read what there is, after the rest of a key that is incomplete."""
        text = self._read_available()
        while not self.has_ended and _ends_incomplete(text) and self._has_more():
            text += self._read_available()
        self.unread.extend(_KEY.findall(text))

    def _has_more(self) -> bool:
        return self.terminal in self.poller.wait([self.terminal], ESCAPE_SEQUENCE_SECONDS)

    def _read_available(self) -> str:
        found = os.read(self.terminal, 4096)
        self.has_ended = not found
        return self._decode(found)


def _ends_incomplete(text: str) -> bool:
    return not text or _INCOMPLETE_KEY.fullmatch(text, max(text.rfind("\x1b"), 0)) is not None
