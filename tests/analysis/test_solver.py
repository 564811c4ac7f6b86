"""The value of every position, compared with the reference."""

from __future__ import annotations

from collections import Counter

import pytest

from noughts import SYMMETRIES, Board, Mark, O, X, parse_board, reachable
from noughts.analysis.solver import Prospect, Result, move_scores, prospect, prospects, score, sides
from support.reference.tactics import in_play, minimax, moves, preference, seen

RESULTS = {1: Result.WIN, 0: Result.DRAW, -1: Result.LOSS}
NUMBERS = {result: number for number, result in RESULTS.items()}

ALL = [*reachable(X), *reachable(O)]
IN_PLAY = in_play(X, O)


def as_prospect(end: tuple[int, int]) -> Prospect:
    """Return a result of the reference as a prospect."""
    return Prospect(RESULTS[end[0]], end[1])


def preference_of(found: Prospect) -> tuple[int, int]:
    """Return a sort key: better prospects are greater."""
    return preference((NUMBERS[found.result], found.distance))


@pytest.mark.parametrize("first", Mark)
def test_every_position_has_the_value_of_the_reference(first: Mark) -> None:
    boards = reachable(first)

    assert len(boards) == 5_478
    for board in boards:
        assert prospect(board) == as_prospect(minimax(*seen(board))), board


@pytest.mark.parametrize("first", Mark)
def test_every_move_has_the_value_of_the_reference(first: Mark) -> None:
    for board in in_play(first):
        expected = {cell: as_prospect(end) for cell, end in moves(*seen(board)).items()}
        assert prospects(board) == expected, board
        assert tuple(prospects(board)) == board.free_cells


def test_the_value_of_a_move_is_minus_that_of_the_next_position() -> None:
    for board in IN_PLAY:
        for cell, found in prospects(board).items():
            left = prospect(board.place(cell))
            assert found == Prospect(left.result.other, left.distance + 1)


def test_a_position_is_worth_its_best_move() -> None:
    for board in IN_PLAY:
        assert preference_of(prospect(board)) == max(map(preference_of, prospects(board).values()))


def test_fast_wins_and_slow_losses_are_best() -> None:
    """X wins now, or later by a fork; O cannot stop two threats, and stops one of them."""
    winning = prospects(parse_board("XX_/O__/_O_"))
    assert winning[2] == prospect(parse_board("XX_/O__/_O_")) == Prospect(Result.WIN, 1)
    assert winning[4] == Prospect(Result.WIN, 3)

    assert prospect(parse_board("X_X/_O_/X_O")) == Prospect(Result.LOSS, 2)


def test_images_are_worth_the_same() -> None:
    for board in ALL:
        own, of_moves = prospect(board), prospects(board)
        for symmetry in SYMMETRIES:
            image = board.image(symmetry)
            assert prospect(image) == own
            assert prospects(image) == {symmetry[cell]: found for cell, found in of_moves.items()}


def test_it_does_not_matter_which_mark_started() -> None:
    for board in reachable(X):
        exchanged = Board(board.o, board.x, O)
        assert sides(exchanged) == sides(board)
        assert prospect(exchanged) == prospect(board)
        assert prospects(exchanged) == prospects(board)


def test_a_finished_board_is_worth_its_end() -> None:
    for board in ALL:
        if board.is_over:
            end = Result.DRAW if board.winner is None else Result.LOSS
            assert prospect(board) == Prospect(end, 0)
            assert prospects(board) == {}


def test_the_empty_board_is_a_draw_of_nine_tokens() -> None:
    draw = Prospect(Result.DRAW, 9)

    assert prospect(Board()) == prospect(Board(first=O)) == draw
    assert prospects(Board()) == dict.fromkeys(range(9), draw)


@pytest.mark.parametrize(
    ("opening", "holding"),
    [(0, {4}), (4, {0, 2, 6, 8}), (1, {0, 2, 4, 7})],
    ids=["corner", "centre", "edge"],
)
def test_the_answers_that_hold_an_opening_are_those_of_the_books(opening: int, holding: set[int]) -> None:
    """The centre holds a corner, a corner holds the centre, and an edge is held on four cells."""
    found = prospects(Board().place(opening))

    assert {cell for cell, after in found.items() if after.result is Result.DRAW} == holding
    assert {after.result for after in found.values()} == {Result.DRAW, Result.LOSS}


@pytest.mark.parametrize("first", Mark)
def test_of_5478_positions_the_mover_wins_2836_draws_1068_and_loses_1574(first: Mark) -> None:
    """942 of those lost are finished games."""
    counted = Counter(prospect(board) for board in reachable(first))
    results = Counter(prospect(board).result for board in reachable(first))

    assert results == {Result.WIN: 2_836, Result.DRAW: 1_068, Result.LOSS: 1_574}
    assert counted == Counter(as_prospect(minimax(*seen(board))) for board in reachable(first))
    assert counted[Prospect(Result.LOSS, 0)] == 626 + 316
    assert counted[Prospect(Result.DRAW, 0)] == 16
    assert counted[Prospect(Result.WIN, 1)] == 2_358
    assert max(found.distance for found in counted if found.result is not Result.DRAW) == 5


def test_better_prospects_have_higher_scores() -> None:
    """A win with token n of the game scores 10 - n, a loss the negative of that, and a draw nothing."""
    for board in ALL:
        result, distance = minimax(*seen(board))
        assert score(*sides(board)) == result * (10 - board.count - distance)


def test_the_score_of_a_move_is_minus_that_of_the_next_position() -> None:
    for board in IN_PLAY:
        found = move_scores(*sides(board))
        assert found == {cell: -score(*sides(board.place(cell))) for cell in board.free_cells}
        assert max(found.values()) == score(*sides(board))


def test_sides_are_those_of_the_mover_and_of_the_other() -> None:
    assert sides(Board(0o1, 0)) == (0, 0o1)
    assert sides(Board(0o1, 0o2)) == (0o1, 0o2)
    assert sides(Board(0o1, 0o2, O)) == (0o2, 0o1)


def test_a_result_can_be_seen_from_the_other_side() -> None:
    assert [result.other for result in Result] == [Result.LOSS, Result.DRAW, Result.WIN]
    assert [str(result) for result in Result] == ["win", "draw", "loss"]
    assert repr(Prospect(Result.WIN, 1)) == "Prospect(result=win, distance=1)"
