"""Games by the hundred million, on all cores: how they ended, as it becomes known.

The work is cut into pieces that are always the same, and each has random numbers of its own: so the same
seed plays the same games, however many processes share them.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from typing import TYPE_CHECKING

import numpy as np

from noughts.lab.backends import NEAR, Backend, Chance
from noughts.lab.matches import NOTHING, PolicyMatch, RandomMatch, checked_count
from noughts.lab.mixing import mix
from noughts.players.policies import random

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future

    from noughts.lab.matches import Match, Tally
    from noughts.lab.mixing import Mixed
    from noughts.players.policies import Policy

PIECE = 125 * NEAR
"""How many games are one piece of the work: a fraction of a second."""


class Simulation:
    """Two policies, and how many games they are to play. X starts."""

    def __init__(self, x: Policy, o: Policy, games: int, seed: int | None = None) -> None:
        self._mixed = None if x is random and o is random else mix(x, o)
        self._games = checked_count(games)
        self._seed = np.random.SeedSequence(seed).entropy

    def run(self, jobs: int | None = None) -> Iterator[Tally]:
        """Play, and return how the games of each piece ended; nothing is left running after that."""
        pieces = -(-self._games // PIECE)
        workers = min(jobs or _cores(), pieces)
        if workers < 2:
            match = _match(self._mixed)
            return (_played(match, *piece) for piece in self._pieces())
        return self._shared(workers)

    def _pieces(self) -> Iterator[tuple[int, np.random.SeedSequence]]:
        for place, begin in enumerate(range(0, self._games, PIECE)):
            seed = np.random.SeedSequence(self._seed, spawn_key=(place,))
            yield min(PIECE, self._games - begin), seed

    def _shared(self, workers: int) -> Iterator[Tally]:
        pool = ProcessPoolExecutor(
            workers, get_context("spawn"), initializer=_prepare, initargs=(self._mixed,)
        )
        waiting: deque[Future[Tally]] = deque()
        pieces = self._pieces()
        try:
            waiting.extend(pool.submit(_play, *piece) for piece in islice(pieces, 2 * workers))
            while waiting:
                done = waiting.popleft().result()
                waiting.extend(pool.submit(_play, *piece) for piece in islice(pieces, 1))
                yield done
        finally:
            pool.shutdown(cancel_futures=True)


def _played(match: Match, games: int, seed: np.random.SeedSequence) -> Tally:
    chance, sizes = Chance(seed), [NEAR] * (games // NEAR) + [games % NEAR]
    return sum((match.count(size, chance) for size in sizes if size), NOTHING)


def _match(mixed: Mixed | None) -> Match:
    return RandomMatch(Backend()) if mixed is None else PolicyMatch(Backend(), mixed)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# In the processes that share the work:

_PREPARED: list[Match] = []


def _prepare(mixed: Mixed | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who waits for us
    _PREPARED[:] = [_match(mixed)]


def _play(games: int, seed: np.random.SeedSequence) -> Tally:
    return _played(_PREPARED[0], games, seed)
