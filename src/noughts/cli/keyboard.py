"""What a player types, or a file or a pipe says in her place: one clean line at a time."""

from __future__ import annotations

from typing import BinaryIO

from noughts.core.errors import NoughtsError

LONGEST_LINE = 1000
"""In bytes; nobody needs more to name a cell."""


class UnreadableLine(NoughtsError):
    """A line that is no plain text of a sensible length."""


def read_line(source: BinaryIO | None) -> str | None:
    """Return the next line, or None at the end of input; what is no plain text is refused."""
    if source is None or not (line := source.readline(LONGEST_LINE + 1)):
        return None
    if len(line) > LONGEST_LINE and not line.endswith(b"\n"):
        _skip_line(source)
        raise UnreadableLine(f"a line has at most {LONGEST_LINE} bytes, and this one has more")
    try:
        text = line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise UnreadableLine("that is no text: it is not UTF-8") from None
    if not text.replace("\t", " ").isprintable():
        raise UnreadableLine("that is no plain text: it has characters that cannot be shown")
    return text


def _skip_line(source: BinaryIO) -> None:
    """Drop the rest of a long line, however long, without holding it."""
    while (more := source.readline(1 << 16)) and not more.endswith(b"\n"):
        pass
