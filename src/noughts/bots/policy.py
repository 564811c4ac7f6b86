"""The chances that a policy gives, checked, as whole numbers that can be drawn from and reckoned with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from noughts.bots.errors import BadPolicy, UnknownPolicy
from noughts.core.board import Board, Cell, whole_number
from noughts.core.errors import NoughtsError, complaint, quoted
from noughts.core.value import Value

Policy: TypeAlias = Callable[[Board], Mapping[Cell, Fraction]]
"""From a board that is not over to the chances of its free cells. They add up to one."""


class Weights(Value):
    """Chances as whole numbers: the cell `cells[i]` has `shares[i]` chances in `total`."""

    cells: tuple[Cell, ...]
    shares: tuple[int, ...]
    total: int
    """Nothing if the policy resigns."""


_EXACT = (Fraction, int)

RESIGNS = Weights((), (), 0)


def weigh(policy: Policy, board: Board) -> Weights:
    """Ask a policy what it would do, and refuse what is no chance for each free cell.

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
        raise BadPolicy(f"a chance is 0 at least, and one in '{board}' is less")
    if sum(shares) != total:
        much = "more" if sum(shares) > total else "less"
        raise BadPolicy(f"chances add up to 1, and those in '{board}' to {much}")
    return Weights(tuple(cells), tuple(shares), total)


class ExactPolicy:
    """A policy that knows its chances as whole numbers, and need not be asked for fractions."""

    def weights(self, board: Board) -> Weights:
        """Return its weights."""
        raise NotImplementedError


class CachedPolicy(ExactPolicy):
    """A policy that is asked, and checked, once for each board: it must stay the same meanwhile."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._known: dict[Board, Weights] = {}

    def __call__(self, board: Board) -> Mapping[Cell, Fraction]:
        """Return what the policy says."""
        return self._policy(board)

    def weights(self, board: Board) -> Weights:
        """Return its weights."""
        known = self._known.get(board)
        if known is None:
            known = self._known[board] = weigh(self._policy, board)
        return known


def _asked(policy: Policy, board: Board) -> tuple[list[Cell], list[Fraction]]:
    """Return the cells that have a chance, and their chances, if they are free and the chances exact."""
    try:
        given = [(cell, chance) for cell, chance in policy(board).items()]
    except NoughtsError:
        raise
    except (Exception, SystemExit) as error:  # whatever a stranger's policy does, a sentence is owed
        raise BadPolicy(f"a policy fails in '{board}': {complaint(error)}") from error
    cells, chances, free = [], [], board.free_cells
    for key, chance in given:
        if not isinstance(chance, _EXACT):
            raise BadPolicy(f"a chance is a Fraction, and so exact, unlike {quoted(chance)}")
        cell = whole_number(key, 9)
        if cell is None or (chance and cell not in free):
            raise BadPolicy(
                f"a policy gives a chance to {quoted(key)}, which is no free cell of '{board}'"
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
