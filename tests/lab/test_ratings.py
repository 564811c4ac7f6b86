"""Ratings: the likeliest ones, always finite, and with intervals that mean what they say."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations
from math import exp, isfinite, log, log10
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as arrays

from noughts.lab.ratings import ELO_PER_NAT, PRIOR_DRAWS, RESAMPLES, Rating, rate, rate_all
from noughts.lab.tournament import Meeting

if TYPE_CHECKING:
    from random import Random
    from typing import TypeAlias

    Table: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.float64]]

MOST = 1e9

points = st.integers(2, 6).flatmap(
    lambda count: arrays.arrays(np.float64, (count, count), elements=st.floats(0, MOST))
)
"""What each scored against each; any numbers will do."""

few_points = st.integers(2, 5).flatmap(
    lambda count: arrays.arrays(np.float64, (count, count), elements=st.integers(0, 20))
)


def meeting(x: str, o: str, games: int, *ends: int, exact: bool = False) -> Meeting:
    """Return a meeting of which so many hundredths were won by X, drawn, and won by O."""
    x_wins, draw, o_wins = (Fraction(end, 100) for end in ends)
    return Meeting(x, o, games, (x_wins, draw, o_wins), is_exact=exact)


def width(rating: Rating) -> float:
    """Return how wide its interval is."""
    assert rating.low is not None
    assert rating.high is not None
    return rating.high - rating.low


def by_hand(table: Table) -> list[float]:
    """Return the same ratings, found slowly: each strength in turn is set to what its points call for."""
    size = range(len(table))
    won = [[float(table[i, j]) + PRIOR_DRAWS / 2 if i != j else 0.0 for j in size] for i in size]
    strengths = [1.0 for _ in size]
    for _ in range(1500):
        for i in size:
            met = sum((won[i][j] + won[j][i]) / (strengths[i] + strengths[j]) for j in size if j != i)
            strengths[i] = sum(won[i]) / met
    logs = [400 * log10(strength) for strength in strengths]
    return [one - sum(logs) / len(logs) for one in logs]


@given(st.floats(0, MOST), st.floats(0, MOST))
def test_two_bots_differ_by_the_ratio_of_their_points(won: float, lost: float) -> None:
    """Four hundred for each power of ten; half a game that both drew is added, a quarter for each."""
    first, second = rate(np.array([[0, won], [lost, 0]])).tolist()

    assert first - second == pytest.approx(400 * log10((won + 0.25) / (lost + 0.25)), abs=1e-4)


@settings(max_examples=15)
@given(few_points)
def test_ratings_are_those_that_a_slower_way_finds(
    table: Table,
) -> None:
    """One strength after the other, over and over."""
    assert rate(table).tolist() == pytest.approx(by_hand(table), abs=1e-3)


@settings(max_examples=40)
@given(points)
def test_every_bot_scores_what_its_rating_lets_one_expect(
    table: Table,
) -> None:
    """That is what makes the ratings the likeliest, however extreme the scores."""
    np.fill_diagonal(table, 0)
    found = (rate(table) / ELO_PER_NAT).tolist()

    won = table + PRIOR_DRAWS / 2 * (1 - np.eye(len(found)))
    for one, rating in enumerate(found):
        expected = sum(
            float(won[one, other] + won[other, one]) / (1 + exp(found[other] - rating))
            for other in range(len(found))
            if other != one
        )
        assert expected == pytest.approx(float(won[one].sum()), rel=1e-6)


@settings(max_examples=40)
@given(points)
def test_the_mean_of_all_ratings_is_nought(
    table: Table,
) -> None:
    """Only differences mean anything."""
    assert float(rate(table).mean()) == pytest.approx(0, abs=1e-6)


@settings(max_examples=40)
@given(few_points, st.randoms(use_true_random=False))
def test_ratings_do_not_depend_on_the_order(
    table: Table,
    rng: Random,
) -> None:
    """Whoever comes first."""
    order = list(range(len(table)))
    rng.shuffle(order)

    assert rate(table[np.ix_(order, order)]) == pytest.approx(rate(table)[order], abs=1e-4)


@settings(max_examples=40)
@given(few_points, st.data())
def test_more_points_are_never_to_anybodys_disadvantage(table: Table, data: st.DataObject) -> None:
    """Whoever scores more is rated higher, and whom that is scored against, lower."""
    winner, loser = data.draw(st.permutations(range(len(table))))[:2]
    better = table.copy()
    better[winner, loser] += 1

    change = rate(better) - rate(table)

    assert change[winner] - change[loser] > 0
    assert change[winner] > 0
    assert change[loser] < 0


@settings(max_examples=40)
@given(st.integers(2, 6), st.data())
def test_if_all_have_met_equally_often_ratings_follow_the_scores(count: int, data: st.DataObject) -> None:
    """The order is that of the points, as in any league."""
    table = np.zeros((count, count))
    for one in range(count):
        for other in range(one):
            table[one, other] = data.draw(st.integers(0, 100)) / 2
            table[other, one] = 50 - table[one, other]
    totals, found = table.sum(axis=1), rate(table)

    order = np.argsort(totals)
    for lower, higher in pairwise(order):
        if totals[lower] < totals[higher]:
            assert found[lower] < found[higher]
        else:
            assert found[lower] == pytest.approx(found[higher], abs=1e-4)


@pytest.mark.parametrize("count", [2, 3, 12])
def test_equal_scores_are_equal_ratings(count: int) -> None:
    """Nobody has met, or all have drawn, or each has beaten each at home: all are 0."""
    for table in (np.zeros((count, count)), np.full((count, count), 7.0)):
        np.fill_diagonal(table, 0)
        assert rate(table) == pytest.approx(np.zeros(count), abs=1e-9)


@pytest.mark.parametrize("games", [1, 1000, MOST])
def test_whoever_always_wins_is_rated_high_and_not_infinitely_high(games: float) -> None:
    """A dozen bots, of which each has lost all games to all before it."""
    found = rate(games * np.triu(np.ones((12, 12)), 1)).tolist()

    assert all(isfinite(rating) for rating in found)
    assert found == sorted(found, reverse=True)
    assert found == pytest.approx([-rating for rating in reversed(found)], rel=1e-6, abs=1e-6)


def test_many_tables_are_rated_as_each_of_them() -> None:
    """However much longer one of them takes than the others."""
    tables = np.random.default_rng(1).integers(0, 50, (20, 5, 5)).astype(float)
    tables[3] *= 1e7
    tables[4] = MOST * np.triu(np.ones((5, 5)), 1)

    assert rate(tables) == pytest.approx(np.array([rate(table) for table in tables]), abs=1e-3)


# Intervals


def test_the_best_come_first_and_equals_keep_their_order() -> None:
    """With the names that they came with."""
    met = [meeting("b", "a", 10, 50, 0, 50), meeting("b", "c", 10, 100, 0, 0, exact=True)]
    met += [meeting("a", "c", 10, 100, 0, 0, exact=True)]

    found = rate_all(["c", "b", "a"], met, np.random.default_rng(1))

    assert [one.name for one in found] == ["b", "a", "c"]
    assert found[0].rating == found[1].rating
    assert all((one.low or 0) <= one.rating <= (one.high or 0) for one in found)


def test_the_same_lots_give_the_same_intervals() -> None:
    """And other lots give others, about as wide."""
    met = [meeting("a", "b", 100, 60, 10, 30)]

    first, again, other = (rate_all("ab", met, np.random.default_rng(seed)) for seed in (1, 1, 2))

    assert first == again != other
    assert width(first[0]) == pytest.approx(width(other[0]), rel=0.2)


@pytest.mark.parametrize("exact", [True, False])
def test_an_interval_is_as_wide_as_the_normal_approximation_says(exact: bool) -> None:  # noqa: FBT001 - a parameter
    """For two bots, many games and no draws that is known: the error of a logarithm of odds."""
    games, share = 1000, 0.6
    best, _ = rate_all(
        "ab",
        [meeting("a", "b", games, 60, 0, 40, exact=exact)],
        np.random.default_rng(1),
    )

    error = ELO_PER_NAT / 2 / (games * share * (1 - share)) ** 0.5
    assert best.rating == pytest.approx(ELO_PER_NAT / 2 * log(share / (1 - share)), rel=0.01)
    assert width(best) == pytest.approx(2 * 1.96 * error, rel=0.1)


def test_what_is_certain_has_no_interval() -> None:
    """Exact odds that leave nothing to chance come out the same, however often they are played."""
    best, worst = rate_all(
        "ab", [meeting("a", "b", 100, 100, 0, 0, exact=True)], np.random.default_rng(1)
    )

    assert best.low == best.rating == best.high == -worst.rating


def test_games_that_were_all_won_are_no_certainty() -> None:
    """The more of them there are, the nearer they come to it."""
    widths: list[float] = []
    for games in (10, 100, 1000):
        best, _ = rate_all("ab", [meeting("a", "b", games, 100, 0, 0)], np.random.default_rng(1))
        assert best.low is not None
        assert best.high is not None
        assert best.low < best.rating < best.high  # there is room upward as well
        widths.append(1 / (1 + exp(-2 * best.low / ELO_PER_NAT)))
    assert widths == sorted(widths)
    assert widths[-1] > 0.99


def test_bots_that_have_not_met_yet_are_all_the_same() -> None:
    """Nothing is known of them."""
    met = [meeting("a", "b", 0, 0, 0, 0), meeting("b", "a", 0, 0, 0, 0)]

    assert rate_all("ab", met, np.random.default_rng(1)) == (
        Rating("a", 0.0, None, None),
        Rating("b", 0.0, None, None),
    )
    assert RESAMPLES == 1000


def test_a_bot_without_a_game_has_no_interval() -> None:
    """Whatever is known of the others."""
    met = [meeting("a", "b", 50, 60, 0, 40), meeting("a", "c", 0, 0, 0, 0), meeting("c", "b", 0, 0, 0, 0)]

    found = {one.name: one for one in rate_all("abc", met, np.random.default_rng(1))}

    assert (found["c"].low, found["c"].high) == (None, None)
    assert found["a"].low is not None
    assert found["c"].rating == pytest.approx(0, abs=0.1)
    assert found["a"].rating - found["b"].rating == pytest.approx(400 * log10(30.125 / 20.125), abs=0.1)


# Exact odds


def test_ratings_from_exact_odds_do_not_depend_on_the_number_of_games() -> None:
    """All is known; only the interval says how little so few games would have told."""
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
def test_whoever_cannot_lose_a_point_is_rated_high_whatever_the_number_of_games(games: int) -> None:
    """As if one game in a million were drawn, no more."""
    best, _ = rate_all("ab", [meeting("a", "b", games, 100, 0, 0, exact=True)], np.random.default_rng(1))

    assert best.rating == pytest.approx(200 * log10(2e6), abs=0.01)


# What the intervals promise

ODDS = {("a", "b"): (0.9, 0.05, 0.05), ("b", "a"): (0.15, 0.05, 0.8)}
"""Of two bots of which one is much the stronger, in both seats."""


@pytest.mark.parametrize("games", [10, 50])
def test_intervals_hold_the_truth_about_as_often_as_they_say(games: int) -> None:
    """Games are played with known odds, again and again: 95 % are promised, and few games give less."""
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


def test_intervals_of_many_bots_hold_the_truth_as_well() -> None:
    """Six of them, far apart, after three games in each seat: less is promised, but most are right."""
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
    """Six of six may well have been luck, and may be far less than it could do."""
    met = [meeting("a", "b", 3, 100, 0, 0), meeting("b", "a", 3, 0, 0, 100)]

    best, worst = rate_all("ab", met, np.random.default_rng(1))

    assert best.low is not None
    assert best.high is not None
    assert best.low < best.rating - 50
    assert best.high > best.rating + 50
    assert worst.high == pytest.approx(-best.low, abs=1)


def test_the_first_move_cancels_out_also_if_one_seat_has_more_games() -> None:
    """Whoever begins always wins: so both are equal, though one of them has begun more often."""
    met = [meeting("a", "b", 40, 100, 0, 0), meeting("b", "a", 4, 100, 0, 0)]

    found = rate_all("ab", met, np.random.default_rng(1))

    assert [one.rating for one in found] == [0, 0]
