"""Plays whole batches of games between two policies, with all games in step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from noughts.core.board import whole_number
from noughts.core.errors import quoted
from noughts.core.value import Value
from noughts.lab import lookup
from noughts.lab.alias_tables import AliasTables, slot_bits
from noughts.lab.backends import DRAW_BITS, Array, Backend, RandomNumbers
from noughts.lab.errors import BadArray
from noughts.lab.lookup import DRAWN, ENDINGS, O_WON, OPENINGS, X_WON, ChoiceTable

MAX_GAMES_PER_CALL = 10**15
"""More would take years."""


def check_count(games: int) -> int:
    count = whole_number(games, MAX_GAMES_PER_CALL + 1)
    if count is None:
        raise BadArray(f"{quoted(games)} is not a number of games: use an integer from 0 to 10¹⁵")
    return count


def check_seed(seed: int | None) -> int | None:
    """Return a seed that every library accepts, or refuse it."""
    number = whole_number(seed, 2**63)
    if seed is not None and number is None:
        raise BadArray(f"{quoted(seed)} is not a seed: use an integer from 0 to 2⁶³ - 1")
    return number


def batches(games: int, size: int) -> Iterator[int]:
    """Split games into batches of that size, the last one of what is left.

    >>> list(batches(5, 2))
    [2, 2, 1]
    """
    return (min(size, games - begin) for begin in range(0, games, size))


class Records(NamedTuple):
    """Whole games: their moves, lengths and results. In memory, each move is a row of all games."""

    moves: Array
    """A row of nine for each game: the cells in the order in which they were taken, then -1."""
    length: Array
    """How many tokens were placed."""
    result: Array
    """`X_WON`, `O_WON` or `DRAWN`."""


def concatenate(backend: Backend, games: int, parts: Iterable[Records]) -> Records:
    """Join the records of several batches, `games` in all."""
    if games and not backend.is_writable:
        _allocate(backend, games)  # refuses too many before they are played
        return Records(*map(backend.xp.concat, zip(*parts, strict=True)))
    cells, length, result = _allocate(backend, games)
    end = 0
    for part in parts:
        begin, end = end, end + part.length.shape[0]
        cells[:, begin:end] = part.moves.T
        length[begin:end] = part.length
        result[begin:end] = part.result
    return Records(cells.T, length, result)


def _allocate(backend: Backend, games: int) -> list[Array]:
    try:
        return [backend.empty(shape) for shape in ((9, games), (games,), (games,))]
    except (MemoryError, RuntimeError, ValueError) as error:
        raise too_many(games) from error


def too_many(games: int) -> BadArray:
    return BadArray(f"{games:,} games do not fit into memory: play fewer at a time")


class Tally(Value):
    """How many games ended how."""

    x: int
    draw: int
    o: int
    moves: int
    """The tokens of all games together."""

    @property
    def games(self) -> int:
        return self.x + self.draw + self.o

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.x + other.x, self.draw + other.draw, self.o + other.o, self.moves + other.moves)


NO_GAMES = Tally(0, 0, 0, 0)

_LENGTH_BASE = 10
"""A game has fewer tokens, so a result and a length fit into one number."""


class Match(ABC):
    """Plays batches: every choice is an index into tables that hold its cell and what follows."""

    def __init__(self, backend: Backend, table: ChoiceTable | AliasTables) -> None:
        boards = lookup.positions()
        tokens = [boards[number].count for number in table.position]
        ends = [_LENGTH_BASE * end + length for end, length in zip(table.status, tokens, strict=True)]
        self._xp = backend.xp
        self._after = backend.array(table.after, "integer")
        self._cell = backend.array(table.cell, "int8")
        self._result = backend.array(table.status, "int8")
        self._length = backend.array(tokens, "int8")
        self._end = backend.array(ends, "int8")
        self._ends = sorted({end for end in ends if end >= _LENGTH_BASE})
        self._record, self._count = self._record_games, self._count_games

    def compile(self, compiler: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Compile the play of a whole batch into one function."""
        record, count = compiler(self._record_games), compiler(self._count_games)
        self._record = lambda draws: record(tuple(draws))
        self._count = lambda draws: count(tuple(draws))

    def record(self, games: int, rng: RandomNumbers) -> Records:
        cells, length, result = self._record(self._draws(games, rng))
        return Records(cells.T, length, result)

    def count(self, games: int, rng: RandomNumbers) -> Tally:
        counts = [int(count) for count in self._count(self._draws(games, rng))]
        tally = dict.fromkeys((X_WON, DRAWN, O_WON), 0)
        moves = 0
        for end, count in zip(self._ends, counts, strict=True):
            tally[end // _LENGTH_BASE] += count
            moves += end % _LENGTH_BASE * count
        return Tally(tally[X_WON], tally[DRAWN], tally[O_WON], moves)

    @abstractmethod
    def _draws(self, games: int, rng: RandomNumbers) -> Iterable[Array]:
        """Return the random numbers that a batch needs."""

    @abstractmethod
    def _choices(self, draws: Iterable[Array]) -> Iterator[Array]:
        """Yield the nine choices of each game."""

    def _record_games(self, draws: Iterable[Array]) -> tuple[Array, Array, Array]:
        take, cells, last = self._xp.take, [], None
        for choice in self._choices(draws):
            cells.append(take(self._cell, choice))
            last = choice
        row = take(self._after, last)
        return self._xp.stack(cells), take(self._length, row), take(self._result, row)

    def _count_games(self, draws: Iterable[Array]) -> Array:
        """Return how many games ended in each of the possible ways."""
        xp, last = self._xp, None
        for choice in self._choices(draws):
            last = choice
        end = xp.take(self._end, xp.take(self._after, last))
        return xp.stack([xp.count_nonzero(end == one) for one in self._ends])


class RandomMatch(Match):
    """Both play at random, exactly: every order of the nine cells is equally likely."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend, lookup.choice_table())
        first, *others = (backend.array(column, "integer") for column in lookup.choice_digits())
        self._first, self._opening, self._ending = first, others[:2], others[2:]

    def _draws(self, games: int, rng: RandomNumbers) -> Iterable[Array]:
        return rng.below(OPENINGS, games), rng.below(ENDINGS, games)

    def _choices(self, draws: Iterable[Array]) -> Iterator[Array]:
        take, after = self._xp.take, self._after
        opening, ending = draws
        choice = take(self._first, opening)
        yield choice
        for digit in self._opening:
            choice = take(after, choice) + take(digit, opening)
            yield choice
        for digit in self._ending:
            choice = take(after, choice) + take(digit, ending)
            yield choice
        yield take(after, choice)


class PolicyMatch(Match):
    """Any two policies."""

    def __init__(self, backend: Backend, tables: AliasTables) -> None:
        super().__init__(backend, tables)
        self._threshold = backend.array(tables.threshold, "integer")
        self._half = len(tables.threshold)

    def _draws(self, games: int, rng: RandomNumbers) -> Iterable[Array]:
        return islice(rng.draws(games), 8)

    def _choices(self, draws: Iterable[Array]) -> Iterator[Array]:
        take = self._xp.take
        row: Array = 0
        for tokens, draw in enumerate(draws):
            slot = row + (draw >> (DRAW_BITS - slot_bits(tokens)))
            is_below = (draw - take(self._threshold, slot)) >> (DRAW_BITS + 2)  # all bits set, or none
            choice = slot + (is_below & self._half)
            yield choice
            row = take(self._after, choice)
        yield row
