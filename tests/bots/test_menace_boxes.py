"""Which positions share a box, and which moves share a bead."""

from __future__ import annotations

from collections import Counter

import pytest

from noughts import SYMMETRIES, Board, Mark, O, X, parse_board, reachable
from noughts.bots.menace.boxes import Box, boxes, find_box
from support.reference.symmetry import (
    box_of,
    clockwise,
    images,
    mirrored,
    move_of,
    positions_with_a_choice,
)
from support.reference.tactics import free, signs_of, wins

WITH_A_CHOICE = [
    board
    for first in Mark
    for board in reachable(first)
    if not board.is_over and len(board.free_cells) > 1
]


def boxes_of(answering: int) -> list[Box]:
    """Return the boxes of the machine that starts (0), or of the one that answers (1)."""
    return [box for box in boxes() if box.board.count % 2 == answering]


def test_the_reference_turns_and_mirrors() -> None:
    assert clockwise("abcdefghi") == "gdahebifc"
    assert mirrored("abcdefghi") == "cbafedihg"
    assert len(set(images("abcdefghi"))) == 8
    assert move_of("_________", 2) == move_of("_________", 6) != move_of("_________", 4)


def test_a_machine_that_starts_has_304_boxes() -> None:
    """As Michie's had: 1, 12, 108 and 183 for its first, second, third and fourth move."""
    boxes = boxes_of(answering=0)

    assert len(boxes) == 304
    assert Counter(box.stage for box in boxes) == {0: 1, 1: 12, 2: 108, 3: 183}


def test_17_of_them_are_lost_already() -> None:
    """The opponent has two threats and the machine none; without them there are 287."""
    written = [signs_of(box.board) for box in boxes_of(answering=0)]

    assert sum(len(wins(signs, "O")) > 1 and not wins(signs, "X") for signs in written) == 17


def test_a_machine_that_answers_has_289_boxes() -> None:
    """3, 38, 153 and 95 for its first, second, third and fourth move."""
    boxes = boxes_of(answering=1)

    assert len(boxes) == 289
    assert Counter(box.stage for box in boxes) == {0: 3, 1: 38, 2: 153, 3: 95}


def test_the_boxes_of_the_machine_that_starts_come_first() -> None:
    assert [box.board.count % 2 for box in boxes()] == [0] * 304 + [1] * 289


def test_there_is_one_box_for_each_position_that_looks_different() -> None:
    counted = Counter(box_of(signs_of(box.board)) for box in boxes())

    assert set(counted) == {box_of(signs) for signs in positions_with_a_choice()}
    assert set(counted.values()) == {1}


def test_a_label_shows_a_game_that_x_started() -> None:
    assert all(box.board.first is X and box.board.canonical is box.board for box in boxes())


def test_there_is_a_kind_of_bead_for_each_move_that_looks_different() -> None:
    for box in boxes():
        signs = signs_of(box.board)
        firsts: dict[tuple[str, int], int] = {}
        for cell in sorted(free(signs)):
            firsts.setdefault(move_of(signs, cell), cell)
        assert box.cells == tuple(firsts.values())


def test_every_position_with_a_choice_has_its_place() -> None:
    assert len(WITH_A_CHOICE) == 2 * len(positions_with_a_choice())
    for board in WITH_A_CHOICE:
        label = boxes()[find_box(board).box].board
        seen = signs_of(board)
        if board.first is O:
            seen = seen.translate(str.maketrans("XO", "OX"))
        assert box_of(signs_of(label)) == box_of(seen)


def test_images_share_a_box() -> None:
    for board in WITH_A_CHOICE:
        assert {find_box(board.image(turn)).box for turn in SYMMETRIES} == {find_box(board).box}


def test_the_kinds_of_beads_cover_exactly_the_free_cells() -> None:
    for board in WITH_A_CHOICE:
        place = find_box(board)
        assert sorted(place.kinds) == list(board.free_cells)
        assert set(place.kinds.values()) == set(range(len(place.cells)))
        assert [place.kinds[cell] for cell in place.cells] == list(range(len(place.cells)))


def test_cells_are_of_one_kind_exactly_when_they_come_to_the_same() -> None:
    for board in WITH_A_CHOICE:
        signs, kinds = signs_of(board), find_box(board).kinds
        names = {cell: move_of(signs, cell) for cell in board.free_cells}
        for cell in board.free_cells:
            alike = {other for other in names if names[other] == names[cell]}
            assert alike == {other for other in kinds if kinds[other] == kinds[cell]}


def test_a_bead_means_the_same_move_in_every_image() -> None:
    for board in WITH_A_CHOICE:
        if board.first is X:
            place = find_box(board)
            box = boxes()[place.box]
            for cell, on_label in zip(place.cells, box.cells, strict=True):
                assert move_of(signs_of(board), cell) == move_of(signs_of(box.board), on_label)


def test_a_place_is_the_same_whichever_mark_started() -> None:
    for board in reachable():
        if not board.is_over and len(board.free_cells) > 1:
            assert find_box(Board(board.o, board.x, O)) == find_box(board)


@pytest.mark.parametrize(
    ("written", "kinds"),
    [
        ("___/___/___", [{0, 2, 6, 8}, {1, 3, 5, 7}, {4}]),
        ("X__/_O_/___", [{1, 3}, {2, 6}, {5, 7}, {8}]),
        ("X__/_O_/__X", [{1, 3, 5, 7}, {2, 6}]),
        ("XO_/___/___", [{2}, {3}, {4}, {5}, {6}, {7}, {8}]),
    ],
)
def test_kinds_of_known_positions(written: str, kinds: list[set[int]]) -> None:
    """Corners, edges and the centre at first; then by the symmetry that is left."""
    found = find_box(parse_board(written)).kinds
    grouped = [{cell for cell in found if found[cell] == kind} for kind in set(found.values())]

    assert sorted(map(sorted, grouped)) == sorted(map(sorted, kinds))
