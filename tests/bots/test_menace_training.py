"""Training a machine, and how its exact chances change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from random import Random

import pytest

from noughts import Board, Mark, O, X, errors
from noughts.analysis.solver import Result
from noughts.bots.ladder import perfect, random
from noughts.bots.menace.boxes import boxes, find_box
from noughts.bots.menace.machine import BeadRules, Menace
from noughts.bots.menace.training import Training
from noughts.bots.odds import odds
from noughts.bots.policy import Policy
from noughts.bots.registry import find_policy

pytestmark = pytest.mark.thorough

REFILL = BeadRules(empty="refill")
FIRST_BOX = find_box(Board()).box


def give_up(_: Board) -> Mapping[int, Fraction]:
    """Resign at once."""
    return {}


def loss(machine: Policy, mark: Mark, against: Policy) -> Fraction:
    """Return the exact chance that a machine loses in a seat."""
    found = odds(machine, against) if mark is X else odds(against, machine)
    return found.win(mark.other)


def trained(
    games: int, seed: int, mark: Mark = X, rules: BeadRules | None = None, against: Policy = perfect
) -> Menace:
    """Return a machine trained with this many games."""
    machine = Menace(rules)
    Training(machine, against, Random(seed), mark).play(games)
    return machine


def test_an_untrained_machine_mostly_loses_to_perfect_play() -> None:
    assert loss(Menace(), X, perfect) == Fraction(707, 810)
    assert loss(Menace(), O, perfect) == Fraction(119, 120)


def test_michies_rules_teach_a_machine_that_survives_never_to_lose() -> None:
    machine = Menace()
    training = Training(machine, perfect, Random(1))
    training.play(200)
    assert loss(machine, X, perfect) == 0

    training.play(300)
    assert loss(machine, X, perfect) == 0
    assert machine.games == 500


def test_michies_rules_bring_the_chance_to_lose_ever_closer_to_zero() -> None:
    """In a machine that still has losing moves, but makes them less and less often."""
    machine = Menace()
    training = Training(machine, perfect, Random(4))
    chances = [loss(machine, X, perfect)]
    for games in (200, 300, 500, 1000):
        training.play(games)
        chances.append(loss(machine, X, perfect))

    assert chances == sorted(chances, reverse=True)
    assert 0 < chances[-1] < Fraction(1, 1000)


def test_a_machine_whose_first_box_is_empty_has_lost_for_good() -> None:
    """By Michie's rules it resigns every game from then on, and its beads never change again."""
    machine = trained(200, seed=2)
    before = [list(beads) for beads in machine.boxes]
    lost = machine.results[Result.LOSS]
    assert machine.boxes[FIRST_BOX] == [0, 0, 0]
    assert loss(machine, X, perfect) == 1

    Training(machine, perfect, Random(0)).play(50)
    assert machine.boxes == before
    assert machine.results[Result.LOSS] == lost + 50


@pytest.mark.parametrize("mark", Mark)
@pytest.mark.parametrize("seed", range(1, 9))
def test_boxes_that_are_filled_again_teach_every_machine(seed: int, mark: Mark) -> None:
    """Some of them learn never to lose."""
    chance = loss(trained(2000, seed, mark, REFILL), mark, perfect)

    assert chance < Fraction(2, 1000)
    assert chance == 0 or (seed, mark) not in {(2, X), (3, X), (7, X), (1, O), (3, O), (5, O)}


@pytest.mark.parametrize(("seed", "mark"), [(1, X), (2, X), (5, X), (7, O)])
def test_the_last_bead_that_is_kept_can_be_the_right_one(seed: int, mark: Mark) -> None:
    machine = trained(1000, seed, mark, BeadRules(empty="keep"))

    assert loss(machine, mark, perfect) == 0
    assert all(any(beads) for beads in machine.boxes)


@pytest.mark.parametrize("mark", Mark)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_machine_learns_from_random_play_too(seed: int, mark: Mark) -> None:
    machine = Menace()
    training = Training(machine, random, Random(seed), mark)
    chances = [loss(machine, mark, random)]
    for games in (200, 300, 500):
        training.play(games)
        chances.append(loss(machine, mark, random))

    assert chances == sorted(set(chances), reverse=True)
    assert chances[-1] < chances[0] * Fraction(2, 3)


@pytest.mark.parametrize("mark", Mark)
def test_the_same_seed_trains_the_same_machine(mark: Mark) -> None:
    one, same, other = (trained(300, seed, mark, REFILL) for seed in (11, 11, 12))

    assert one.boxes == same.boxes
    assert one.results == same.results
    assert one.boxes != other.boxes


def test_training_in_one_or_several_calls_is_the_same() -> None:
    machine = Menace(REFILL)
    training = Training(machine, perfect, Random(3), O)
    for games in (1, 0, 9, 90):
        training.play(games)

    assert machine.boxes == trained(100, 3, O, REFILL).boxes
    assert machine.games == 100


