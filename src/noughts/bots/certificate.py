"""What is certain about a bot against any opponent, found by searching every game."""

from __future__ import annotations

from fractions import Fraction
from itertools import starmap
from math import gcd, lcm
from operator import mul
from typing import TypeAlias

from noughts.analysis.solver import Result
from noughts.bots.ladder import perfect, random
from noughts.bots.odds import Odds, odds
from noughts.bots.policy import CachedPolicy, Policy, weigh
from noughts.bots.registry import as_policy
from noughts.core.board import AnyMark, Board, Cell, Mark, as_mark
from noughts.core.value import Value

# Counts are in this order; a chance or a score is a pair of whole numbers, a part and its total.
_RESULTS = (Result.LOSS, Result.DRAW, Result.WIN)
_SCORES = ((0, 1), (1, 2), (1, 1))

_Counts: TypeAlias = tuple[int, int, int]
_Part: TypeAlias = tuple[int, int]
_Worst: TypeAlias = tuple[int, tuple[Cell, ...], _Part]
_Summary: TypeAlias = tuple[_Worst, _Counts, _Part]
"""Of a position: the worst (result as above, moves, chance), the games by result and the least score."""


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
    (worst, line, chance), games, least = _Summaries(policy, mark).of(Board())
    pairs = [(policy, other) if mark is Mark.X else (other, policy) for other in (random, perfect)]
    return Certificate(
        mark,
        Worst(_RESULTS[worst], line, Fraction(*chance)),
        {result: games[_RESULTS.index(result)] for result in Result},
        Fraction(*least),
        *starmap(odds, pairs),
    )


class _Summaries:
    """The summaries of positions; each is computed once."""

    def __init__(self, policy: Policy, mark: Mark) -> None:
        self._policy = policy
        self._mark = mark
        self._known: dict[Board, _Summary] = {}

    def of(self, board: Board) -> _Summary:
        known = self._known.get(board)
        if known is None:
            known = self._known[board] = self._summary(board)
        return known

    def _summary(self, board: Board) -> _Summary:
        if board.is_over:
            return self._end(board.winner)
        is_own = board.turn is self._mark
        if is_own:
            weights = weigh(self._policy, board)
            moves, shares, total = weights.cells, weights.shares, weights.total
        else:  # it may make any move
            moves, shares, total = board.free_cells, (1,) * len(board.free_cells), 1
        if not moves:
            return self._end(self._mark.other)
        after = [self.of(board.place(cell)) for cell in moves]
        lost, drawn, won = map(sum, zip(*[games for _, games, _ in after], strict=True))
        worst = _worst(moves, shares, total, [worst for worst, _, _ in after])
        scores, common = _over_one_total([least for _, _, least in after])
        least = sum(map(mul, shares, scores)) if is_own else min(scores)
        return worst, (lost, drawn, won), _reduced(least, common * total)

    def _end(self, winner: Mark | None) -> _Summary:
        result = _RESULTS.index(Result.of(winner, self._mark))
        lost, drawn, won = (int(one == result) for one in range(3))
        return (result, (), (1, 1)), (lost, drawn, won), _SCORES[result]


def _worst(moves: tuple[Cell, ...], shares: tuple[int, ...], total: int, after: list[_Worst]) -> _Worst:
    """Return the worst result after any move; of equals, the likeliest, the shortest, the first."""
    result = min([worst for worst, _, _ in after])
    found = [
        (cell, share, line, chance)
        for cell, share, (worst, line, chance) in zip(moves, shares, after, strict=True)
        if worst == result
    ]
    chances, common = _over_one_total([chance for *_, chance in found])
    likely, _, first, line = min(
        [
            (-share * chance, len(line), cell, line)
            for (cell, share, line, _), chance in zip(found, chances, strict=True)
        ]
    )
    return result, (first, *line), _reduced(-likely, common * total)


def _over_one_total(parts: list[_Part]) -> tuple[list[int], int]:
    common = lcm(*[total for _, total in parts])
    return [part * (common // total) for part, total in parts], common


def _reduced(part: int, total: int) -> _Part:
    shared = gcd(part, total)
    return part // shared, total // shared
