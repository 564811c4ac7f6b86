"""What is certain about a bot against any opponent, found by searching every game."""

from __future__ import annotations

from fractions import Fraction
from itertools import starmap

from noughts.analysis.solver import Result
from noughts.bots.ladder import perfect, random
from noughts.bots.odds import Odds, odds
from noughts.bots.policy import CachedPolicy, Policy, weigh
from noughts.bots.registry import as_policy
from noughts.core.board import AnyMark, Board, Cell, Mark, as_mark
from noughts.core.value import Value

_RANDOM, _PERFECT = CachedPolicy(random), CachedPolicy(perfect)


class Worst(Value):
    """The worst that can happen to a bot in a seat."""

    result: Result
    line: tuple[Cell, ...]
    """The moves of a game with that result: the one in which the bot's own moves are likeliest."""
    chance: Fraction
    """The chance of the bot's moves, if the opponent plays that game."""


class Certificate(Value):
    """The strength of a bot in one seat; X starts."""

    mark: Mark
    worst: Worst
    games: dict[Result, int]
    """The number of different games over all opponents, by result."""
    least: Fraction
    """The average score against its worst opponent (a win is 1, a draw 1/2)."""
    against_random: Odds
    against_perfect: Odds

    def __init__(
        self,
        mark: AnyMark,
        worst: Worst,
        games: dict[Result, int],
        least: Fraction,
        against_random: Odds,
        against_perfect: Odds,
    ) -> None:
        super().__init__(as_mark(mark), worst, games, least, against_random, against_perfect)


def certify(policy: Policy | str, mark: AnyMark) -> Certificate:
    """Search all games of a policy, or of the one with that name, in one seat.

    >>> certify("perfect", Mark.O).games[Result.LOSS]
    0
    """
    mark = as_mark(mark)
    policy = CachedPolicy(as_policy(policy))
    seen = _Summaries(policy, mark).of(Board())
    pairs = [(policy, other) if mark is Mark.X else (other, policy) for other in (_RANDOM, _PERFECT)]
    return Certificate(mark, seen.worst, seen.games, seen.least, *starmap(odds, pairs))


class _Summary(Value):
    worst: Worst
    games: dict[Result, int]
    least: Fraction


class _Summaries:
    """The summaries of positions; each is computed once."""

    def __init__(self, policy: Policy, mark: Mark) -> None:
        self._policy = policy
        self._mark = mark
        self._known: dict[Board, _Summary] = {}

    def of(self, board: Board) -> _Summary:
        if board not in self._known:
            self._known[board] = self._summary(board)
        return self._known[board]

    def _summary(self, board: Board) -> _Summary:
        if board.is_over:
            return _end(board.winner, self._mark)
        is_own = board.turn is self._mark
        if is_own:
            chances = weigh(self._policy, board).chances
            if not chances:
                return _end(self._mark.other, self._mark)
        else:
            chances = dict.fromkeys(board.free_cells, Fraction(1))  # it may play any of them
        after = {cell: self.of(board.place(cell)) for cell in chances}
        if is_own:
            least = sum((chance * after[cell].least for cell, chance in chances.items()), Fraction(0))
        else:
            least = min(summary.least for summary in after.values())
        games = {result: sum(summary.games[result] for summary in after.values()) for result in Result}
        return _Summary(_worst(after, chances), games, least)


def _end(winner: Mark | None, mark: Mark) -> _Summary:
    result = Result.of(winner, mark)
    games = {one: int(one is result) for one in Result}
    return _Summary(Worst(result, (), Fraction(1)), games, _SCORES[result])


def _worst(after: dict[Cell, _Summary], chances: dict[Cell, Fraction]) -> Worst:
    """Return the worst result after any move; of equals, the likeliest, the shortest, the first."""
    likely = {cell: chances[cell] * summary.worst.chance for cell, summary in after.items()}

    def order(cell: Cell) -> tuple[int, Fraction, int, Cell]:
        worst = after[cell].worst
        return _FROM_BAD_TO_GOOD.index(worst.result), -likely[cell], len(worst.line), cell

    first = min(after, key=order)
    worst = after[first].worst
    return Worst(worst.result, (first, *worst.line), likely[first])


_FROM_BAD_TO_GOOD = (Result.LOSS, Result.DRAW, Result.WIN)
_SCORES = {Result.LOSS: Fraction(0), Result.DRAW: Fraction(1, 2), Result.WIN: Fraction(1)}
