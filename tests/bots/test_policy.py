"""The chances of any policy are checked."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import cast

import pytest

from noughts import Board, O, X, errors, parse_board
from noughts.bots.ladder import LADDER
from noughts.bots.policy import RESIGNS, Policy, Weights, weigh
from noughts.bots.registry import find_policy
from support.reference.tactics import in_play

HALF = Fraction(1, 2)
BOARD = parse_board("XO_/_X_/__O")


def giving(given: object) -> Policy:
    """Return a policy that returns this value."""
    return cast("Policy", lambda _: given)


class Seven:
    """An integer of another type."""

    def __index__(self) -> int:
        return 7


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({2: HALF}, "chances add up to 1, and those in 'XO_/_X_/__O' to less"),
        ({2: HALF, 3: HALF, 5: HALF}, "chances add up to 1, and those in 'XO_/_X_/__O' to more"),
        ({2: 2}, "chances add up to 1, and those in 'XO_/_X_/__O' to more"),
        ({2: -HALF, 3: HALF, 5: Fraction(1)}, "a chance is at least 0, and one in 'XO_/_X_/__O' is less"),
        ({2: -1}, "a chance is at least 0"),
        ({2: 1.0}, "a chance is a Fraction, and so exact, unlike 1.0"),
        ({2: 0.0, 3: Fraction(1)}, "a chance is a Fraction, and so exact, unlike 0.0"),
        ({2: float("nan")}, "a chance is a Fraction, and so exact, unlike nan"),
        ({2: "1"}, "a chance is a Fraction, and so exact, unlike '1'"),
        ({2: None}, "a chance is a Fraction, and so exact, unlike None"),
        ({0: Fraction(1)}, "which is not a free cell of 'XO_/_X_/__O'"),
        ({8: Fraction(1)}, "which is not a free cell of 'XO_/_X_/__O'"),
        ({9: Fraction(1)}, "which is not a free cell of 'XO_/_X_/__O'"),
        ({-1: Fraction(1)}, "which is not a free cell of 'XO_/_X_/__O'"),
        ({10**9999: Fraction(1)}, "which is not a free cell of 'XO_/_X_/__O'"),
        ({"2": Fraction(1)}, "a chance to '2', which is not a free cell of 'XO_/_X_/__O'"),
        ({2.0: Fraction(1)}, "a chance to 2.0, which is not a free cell of 'XO_/_X_/__O'"),
        ({None: Fraction(1)}, "a chance to None, which is not a free cell of 'XO_/_X_/__O'"),
        ({True: Fraction(0), 2: 1}, "a chance to True, which is not a free cell of 'XO_/_X_/__O'"),
        (None, "a policy fails in 'XO_/_X_/__O': AttributeError"),
        ([(2, Fraction(1))], "a policy fails in 'XO_/_X_/__O': AttributeError"),
        (2, "a policy fails in 'XO_/_X_/__O': AttributeError"),
        ("perfect", "a policy fails in 'XO_/_X_/__O': AttributeError"),
        (dict, "a policy fails in 'XO_/_X_/__O': TypeError"),
    ],
    ids=lambda value: value[:12] if isinstance(value, str) else "",
)
def test_wrong_chances_are_refused(given: object, sentence: str) -> None:
    with pytest.raises(errors.BadPolicy) as refusal:
        weigh(giving(given), BOARD)

    assert sentence in str(refusal.value)
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize(
    "huge",
    [10**5000, Fraction(10**5000, 3), Fraction(1, 10**5000)],
    ids=["whole", "above one", "below one"],
)
def test_numbers_too_long_to_be_written_are_refused_like_others(huge: object) -> None:
    """Python itself refuses to write an integer of 4,301 digits."""
    with pytest.raises(errors.BadPolicy, match="chances add up to 1"):
        weigh(giving({2: huge}), BOARD)


def test_a_policy_that_raises_is_refused_with_what_it_raised() -> None:
    def broken(_board: Board) -> Mapping[int, Fraction]:
        raise RuntimeError("out of beads")

    with pytest.raises(
        errors.BadPolicy, match="a policy fails in 'XO_/_X_/__O': RuntimeError: out of beads"
    ) as refusal:
        weigh(broken, BOARD)

    assert isinstance(refusal.value.__cause__, RuntimeError)


def test_a_refusal_of_the_policy_itself_is_passed_on() -> None:
    refusal = errors.UnknownPolicy("not on Sundays")

    def closed(_board: Board) -> Mapping[int, Fraction]:
        raise refusal

    with pytest.raises(errors.UnknownPolicy) as passed:
        weigh(closed, BOARD)

    assert passed.value is refusal


@pytest.mark.parametrize("given", [{}, {2: Fraction(0)}, {2: 0, 3: Fraction(0)}, MappingProxyType({})])
def test_a_mapping_with_no_chance_resigns(given: Mapping[int, Fraction]) -> None:
    assert weigh(giving(given), BOARD) == RESIGNS == Weights((), (), 0)


def test_chances_become_whole_numbers_of_the_smallest_total() -> None:
    given = {5: Fraction(1, 3), 2: HALF, 3: Fraction(0), 7: Fraction(1, 6)}

    assert weigh(giving(given), BOARD) == Weights((5, 2, 7), (2, 3, 1), 6)


@pytest.mark.parametrize("given", [{7: 1}, {7: True}, {Seven(): Fraction(1)}, MappingProxyType({7: 1})])
def test_integers_and_mappings_of_any_type_are_accepted(given: object) -> None:
    found = weigh(giving(given), BOARD)

    assert found == Weights((7,), (1,), 1)
    assert type(found.cells[0]) is int


def test_a_policy_is_asked_about_the_board_that_is_given() -> None:
    asked = []

    def curious(board: Board) -> Mapping[int, Fraction]:
        asked.append(board)
        return {2: Fraction(1)}

    weigh(curious, BOARD)

    assert asked == [BOARD]


@pytest.mark.parametrize("name", ["random", *LADDER, "newell-simon", "perfect"])
def test_weights_say_exactly_what_the_policy_says(name: str) -> None:
    policy = find_policy(name)
    for board in in_play(X, O):
        found = weigh(policy, board)
        shares = zip(found.cells, found.shares, strict=True)
        assert {cell: Fraction(share, found.total) for cell, share in shares} == policy(board)
        assert sum(found.shares) == found.total > 0
        assert min(found.shares) > 0


def test_no_chance_at_all_may_be_given_to_a_cell_that_is_taken() -> None:
    given = {cell: Fraction(int(cell == 2)) for cell in range(9)}

    assert weigh(giving(given), BOARD).cells == (2,)


def test_a_policy_that_exits_is_refused() -> None:
    with pytest.raises(errors.BadPolicy, match="SystemExit: 5"):
        weigh(lambda _: sys.exit(5), BOARD)
