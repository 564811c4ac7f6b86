"""Ratings after Bradley and Terry: a number for each bot, from what all scored against each other.

A bot that is rated 400 above another wins ten points for one that it loses, as on the Elo scale. The mean
of all ratings is 0. Whoever never lost would be rated infinitely high, so every pair is taken to have
drawn one game more than it played.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import numpy as np

from noughts.core.value import Value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    from numpy.random import Generator
    from numpy.typing import NDArray

    from noughts.lab.tournament import Meeting

    Floats: TypeAlias = NDArray[np.float64]

PRIOR = 1.0
"""How many games each pair is taken to have drawn, beside those that it played."""
ELO = 400 / log(10)
RESAMPLES = 1000
_SLICE = 100
"""How many resamples are rated at once: for a hundred bots they take some megabytes."""
_CLOSE = 1e-9
_STEPS = 200


class Rating(Value):
    """A bot, its rating, and the interval in which 95 % of all resampled ratings lie."""

    name: str
    rating: float
    low: float
    high: float


def rate_all(names: Sequence[str], meetings: Sequence[Meeting], rng: Generator) -> tuple[Rating, ...]:
    """Rate all bots by how they met, the best first; those who are equal keep their order."""
    ratings = rate(_points(names, meetings, [_expected(one) for one in meetings]))
    spread = np.concatenate(
        [rate(_resampled(names, meetings, rng)) for _ in range(RESAMPLES // _SLICE)], axis=0
    )
    lows, highs = np.quantile(spread, (0.025, 0.975), axis=0)
    found = [
        Rating(name, *(round(float(number), 2) + 0.0 for number in numbers))  # there is no -0.0
        for name, *numbers in zip(names, ratings, lows, highs, strict=True)
    ]
    return tuple(sorted(found, key=lambda one: -one.rating))


def rate(points: Floats, prior: float = PRIOR) -> Floats:
    """Return the likeliest ratings; `points[i, j]` is what i scored against j.

    There may be many such tables, one behind the other, and then there are as many rows of ratings.

    >>> [round(rating) for rating in rate(np.array([[0.0, 9.5], [0.5, 0.0]])).tolist()]
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


def _expected(meeting: Meeting) -> Floats:
    """Return how many games were won by X, drawn, and won by O; of exact odds, how many on average."""
    return np.array([[float(meeting.games * share) for share in meeting.shares]])


def _resampled(names: Sequence[str], meetings: Sequence[Meeting], rng: Generator) -> Floats:
    """Play all meetings again, by lot, a whole slice of times."""
    return _points(
        names, meetings, [rng.multinomial(one.games, _chances(one), _SLICE) for one in meetings]
    )


def _chances(meeting: Meeting) -> list[float]:
    """Return the chances of each end in a resample.

    Exact odds are what they are. Games that were played are drawn again, each as likely as any other, and
    with them one more that is a third won, a third drawn and a third lost: ten wins in ten games are no
    certainty.
    """
    shares = [float(share) for share in meeting.shares]
    if meeting.is_exact:
        return shares
    return [(meeting.games * share + 1 / 3) / (meeting.games + 1) for share in shares]


def _points(names: Sequence[str], meetings: Sequence[Meeting], ends: Sequence[NDArray[Any]]) -> Floats:
    """Add up what each scored against each, over both seats; a draw is half a win for both."""
    place = {name: number for number, name in enumerate(names)}
    length = ends[0].shape[0] if ends else 1
    points = np.zeros((length, len(names), len(names)))
    for meeting, counts in zip(meetings, ends, strict=True):
        x, o = place[meeting.x], place[meeting.o]
        points[:, x, o] += counts[:, 0] + counts[:, 1] / 2
        points[:, o, x] += counts[:, 2] + counts[:, 1] / 2
    return points if length > 1 else points[0]
