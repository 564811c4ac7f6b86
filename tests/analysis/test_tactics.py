"""Wins, threats and forks, compared with plain definitions."""

from __future__ import annotations

import pytest

from noughts import O, X, parse_board
from noughts.analysis import tactics
from noughts.analysis.solver import sides
from support.length import short_or_long
from support.reference import tactics as plain
from support.reference.tactics import OTHER, bits, in_play, signs_of

# Each position in play, seen by the side to move and by the other one.
VIEWS = [
    (sides(board)[:: 1 if mark == str(board.turn) else -1], signs_of(board), mark)
    for board in in_play(X, O)
    for mark in "XO"
]


@pytest.mark.parametrize("name", ["wins", "threats", "forks", "fork_answers", "fork_blocks"])
def test_tactics_match_their_plain_definitions(name: str) -> None:
    assert len(VIEWS) == 2 * 2 * short_or_long(627, 4_520)
    silent = 0
    for (mine, theirs), signs, mark in VIEWS:
        found = getattr(tactics, name)(mine, theirs)
        assert found == bits(getattr(plain, name)(signs, mark)), (signs, mark)
        silent += not found
    assert 0 < silent < len(VIEWS)


def test_open_lines_have_no_token_of_the_other_side() -> None:
    for (_, theirs), signs, mark in VIEWS:
        for cell in range(9):
            unspoilt = [
                bits(line)
                for line in plain.LINES
                if cell in line and all(signs[other] != OTHER[mark] for other in line)
            ]
            assert sorted(tactics.open_lines(cell, theirs)) == sorted(unspoilt)


def test_a_set_of_cells_is_listed_in_order() -> None:
    for held in range(512):
        own = [cell for cell in range(9) if held // 2**cell % 2]
        assert tactics.cells(held) == tuple(own)
        assert tactics.tokens(held) == tuple(2**cell for cell in range(9) if cell not in own)


def test_centre_corners_and_edges_are_where_they_should_be() -> None:
    assert bits(plain.CENTRE) == tactics.CENTRE
    assert bits(plain.CORNERS) == tactics.CORNERS
    assert bits(plain.EDGES) == tactics.EDGES
    assert tactics.CENTRE + tactics.CORNERS + tactics.EDGES == 0o777


def test_a_win_is_neither_a_threat_nor_a_fork() -> None:
    """Completing a line ends the game."""
    for (mine, theirs), _, _ in VIEWS:
        assert not tactics.wins(mine, theirs) & tactics.threats(mine, theirs)
        assert tactics.forks(mine, theirs) & ~tactics.threats(mine, theirs) == 0


def test_opposite_corners_fork_on_the_other_two() -> None:
    """O must not take a corner, nor leave one to fork on: an edge makes a threat that X has to block."""
    mine, theirs = sides(parse_board("X__/_O_/__X"))

    assert tactics.cells(tactics.forks(theirs, mine)) == (2, 6)
    assert tactics.cells(tactics.fork_blocks(mine, theirs)) == (1, 3, 5, 7)


def test_a_forced_answer_may_itself_be_a_fork() -> None:
    """O's token in the corner makes X block in the opposite one, and that block forks."""
    mine, theirs = sides(parse_board("X_O/_O_/__X"))[::-1]

    assert tactics.cells(tactics.wins(mine, theirs)) == (6,)
    assert tactics.cells(tactics.fork_answers(mine, theirs)) == (6,)
