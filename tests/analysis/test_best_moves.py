"""The moves of the perfect policy, compared with the reference."""

from __future__ import annotations

from fractions import Fraction

import pytest

from noughts import SYMMETRIES, Board, Mark, O, X, parse_board, reachable
from noughts.analysis.best_moves import perfect_cells
from support.reference.tactics import hope, in_play, minimax, most_hopeful, moves, preference, put, seen

IN_PLAY = in_play(X, O)


def worst_end(board: Board, seat: Mark, known: dict[Board, tuple[int, int]]) -> tuple[int, int]:
    """Return the worst result for a player who takes any best cell, and after how many tokens.

    Every answer of the opponent is tried.
    """
    if board not in known:
        if board.is_over:
            known[board] = 0 if board.winner is None else 1 if board.winner is seat else -1, 0
        else:
            cells = perfect_cells(board) if board.turn is seat else board.free_cells
            ends = (worst_end(board.place(cell), seat, known) for cell in cells)
            result, distance = min(ends, key=preference)
            known[board] = result, distance + 1
    return known[board]


@pytest.mark.parametrize("seat", Mark)
@pytest.mark.parametrize("first", Mark)
def test_it_never_loses_whatever_the_opponent_does(first: Mark, seat: Mark) -> None:
    known: dict[Board, tuple[int, int]] = {}
    worst_end(Board(first=first), seat, known)

    ends = {board.winner for board in known if board.is_over}
    assert ends == {seat, None}
    assert all(result >= 0 for result, _ in known.values())


@pytest.mark.parametrize("seat", Mark)
@pytest.mark.parametrize("first", Mark)
def test_from_any_position_it_gets_what_the_position_is_worth(first: Mark, seat: Mark) -> None:
    known: dict[Board, tuple[int, int]] = {}
    for board in reachable(first):
        if board.turn is seat and not board.is_over:
            assert worst_end(board, seat, known) == minimax(*seen(board)), board


def test_it_takes_the_fastest_win() -> None:
    for board in IN_PLAY:
        signs, mark = seen(board)
        result, distance = minimax(signs, mark)
        if result == 1:
            for cell in perfect_cells(board):
                assert moves(signs, mark)[cell] == (1, distance)
                assert (board.place(cell).winner is board.turn) == (distance == 1)


def test_among_equal_moves_it_takes_those_with_the_best_expectation() -> None:
    """Against an opponent who moves at random."""
    choices = 0
    for board in IN_PLAY:
        signs, mark = seen(board)
        ends = moves(signs, mark)
        equal = [cell for cell, end in ends.items() if end == minimax(signs, mark)]
        hopes = {cell: hope(put(signs, mark, cell), mark) for cell in equal}
        highest = max(hopes.values())
        best = [cell for cell, expected in hopes.items() if expected == highest]
        assert perfect_cells(board) == tuple(best), board
        assert set(best) == most_hopeful(signs, mark)[0]
        choices += len(best) < len(equal)
    assert choices > 100


def test_it_opens_in_a_corner() -> None:
    """All openings draw; after a corner, 191 of 192 random answers lose."""
    assert perfect_cells(Board()) == perfect_cells(Board(first=O)) == (0, 2, 6, 8)
    assert most_hopeful("_" * 9, "X")[1] == Fraction(191, 192)


def test_images_have_the_images_of_the_perfect_cells() -> None:
    for board in IN_PLAY:
        own = perfect_cells(board)
        for symmetry in SYMMETRIES:
            image = tuple(sorted(symmetry[cell] for cell in own))
            assert perfect_cells(board.image(symmetry)) == image


def test_it_plays_o_as_it_plays_x() -> None:
    for board in in_play(X):
        assert perfect_cells(Board(board.o, board.x, O)) == perfect_cells(board)


def test_a_finished_board_has_no_perfect_cells() -> None:
    assert all(perfect_cells(board) == () for board in reachable() if board.is_over)


def test_a_lost_game_is_played_on_as_long_as_it_lasts() -> None:
    """X threatens 2 and 4: O blocks one of them."""
    assert set(perfect_cells(parse_board("X_X/_O_/X_O"))) <= {1, 3}
