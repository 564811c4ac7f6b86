"""The lab's rates per second of CPU time."""

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

_DRAW_BITS, _STRIDE = np.uint16(12), np.uint16(POSITIONS)
GAMES = 1_000_000
VECTOR_GAMES = 4_096
_RULES = Rules()


def recorded_games() -> float:
    """Return random games per second, every move played and recorded, a million at a time."""
    return _rate(lambda: len(_RULES.play(GAMES).length))


def random_moves() -> float:
    """Return the moves per second of random games in batches, recorded."""
    return moves_of("random", "random")


def moves_of(x: str, o: str) -> float:
    """Return the moves per second of two policies in batches, recorded."""
    match, rng = _RULES.match(find_policy(x), find_policy(o)), RandomNumbers(1)
    return _rate(lambda: int(match.record(CPU_BATCH, rng).length.sum(dtype=np.int64)))


def bare_gathers() -> float:
    """Return the games per second if only their table lookups were done.

    The indices are those of real games, prepared in advance: nine rows and cells from the same tables, in
    batches of the same size.
    """
    match = _RULES.match()
    draws = match._draws(CPU_BATCH, RandomNumbers(1))  # noqa: SLF001 - its lookups are measured alone
    indices = [index.copy() for index in match._choices(draws)]  # noqa: SLF001 - its lookups are measured alone
    after, cell = match._after, match._cell  # noqa: SLF001 - its lookups are measured alone

    def fetch() -> int:
        for index in indices:
            np.take(after, index)
            np.take(cell, index)
        return CPU_BATCH

    return _rate(fetch)


def vector_steps(opponent: str | None) -> float:
    """Return the steps per second of the vector environment, each with a random legal action."""
    env = TicTacToeVectorEnv(VECTOR_GAMES, opponent, autoreset_mode="SameStep")
    act = _RandomActions()
    _, infos = env.reset(seed=1)

    def steps() -> int:
        nonlocal infos
        for _ in range(100):
            *_, infos = env.step(act(infos["position"]))
        return 100 * VECTOR_GAMES

    return _rate(steps)


class _RandomActions:
    """Chooses a free cell of each position, uniformly up to 2⁻¹²."""

    def __init__(self) -> None:
        boards = positions()
        self._drawn = self._draw()
        self._free = np.array([len(board.free_cells) or 1 for board in boards], np.uint16)
        columns = [[*board.free_cells, *[0] * 9][:9] for board in boards]
        self._cells = np.array(columns, np.int8).T.ravel()  # the first choices, then the second ones

    def __call__(self, numbers: Numbers) -> NDArray[np.int8]:
        place = self._free.take(numbers)
        place *= next(self._drawn)
        place >>= _DRAW_BITS
        place *= _STRIDE
        place += numbers.astype(np.uint16)
        return self._cells.take(place.astype(np.int64))

    def _draw(self) -> Iterator[NDArray[np.uint16]]:
        """Yield numbers of 12 bits without end, drawn for a hundred steps at a time."""
        limits = np.iinfo(np.int64)
        rng = np.random.Generator(np.random.SFC64(1))
        while True:
            words = rng.integers(limits.min, limits.max, 100 * VECTOR_GAMES // 4, endpoint=True)
            yield from (words.view(np.uint16) >> np.uint16(4)).reshape(100, VECTOR_GAMES)


def _rate(work: Callable[[], int], seconds: float = 2.0) -> float:
    work()
    done = 0
    start, end = time.process_time(), time.perf_counter() + seconds
    while time.perf_counter() < end:
        done += work()
    return done / (time.process_time() - start)
