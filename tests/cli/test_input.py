"""Lines of input, and keys."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from noughts.cli.input import MAX_LINE_BYTES, KeyReader, LineBuffer, UnreadableLine
from noughts.cli.signals import Poller


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    os.close(reading)


def typed(pipe: tuple[int, int], text: bytes) -> LineBuffer:
    """Return a buffer for all this text and the end of input."""
    os.write(pipe[1], text)
    os.close(pipe[1])
    return LineBuffer(pipe[0])


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_a_line_ends_with_the_line_or_the_input(pipe: tuple[int, int], end: bytes) -> None:
    lines = typed(pipe, b"b 2\t" + end)

    assert (lines.read(), lines.read()) == ("b 2\t", None)


def test_an_empty_line_is_not_the_end_of_input(pipe: tuple[int, int]) -> None:
    lines = typed(pipe, b"\n")

    assert [lines.read(), lines.read(), LineBuffer(None).read()] == ["", None, None]


def test_the_longest_line_is_read(pipe: tuple[int, int]) -> None:
    assert typed(pipe, b"9" * MAX_LINE_BYTES + b"\n").read() == "9" * MAX_LINE_BYTES


@pytest.mark.parametrize(
    "line", [b"9" * (MAX_LINE_BYTES + 1), b"9" * 9000, b"\xff", b"\x1b[A", "\u202e".encode()]
)
def test_what_is_not_a_line_is_refused_and_skipped(pipe: tuple[int, int], line: bytes) -> None:
    lines = typed(pipe, line + b"\n5\n")

    with pytest.raises(UnreadableLine):
        lines.read()
    assert lines.read() == "5"


@pytest.mark.parametrize(
    ("pieces", "keys"),
    [
        ([b"5q"], ["5", "q"]),
        ([b"\x1b[A\x1bOB\x1b[1;5C"], ["\x1b[A", "\x1bOB", "\x1b[1;5C"]),
        ([b"\x1b[<0;12;7M"], ["\x1b[<0;12;7M"]),
        ([b"\x1b", b"[A"], ["\x1b[A"]),
        ([b"\x1b"], ["\x1b"]),
        ([b"\x1b\x1b[A"], ["\x1b", "\x1b[A"]),
        (["\u00e9".encode()[:1], "\u00e9".encode()[1:]], ["\u00e9"]),
        ([b"\xff5"], ["\ufffd", "5"]),
        ([b""], []),
    ],
)
def test_keys_are_told_apart(pipe: tuple[int, int], pieces: list[bytes], keys: list[str]) -> None:
    """Also if their bytes come one after the other."""
    waiting = [*pieces[1:]]

    class Arrivals(Poller):
        def __init__(self) -> None: ...

        def wait(self, _sources: object, _seconds: float | None = None) -> list[int]:
            os.write(pipe[1], waiting.pop(0) if waiting else b"")
            return [pipe[0]] if len(pieces) > 1 else []

    os.write(pipe[1], pieces[0])
    if not pieces[0]:
        os.close(pipe[1])

    reader = KeyReader(pipe[0], Arrivals())
    reader.feed()

    assert [*reader.unread] == keys
