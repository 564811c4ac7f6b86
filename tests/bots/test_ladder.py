"""Bots that play by rules: the classic list, and the ladder."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache
from itertools import pairwise

import pytest

from noughts import Board, Mark, O, X
from noughts.bots.ladder import LADDER, NEVER, Oversights, fallible, newell_simon, random
from noughts.bots.odds import odds
from noughts.bots.registry import find_policy
from support.reference.tactics import (
    CENTRE,
    CORNERS,
    EDGES,
    OTHER,
    classic,
    eight_rules,
    fork_blocks,
    forks,
    free,
    in_play,
    seen,
    somebody,
    threats,
    wins,
)

IN_PLAY = in_play(X, O)
THINGS = ("win", "block", "fork", "defence", "centre")

# Those below and above the rungs make the ladder longer.
ORDER = ("random", *LADDER, "perfect")
STEPS = list(pairwise(ORDER))


def as_text(oversights: Oversights) -> dict[str, str]:
    """Return the oversights as text."""
    return {thing: str(getattr(oversights, thing)) for thing in THINGS}


def chance_of(cells: Iterable[int], chances: Mapping[int, Fraction]) -> Fraction:
    """Return the chance to take one of these cells."""
    return sum((chances.get(cell, NEVER) for cell in cells), NEVER)


found_once = cache(find_policy)


@cache
def score(name: str, opponent: str, seat: Mark) -> Fraction:
    """Return the average score of a bot in that seat; X starts."""
    policies = found_once(name), found_once(opponent)
    return odds(*(policies if seat is X else policies[::-1])).score(seat)


def test_newell_simon_applies_the_first_of_its_eight_rules_that_fits() -> None:
    """Win, block, fork, stop a fork, centre, opposite corner, corner, edge."""
    play = newell_simon
    used = set()
    for board in IN_PLAY:
        rules = eight_rules(*seen(board))
        assert play(board) == classic(*seen(board)), board
        used.add(next(number for number, cells in enumerate(rules, 1) if cells))
    assert used == set(range(1, 9))


def test_rule_four_to_the_letter_would_lose() -> None:
    """It would threaten from a corner, and the block would be the fork that it was to stop."""
    signs, _ = seen(board := Board.parse("X__/_O_/__X"))

    assert CORNERS & threats(signs, "O")
    assert newell_simon(board).keys() == EDGES
    for cell in CORNERS & free(signs):
        block = next(iter(wins(seen(after := board.place(cell))[0], "O")))
        assert len(wins(seen(after.place(block))[0], "X")) == 2


@pytest.mark.parametrize("seat", Mark)
@pytest.mark.parametrize("first", Mark)
def test_newell_simon_never_loses(first: Mark, seat: Mark) -> None:
    play = newell_simon
    found = [Board(first=first)]
    known = set(found)
    for board in found:  # grows while it is walked
        assert board.winner is not seat.other, board
        if not board.is_over:
            cells = play(board) if board.turn is seat else board.free_cells
            after = {board.place(cell) for cell in cells} - known
            known |= after
            found += after
    assert {board.winner for board in known if board.is_over} == {seat, None}


@pytest.mark.parametrize("name", LADDER)
def test_a_rung_gives_exact_chances_that_add_up_to_one(name: str) -> None:
    play = found_once(name)
    for board in IN_PLAY:
        chances = play(board)
        assert all(type(chance) is Fraction and chance > 0 for chance in chances.values())
        assert sum(chances.values()) == 1
        assert set(chances) <= set(board.free_cells)
        assert play(board) is not chances, "a caller may change what it gets"


@pytest.mark.parametrize("name", LADDER)
def test_a_rung_matches_the_reference(name: str) -> None:
    play, plain = found_once(name), somebody(**as_text(LADDER[name]))
    for board in in_play(X):
        assert play(board) == plain(*seen(board)), board


@pytest.mark.parametrize("name", LADDER)
def test_no_move_of_a_rung_is_without_a_reason(name: str) -> None:
    """An edge without a reason is taken only if no cell has one."""
    play = found_once(name)
    for board in IN_PLAY:
        signs, mark = seen(board)
        sensible = free(signs) & (CENTRE | CORNERS) | wins(signs, mark) | wins(signs, OTHER[mark])
        sensible |= forks(signs, mark) | fork_blocks(signs, mark) | threats(signs, mark)
        assert set(play(board)) <= (sensible or free(signs) & EDGES), board


@pytest.mark.parametrize("name", LADDER)
def test_a_rung_overlooks_no_more_than_its_parameters_say(name: str) -> None:
    """A win is taken with a chance of at least 1 - win; without one, a block, and so on."""
    oversights = LADDER[name]
    play = found_once(name)
    met = set()
    for board in IN_PLAY:
        signs, mark = seen(board)
        rules = [
            wins(signs, mark),
            wins(signs, OTHER[mark]),
            forks(signs, mark),
            fork_blocks(signs, mark),
            CENTRE & free(signs),
        ]
        for thing, cells in zip(THINGS, rules, strict=True):
            if cells:
                met.add(thing)
                assert chance_of(cells, play(board)) >= 1 - getattr(oversights, thing), (board, thing)
                break
    assert met == set(THINGS)


def test_without_oversights_every_win_and_block_is_taken() -> None:
    play = fallible(Oversights())
    for board in IN_PLAY:
        signs, mark = seen(board)
        needed = wins(signs, mark) or wins(signs, OTHER[mark])
        assert not needed or set(play(board)) == needed


@pytest.mark.parametrize("thing", THINGS)
def test_each_parameter_changes_how_often_its_own_thing_is_overlooked(thing: str) -> None:
    usual, known = find_policy("club"), as_text(LADDER["club"])
    differ = 0
    for chance in ("0", "1/3", "1"):
        play, plain = find_policy(f"club:{thing}={chance}"), somebody(**known | {thing: chance})
        for board in IN_PLAY[::7]:
            assert play(board) == plain(*seen(board)), board
            differ += play(board) != usual(board)
    assert differ > 0


def test_chances_with_long_denominators_stay_exact() -> None:
    """Five different primes of nine digits: nothing is rounded."""
    primes = (999_999_937, 999_999_929, 999_999_893, 999_999_883, 999_999_797)
    missed = {thing: f"{prime // 3}/{prime}" for thing, prime in zip(THINGS, primes, strict=True)}
    asked = "novice:" + ",".join(f"{thing}={chance}" for thing, chance in missed.items())
    play, plain = find_policy(asked), somebody(**missed)

    for board in IN_PLAY[::17]:
        assert play(board) == plain(*seen(board))


@pytest.mark.parametrize("name", LADDER)
def test_a_rung_is_a_fallible_policy_with_its_oversights(name: str) -> None:
    play = fallible(LADDER[name])

    assert all(play(board) == found_once(name)(board) for board in IN_PLAY[::7])


def test_each_rung_overlooks_less_than_the_one_below() -> None:
    for lower, upper in pairwise(LADDER.values()):
        assert all(getattr(lower, thing) > getattr(upper, thing) for thing in THINGS)
    assert list(LADDER) == ["beginner", "novice", "casual", "club", "expert"]


@pytest.mark.thorough
@pytest.mark.parametrize("seat", Mark)
@pytest.mark.parametrize(("lower", "upper"), STEPS)
def test_each_rung_is_stronger_than_the_one_below(lower: str, upper: str, seat: Mark) -> None:
    for opponent in ORDER:
        assert score(upper, opponent, seat) > score(lower, opponent, seat)


@pytest.mark.parametrize(("lower", "upper"), STEPS)
def test_each_rung_beats_the_one_below(lower: str, upper: str) -> None:
    assert score(upper, lower, X) + score(upper, lower, O) > 1


def test_a_beginner_is_half_way_between_chance_and_a_novice() -> None:
    """As O against `random`; a novice usually beats it."""
    won = [odds(random, found_once(name)).o for name in ("random", "beginner", "novice")]
    half_way = (won[0] + won[2]) / 2

    assert abs(won[1] - half_way) < Fraction(2, 100)
    assert score("novice", "beginner", X) > Fraction(4, 5)
    assert score("novice", "beginner", O) > Fraction(3, 5)


def test_the_ladder_against_chance_and_against_perfection_is_as_measured() -> None:
    """The mean over both seats, in thousandths."""
    means = {
        opponent: [
            round(1000 * (score(name, opponent, X) + score(name, opponent, O)) / 2) for name in LADDER
        ]
        for opponent in ("random", "perfect")
    }

    assert means == {"random": [699, 871, 927, 953, 963], "perfect": [46, 181, 306, 414, 489]}


@pytest.mark.parametrize("name", ["random", "perfect", "newell-simon", *LADDER, "club:block=1/3"])
def test_a_policy_stays_the_same_object_when_copied_or_pickled(name: str) -> None:
    policy = find_policy(name)
    assert copy.deepcopy(policy) is policy
    assert pickle.loads(pickle.dumps(policy)) is policy  # noqa: S301 - our own


@pytest.mark.parametrize("name", ["newell-simon", *LADDER])
def test_a_position_is_played_the_same_whichever_mark_started(name: str) -> None:
    play = found_once(name)
    for board in in_play(X):
        assert play(Board(board.o, board.x, O)) == play(board)
