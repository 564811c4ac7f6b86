"""Bots without memory: `random`, `perfect`, Newell and Simon's, and a ladder from beginner to expert.

Newell and Simon's program (Human Problem Solving, 1972) applies the first of its rules that fits. The
bots on the ladder do the same, but overlook each rule with a chance of its own. The table of all bots
is `BUILT_IN` in `bots/registry.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from math import gcd, lcm
from typing import TypeAlias

from noughts.analysis.best_moves import perfect_cells
from noughts.analysis.solver import sides
from noughts.analysis.tactics import (
    CENTRE,
    CORNERS,
    EDGES,
    cells,
    fork_answers,
    fork_blocks,
    forks,
    threats,
    wins,
)
from noughts.bots.errors import UnknownPolicy
from noughts.bots.policy import ExactPolicy, Policy, Weights, check_parameters
from noughts.core.board import Board, Cell
from noughts.core.errors import quoted
from noughts.core.notation import AnyBoard, as_board
from noughts.core.value import Value

Rule: TypeAlias = Callable[[int, int], int]
"""From the cells of the side to move and of the other to those it may take; none if it does not apply."""

NEVER = Fraction(0)


class Oversights(Value):
    """The chances that a player overlooks things."""

    win: Fraction = NEVER
    """Completing a line."""
    block: Fraction = NEVER
    """A line that the opponent threatens to complete."""
    fork: Fraction = NEVER
    """Making two threats at once."""
    defence: Fraction = NEVER
    """A fork that the opponent threatens to make."""
    centre: Fraction = NEVER


def _oversights(*chances: str) -> Oversights:
    return Oversights(*map(Fraction, chances))


LADDER = {
    "beginner": _oversights("2/3", "5/6", "1", "1", "1"),
    "novice": _oversights("1/4", "1/2", "9/10", "9/10", "1/2"),
    "casual": _oversights("1/10", "1/4", "1/2", "3/4", "1/4"),
    "club": _oversights("1/50", "1/10", "1/4", "1/3", "1/10"),
    "expert": _oversights("0", "1/100", "1/20", "1/20", "1/50"),
}
"""From the weakest; the chances are those of a win, a block, a fork, a defence and the centre."""


class _BuiltIn(ExactPolicy):
    """A policy that weighs each board once, and plays alike on all its images.

    Copies and pickles refer to its `origin`: its name in this module, or the oversights of `fallible`.
    """

    is_symmetric = True

    def __init__(self, weigh: Callable[[Board], Weights], origin: str | Oversights) -> None:
        self._origin = origin
        self._weigh = cache(weigh)
        self._chances = cache(lambda board: self._weigh(board).chances)

    def __call__(self, board: AnyBoard) -> Mapping[Cell, Fraction]:
        return self._chances(as_board(board)).copy()

    def weights(self, board: Board) -> Weights:
        return self._weigh(board)

    def __repr__(self) -> str:
        return f"<{self._origin}>"

    def __reduce__(self) -> str | tuple[Callable[[Oversights], Policy], tuple[Oversights]]:
        return self._origin if isinstance(self._origin, str) else (fallible, (self._origin,))


@cache
def fallible(oversights: Oversights) -> Policy:
    """Return a policy that wins, blocks, forks, stops forks and takes the centre, unless overlooked.

    Otherwise it takes a corner or makes a threat, and an edge without a threat only as a last resort.
    It may still make an overlooked move for another reason, or when nothing else is left.
    """
    return _by_rules(
        oversights,
        (wins, oversights.win),
        (_block, oversights.block),
        (forks, oversights.fork),
        (fork_blocks, oversights.defence),
        (_centre, oversights.centre),
        (_sensible, NEVER),
        (_reasoned, NEVER),
        (_edge, NEVER),
    )


def _evenly(found: tuple[Cell, ...]) -> Weights:
    return Weights(found, (1,) * len(found), len(found))


random = _BuiltIn(lambda board: _evenly(board.free_cells), "random")
"""Plays every free cell with the same chance."""

perfect = _BuiltIn(lambda board: _evenly(perfect_cells(board)), "perfect")
"""Plays a best move; breaks ties by the expected result against an opponent who moves at random."""


def _by_rules(origin: str | Oversights, *rules: tuple[Rule, Fraction]) -> Policy:
    # Chances are whole numbers here, over a denominator that every step divides.
    part = lcm(*(overlooked.denominator for _, overlooked in rules))
    whole = part ** len(rules) * lcm(*range(1, 10))
    misses = [(rule, int(overlooked * part)) for rule, overlooked in rules]

    def weigh(board: Board) -> Weights:
        mine, theirs = sides(board)
        chances: dict[Cell, int] = {}
        left = whole
        for rule, missed in misses:
            if found := cells(rule(mine, theirs)):
                passed = left // part * missed
                if share := (left - passed) // len(found):
                    for cell in found:
                        chances[cell] = chances.get(cell, 0) + share
                left = passed
                if not left:
                    break
        common = gcd(*chances.values())
        shares = tuple([share // common for share in chances.values()])
        return Weights(tuple(chances), shares, sum(shares))

    return _BuiltIn(weigh, origin)


def _block(mine: int, theirs: int) -> int:
    return wins(theirs, mine)


def _stop_fork(mine: int, theirs: int) -> int:
    """Make a threat whose answer is not a fork, or else take the cell of a fork."""
    feared = forks(theirs, mine)
    if not feared:
        return 0
    made = cells(threats(mine, theirs))
    return sum(1 << cell for cell in made if not fork_answers(mine | 1 << cell, theirs)) or feared


def _free_of(wanted: int) -> Rule:
    return lambda mine, theirs: wanted & ~(mine | theirs)


_centre, _corner, _edge = map(_free_of, (CENTRE, CORNERS, EDGES))


def _opposite_corner(mine: int, theirs: int) -> int:
    free = ~(mine | theirs)
    return sum(1 << 8 - cell for cell in cells(theirs & CORNERS) if free >> 8 - cell & 1)


def _reasoned(mine: int, theirs: int) -> int:
    return wins(mine, theirs) | wins(theirs, mine) | forks(mine, theirs) | fork_blocks(mine, theirs)


def _sensible(mine: int, theirs: int) -> int:
    return threats(mine, theirs) | (CORNERS | CENTRE) & ~(mine | theirs)


_NEWELL_SIMON = wins, _block, forks, _stop_fork, _centre, _opposite_corner, _corner, _edge

newell_simon = _by_rules("newell_simon", *((rule, NEVER) for rule in _NEWELL_SIMON))

_WITHOUT_PARAMETERS: dict[str, Policy] = {
    "random": random,
    "newell-simon": newell_simon,
    "perfect": perfect,
}

_CHANCE = re.compile(r"\d{1,9}/(?!0+$)\d{1,9}|\d{1,9}(\.\d{1,9})?", re.ASCII)


def make_policy(name: str, parameters: Mapping[str, str]) -> Policy:
    """Return a policy of this module; the parameters of a bot on the ladder change its chances."""
    if name not in LADDER:
        check_parameters(name, parameters, ())
        return _WITHOUT_PARAMETERS[name]
    oversights = LADDER[name]
    check_parameters(name, parameters, oversights.__match_args__)
    return fallible(oversights.replace(**{key: read_chance(text) for key, text in parameters.items()}))


def read_chance(text: str) -> Fraction:
    """Read a chance, as a fraction or a decimal number.

    >>> read_chance("1/3"), read_chance("0.25")
    (Fraction(1, 3), Fraction(1, 4))
    """
    if not _CHANCE.fullmatch(text) or (chance := Fraction(text)) > 1:
        raise UnknownPolicy(f"{quoted(text)} is not a chance: write 0 to 1, such as 1/3 or 0.25")
    return chance