def test_the_games_are_counted_by_their_end() -> None:
    machine = trained(400, 5, X, REFILL)

    assert machine.games == sum(machine.results.values()) == 400
    assert machine.results[Result.WIN] == 0
    assert machine.results[Result.DRAW] > 0
    assert machine.results[Result.LOSS] > 0


@pytest.mark.parametrize("mark", Mark)
def test_a_game_changes_the_beads_of_its_own_moves_alone(mark: Mark) -> None:
    ends = Counter[Result]()
    for seed in range(150):
        machine = trained(1, seed, mark, against=random)
        result = next(one for one in Result if machine.results[one])
        differences = {
            number: [now - 4 + box.stage for now in beads if now != 4 - box.stage]
            for number, (box, beads) in enumerate(zip(boxes(), machine.boxes, strict=True))
        }
        touched = {number: found for number, found in differences.items() if found}
        ends[result] += 1
        assert sorted(boxes()[number].stage for number in touched) == list(range(len(touched)))
        assert 2 <= len(touched) <= 4
        assert all(found == [machine.rules.change(result)] for found in touched.values())
        assert all(boxes()[number].board.turn is mark for number in touched)
    assert set(ends) == set(Result)


def test_beads_are_drawn_by_their_number() -> None:
    first = Counter[int]()
    for seed in range(2_000):
        machine = Menace()
        machine.boxes[FIRST_BOX] = [1, 5, 2]
        Training(machine, give_up, Random(seed)).play(1)
        first[next(kind for kind in range(3) if machine.boxes[FIRST_BOX][kind] > [1, 5, 2][kind])] += 1

    assert abs(first[0] - 250) < 60
    assert abs(first[1] - 1250) < 60
    assert abs(first[2] - 500) < 60


def test_a_kind_that_has_run_out_is_never_drawn() -> None:
    machine = Menace()
    machine.boxes[FIRST_BOX] = [0, 0, 1]
    Training(machine, give_up, Random(1)).play(100)

    assert machine.boxes[FIRST_BOX] == [0, 0, 301]


@pytest.mark.parametrize("mark", Mark)
def test_an_opponent_that_resigns_has_lost(mark: Mark) -> None:
    """A game without a move of the machine is won, but changes no beads."""
    machine, new = trained(40, 1, mark, against=give_up), Menace()

    assert machine.results == {Result.WIN: 40, Result.DRAW: 0, Result.LOSS: 0}
    assert sum(machine.boxes[FIRST_BOX]) == 12 + (3 * 40 if mark is X else 0)
    assert machine.boxes[FIRST_BOX + 1 :] == new.boxes[FIRST_BOX + 1 :]
    assert mark is X or machine.boxes == new.boxes


@pytest.mark.parametrize("mark", Mark)
def test_another_machine_is_an_opponent_like_any_other(mark: Mark) -> None:
    opponent = trained(500, 1, mark.other, REFILL)
    before = [list(beads) for beads in opponent.boxes]
    machine = trained(1000, 9, mark, REFILL, opponent)

    assert opponent.boxes == before
    assert opponent.games == 500
    assert loss(machine, mark, opponent) < loss(Menace(), mark, opponent) / 2


def test_an_opponent_that_is_an_emptied_machine_resigns() -> None:
    emptied = trained(200, seed=2)
    machine = trained(10, 1, O, against=emptied)

    assert machine.results[Result.WIN] == 10


def test_either_seat_teaches_its_own_boxes() -> None:
    machine = trained(1000, 1, X, REFILL)
    as_x = loss(machine, X, perfect)
    Training(machine, perfect, Random(1), O).play(1000)

    assert loss(machine, X, perfect) == as_x == 0
    assert loss(machine, O, perfect) == 0
    assert machine.games == 2000


@pytest.mark.parametrize("name", ["beginner", "novice", "casual", "club", "expert", "newell-simon"])
def test_a_machine_learns_from_every_bot(name: str) -> None:
    policy = find_policy(name)
    machine = trained(500, 1, X, REFILL, policy)

    assert loss(machine, X, policy) < loss(Menace(), X, policy)


def test_an_opponent_that_is_not_a_policy_is_refused() -> None:
    training = Training(Menace(), lambda _: {0: Fraction(1, 2)}, Random(1), O)

    with pytest.raises(errors.BadPolicy, match="add up to 1"):
        training.play(1)


def test_an_interrupted_game_is_not_learned_from() -> None:
    def fails(board: Board) -> Mapping[int, Fraction]:
        if board.count > 2:
            raise RuntimeError("out of coffee")
        return random(board)

    machine = Menace()
    training = Training(machine, fails, Random(1), O)
    with pytest.raises(errors.BadPolicy, match="out of coffee"):
        training.play(1)

    assert machine.games == 0
    assert machine.boxes == Menace().boxes
