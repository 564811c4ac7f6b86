"""Policies: from a board to a chance for each free cell.

`Bot` draws moves from a policy; `odds` computes how strong it is, exactly. A policy that gives no cell a
chance resigns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from noughts.bots.errors import BadPolicy, UnknownPolicy, is_signal
from noughts.core.board import Board, Cell, whole_number
from noughts.core.errors import NoughtsError, complaint, quoted
from noughts.core.notation import AnyBoard, as_board
from noughts.core.value import Value

Policy: TypeAlias = Callable[[Board], Mapping[Cell, Fraction]]
"""From an unfinished board to the chances of its free cells, which add up to one."""


class Weights(Value):
    """Chances as whole numbers: the cell `cells[i]` has `shares[i]` chances in `total`."""

    cells: tuple[Cell, ...]
    shares: tuple[int, ...]
    total: int
    """0 if the policy resigns."""

    @property
    def chances(self) -> dict[Cell, Fraction]:
        shares = zip(self.cells, self.shares, strict=True)
        return {cell: Fraction(share, self.total) for cell, share in shares}


_EXACT = (Fraction, int)

RESIGNS = Weights((), (), 0)


def weigh(policy: Policy, board: Board) -> Weights:
    """Call a policy, and refuse a result that is not a chance for each free cell.

    >>> from noughts.core.board import Board
    >>> from noughts.bots.ladder import random
    >>> weigh(random, Board().place(4).place(0).place(8)).total
    6
    """
    if isinstance(policy, ExactPolicy):
        return policy.weights(board)
    cells, chances = _asked(policy, board)
    if not cells:
        return RESIGNS
    total = lcm(*[chance.denominator for chance in chances])
    shares = [chance.numerator * (total // chance.denominator) for chance in chances]
    if min(shares) < 0:
        raise BadPolicy(f"a chance is at least 0, and one in '{board}' is less")
    if sum(shares) != total:
        much = "more" if sum(shares) > total else "less"
        raise BadPolicy(f"chances add up to 1, and those in '{board}' to {much}")
    return Weights(tuple(cells), tuple(shares), total)


class ExactPolicy:
    """A policy that has its chances as whole numbers, so that no fractions need to be checked."""

    is_symmetric = False
    """True if games from a board go as those from its images, so that one board stands for all eight."""

    def __init_subclass__(cls) -> None:
        """Inherit no symmetry: a subclass may play otherwise."""
        cls.is_symmetric = vars(cls).get("is_symmetric", False)

    def __call__(self, board: AnyBoard) -> Mapping[Cell, Fraction]:
        return self.weights(as_board(board)).chances

    def weights(self, board: Board) -> Weights:
        raise NotImplementedError


class CachedPolicy(ExactPolicy):
    """A policy that is called and checked once for each board; it must not change meanwhile."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.is_symmetric = is_symmetric(policy)
        self._known: dict[Board, Weights] = {}

    def __call__(self, board: AnyBoard) -> Mapping[Cell, Fraction]:
        return self._policy(as_board(board))

    def weights(self, board: Board) -> Weights:
        known = self._known.get(board)
        if known is None:
            known = self._known[board] = weigh(self._policy, board)
        return known


def is_symmetric(policy: Policy) -> bool:
    return isinstance(policy, ExactPolicy) and policy.is_symmetric


def _asked(policy: Policy, board: Board) -> tuple[list[Cell], list[Fraction]]:
    """Return the cells with a chance, and their chances; refuse taken cells and inexact chances."""
    try:
        given = [(cell, chance) for cell, chance in policy(board).items()]
    except NoughtsError:
        raise
    except (Exception, SystemExit) as error:  # another package's code may raise anything
        if is_signal(error):
            raise
        raise BadPolicy(f"a policy fails in '{board}': {complaint(error)}") from error
    cells, chances, free = [], [], board.free_cells
    for key, chance in given:
        if not isinstance(chance, _EXACT):
            raise BadPolicy(f"a chance is a Fraction, and so exact, unlike {quoted(chance)}")
        cell = whole_number(key, 9)
        if cell is None or (chance and cell not in free):
            raise BadPolicy(
                f"a policy gives a chance to {quoted(key)}, which is not a free cell of '{board}'"
            )
        if chance:
            cells.append(cell)
            chances.append(chance)
    return cells, chances


def check_parameters(policy: str, given: Iterable[str], known: tuple[str, ...]) -> None:
    """Refuse a parameter that a policy does not have."""
    for strange in given:
        if strange not in known:
            *most, last = known or ("no parameters",)
            has = f"{', '.join(most)} and {last}" if most else last
            raise UnknownPolicy(f"{policy} has no {quoted(strange)}: it has {has}")
