"""Lines from a keyboard, a file or a pipe."""

from __future__ import annotations

from io import BytesIO

import pytest

from noughts.cli.input import MAX_LINE_BYTES, UnreadableLine, read_line


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""], ids=ascii)
def test_a_line_is_read_without_its_end(end: bytes) -> None:
    assert read_line(BytesIO(b"b 2\t" + end)) == "b 2\t"


def test_after_the_last_line_there_is_none() -> None:
    source = BytesIO(b"\n")

    assert [read_line(source), read_line(source), read_line(None)] == ["", None, None]


@pytest.mark.parametrize("end", [b"\n", b""], ids=ascii)
def test_the_longest_line_is_accepted(end: bytes) -> None:
    assert read_line(BytesIO(b"9" * MAX_LINE_BYTES + end)) == "9" * MAX_LINE_BYTES


@pytest.mark.parametrize("length", [MAX_LINE_BYTES + 1, MAX_LINE_BYTES + 2, 10**7])
def test_a_longer_line_is_refused_and_the_next_one_accepted(length: int) -> None:
    """No part of it counts as a line."""
    source = BytesIO(b"9" * length + b"\n5\n")

    with pytest.raises(UnreadableLine, match=r"^a line has at most 1000 bytes, and this one has more$"):
        read_line(source)

    assert read_line(source) == "5"
