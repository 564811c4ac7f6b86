"""All 5,478 positions: the rules of each, compared with a plain second implementation."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from noughts import SYMMETRIES, Board, Mark, O, X, errors, parse_board, reachable

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]

ALL = reachable()


def winner(signs: str) -> str:
    """Find the winner the slow and obvious way."""
    return next((signs[a] for a, b, c in LINES if signs[a] == signs[b] == signs[c] != "_"), "")


def test_there_are_5478_positions_of_which_958_are_finished() -> None:
    """626 won by X, 316 won by O, 16 drawn."""
    ends = Counter(board.winner for board in ALL if board.is_over)

    assert len(ALL) == len(set(ALL)) == 5_478
    assert ends == {X: 626, O: 316, None: 16}


def test_positions_come_with_fewer_tokens_first() -> None:
    counts = [board.count for board in ALL]

    assert counts == sorted(counts)
    assert ALL[0] is Board()


def check(board: Board) -> None:
    """Compare a board with its text alone."""
    signs = str(board).replace("/", "")
    won = winner(signs)
    assert str(board.winner or "") == won
    assert board.is_over == bool(won or "_" not in signs)
    assert board.is_draw == (not won and "_" not in signs)
    assert board.count == 9 - signs.count("_")
    assert board.turn is (board.first if board.count % 2 == 0 else board.first.other)
    assert board.free_cells == tuple(cell for cell in range(9) if signs[cell] == "_")
    assert [str(mark or "_") for mark in board.cells] == list(signs)
    lines = {cell for line in LINES if won and all(signs[c] == won for c in line) for cell in line}
    assert board.winning_cells == tuple(sorted(lines))


@pytest.mark.usefixtures("empty_board_cache")
@pytest.mark.parametrize("first", Mark)
def test_each_position_matches_the_second_implementation(first: Mark) -> None:
    boards = reachable(first)

    assert len(boards) == len(set(boards)) == 5_478
    for board in boards:
        check(board)


@pytest.mark.usefixtures("empty_board_cache")
def test_a_token_leads_to_the_same_board_the_first_time_and_later() -> None:
    for cell in range(9):
        once = Board().place(cell)
        assert once is Board().place(cell) is Board(1 << cell, 0)
        answered = once.place((cell + 1) % 9)
        assert answered is once.place((cell + 1) % 9) is Board(1 << cell, 1 << (cell + 1) % 9)


def fault(signs: str) -> type[errors.ImpossibleBoard] | None:
    """Return what is wrong with a board, if anything."""
    ahead = signs.count("X") - signs.count("O")
    x_won, o_won = (any(all(signs[c] == mark for c in line) for line in LINES) for mark in "XO")
    if ahead not in (0, 1):
        return errors.WrongCounts
    if x_won and o_won:
        return errors.TwoWinners
    return errors.MoveAfterEnd if (x_won and ahead == 0) or (o_won and ahead == 1) else None


@pytest.mark.thorough
@pytest.mark.usefixtures("empty_board_cache")
def test_exactly_the_reachable_boards_are_accepted() -> None:
    """There are 19,683 ways to fill nine cells; each unreachable one is refused for the right reason."""
    taken, refused = set(), Counter[type]()

    for signs in map("".join, product("_XO", repeat=9)):
        if wrong := fault(signs):
            with pytest.raises(wrong):
                parse_board(signs)
            refused[wrong] += 1
        else:
            taken.add(parse_board(signs))

    assert {str(board) for board in taken} == {str(board) for board in ALL}
    assert refused.total() == 3**9 - 5_478
    assert len(refused) == 3


def test_o_starting_swaps_the_marks_of_every_position() -> None:
    swap = str.maketrans("XO", "OX")

    assert {str(board) for board in reachable(O)} == {str(board).translate(swap) for board in ALL}
    assert all(board.first is O for board in reachable(O))


def test_there_are_765_classes_under_symmetry() -> None:
    """138 of them are finished: 91 won by X, 44 won by O, 3 drawn."""
    classes = {board.canonical for board in ALL}
    ends = Counter(board.winner for board in classes if board.is_over)

    assert len(classes) == 765
    assert ends == {X: 91, O: 44, None: 3}


@pytest.mark.thorough
def test_a_board_and_its_images_share_their_canonical_form() -> None:
    for board in ALL:
        canonical = board.canonical
        images = {board.image(symmetry) for symmetry in SYMMETRIES}
        assert canonical in images
        assert (canonical.x, canonical.o) == min((image.x, image.o) for image in images)
        assert {image.canonical for image in images} == {canonical}
        assert {image.winner for image in images} == {board.winner}


@pytest.mark.thorough
@pytest.mark.parametrize("first", Mark)
def test_every_illegal_token_on_every_position_is_refused(first: Mark) -> None:
    known = set(reachable(first))
    for board in known:
        for cell, mark in product(range(-1, 10), Mark):
            legal = not board.is_over and cell in board.free_cells and mark is board.turn
            assert (board.why_not(cell, mark) is None) == legal
            if legal:
                assert board.place(cell, mark) in known
