"""What each kind of reason means, from the results of a plain search, without the coach's code."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TypeAlias

from support.reference.tactics import (
    LINES,
    OTHER,
    Cells,
    best,
    forks,
    minimax,
    moves,
    put,
    wins as completing,
)

Line: TypeAlias = tuple[int, ...]
End: TypeAlias = tuple[int, int]
"""The result of best play, 1, 0 or -1 for the mark to move, and after how many tokens."""

NONE: Cells = frozenset()

# The results of moves that allow or force something at once, next, or after that.
WINS, FORCES_FORK = (1, 1), (1, 5)
ALLOWS_WIN, ALLOWS_FORK, ALLOWS_FORCED_FORK = (-1, 2), (-1, 4), (-1, 6)


@cache
def meanings(signs: str, mark: str, cell: int) -> dict[str, bool]:
    """Tell which kinds of reasons apply to a move; the most important comes first."""
    (before, soonest), end = minimax(signs, mark), moves(signs, mark)[cell]
    others = {result for other, (result, _) in moves(signs, mark).items() if other != cell}
    feared = completing(signs, OTHER[mark])
    made = new_threats(signs, mark, cell)
    return {
        "wins": end == WINS,
        "givesUpWin": before == 1 > end[0],
        "givesUpDraw": before == 0 > end[0],
        "allowsWin": end == ALLOWS_WIN,
        "allowsFork": end == ALLOWS_FORK,
        "allowsForcedFork": end == ALLOWS_FORCED_FORK,
        "winsLater": before == end[0] == 1 and end[1] > soonest,
        "losesSooner": before == end[0] == -1 and end[1] < soonest,
        "blocks": cell in feared,
        "makesFork": made >= 2,
        "forcesFork": end == FORCES_FORK,
        "blocksFork": bool(forks(signs, OTHER[mark])) and not feared and end != WINS and end[0] >= 0,
        "stopsForcedFork": before == end[0] == 0 and ALLOWS_FORCED_FORK in moves(signs, mark).values(),
        "onlyWin": end[0] == 1 and end != WINS and bool(others) and 1 not in others,
        "onlyMove": end[0] == 0 and others == {-1},
        "threatens": made == 1,
        "centre": cell == 4,
        "corner": cell in {0, 2, 6, 8},
        "edge": cell in {1, 3, 5, 7},
    }


def new_threats(signs: str, mark: str, cell: int) -> int:
    """Count the threats after the move, if one is new and the game does not end first."""
    if moves(signs, mark)[cell] in (WINS, ALLOWS_WIN):
        return 0
    after = completing(put(signs, mark, cell), mark)
    return len(after) if after - completing(signs, mark) else 0


def kinds(signs: str, mark: str, cell: int) -> list[str]:
    """Return all kinds of reasons that apply to a move, in order."""
    return [kind for kind, applies in meanings(signs, mark, cell).items() if applies]


def shown(kind: str, signs: str, mark: str, cell: int) -> tuple[Cells, set[Line]]:
    """Return the cells that a reason of this kind names, and the lines that it shows."""
    after, other = put(signs, mark, cell), OTHER[mark]
    match kind:
        case "wins" | "blocks":
            return frozenset({cell}), incomplete(signs, mark if kind == "wins" else other, {cell})
        case "forcesFork" | "onlyMove" | "onlyWin":
            return frozenset({cell}), set()
        case "givesUpWin" | "winsLater":
            return best(signs, mark), incomplete(signs, mark, completing(signs, mark))
        case "givesUpDraw" | "losesSooner":
            return best(signs, mark), set()
        case "allowsWin":
            return best(after, other), incomplete(after, other, best(after, other))
        case "allowsFork":
            return best(after, other), through_forks(after, other, best(after, other))
        case "allowsForcedFork":
            return best(after, other), set()
        case "makesFork" | "threatens":
            return completing(after, mark), incomplete(after, mark, completing(after, mark))
        case "blocksFork":
            return forks(signs, other), through_forks(signs, other, forks(signs, other))
        case "stopsForcedFork":
            found = moves(signs, mark).items()
            return frozenset(one for one, end in found if end == ALLOWS_FORCED_FORK), set()
    return NONE, {line for line in LINES if cell in line and other not in {signs[one] for one in line}}


def incomplete(signs: str, mark: str, cells: Iterable[int]) -> set[Line]:
    """Return the lines that lack only one of these cells."""
    return {
        line
        for line in LINES
        for cell in {*cells} & {*line}
        if all(signs[held] == mark for held in {*line} - {cell})
    }


def through_forks(signs: str, mark: str, made: Iterable[int]) -> set[Line]:
    """Return the lines through these forks that each of them would threaten."""
    found = ((fork, put(signs, mark, fork)) for fork in made)
    return {
        line
        for fork, after in found
        for line in incomplete(after, mark, completing(after, mark))
        if fork in line
    }
