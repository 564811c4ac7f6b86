"""The rules for whole batches of games: a game is a number, and a move is a table lookup.

A batch is an array of integers: the number of each game's position in `reachable()`.

The code uses the array API standard and runs on every library in `backends`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from noughts.bots.ladder import random
from noughts.bots.policy import Policy
from noughts.core.board import AnyMark, Board, Mark, as_mark
from noughts.core.errors import InvalidArgument, NotInstalled, quoted
from noughts.core.notation import AnyBoard, as_board
from noughts.lab import batch_play, lookup
from noughts.lab.alias_tables import AliasTables
from noughts.lab.backends import Array, Backend, find_backend
from noughts.lab.batch_play import NO_GAMES, Match, PolicyMatch, RandomMatch, Records, Tally
from noughts.lab.errors import BadArray
from noughts.lab.lookup import ACTION_COLUMNS, GOING, NO_CELL, POSITIONS


class Rules:
    """The rules on one array library and one device.

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
        if compiled and not self.backend.compile:
            raise NotInstalled(f"{self.backend.name} cannot compile: torch and jax can")
        self._is_compiled = compiled
        self._xp = self.backend.xp
        after, legal = lookup.move_table()
        boards = lookup.positions()
        rewards = [(board.winner is Mark.X) - (board.winner is Mark.O) for board in boards]
        array = self.backend.array
        self._after = array(after, "integer")
        self._legal = array(legal, "bool")
        self._status = array([lookup.status(board) for board in boards], "int8")
        self._tokens = array([board.count for board in boards], "int8")
        self._reward = array(rewards, "int8")

    def new(self, games: int) -> Array:
        """Return new games."""
        count = batch_play.check_count(games)
        try:
            return self.backend.zeros(count)
        except (MemoryError, RuntimeError, ValueError) as error:
            raise batch_play.too_many(count) from error

    def positions(self, boards: Iterable[AnyBoard]) -> Array:
        """Return games in these positions, which X has started."""
        known = lookup.numbers()
        numbers = []
        try:
            each = iter(boards)
        except TypeError:
            raise InvalidArgument(f"games start from a list of boards, not {quoted(boards)}") from None
        for board in map(as_board, each):
            if board not in known:
                raise BadArray(f"{board!r} is not a board of a game that X starts")
            numbers.append(known[board])
        return self.backend.array(numbers, "integer")

    def boards(self, games: Array) -> tuple[Board, ...]:
        boards = lookup.positions()
        return tuple(boards[int(number)] for number in self._games(games))

    def step(self, games: Array, actions: Array) -> tuple[Array, Array]:
        """Return the games after one move each, and which of the moves were illegal.

        An illegal move changes nothing: on a taken cell, outside the board, or in a finished game.
        """
        now = self._games(games)
        place = now * ACTION_COLUMNS + self._actions(actions, now)
        return self._xp.take(self._after, place), ~self._xp.take(self._legal, place)

    def legal(self, games: Array) -> Array:
        """Return which cells are legal: a row of nine for each game."""
        now, xp = self._games(games), self._xp
        columns = [xp.take(self._legal, now * ACTION_COLUMNS + cell) for cell in range(9)]
        return xp.stack(columns).T

    def status(self, games: Array) -> Array:
        """Return the status of each game: `GOING`, `X_WON`, `O_WON` or `DRAWN`."""
        return self._xp.take(self._status, self._games(games))

    def tokens(self, games: Array) -> Array:
        """Return the number of tokens on each board; X is to move if it is even."""
        return self._xp.take(self._tokens, self._games(games))

    def reward(self, games: Array, mark: AnyMark = Mark.X) -> Array:
        """Return 1 for each game that a mark has won, -1 for each that it has lost, otherwise 0."""
        mark = as_mark(mark)
        reward = self._xp.take(self._reward, self._games(games))
        return reward if mark is Mark.X else -reward

    def reset(self, games: Array) -> Array:
        """Replace finished games by new ones."""
        now, xp = self._games(games), self._xp
        return xp.where(xp.take(self._status, now) == GOING, now, xp.zeros_like(now))

    def match(self, x: Policy = random, o: Policy = random) -> Match:
        """Return two policies as a match, which plays batches of any size."""
        if x is random and o is random:
            return self._random_match
        return self._compiled(PolicyMatch(self.backend, AliasTables.build(x, o)))

    def play(
        self, games: int, x: Policy = random, o: Policy = random, seed: int | None = None
    ) -> Records:
        """Play whole games, and return their records.

        >>> records = Rules().play(1000, seed=1)
        >>> records.moves.shape, int(records.length.min())
        ((1000, 9), 5)
        """
        parts = self.plays(games, x, o, seed)
        return batch_play.concatenate(self.backend, batch_play.check_count(games), parts)

    def plays(
        self, games: int, x: Policy = random, o: Policy = random, seed: int | None = None
    ) -> Iterator[Records]:
        """Play whole games, and yield their records batch by batch, to save memory."""
        match, rng = self.match(x, o), self.backend.random_numbers(batch_play.check_seed(seed))
        return (match.record(size, rng) for size in self._batches(games))

    def tally(self, games: int, x: Policy = random, o: Policy = random, seed: int | None = None) -> Tally:
        """Play whole games, and only count how they end.

        >>> Rules().tally(1000, seed=1).games
        1000
        """
        match, rng = self.match(x, o), self.backend.random_numbers(batch_play.check_seed(seed))
        return sum((match.count(size, rng) for size in self._batches(games)), NO_GAMES)

    @cached_property
    def _random_match(self) -> Match:
        return self._compiled(RandomMatch(self.backend))

    def _compiled(self, match: Match) -> Match:
        if self._is_compiled and self.backend.compile:
            match.compile(self.backend.compile)
        return match

    def _batches(self, games: int) -> Iterator[int]:
        return batch_play.batches(batch_play.check_count(games), self.backend.batch)

    def _games(self, games: Array) -> Array:
        given = self._integers(games, "games")
        if self._xp.any((given < 0) | (given >= POSITIONS)):
            raise BadArray(f"a game is the number of a position, from 0 to {POSITIONS - 1}")
        return given

    def _actions(self, actions: Array, games: Array) -> Array:
        """Check actions for a batch; anything that is not a cell becomes `NO_CELL`."""
        given = self._integers(actions, "actions")
        if given.shape != games.shape:
            raise BadArray(f"{games.shape[0]} games need as many actions, not {given.shape[0]}")
        is_cell = (given >= 0) & (given < NO_CELL)
        return self._xp.where(is_cell, given, self._xp.full_like(given, NO_CELL))

    def _integers(self, values: Array, what: str) -> Array:
        """Check a one-dimensional array of integers, and convert it to the index dtype."""
        if isinstance(values, list | tuple) and any(isinstance(value, bool) for value in values):
            raise BadArray(f"{what} are integers, not bool")  # next to integers they would become some
        given = self.backend.from_user(values)
        if given.ndim != 1:
            raise BadArray(f"{what} are an array of 1 dimension, not of {given.ndim}")
        if not given.shape[0]:
            return self.backend.zeros(0)  # an empty list has no integer dtype
        if not self.backend.is_integral(given):
            raise BadArray(f"{what} are integers, not {given.dtype}")
        return self.backend.indices(given)
