"""What the lab does in a second, by this process's own time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from noughts import find_policy
from noughts.lab.arrays import Rules
from noughts.lab.backends import CPU_BATCH, RandomNumbers
from noughts.lab.lookup import POSITIONS, positions
from noughts.lab.vector_env import TicTacToeVectorEnv

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

_DRAWN_BITS, _STRIDE = np.uint16(12), np.uint16(POSITIONS)
GAMES = 1_000_000
VECTOR = 4_096
_RULES = Rules()


def recorded_games() -> float:
    """Return random games a second, with every move played and recorded, a million at a time."""
    return _rate(lambda: len(_RULES.play(GAMES).length))


def random_moves() -> float:
    """Return the moves a second of random games in batches, recorded."""
    return moves_of("random", "random")


def moves_of(x: str, o: str) -> float:
    """Return the moves a second of two policies in batches, recorded."""
    match, chance = _RULES.match(find_policy(x), find_policy(o)), RandomNumbers(1)
    return _rate(lambda: int(match.record(CPU_BATCH, chance).length.sum(dtype=np.int64)))


def bare_gathers() -> float:
    """Return how many games a second it would be if nothing were done but to fetch what they fetch.

    The indices are those of real games, and lie ready: nine times a row of the table of positions and a
    cell, out of the same tables, as many games at a time.
    """
    match = _RULES.match()
    draws = match._draws(CPU_BATCH, RandomNumbers(1))  # noqa: SLF001 - what it fetches is to be measured alone
    indices = [index.copy() for index in match._choices(draws)]  # noqa: SLF001 - the same
    after, cell = match._after, match._cell  # noqa: SLF001 - the same

    def fetch() -> int:
        for index in indices:
            np.take(after, index)
            np.take(cell, index)
        return CPU_BATCH

    return _rate(fetch)


def vector_steps(opponent: str | None) -> float:
    """Return the steps a second of the vector environment, each with a random legal action.

    With no opponent a step is one move. What the environment gives out is made in every step.
    """
    env = TicTacToeVectorEnv(VECTOR, opponent, autoreset_mode="SameStep")
    act = _Random()
    _, infos = env.reset(seed=1)

    def steps() -> int:
        nonlocal infos
        for _ in range(100):
            *_, infos = env.step(act(infos["position"]))
        return 100 * VECTOR

    return _rate(steps)


class _Random:
    """Chooses among the free cells of each position, each as likely as the others but for 2⁻¹²."""

    def __init__(self) -> None:
        boards = positions()
        self._drawn = self._draw()
        self._free = np.array([len(board.free_cells) or 1 for board in boards], np.uint16)
        columns = [[*board.free_cells, *[0] * 9][:9] for board in boards]
        self._cells = np.array(columns, np.int8).T.ravel()  # the first choice of all, then the second

    def __call__(self, numbers: Numbers) -> NDArray[np.int8]:
        place = self._free.take(numbers)
        place *= next(self._drawn)
        place >>= _DRAWN_BITS
        place *= _STRIDE
        place += numbers.astype(np.uint16)
        return self._cells.take(place.astype(np.int64))

    def _draw(self) -> Iterator[NDArray[np.uint16]]:
        """Draw numbers of 12 bits for a hundred steps at a time, without end."""
        limits = np.iinfo(np.int64)
        rng = np.random.Generator(np.random.SFC64(1))
        while True:
            words = rng.integers(limits.min, limits.max, 100 * VECTOR // 4, endpoint=True)
            yield from (words.view(np.uint16) >> np.uint16(4)).reshape(100, VECTOR)


def _rate(work: Callable[[], int], seconds: float = 2.0) -> float:
    work()
    done = 0
    start, end = time.process_time(), time.perf_counter() + seconds
    while time.perf_counter() < end:
        done += work()
    return done / (time.process_time() - start)
