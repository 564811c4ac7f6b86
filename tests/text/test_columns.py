"""The width of text on a terminal."""

from __future__ import annotations

import pytest

from noughts.text.columns import display_width, shorten, wrap


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("club", "club"),
        ("a" * 10, "a" * 10),
        ("a" * 11, "a" * 9 + "…"),
        ("三目並べ:", "三目並べ:"),
        ("三目並べです", "三目並べ…"),
        ("e\u0301" * 10, "e\u0301" * 10),
        ("\x1b[2J", r"\x1b[2J"),
    ],
)
def test_a_name_is_shortened_to_its_columns(name: str, shown: str) -> None:
    assert shorten(name, 10) == shown
    assert display_width(shown) <= 10


@pytest.mark.parametrize(
    ("columns", "lines"),
    [
        (30, ["O forces a fork with a corner", "(2, then 1, 9, 4) and wins."]),
        (35, ["O forces a fork with a corner", "(2, then 1, 9, 4) and wins."]),
        (10, ["O forces a", "fork with", "a corner", "(2, then", "1, 9, 4)", "and wins."]),
    ],
)
def test_moves_in_brackets_stay_together_if_they_fit(columns: int, lines: list[str]) -> None:
    assert wrap("O forces a fork with a corner (2, then 1, 9, 4) and wins.", columns) == lines
