"""How a live board fills a window: all positions, all sizes."""

from __future__ import annotations

import pytest

from noughts import Board, Cell
from noughts.cli.frame import (
    ASCII,
    HUGE,
    LARGE,
    SMALL,
    UNICODE,
    CellSize,
    Glyphs,
    View,
    lay_out,
    lay_out_page,
    plan,
)
from noughts.text.columns import display_width
from support.positions import positions

NUMBERS = "123456789"
KEYS = "h hint", "w why", "u undo", "r resign", "? help", "q quit"
FOOTERS = "any key goes back", "space: more, any other key: back", "space more, q back"
SIZES = [(columns, rows) for columns in (1, 5, 19, 20, 43, 44, 80, 200) for rows in (1, 4, 5, 10, 24, 60)]


def view(board: Board, last: Cell | None = None, cursor: Cell | None = None) -> View:
    talk = ("Ann \u540d\u540d, your move.", ("a" * 90, "two words"), "Sure?", KEYS)
    return View(board, NUMBERS, last, cursor, "you 2 · Medium 1", *talk)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_nothing_is_wider_or_higher_than_the_window(size: tuple[int, int]) -> None:
    for board in (Board(), Board.from_moves([4, 0, 8]), Board.from_moves([0, 4, 1, 8, 2])):
        for cursor in (None, 0, 8):
            frame = lay_out(view(board, cursor=cursor, last=4), *size, UNICODE, colour=True)

            assert len(frame.rows) <= size[1]
            assert all(display_width(row) <= size[0] for row in frame.rows)
            if frame.cursor:
                assert frame.cursor[0] < size[0]
                assert frame.cursor[1] < size[1]


@pytest.mark.parametrize(
    ("size", "cells"),
    [((20, 5), SMALL), ((60, 12), LARGE), ((30, 20), LARGE), ((80, 24), LARGE), ((200, 60), HUGE)],
)
def test_cells_are_as_large_as_the_window_allows(size: tuple[int, int], cells: CellSize) -> None:
    assert lay_out(view(Board()), *size, UNICODE, colour=False).size is cells


@pytest.mark.parametrize("size", [(20, 5), (80, 24), (30, 30), (200, 60)], ids=str)
def test_the_cursor_is_in_the_cell_that_a_click_there_means(size: tuple[int, int]) -> None:
    for cell in range(9):
        frame = lay_out(view(Board(), cursor=cell), *size, UNICODE, colour=False)

        assert frame.cursor
        assert frame.cell_at(*frame.cursor) == cell
        clicked = {frame.cell_at(column, row) for column in range(size[0]) for row in range(size[1])}
        assert clicked == {*range(9), None}


@pytest.mark.parametrize("size", [(20, 5), (44, 10), (30, 24), (80, 24), (200, 60)], ids=str)
def test_the_keys_stay_where_they_are_whatever_is_said(size: tuple[int, int]) -> None:
    last_rows = set()
    for messages in ((), ("Take 5.",), ("Medium takes 5.", "O on 5 has four lines still open.")):
        seen = View(Board(), NUMBERS, status="Your move.", messages=messages, keys=KEYS)
        rows = lay_out(seen, *size, UNICODE, colour=False).rows
        last_rows |= {number for number, row in enumerate(rows) if "q quit" in row}

    assert len(last_rows) == 1


def test_a_large_window_shows_everything_in_its_middle() -> None:
    frame = lay_out(view(Board()), 200, 60, UNICODE, colour=False)

    assert frame.origin == (51, 22)


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_every_position_is_told_apart(glyphs: Glyphs) -> None:
    """In each size of cells."""
    for size in ((20, 5), (80, 24), (200, 60)):
        seen = {lay_out(View(board, NUMBERS), *size, glyphs, colour=False).rows for board in positions()}
        assert len(seen) == len(positions())


def test_an_ascii_terminal_gets_only_ascii() -> None:
    for size in ((20, 5), (80, 24), (200, 60)):
        frame = lay_out(
            View(Board.from_moves([4, 0]), NUMBERS, last=0, cursor=8), *size, ASCII, colour=True
        )
        assert "".join(frame.rows).isascii()


def test_the_last_move_and_the_winning_line_are_marked() -> None:
    won = Board.from_moves([0, 4, 1, 8, 2])
    for size in ((20, 5), (80, 24), (200, 60)):
        plain = lay_out(View(won, NUMBERS), *size, UNICODE, colour=False).rows
        marked = lay_out(View(won, NUMBERS, last=2), *size, UNICODE, colour=False).rows

        assert "".join(plain).count("\x1b[7m") == (9 if size == (200, 60) else 3)
        assert marked != plain


@pytest.mark.parametrize("size", [(20, 5), (44, 10), (80, 24)], ids=str)
def test_a_long_page_is_read_to_its_end(size: tuple[int, int]) -> None:
    text = "\n".join(f"line {number}" for number in range(100))
    last_top = lay_out_page(text, 0, *size, FOOTERS).last_top

    pages = [lay_out_page(text, top, *size, FOOTERS) for top in range(last_top + 1)]

    assert {*text.split("\n")} <= {row for page in pages for row in page.rows}
    assert lay_out_page(text, 10**9, *size, FOOTERS) == pages[-1]


@pytest.mark.parametrize("columns", [20, 33, 44, 80])
def test_a_page_fits_into_its_window(columns: int) -> None:
    address = f"noughts join https://{'a' * 90}"
    text = f"{'名' * 40} against {'b' * 32}\n{address}\nthe end"

    *rows, footer = lay_out_page(text, 0, columns, 4, FOOTERS).rows

    assert all(display_width(row) < columns for row in rows if row != address)
    assert footer == f"\x1b[2m{FOOTERS[2 if columns == 20 else 1]}\x1b[0m"
    assert address in lay_out_page(text, 10**9, columns, 4, FOOTERS).rows


@pytest.mark.parametrize("name", ["Ann", "a" * 14, "a" * 32])
@pytest.mark.parametrize("size", [(20, 5), (24, 5), (30, 24)], ids=str)
def test_the_end_of_a_game_shows_how_to_go_on_and_how_to_leave(size: tuple[int, int], name: str) -> None:
    keys = "Enter again", "+ harder", "- easier", "o other mark", "w review", "q quit"
    seen = View(Board(), NUMBERS, status=f"{name} won.", question="What next?", keys=keys, is_over=True)

    shown = "\n".join(lay_out(seen.replace(score=f"{name} 1 · Bob 0"), *size, UNICODE, colour=False).rows)

    assert all(text in shown for text in ("What next?", "Enter again", "q quit"))


@pytest.mark.parametrize(
    ("columns", "score", "heading"),
    [
        (30, "you 0 · Ann 0", "  noughts  you 0 · Ann 0"),
        (30, "you 0 · Unbeatable 0", "  you 0 · Unbeatable 0"),
        (30, "a" * 29, "  noughts"),
    ],
)
def test_the_score_takes_the_place_of_the_title(columns: int, score: str, heading: str) -> None:
    top = lay_out(View(Board(), NUMBERS, score=score), columns, 24, UNICODE, colour=False).rows[0]

    assert top.replace("\x1b[1m", "").replace("\x1b[0m", "").rstrip() == heading


def test_sentences_are_short_only_where_there_is_little_room() -> None:
    sizes = (20, 5), (30, 10), (30, 24), (44, 10), (80, 24)

    assert [size for size in sizes if plan(*size).is_short] == [(20, 5), (30, 10)]
