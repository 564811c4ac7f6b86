"""Ratings: maximum likelihood, always finite, and with honest intervals.

The likelihood is strictly concave up to the mean, so the expected scores and the mean fix the ratings:
they cannot depend on the order of the bots, and follow the scores of a full round robin.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import exp, isfinite, log, log10
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from hypothesis.extra import numpy as arrays

from noughts.lab.ratings import ELO_PER_NAT, PRIOR_DRAWS, RESAMPLES, Rating, rate, rate_all
from noughts.lab.tournament import Meeting
from support.length import short_or_long

Table: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.float64]]

MAX_POINTS = 1e9

points = st.integers(2, 6).flatmap(
    lambda count: arrays.arrays(np.float64, (count, count), elements=st.floats(0, MAX_POINTS))
)
"""The points of each bot against each other one."""


OVERSHOOTING = [[0, 0, 1e9, 1e8], [0, 0, 1e6, 0], [0, 0, 0, 0], [0, 1, 0, 0.0]]
"""Here a full Newton step would make the fit worse."""


def meeting(x: str, o: str, games: int, *ends: int, exact: bool = False) -> Meeting:
    """Return a meeting; `ends` are the percentages won by X, drawn, and won by O."""
    x_wins, draw, o_wins = (Fraction(end, 100) for end in ends)
    return Meeting(x, o, games, (x_wins, draw, o_wins), is_exact=exact)


def width(rating: Rating) -> float:
    assert rating.low is not None
    assert rating.high is not None
    return rating.high - rating.low


@given(st.floats(0, MAX_POINTS), st.floats(0, MAX_POINTS))
def test_two_bots_differ_by_the_ratio_of_their_points(won: float, lost: float) -> None:
    first, second = rate(np.array([[0, won], [lost, 0]])).tolist()

    assert first - second == pytest.approx(400 * log10((won + 0.25) / (lost + 0.25)), abs=1e-4)


@settings(max_examples=short_or_long(40, 2_000))
@given(points)
@example(np.array(OVERSHOOTING))
def test_ratings_explain_the_scores(table: Table) -> None:
    np.fill_diagonal(table, 0)
    found = (rate(table) / ELO_PER_NAT).tolist()
    assert sum(found) == pytest.approx(0, abs=1e-8)

    won = table + PRIOR_DRAWS / 2 * (1 - np.eye(len(found)))
    for one, rating in enumerate(found):
        expected = sum(
            float(won[one, other] + won[other, one]) / (1 + exp(found[other] - rating))
            for other in range(len(found))
            if other != one
        )
        assert expected == pytest.approx(float(won[one].sum()), rel=1e-6)


@pytest.mark.parametrize("games", [1, 1000, MAX_POINTS])
def test_a_bot_that_always_wins_has_a_finite_rating(games: float) -> None:
    found = rate(games * np.triu(np.ones((12, 12)), 1)).tolist()

    assert all(isfinite(rating) for rating in found)
    assert found == sorted(found, reverse=True)
    assert found == pytest.approx([-rating for rating in reversed(found)], rel=1e-6, abs=1e-6)


def test_a_stack_of_tables_is_rated_like_each_table() -> None:
    tables = np.random.default_rng(1).integers(0, 50, (20, 5, 5)).astype(float)
    tables[3] *= 1e7
    tables[4] = MAX_POINTS * np.triu(np.ones((5, 5)), 1)

    assert rate(tables) == pytest.approx(np.array([rate(table) for table in tables]), abs=1e-3)


def test_the_best_come_first_and_equals_keep_their_order() -> None:
    met = [meeting("b", "a", 10, 50, 0, 50), meeting("b", "c", 10, 100, 0, 0, exact=True)]
    met += [meeting("a", "c", 10, 100, 0, 0, exact=True)]

    found = rate_all(["c", "b", "a"], met, np.random.default_rng(1))

    assert [one.name for one in found] == ["b", "a", "c"]
    assert found[0].rating == found[1].rating
    assert all((one.low or 0) <= one.rating <= (one.high or 0) for one in found)


def test_a_seed_determines_the_intervals() -> None:
    met = [meeting("a", "b", 100, 60, 10, 30)]

    first, again, other = (rate_all("ab", met, np.random.default_rng(seed)) for seed in (1, 1, 2))

    assert first == again != other
    assert width(first[0]) == pytest.approx(width(other[0]), rel=0.2)


@pytest.mark.parametrize("exact", [True, False])
def test_an_interval_is_as_wide_as_the_normal_approximation_says(exact: bool) -> None:  # noqa: FBT001 - a parameter
    games, share = 1000, 0.6
    best, _ = rate_all("ab", [meeting("a", "b", games, 60, 0, 40, exact=exact)], np.random.default_rng(1))

    error = ELO_PER_NAT / 2 / (games * share * (1 - share)) ** 0.5
    assert best.rating == pytest.approx(ELO_PER_NAT / 2 * log(share / (1 - share)), rel=0.01)
    assert width(best) == pytest.approx(2 * 1.96 * error, rel=0.1)


def test_certain_odds_have_an_empty_interval() -> None:
    best, worst = rate_all(
        "ab", [meeting("a", "b", 100, 100, 0, 0, exact=True)], np.random.default_rng(1)
    )

    assert best.low == best.rating == best.high == -worst.rating


def test_winning_all_games_is_not_a_certainty() -> None:
    widths: list[float] = []
    for games in (10, 100, 1000):
        best, _ = rate_all("ab", [meeting("a", "b", games, 100, 0, 0)], np.random.default_rng(1))
        assert best.low is not None
        assert best.high is not None
        assert best.low < best.rating < best.high  # room above as well
        widths.append(1 / (1 + exp(-2 * best.low / ELO_PER_NAT)))
    assert widths == sorted(widths)
    assert widths[-1] > 0.99


def test_bots_without_games_are_equal() -> None:
    met = [meeting("a", "b", 0, 0, 0, 0), meeting("b", "a", 0, 0, 0, 0)]

    assert rate_all("ab", met, np.random.default_rng(1)) == (
        Rating("a", 0.0, None, None),
        Rating("b", 0.0, None, None),
    )
    assert RESAMPLES == 1000


def test_a_bot_without_a_game_has_no_interval() -> None:
    met = [meeting("a", "b", 50, 60, 0, 40), meeting("a", "c", 0, 0, 0, 0), meeting("c", "b", 0, 0, 0, 0)]

    found = {one.name: one for one in rate_all("abc", met, np.random.default_rng(1))}

    assert (found["c"].low, found["c"].high) == (None, None)
    assert found["a"].low is not None
    assert found["c"].rating == pytest.approx(0, abs=0.1)
    assert found["a"].rating - found["b"].rating == pytest.approx(400 * log10(30.125 / 20.125), abs=0.1)


def test_ratings_from_exact_odds_do_not_depend_on_the_number_of_games() -> None:
    found = [
        rate_all(
            "ab",
            [
                meeting("a", "b", games, 90, 5, 5, exact=True),
                meeting("b", "a", games, 4, 2, 94, exact=True),
            ],
            np.random.default_rng(1),
        )[0]
        for games in (1, 10, 10**9)
    ]

    share = (0.925 + 0.95) / 2
    for one in found:
        assert one.rating == pytest.approx(ELO_PER_NAT / 2 * log(share / (1 - share)), abs=0.01)
    widths = [width(one) for one in found]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.05


@pytest.mark.parametrize("games", [1, 10**9])
def test_a_bot_that_cannot_lose_a_point_has_a_fixed_rating(games: int) -> None:
    best, _ = rate_all("ab", [meeting("a", "b", games, 100, 0, 0, exact=True)], np.random.default_rng(1))

    assert best.rating == pytest.approx(200 * log10(2e6), abs=0.01)


ODDS = {("a", "b"): (0.9, 0.05, 0.05), ("b", "a"): (0.15, 0.05, 0.8)}
"""Of two bots, one much stronger than the other."""


@pytest.mark.parametrize("games", [10, 50])
def test_intervals_contain_the_truth_about_as_often_as_promised(games: int) -> None:
    rng = np.random.default_rng(1)
    share = (ODDS["a", "b"][0] + ODDS["b", "a"][2] + 0.05) / 2
    truth = ELO_PER_NAT / 2 * log(share / (1 - share))
    held = 0
    for _ in range(40):
        met = [
            Meeting(
                *pair,
                games,
                tuple(Fraction(int(end), games) for end in rng.multinomial(games, chances)),  # type: ignore[arg-type]  # three
                is_exact=False,
            )
            for pair, chances in ODDS.items()
        ]
        found = next(one for one in rate_all("ab", met, rng) if one.name == "a")
        held += (found.low or 0) <= truth <= (found.high or 0)

    assert held >= 34


def test_intervals_of_many_bots_contain_the_truth_too() -> None:
    rng = np.random.default_rng(1)
    truth = {name: 400.0 - 160 * place for place, name in enumerate("abcdef")}
    held = 0
    for _ in range(8):
        met = []
        for x, o in permutations(truth, 2):
            won = int(rng.binomial(3, 1 / (1 + exp((truth[o] - truth[x]) / ELO_PER_NAT))))
            met.append(
                Meeting(x, o, 3, (Fraction(won, 3), Fraction(0), Fraction(3 - won, 3)), is_exact=False)
            )
        for one in rate_all("abcdef", met, rng):
            held += (one.low or 0) <= truth[one.name] <= (one.high or 0)

    assert held >= 38  # of 48


def test_a_sweep_of_few_games_leaves_room_in_both_directions() -> None:
    met = [meeting("a", "b", 3, 100, 0, 0), meeting("b", "a", 3, 0, 0, 100)]

    best, worst = rate_all("ab", met, np.random.default_rng(1))

    assert best.low is not None
    assert best.high is not None
    assert best.low < best.rating - 50
    assert best.high > best.rating + 50
    assert worst.high == pytest.approx(-best.low, abs=1)


def test_the_first_move_cancels_out_if_one_seat_has_more_games() -> None:
    met = [meeting("a", "b", 40, 100, 0, 0), meeting("b", "a", 4, 100, 0, 0)]

    found = rate_all("ab", met, np.random.default_rng(1))

    assert [one.rating for one in found] == [0, 0]
