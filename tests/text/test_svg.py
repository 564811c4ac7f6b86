"""Boards as SVG."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from noughts import Board, Mark, O, X, advise, describe, errors, svg
from noughts.core.board import LINES
from noughts.text.svg import INK, LABELS, RULE
from support.positions import positions

SVG = "{http://www.w3.org/2000/svg}"


def drawn(board: Board, last: int | None = None, *, coach: bool = False) -> ET.Element:
    return ET.fromstring(svg(board, last, coach=coach))  # noqa: S314 - our own picture


def luminance(colour: str) -> float:
    """Return the relative luminance that WCAG defines."""
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("first", Mark)
def test_every_position_is_drawn_with_its_marks_and_lines(first: Mark) -> None:
    for board in positions(first):
        picture = drawn(board)
        strokes = [shape for shape in picture.iter() if shape.get("stroke-width") == "11"]
        lines = [shape for shape in picture.iter() if shape.get("stroke-opacity")]
        won = [
            line for line in LINES if board.winner and (board.x & line == line or board.o & line == line)
        ]

        assert picture.get("role") == "img"
        assert picture.findtext(f"{SVG}title") == describe(board)
        assert [shape.get("stroke") for shape in strokes] == [INK[mark] for mark in board if mark]
        assert [shape.get("stroke") for shape in lines] == [INK[board.winner or X]] * len(won)
        assert not picture.findall(f"{SVG}text")


def test_a_win_is_a_stroke_through_its_three_cells() -> None:
    paths = [shape.get("d") for shape in drawn(Board.parse("XX_/XO_/XOO")).iter(f"{SVG}path")]

    assert "M50 50L50 250" in paths


def test_the_last_move_has_a_field_in_its_colour() -> None:
    board = Board.from_moves([4, 2])
    (field,) = drawn(board, last=2).iter(f"{SVG}rect")

    assert (field.get("x"), field.get("y"), field.get("fill")) == ("208", "8", INK[O])
    assert not list(drawn(board).iter(f"{SVG}rect"))


@pytest.mark.parametrize(
    ("last", "message"),
    [
        (0, "cell 0 is free in '___/_X_/___', so it is not the last move"),
        (9, "9 is not a cell: cells are 0 to 8, row by row"),
    ],
)
def test_a_free_cell_is_not_the_last_move(last: int, message: str) -> None:
    with pytest.raises(errors.NoughtsError) as raised:
        svg(Board().place(4), last)

    assert str(raised.value) == message


@pytest.mark.parametrize("first", Mark)
def test_the_coach_labels_every_move_and_frames_the_best(first: Mark) -> None:
    for board in positions(first):
        picture, moves = drawn(board, coach=True), advise(board)
        results = [str(move.prospect.result) for move in moves]
        labels = [label.text or "" for label in picture.iter(f"{SVG}text")]
        frames = [frame.get("x") for frame in picture.iter(f"{SVG}rect")]

        assert [label.split(" ")[0][1:] for label in labels] == results
        assert frames == [str(move.cell % 3 * 100 + 8) for move in moves if move.is_best]
        assert ("Best: " in (picture.findtext(f"{SVG}title") or "")) is not board.is_over


def test_labels_say_how_soon() -> None:
    labels = [label.text for label in drawn(Board.parse("XX_/OO_/___"), coach=True).iter(f"{SVG}text")]

    assert labels == ["+win 1", "=draw", "-loss 2", "-loss 2", "-loss 2"]


@pytest.mark.parametrize("page", ["#ffffff", "#111111"])
def test_colours_can_be_read_on_light_and_dark_pages(page: str) -> None:
    colours = [RULE, *INK.values(), *(colour for _, colour in LABELS.values())]

    assert min(contrast(colour, page) for colour in colours) > 3.5
