"""The rules for whole batches of games at once: a game is a number, and a move is a look-up.

A batch is a plain array of whole numbers: each says in which position a game is, by its number in
`reachable()`. So there is nothing to keep beside it, and nothing that could go stale.

The code is written against the array API standard, and runs on every library in `backends`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from noughts.bots.ladder import random
from noughts.bots.policy import Policy
from noughts.core.board import Board, Mark, check_mark
from noughts.core.errors import NotInstalled, quoted
from noughts.lab import lookup
from noughts.lab.alias_tables import mix
from noughts.lab.backends import Array, Backend, find_backend
from noughts.lab.batch_play import (
    NOTHING,
    Match,
    PolicyMatch,
    RandomMatch,
    Records,
    Tally,
    checked_count,
    checked_seed,
    joined,
    too_many,
)
from noughts.lab.errors import BadArray
from noughts.lab.lookup import GOING, NO_CELL, POSITIONS, WIDTH


class Rules:
    """The rules as arrays of one library, on one device.

    >>> rules = Rules()
    >>> games = rules.new(3)
    >>> games, illegal = rules.step(games, [4, 0, 9])
    >>> illegal.tolist()
    [False, False, True]
    >>> print(*rules.boards(games))
    ___/_X_/___ X__/___/___ ___/___/___
    """

    def __init__(self, backend: str = "numpy", *, compiled: bool = False) -> None:
        self.backend: Backend = find_backend(backend)
        """The library that computes."""
        if compiled and not self.backend.compile:
            raise NotInstalled(f"{self.backend.name} compiles nothing: torch and jax do")
        self._is_compiled = compiled
        self._xp = self.backend.xp
        after, legal = lookup.moves()
        boards = lookup.positions()
        rewards = [(board.winner is Mark.X) - (board.winner is Mark.O) for board in boards]
        array = self.backend.array
        self._after = array(after, "integer")
        self._legal = array(legal, "bool")
        self._status = array([lookup.status(board) for board in boards], "int8")
        self._tokens = array([board.count for board in boards], "int8")
        self._reward = array(rewards, "int8")

    def new(self, games: int) -> Array:
        """Return so many games that have just begun."""
        count = checked_count(games)
        try:
            return self.backend.zeros(count)
        except (MemoryError, RuntimeError, ValueError) as error:
            raise too_many(count) from error

    def positions(self, boards: Iterable[Board]) -> Array:
        """Return games that are in these positions; X has started them."""
        known = lookup.numbers()
        numbers = []
        for board in boards:
            try:
                numbers.append(known[board])
            except (KeyError, TypeError):
                raise BadArray(f"{quoted(board)} is no board of a game that X starts") from None
        return self.backend.array(numbers, "integer")

    def boards(self, games: Array) -> tuple[Board, ...]:
        """Return the boards of a batch."""
        every = lookup.positions()
        return tuple(every[int(number)] for number in self._games(games))

    def step(self, games: Array, actions: Array) -> tuple[Array, Array]:
        """Return the games after one move each, and which of the moves were illegal.

        An illegal move changes nothing: a cell that is taken, what is no cell at all, or any move in a
        game that is over.
        """
        now = self._games(games)
        place = now * WIDTH + self._actions(actions, now)
        return self._xp.take(self._after, place), ~self._xp.take(self._legal, place)

    def legal(self, games: Array) -> Array:
        """Return which of the nine cells each game allows: a row of nine for each."""
        now, xp = self._games(games), self._xp
        columns = [xp.take(self._legal, now * WIDTH + cell) for cell in range(9)]
        return xp.stack(columns).T

    def status(self, games: Array) -> Array:
        """Return how each game stands: `GOING`, `X_WON`, `O_WON` or `DRAWN`."""
        return self._xp.take(self._status, self._games(games))

    def tokens(self, games: Array) -> Array:
        """Return how many tokens each game has on its board; it is X's turn if that is even."""
        return self._xp.take(self._tokens, self._games(games))

    def reward(self, games: Array, mark: Mark = Mark.X) -> Array:
        """Return what each game is worth to a mark: 1 if it has won, -1 if it has lost, 0 otherwise."""
        check_mark(mark)
        reward = self._xp.take(self._reward, self._games(games))
        return reward if mark is Mark.X else -reward

    def reset(self, games: Array) -> Array:
        """Return the games, with a new one for each that is over."""
        now, xp = self._games(games), self._xp
        return xp.where(xp.take(self._status, now) == GOING, now, xp.zeros_like(now))

    def match(self, x: Policy = random, o: Policy = random) -> Match:
        """Return two policies who play whole batches, as many games at a time as they are told to."""
        if x is random and o is random:
            return self._by_chance
        return self._compiled(PolicyMatch(self.backend, mix(x, o)))

    def play(
        self, games: int, x: Policy = random, o: Policy = random, seed: int | None = None
    ) -> Records:
        """Play whole games of two policies, and return the records of all of them.

        >>> records = Rules().play(1000, seed=1)
        >>> records.moves.shape, int(records.length.min())
        ((1000, 9), 5)
        """
        match, chance = self.match(x, o), self.backend.chance(checked_seed(seed))
        whole = checked_count(games)
        if not whole:
            return match.record(0, chance)
        return joined(self.backend, whole, (match.record(count, chance) for count in self._chunks(whole)))

    def plays(
        self, games: int, x: Policy = random, o: Policy = random, seed: int | None = None
    ) -> Iterator[Records]:
        """Play whole games, and return their records some at a time: memory holds no more than those."""
        match, chance = self.match(x, o), self.backend.chance(checked_seed(seed))
        return (match.record(count, chance) for count in self._chunks(games))

    def tally(self, games: int, x: Policy = random, o: Policy = random, seed: int | None = None) -> Tally:
        """Play whole games, and count how they end; nothing is kept of them.

        >>> Rules().tally(1000, seed=1).games
        1000
        """
        match, chance = self.match(x, o), self.backend.chance(checked_seed(seed))
        return sum((match.count(count, chance) for count in self._chunks(games)), NOTHING)

    @cached_property
    def _by_chance(self) -> Match:
        return self._compiled(RandomMatch(self.backend))

    def _compiled(self, match: Match) -> Match:
        if self._is_compiled and self.backend.compile:
            match.compile(self.backend.compile)
        return match

    def _chunks(self, games: int) -> Iterator[int]:
        """Cut games into as many at a time as the library likes best."""
        count, chunk = checked_count(games), self.backend.chunk
        return (min(chunk, count - begin) for begin in range(0, count, chunk))

    def _games(self, games: Array) -> Array:
        """Refuse what is no batch of games."""
        given = self._numbers(games, "games")
        if self._xp.any((given < 0) | (given >= POSITIONS)):
            raise BadArray(f"a game is the number of a position, 0 to {POSITIONS - 1}")
        return given

    def _actions(self, actions: Array, games: Array) -> Array:
        """Refuse what are no actions for a batch; in the column `NO_CELL` goes what is no cell."""
        given = self._numbers(actions, "actions")
        if given.shape != games.shape:
            raise BadArray(f"there are {games.shape[0]} games, and {given.shape[0]} actions for them")
        is_cell = (given >= 0) & (given < NO_CELL)
        return self._xp.where(is_cell, given, self._xp.full_like(given, NO_CELL))

    def _numbers(self, values: Array, what: str) -> Array:
        """Return whole numbers in the type that arrays are looked up with."""
        if isinstance(values, list | tuple) and any(isinstance(value, bool) for value in values):
            raise BadArray(f"{what} are whole numbers, and not bool")  # beside numbers, they become some
        given = self.backend.given(values)
        if given.ndim != 1:
            raise BadArray(f"{what} stand in a row, in an array of 1 dimension and not of {given.ndim}")
        if not given.shape[0]:
            return self.backend.zeros(0)  # nothing has no type of its own
        if not self.backend.is_integral(given):
            raise BadArray(f"{what} are whole numbers, and not {given.dtype}")
        return self.backend.indices(given)
