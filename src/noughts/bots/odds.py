"""The exact odds of two policies against each other, computed without playing."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import gcd, lcm
from typing import TypeAlias

from noughts.bots.policy import Policy, is_symmetric, weigh
from noughts.bots.registry import as_policy
from noughts.core.board import AnyMark, Board, Mark, as_mark
from noughts.core.notation import AnyBoard, as_board
from noughts.core.value import Value


class Odds(Value):
    """The chance of each result, and the average number of tokens placed."""

    x: Fraction
    draw: Fraction
    o: Fraction
    length: Fraction

    def win(self, mark: AnyMark) -> Fraction:
        """Return the chance that this mark wins."""
        return self.x if as_mark(mark) is Mark.X else self.o

    def score(self, mark: AnyMark) -> Fraction:
        """Return the average score of a mark: 1 for a win, 1/2 for a draw, 0 for a loss."""
        return self.win(mark) + self.draw / 2


def odds(x: Policy | str, o: Policy | str, board: AnyBoard | None = None) -> Odds:
    """Return the exact odds of two policies, or of those with these names, from any board.

    >>> found = odds("random", "random")
    >>> print(found.x, found.draw, found.o, found.length)
    737/1260 8/63 121/420 3203/420
    >>> odds("perfect", "random").o
    Fraction(0, 1)
    """
    start = Board() if board is None else as_board(board)
    return OddsCalculator(as_policy(x), as_policy(o)).odds(start)


def percent(chance: Fraction) -> str:
    """Format a chance; only a certain one is 100 % and only an impossible one 0 %.

    >>> from fractions import Fraction
    >>> percent(Fraction(1, 3)), percent(Fraction(1, 10**6)), percent(Fraction(1)), percent(Fraction(0))
    ('33.3 %', '<0.1 %', '100 %', '0 %')
    """
    if chance in (0, 1):
        return f"{100 * int(chance)} %"
    thousandths = round(1000 * chance)
    if thousandths in (0, 1000):
        return "<0.1 %" if thousandths == 0 else ">99.9 %"
    return f"{thousandths / 10:.1f} %"


class OddsCalculator:
    """The odds of two policies from any position, each computed once.

    Of a board and its images one is enough, if both policies play them alike.
    """

    def __init__(self, x: Policy, o: Policy) -> None:
        self._policies = {Mark.X: x, Mark.O: o}
        self._known: dict[Board, _Counts] = {}
        self._same = _canonical if is_symmetric(x) and is_symmetric(o) else _itself

    def odds(self, board: Board) -> Odds:
        board = self._same(board)
        x, o, length, total = self._known.get(board) or self._counts(board)
        return Odds(*(Fraction(part, total) for part in (x, total - x - o, o, length)))

    def _counts(self, board: Board) -> _Counts:
        """Add up the counts after each move, by its weight, over one common denominator."""
        known, same = self._known, self._same
        weights = None if board.is_over else weigh(self._policies[board.turn], board)
        if weights and weights.total:
            places = [same(board.place(cell)) for cell in weights.cells]
            after = [known.get(place) or self._counts(place) for place in places]
            common = lcm(*[total for _, _, _, total in after])
            all_x = all_o = all_length = 0
            for share, (x, o, length, total) in zip(weights.shares, after, strict=True):
                weight = share * (common // total)
                all_x += weight * x
                all_o += weight * o
                all_length += weight * length
            whole = common * weights.total
            all_length += whole  # the token placed here
            shared = gcd(all_x, all_o, all_length, whole)
            found = all_x // shared, all_o // shared, all_length // shared, whole // shared
        else:  # it is over, or the side to move resigns
            winner = board.turn.other if weights else board.winner
            found = int(winner is Mark.X), int(winner is Mark.O), 0, 1
        known[board] = found
        return found


@cache
def _canonical(board: Board) -> Board:
    return board.canonical


def _itself(board: Board) -> Board:
    return board


_Counts: TypeAlias = tuple[int, int, int, int]
"""Games that X wins, that O wins, their tokens, and all games."""
