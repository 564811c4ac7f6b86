"""Output that fits the window: wrapped sentences and tables in parts; a pipe gets whole lines."""

from __future__ import annotations

import re
from io import StringIO

import pytest

from noughts.cli import layout
from noughts.cli.layout import fit, write_table
from noughts.text.columns import display_width, wrap


@pytest.mark.parametrize("columns", [1, 7, 20, 79])
@pytest.mark.parametrize(
    "text",
    ["", "a", "It takes a corner, on 2 open lines. " * 4, "三目並べ と 五目並べ と", "  two\n\n  lines "],
)
def test_wrapping_changes_nothing_but_spaces(text: str, columns: int) -> None:
    """A line is only wider than the window if it is a single word."""
    wrapped = wrap(text, columns)

    assert " ".join(wrapped).split() == text.split()
    for line in wrapped:
        assert display_width(line) <= columns or " " not in line.strip()


@pytest.mark.parametrize("columns", [1, 7, 20])
@pytest.mark.parametrize("text", ["a" * 50, "三目並べ" * 9, "one " + "two" * 30 + " three"])
def test_long_words_are_cut_if_nothing_may_be_wider(text: str, columns: int) -> None:
    lines = wrap(text, columns, cuts_words=True)

    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(display_width(line) <= columns or len(line) == 1 for line in lines)


def test_colours_take_no_room() -> None:
    assert wrap("\x1b[1;94mX\x1b[0m \x1b[2m2\x1b[0m 3", 5) == ["\x1b[1;94mX\x1b[0m \x1b[2m2\x1b[0m 3"]


def test_a_pipe_gets_whole_lines() -> None:
    assert fit("word " * 100, StringIO()) == "word " * 100


ROWS = [("", "one", "two", "three"), ("三目", "1", "22", "333"), ("b", "", "2", "3")]


@pytest.mark.parametrize(
    ("columns", "parts"),
    [
        (None, ["      one  two  three\n三目    1   22    333\nb            2      3\n"]),
        (
            14,
            [
                "      one  two\n三目    1   22\nb            2\n",
                "      three\n三目    333\nb         3\n",
            ],
        ),
        (
            1,
            [
                "      one\n三目    1\nb\n",
                "      two\n三目   22\nb       2\n",
                "      three\n三目    333\nb         3\n",
            ],
        ),
    ],
)
def test_a_table_that_is_too_wide_is_written_in_parts(
    columns: int | None, parts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each with the first column."""
    monkeypatch.setattr(layout, "window_columns", lambda _out: columns)
    out = StringIO()

    write_table(ROWS, out)

    assert out.getvalue() == "\n".join(parts)
    assert not re.search(" $", out.getvalue(), re.MULTILINE)
