"""Bradley-Terry ratings on the Elo scale, with intervals.

A bot rated 400 above another scores ten points for each that it loses. The mean rating is 0. A bot that
never lost a point would be rated infinitely high: docs/tournaments.md describes the prior that prevents
it, and the intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log
from typing import TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from noughts.core.value import Value
from noughts.lab.tournament import Meeting

Floats: TypeAlias = NDArray[np.float64]

PRIOR_DRAWS = 0.5
"""Extra draws of each bot that played games, shared among all its opponents."""
EXACT_PRIOR_DRAWS = 1e-6
"""Extra draws per game of any other pair: enough for a finite fit."""
UNMET_PRIOR_DRAWS = 1e-3
"""Extra draws of a pair without games, which connects all bots."""
ELO_PER_NAT = 400 / log(10)
RESAMPLES = 1000
_SLICE_NUMBERS = 1_000_000
"""The resamples are processed in slices of that size, to save memory."""
_TOLERANCE = 1e-9
_MAX_STEPS = 200


class Rating(Value):
    """A bot, its rating, and the interval of 95 % of its resampled ratings; None without games."""

    name: str
    rating: float
    low: float | None
    high: float | None


def rate_all(names: Sequence[str], meetings: Sequence[Meeting], rng: Generator) -> tuple[Rating, ...]:
    """Rate all bots, the best first; equals keep their order."""
    table = _ScoreTable(names, meetings)
    ratings = rate(table.points, table.prior)
    spread = np.concatenate([rate(points, table.min_prior) for points in table.resampled(rng)])
    lows, highs = np.quantile(spread, (0.025, 0.975), axis=0)
    with_games = {name for one in meetings if one.games for name in (one.x, one.o)}
    found = [
        Rating(name, _rounded(rating), _rounded(min(low, rating)), _rounded(max(high, rating)))
        if name in with_games
        else Rating(name, _rounded(rating), None, None)
        for name, rating, low, high in zip(names, ratings, lows, highs, strict=True)
    ]
    return tuple(sorted(found, key=lambda one: -one.rating))


def _rounded(number: float) -> float:
    return round(float(number), 2) + 0.0  # never -0.0


def rate(points: Floats, prior: float | Floats = PRIOR_DRAWS) -> Floats:
    """Return the maximum-likelihood ratings; `points[i, j]` is what i scored against j.

    `prior` is the number of extra draws, of all pairs or of each. `points` may be a stack of tables: then
    there are as many rows of ratings.

    >>> [round(rating) for rating in rate(np.array([[0.0, 9.75], [0.75, 0.0]])).tolist()]
    [200, -200]
    """
    count = points.shape[-1]
    tables = points.reshape(-1, count, count) + prior / 2 * (1 - np.eye(count))
    ratings = np.zeros(tables.shape[:2])
    for _ in range(_MAX_STEPS):
        step = _newton(tables, ratings)
        if np.abs(step).max(initial=0) < _TOLERANCE:
            break
        ratings = _take_step(tables, ratings, step)
    centred: Floats = ratings - ratings.mean(axis=-1, keepdims=True)
    return ELO_PER_NAT * centred.reshape(points.shape[:-1])


def _newton(tables: Floats, ratings: Floats) -> Floats:
    """Return the Newton step of the log-likelihood."""
    count = ratings.shape[-1]
    losing = np.exp(-np.logaddexp(0, _gaps(ratings)))
    surprise = tables * losing
    slope = surprise.sum(axis=2) - surprise.sum(axis=1)
    bends = (tables + tables.swapaxes(1, 2)) * losing * losing.swapaxes(1, 2)
    sums = bends.sum(axis=2)
    level = sums.mean(axis=1)[:, None, None]  # keeps the mean where it is
    matrix = np.eye(count) * sums[:, :, None] - bends + level
    return np.linalg.solve(matrix, slope[:, :, None])[:, :, 0]


def _take_step(tables: Floats, ratings: Floats, step: Floats) -> Floats:
    """Take the step, halved until the likelihood of no table gets worse."""
    before = _likelihood(tables, ratings)
    while (worse := _likelihood(tables, ratings + step) < before - 1e-12 * np.abs(before)).any():
        step = np.where(worse[:, None], step / 2, step)
    return ratings + step


def _likelihood(tables: Floats, ratings: Floats) -> Floats:
    """Return the log-likelihood of each table."""
    chances: Floats = -np.logaddexp(0, -_gaps(ratings))
    total: Floats = (tables * chances).sum(axis=(1, 2))
    return total


def _gaps(ratings: Floats) -> Floats:
    gaps: Floats = ratings[:, :, None] - ratings[:, None, :]
    return gaps


class _ScoreTable:
    """The points of each bot against each other one, over both seats, and their uncertainty."""

    def __init__(self, names: Sequence[str], meetings: Sequence[Meeting]) -> None:
        place = {name: number for number, name in enumerate(names)}
        self._size = len(names)
        self._seats = [(place[one.x], place[one.o]) for one in meetings]
        self._weights = _weights(meetings)
        self._shares = np.array([one.shares for one in meetings], np.float64).reshape(-1, 3)
        games = np.array([one.games for one in meetings])
        is_exact = np.array([one.is_exact for one in meetings])[:, None]
        opponents = max(1, len(names) - 1)
        more = np.where(is_exact, self._shares, 1 / 3 / opponents)
        self._counts = games[:, None] * self._shares + more
        self.points = self._scored(self._shares[None])[0]
        games = self.points + self.points.T
        self.min_prior = np.where(games > 0, EXACT_PRIOR_DRAWS * games, UNMET_PRIOR_DRAWS)
        """The extra draws of each pair that keep a fit finite."""
        self.prior = self.min_prior.copy()
        """The same, with more for pairs that have played."""
        for (x, o), one in zip(self._seats, meetings, strict=True):
            if one.games and not one.is_exact:
                self.prior[x, o] = self.prior[o, x] = PRIOR_DRAWS / opponents

    def resampled(self, rng: Generator) -> Iterator[Floats]:
        """Yield the points of resampled results, drawn from Dirichlet distributions.

        Played games get one more game, shared among all opponents: a third won, drawn and lost, as ten
        wins in ten games are not a certainty. Exact odds get one more that ends like them.
        """
        left, most = RESAMPLES, max(1, _SLICE_NUMBERS // self._size**2)
        while left > 0:
            drawn = rng.standard_gamma(self._counts, (min(left, most), *self._counts.shape))
            yield self._scored(drawn / drawn.sum(axis=2, keepdims=True))
            left -= most

    def _scored(self, shares: Floats) -> Floats:
        """Add up the points; a draw is half a point for both."""
        points = np.zeros((len(shares), self._size, self._size))
        scores = (shares[:, :, 0] + shares[:, :, 1] / 2) * self._weights
        losses = (shares[:, :, 2] + shares[:, :, 1] / 2) * self._weights
        for number, (x, o) in enumerate(self._seats):
            points[:, x, o] += scores[:, number]
            points[:, o, x] += losses[:, number]
        return points


def _weights(meetings: Sequence[Meeting]) -> Floats:
    """Return the weight of each meeting in games.

    If a pair has games in both seats, both count the same: the harmonic mean of the two numbers, which
    keeps the uncertainty of their average.
    """
    games = {(one.x, one.o): one.games for one in meetings}
    weights = np.zeros(len(meetings))
    for number, one in enumerate(meetings):
        other = games.get((one.o, one.x), 0)
        even = one.games and other
        weights[number] = 2 * one.games * other / (one.games + other) if even else one.games
    return weights
