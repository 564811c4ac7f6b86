"""Text that fits the window: sentences that wrap between words, and tables. A pipe gets whole lines."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TextIO

from noughts.text.columns import display_width, wrap

GAP = "  "
MIN_COLUMNS = 20
"""In a smaller window, the terminal breaks the lines."""


def window_size(out: TextIO | None) -> tuple[int, int] | None:
    """Return the columns and rows of the terminal; None if it is not one, or does not know them."""
    try:
        columns, rows = os.get_terminal_size(out.fileno()) if out else (0, 0)
    except (OSError, ValueError):
        return None
    return (columns, rows) if columns and rows else None


def window_columns(out: TextIO | None) -> int | None:
    """Return the width of the terminal; None if it is not one."""
    size = window_size(out)
    return size and size[0]


def fit(text: str, out: TextIO | None, indent: int = 0) -> str:
    """Wrap text for the terminal that it goes to, if that has room for a few words."""
    columns = window_columns(out) or 0
    return "\n".join(wrap(text, columns, indent)) if columns >= MIN_COLUMNS else text


def say(text: str, out: TextIO, indent: int = 0) -> None:
    """Write a sentence or several, wrapped for the terminal."""
    out.write(f"{fit(text, out, indent)}\n")


def write_table(
    rows: Sequence[Sequence[str]], out: TextIO, *, left: int = 1, repeated: int = 1, close: int = 0
) -> None:
    """Write rows with aligned columns: the first `left` to the left, the last `close` close together.

    A table that is wider than the window is written in parts, each with the first `repeated` columns.
    """
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    gaps = ["", *[GAP] * (len(widths) - close - 1), *[" "] * close][: len(widths)]
    for number, part in enumerate(_parts(widths, gaps, repeated, window_columns(out))):
        out.write("\n" if number else "")
        for row in rows:
            line = ""
            for column in part:
                blank = " " * (widths[column] - display_width(row[column]))
                text = f"{row[column]}{blank}" if column < left else f"{blank}{row[column]}"
                line += f"{gaps[column]}{text}"
            out.write(f"{line.rstrip()}\n")


def _parts(
    widths: Sequence[int], gaps: Sequence[str], repeated: int, room: int | None
) -> Iterator[list[int]]:
    """Return which columns stand side by side."""
    head = [*range(repeated)]
    part = [*head]
    for column in range(repeated, len(widths)):
        taken = sum(widths[one] + len(gaps[one]) for one in [*part, column])
        if room and part != head and taken > room:
            yield part
            part = [*head]
        part.append(column)
    yield part
