"""The bot that leaves it to chance."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from noughts import Board, Mark, O, X, errors, next_move, parse_board, reachable


def test_a_random_move_adds_one_mark_on_a_free_cell() -> None:
    """On every position in play, and the board given stays as it was."""
    rng = Random(1)
    for board in reachable():
        if not board.is_over:
            before = str(board)
            after = next_move(board, board.turn, rng)
            assert after.count == board.count + 1
            assert str(board) == before


def test_cells_are_chosen_evenly() -> None:
    """Neither the block nor the win is preferred: X could win on 3, and O threatens 6."""
    board = parse_board("XX_/OO_/___")
    rng = Random(2)

    chosen = Counter(str(next_move(board, X, rng)) for _ in range(5_000))

    assert len(chosen) == 5
    assert all(900 <= times <= 1_100 for times in chosen.values())


def test_the_same_seed_moves_alike() -> None:
    """Chance comes from the generator that is given, and from nowhere else."""
    assert next_move(Board(), X, Random("a")) is next_move(Board(), X, Random("a"))


def test_a_board_and_a_mark_are_enough() -> None:
    """Without a generator the move is random too: 200 moves reach all nine cells."""
    assert len({next_move(Board(), X) for _ in range(200)}) == 9


def test_a_written_board_is_as_good_as_a_board() -> None:
    """The document's flat list, rows and text lead to the same next board."""
    flat = ["X", "", "", "", "O", "", "", "", ""]
    forms = (flat, [flat[:3], flat[3:6], flat[6:]], "X__/_O_/___", parse_board("X__/_O_/___"))

    assert len({next_move(form, X, Random(7)) for form in forms}) == 1
    assert flat == ["X", "", "", "", "O", "", "", "", ""]


@pytest.mark.parametrize("mark", Mark)
def test_a_finished_board_is_refused(mark: Mark) -> None:
    """There is nothing to move for, not even on a full board."""
    for written in ("XXX/OO_/___", "XOX/OOX/XXO"):
        with pytest.raises(errors.GameOver):
            next_move(parse_board(written), mark, Random(1))


def test_only_the_mark_to_move_may_move() -> None:
    """The other one is refused."""
    with pytest.raises(errors.NotYourTurn):
        next_move(Board(), O, Random(1))
