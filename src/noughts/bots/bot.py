"""Players that choose moves: `Bot` by a policy, `next_move` at random; `play_game` lets two meet."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import accumulate
from random import Random
from typing import TypeAlias

from noughts.bots.errors import BotResigned, UnknownPolicy
from noughts.bots.policy import Policy, weigh
from noughts.bots.registry import as_policy
from noughts.core.board import AnyMark, Board, Cell, Mark, as_mark, game_is_over
from noughts.core.errors import InvalidArgument, quoted
from noughts.core.game import CreateGame, Game, PlaceToken, Resign, decide, fold, replay
from noughts.core.notation import AnyBoard, as_board


class Chooser:
    """A bot or a program: it chooses moves, and may resign."""

    def new_game(self, mark: AnyMark) -> None:
        """Prepare for a game with this mark."""
        as_mark(mark)  # refuses what is none

    def choose(self, board: AnyBoard) -> Cell:
        """Return the cell to take, or raise `BotResigned`; a finished board is refused."""
        board = as_board(board)
        cell = self.choose_or_resign(board)
        if cell is None:
            raise BotResigned(f"the bot resigns in '{board}'")
        return cell

    def choose_or_resign(self, board: AnyBoard) -> Cell | None:
        """Return the cell to take, or None to resign; a finished board is refused."""
        raise NotImplementedError


class Bot(Chooser):
    """Draws its moves from a policy, given by itself or by name, which it asks once for each board.

    Pass a seeded generator to repeat the moves.

    >>> from noughts.core.board import Board
    >>> Bot("perfect").choose(Board().place(0))
    4
    """

    def __init__(self, policy: Policy | str, rng: Random | None = None) -> None:
        self._policy, self._given = as_policy(policy), policy
        self._below = as_random(rng).randrange
        self._known: dict[Board, tuple[tuple[Cell, ...], list[int], int]] = {}

    def __repr__(self) -> str:
        return f"Bot({self._given!r})"

    def choose_or_resign(self, board: AnyBoard) -> Cell | None:
        if board.__class__ is not Board:  # a call for each move would take longer
            board = as_board(board)
        known = self._known.get(board)
        if known is None:
            if board.is_over:
                raise game_is_over(board)
            weights = weigh(self._policy, board)
            known = weights.cells, list(accumulate(weights.shares)), weights.total
            self._known[board] = known
        cells, marks, total = known
        if total > 1:
            return cells[bisect(marks, self._below(total))]
        return cells[0] if cells else None


def next_move(board: AnyBoard, mark: AnyMark, rng: Random | None = None) -> Board:
    """Return the board with one more `mark` on a random free cell; a finished board is refused.

    Pass a seeded generator to repeat the moves.

    >>> from noughts.core.board import Board, X
    >>> next_move(Board(), X).count
    1
    """
    before, mark, source = as_board(board), as_mark(mark), as_random(rng)
    if before.is_over:
        return before.place(0, mark)  # refuses it
    return before.place(before.free_cells[source.randrange(len(before.free_cells))], mark)


Contestant: TypeAlias = str | Chooser | Callable[[Board], Cell | Mapping[Cell, Fraction] | None]
"""A policy or its name, a bot, a program, or a function from a board to a cell; None resigns."""


def play_game(x: Contestant, o: Contestant, first: AnyMark = Mark.X, rng: Random | None = None) -> Game:
    """Play one game, and return it. An illegal move is refused.

    >>> game = play_game("perfect", lambda board: board.free_cells[0])
    >>> game.winner, game.board.count
    (X, 5)
    """
    source = as_random(rng)
    choosers = {Mark.X: _chooser(x, source), Mark.O: _chooser(o, source)}
    game = replay(decide(None, CreateGame(first)))
    for mark in Mark:
        choosers[mark].new_game(mark)
    while active := game.active:
        cell = choosers[active].choose_or_resign(game.board)
        if cell is not None and (refusal := game.board.why_not(cell, active)):
            raise refusal
        game = fold(decide(game, Resign(active) if cell is None else PlaceToken(active, cell)), game)
    return game


class _Function(Chooser):
    """A function from a board to a cell, or to chances as a policy's."""

    def __init__(
        self, function: Callable[[Board], Cell | Mapping[Cell, Fraction] | None], rng: Random
    ) -> None:
        self._function = function
        self._rng = rng

    def choose_or_resign(self, board: AnyBoard) -> Cell | None:
        answer = self._function(as_board(board))
        if isinstance(answer, Mapping):
            return Bot(lambda _: answer, self._rng).choose_or_resign(board)
        return answer


def _chooser(player: Contestant, rng: Random) -> Chooser:
    if isinstance(player, Chooser):
        return player
    if isinstance(player, str):
        return Bot(player, rng)
    if not callable(player):
        raise UnknownPolicy(f"a player is a bot, its name or a function, not {quoted(player)}")
    return _Function(player, rng)


def as_random(rng: Random | None) -> Random:
    """Return a source of randomness as it is, or a new one; refuse anything else."""
    if rng is None:
        return Random()  # noqa: S311 - a game, not a secret
    if not isinstance(rng, Random):
        raise InvalidArgument(f"rng is a random.Random such as Random(1), not {quoted(rng)}")
    return rng
