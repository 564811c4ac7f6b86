"""Two policies who play whole batches of games, every move of them, in step with each other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from operator import index
from typing import Any, NamedTuple

from noughts.core.errors import quoted
from noughts.core.value import Value
from noughts.lab import lookup
from noughts.lab.alias_tables import Mixed, slot_bits
from noughts.lab.backends import BITS, Array, Backend, Chance
from noughts.lab.errors import BadArray
from noughts.lab.lookup import DRAWN, ENDINGS, O_WON, OPENINGS, X_WON

MOST = 10**15
"""Games that are played at once; more take years."""


def checked_count(games: int) -> int:
    """Return a number of games, or refuse what is none."""
    count = _whole(games)
    if count is None or count > MOST:
        raise BadArray(f"{quoted(games)} is no number of games: it is a whole number from 0 to 10¹⁵")
    return count


def checked_seed(seed: int | None) -> int | None:
    """Return a seed that every library knows, or refuse what is none."""
    number = _whole(seed)
    if seed is not None and (number is None or number >= 2**63):
        raise BadArray(f"{quoted(seed)} is no seed: it is a whole number from 0 to 2⁶³ - 1")
    return number


def _whole(number: object) -> int | None:
    """Return a whole number that is not negative, of whatever type, as Python's own."""
    try:
        whole = -1 if isinstance(number, bool) else index(number)  # type: ignore[arg-type]  # it raises
    except TypeError:
        return None
    return whole if whole >= 0 else None


class Records(NamedTuple):
    """Whole games: how each was played, and how it ended. In memory, each move is a row of all games."""

    moves: Array
    """A row of nine for each game: the cells in the order in which they were taken, then -1."""
    length: Array
    """How many tokens were placed."""
    result: Array
    """`X_WON`, `O_WON` or `DRAWN`."""


def joined(backend: Backend, games: int, parts: Iterable[Records]) -> Records:
    """Return the records of several batches as one, of so many games in all."""
    if not backend.is_writable:
        _room(backend, games)
        moves, length, result = zip(*parts, strict=True)
        concat = backend.xp.concat
        return Records(concat(moves), concat(length), concat(result))
    cells, length, result = _room(backend, games)
    end = 0
    for part in parts:
        begin, end = end, end + part.length.shape[0]
        cells[:, begin:end] = part.moves.T
        length[begin:end] = part.length
        result[begin:end] = part.result
    return Records(cells.T, length, result)


def _room(backend: Backend, games: int) -> list[Array]:
    try:
        return [backend.empty(shape) for shape in ((9, games), (games,), (games,))]
    except (MemoryError, RuntimeError, ValueError) as error:
        raise too_many(games) from error


def too_many(games: int) -> BadArray:
    """Return the refusal of a batch that no memory holds."""
    return BadArray(f"{games:,} games do not fit into the memory: play fewer at a time")


class Tally(Value):
    """How many games ended how."""

    x: int
    draw: int
    o: int
    moves: int
    """The tokens of all games together."""

    @property
    def games(self) -> int:
        """How many games there were."""
        return self.x + self.draw + self.o

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.x + other.x, self.draw + other.draw, self.o + other.o, self.moves + other.moves)


NOTHING = Tally(0, 0, 0, 0)

_LONGEST = 10
"""A game has fewer tokens than that, so a result and a length fit into one number."""


class Match(ABC):
    """Whoever plays: every choice is an index into tables that say which cell it is, and what follows."""

    def __init__(
        self, backend: Backend, after: list[int], cell: list[int], stands: list[int], tokens: list[int]
    ) -> None:
        self._xp = backend.xp
        self._after = backend.array(after, "integer")
        self._cell = backend.array(cell, "int8")
        self._result = backend.array(stands, "int8")
        self._length = backend.array(tokens, "int8")
        ends = [_LONGEST * result + length for result, length in zip(stands, tokens, strict=True)]
        self._end = backend.array(ends, "int8")
        self._ends = sorted({end for end in ends if end >= _LONGEST})
        self._record, self._count = self._played_and_noted, self._played

    def compile(self, compiler: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Have one function made of all that a batch takes."""
        record, count = compiler(self._played_and_noted), compiler(self._played)
        self._record = lambda draws: record(tuple(draws))
        self._count = lambda draws: count(tuple(draws))

    def record(self, games: int, chance: Chance) -> Records:
        """Play so many games, and return the records of them."""
        cells, length, result = self._record(self._draws(games, chance))
        return Records(cells.T, length, result)

    def count(self, games: int, chance: Chance) -> Tally:
        """Play so many games, and count how they end."""
        counts = [int(count) for count in self._count(self._draws(games, chance))]
        tally = dict.fromkeys((X_WON, DRAWN, O_WON), 0)
        moves = 0
        for end, count in zip(self._ends, counts, strict=True):
            tally[end // _LONGEST] += count
            moves += end % _LONGEST * count
        return Tally(tally[X_WON], tally[DRAWN], tally[O_WON], moves)

    @abstractmethod
    def _draws(self, games: int, chance: Chance) -> Iterable[Array]:
        """Return the random numbers that so many games take."""

    @abstractmethod
    def _choices(self, draws: Iterable[Array]) -> Iterator[Array]:
        """Return the nine choices of each game, one after the other."""

    def _played_and_noted(self, draws: Iterable[Array]) -> tuple[Array, Array, Array]:
        take, cells, last = self._xp.take, [], None
        for choice in self._choices(draws):
            cells.append(take(self._cell, choice))
            last = choice
        row = take(self._after, last)
        return self._xp.stack(cells), take(self._length, row), take(self._result, row)

    def _played(self, draws: Iterable[Array]) -> Array:
        """Return how many games ended in each of the ways there are."""
        xp, last = self._xp, None
        for choice in self._choices(draws):
            last = choice
        end = xp.take(self._end, xp.take(self._after, last))
        return xp.stack([xp.count_nonzero(end == one) for one in self._ends])


class RandomMatch(Match):
    """Both leave it to chance, exactly: one order of the nine cells is as likely as any other."""

    def __init__(self, backend: Backend) -> None:
        boards, choices = lookup.positions(), lookup.choices()
        super().__init__(
            backend,
            choices.after,
            choices.cell,
            [lookup.status(boards[number]) for number in choices.position],
            [boards[number].count for number in choices.position],
        )
        first, *others = (backend.array(column, "integer") for column in lookup.digits())
        self._first, self._opening, self._ending = first, others[:2], others[2:]

    def _draws(self, games: int, chance: Chance) -> Iterable[Array]:
        return chance.below(OPENINGS, games), chance.below(ENDINGS, games)

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

    def __init__(self, backend: Backend, mixed: Mixed) -> None:
        boards = lookup.positions()
        tokens = [boards[number].count for number in mixed.position]
        super().__init__(backend, mixed.after, mixed.cell, mixed.status, tokens)
        self._threshold = backend.array(mixed.threshold, "integer")
        self._half = len(mixed.threshold)

    def _draws(self, games: int, chance: Chance) -> Iterable[Array]:
        return islice(chance.pieces(games), 8)

    def _choices(self, draws: Iterable[Array]) -> Iterator[Array]:
        take = self._xp.take
        row: Array = 0
        for tokens, piece in enumerate(draws):
            slot = row + (piece >> (BITS - slot_bits(tokens)))
            is_below = (piece - take(self._threshold, slot)) >> (BITS + 2)  # all bits, or none
            choice = slot + (is_below & self._half)
            yield choice
            row = take(self._after, choice)
        yield row
