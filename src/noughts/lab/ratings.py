"""Ratings after Bradley and Terry: a number for each bot, from what all scored against each other.

A bot that is rated 400 above another wins ten points for one that it loses, as on the Elo scale. The mean
of all ratings is 0. Whoever never lost would be rated infinitely high: docs/tournaments.md says what is
done about that, and how intervals are found.
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

PRIOR = 0.5
"""How many games a bot is taken to have drawn beside those that it played, with all opponents in all."""
VANISHING = 1e-6
"""How many any other pair is taken to have drawn, for each game that counts: no fit is infinite then."""
UNMET = 1e-3
"""How many a pair without a game is taken to have drawn: everybody is rated against everybody."""
ELO = 400 / log(10)
RESAMPLES = 1000
_ROOM = 1_000_000
"""How many numbers a slice of the resamples may have: they take some megabytes."""
_CLOSE = 1e-9
_STEPS = 200


class Rating(Value):
    """A bot, its rating, and the interval in which 95 % of all resampled ratings lie.

    A bot that has no game has no interval: nothing is known of it.
    """

    name: str
    rating: float
    low: float | None
    high: float | None


def rate_all(names: Sequence[str], meetings: Sequence[Meeting], rng: Generator) -> tuple[Rating, ...]:
    """Rate all bots by how they met, the best first; those who are equal keep their order."""
    table = _Table(names, meetings)
    ratings = rate(table.points, table.prior)
    spread = np.concatenate([rate(points, table.least) for points in table.resampled(rng)])
    lows, highs = np.quantile(spread, (0.025, 0.975), axis=0)
    met = {name for one in meetings if one.games for name in (one.x, one.o)}
    found = [
        Rating(name, _plain(rating), _plain(min(low, rating)), _plain(max(high, rating)))
        if name in met
        else Rating(name, _plain(rating), None, None)
        for name, rating, low, high in zip(names, ratings, lows, highs, strict=True)
    ]
    return tuple(sorted(found, key=lambda one: -one.rating))


def _plain(number: float) -> float:
    return round(float(number), 2) + 0.0  # there is no -0.0


def rate(points: Floats, prior: float | Floats = PRIOR) -> Floats:
    """Return the likeliest ratings; `points[i, j]` is what i scored against j.

    Besides, each pair is taken to have drawn so many games, or as many as a table says.

    There may be many such tables, one behind the other, and then there are as many rows of ratings.

    >>> [round(rating) for rating in rate(np.array([[0.0, 9.75], [0.75, 0.0]])).tolist()]
    [200, -200]
    """
    count = points.shape[-1]
    tables = points.reshape(-1, count, count) + prior / 2 * (1 - np.eye(count))
    ratings = np.zeros(tables.shape[:2])
    for _ in range(_STEPS):
        step = _newton(tables, ratings)
        if np.abs(step).max(initial=0) < _CLOSE:
            break
        ratings = _climbed(tables, ratings, step)
    centred: Floats = ratings - ratings.mean(axis=-1, keepdims=True)
    return ELO * centred.reshape(points.shape[:-1])


def _newton(tables: Floats, ratings: Floats) -> Floats:
    """Return the step to where the likelihood would be greatest, were it a parabola."""
    count = ratings.shape[-1]
    losing = np.exp(-np.logaddexp(0, _gaps(ratings)))
    surprise = tables * losing
    slope = surprise.sum(axis=2) - surprise.sum(axis=1)
    bends = (tables + tables.swapaxes(1, 2)) * losing * losing.swapaxes(1, 2)
    sums = bends.sum(axis=2)
    level = sums.mean(axis=1)[:, None, None]  # it only keeps the mean where it is
    matrix = np.eye(count) * sums[:, :, None] - bends + level
    return np.linalg.solve(matrix, slope[:, :, None])[:, :, 0]


def _climbed(tables: Floats, ratings: Floats, step: Floats) -> Floats:
    """Take the step; in a table where it would lead down, half of it, or half of that."""
    before = _likelihood(tables, ratings)
    while (worse := _likelihood(tables, ratings + step) < before - 1e-12 * np.abs(before)).any():
        step = np.where(worse[:, None], step / 2, step)
    return ratings + step


def _likelihood(tables: Floats, ratings: Floats) -> Floats:
    """Return the logarithm of how likely these points are with these ratings, for each table."""
    chances: Floats = -np.logaddexp(0, -_gaps(ratings))
    total: Floats = (tables * chances).sum(axis=(1, 2))
    return total


def _gaps(ratings: Floats) -> Floats:
    """Return how much higher each is rated than each other."""
    gaps: Floats = ratings[:, :, None] - ratings[:, None, :]
    return gaps


class _Table:
    """What each scored against each, over both seats, and how sure that is."""

    def __init__(self, names: Sequence[str], meetings: Sequence[Meeting]) -> None:
        place = {name: number for number, name in enumerate(names)}
        self._size = len(names)
        self._seats = [(place[one.x], place[one.o]) for one in meetings]
        self._weights = _weights(meetings)
        self._shares = np.array([[float(share) for share in one.shares] for one in meetings]).reshape(
            -1, 3
        )
        games = np.array([one.games for one in meetings])
        is_exact = np.array([one.is_exact for one in meetings])[:, None]
        opponents = max(1, len(names) - 1)
        more = np.where(is_exact, self._shares, 1 / 3 / opponents)
        self._counts = games[:, None] * self._shares + more
        self.points = self._scored(self._shares[None])[0]
        games = self.points + self.points.T
        self.least = np.where(games > 0, VANISHING * games, UNMET)
        """The draws that keep a fit finite, a pair each."""
        self.prior = self.least.copy()
        """Those, and the draws of pairs that have played."""
        for (x, o), one in zip(self._seats, meetings, strict=True):
            if one.games and not one.is_exact:
                self.prior[x, o] = self.prior[o, x] = PRIOR / opponents

    def resampled(self, rng: Generator) -> Iterator[Floats]:
        """Draw all proportions from what the games leave open, or as many games with exact odds would.

        One more is put to them, shared among all opponents, which is a third won, a third drawn and a
        third lost: ten wins in ten games are no certainty. To exact odds one is put that ends like them.
        """
        left, most = RESAMPLES, max(1, _ROOM // self._size**2)
        while left > 0:
            drawn = rng.standard_gamma(self._counts, (min(left, most), *self._counts.shape))
            yield self._scored(drawn / drawn.sum(axis=2, keepdims=True))
            left -= most

    def _scored(self, shares: Floats) -> Floats:
        """Add up what each scored against each; a draw is half a win for both."""
        points = np.zeros((len(shares), self._size, self._size))
        scores = (shares[:, :, 0] + shares[:, :, 1] / 2) * self._weights
        losses = (shares[:, :, 2] + shares[:, :, 1] / 2) * self._weights
        for number, (x, o) in enumerate(self._seats):
            points[:, x, o] += scores[:, number]
            points[:, o, x] += losses[:, number]
        return points


def _weights(meetings: Sequence[Meeting]) -> Floats:
    """Return how many games each meeting counts for.

    If a pair has games in both seats, each seat counts for as much, and so nobody gains by having begun
    more often: both for as many games as would leave the mean of the two as unsure as it is.
    """
    games = {(one.x, one.o): one.games for one in meetings}
    weights = np.zeros(len(meetings))
    for number, one in enumerate(meetings):
        other = games.get((one.o, one.x), 0)
        even = one.games and other
        weights[number] = 2 * one.games * other / (one.games + other) if even else one.games
    return weights
