"""A second implementation of reasons, on boards of nine signs, without the coach's code."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import TypeAlias

from support.reference.tactics import (
    LINES,
    OTHER,
    Cells,
    best,
    forks,
    free,
    minimax,
    moves,
    put,
    winner,
    wins as completing,
)

Line: TypeAlias = tuple[int, int, int]
Predicate: TypeAlias = Callable[[str, str, int], bool]
"""Whether something is true of a move: nine signs, the mark that moves, and the cell."""

NO_LINES: frozenset[Line] = frozenset()


@cache
def full_lines(signs: str, mark: str) -> frozenset[Line]:
    """Return the lines on which a mark has all three cells."""
    return frozenset((a, b, c) for a, b, c in LINES if signs[a] == signs[b] == signs[c] == mark)


@cache
def fork_answers(signs: str, mark: str) -> Cells:
    """Return the forks after which the other mark cannot complete a line."""
    return frozenset(
        cell for cell in forks(signs, mark) if not completing(put(signs, mark, cell), OTHER[mark])
    )


def wins(signs: str, mark: str, cell: int) -> bool:
    return winner(put(signs, mark, cell)) == mark


def allows_win(signs: str, mark: str, cell: int) -> bool:
    """Return whether the opponent can complete a line at once."""
    after = put(signs, mark, cell)
    return not winner(after) and bool(completing(after, OTHER[mark]))


def allows_fork(signs: str, mark: str, cell: int) -> bool:
    """Return whether the opponent cannot win at once, but can fork without having to block first."""
    if wins(signs, mark, cell) or allows_win(signs, mark, cell):
        return False
    return bool(fork_answers(put(signs, mark, cell), OTHER[mark]))


def blocks_fork(signs: str, mark: str, cell: int) -> bool:
    """Return whether the opponent had no win but a fork, and now cannot win at all."""
    if completing(signs, OTHER[mark]) or not forks(signs, OTHER[mark]) or wins(signs, mark, cell):
        return False
    return moves(signs, mark)[cell][0] != -1


def new_threats(signs: str, mark: str, cell: int) -> int:
    """Count the threats after the move, if one is new and the opponent cannot win first."""
    if wins(signs, mark, cell) or allows_win(signs, mark, cell):
        return 0
    after = completing(put(signs, mark, cell), mark)
    return len(after) if after - completing(signs, mark) else 0


def forces_fork(signs: str, mark: str, cell: int) -> bool:
    """Return whether a line or a fork follows every answer, and a fork follows at least one."""
    after = put(signs, mark, cell)
    if winner(after) or completing(after, OTHER[mark]):
        return False
    answered = [put(after, OTHER[mark], answer) for answer in free(after)]
    unfinished = [signs for signs in answered if not completing(signs, mark)]
    return bool(unfinished) and all(fork_answers(signs, mark) for signs in unfinished)


def allows_forced_fork(signs: str, mark: str, cell: int) -> bool:
    """Return whether the opponent can then force a fork, but has no line or fork at once."""
    if any(applies(signs, mark, cell) for applies in (wins, allows_win, allows_fork)):
        return False
    return bool(_forcing(put(signs, mark, cell), OTHER[mark]))


def _forcing(signs: str, mark: str) -> Cells:
    return frozenset(cell for cell in free(signs) if forces_fork(signs, mark, cell))


def stops_forced_fork(signs: str, mark: str, cell: int) -> bool:
    """Return whether the move keeps a draw, and another one would allow a forced fork."""
    if minimax(signs, mark)[0] or moves(signs, mark)[cell][0]:
        return False
    return any(allows_forced_fork(signs, mark, other) for other in free(signs))


def results(signs: str, mark: str, cell: int) -> tuple[int, int, set[int]]:
    """Return the results of the position, of the move, and of the other moves."""
    found = {other: result for other, (result, _) in moves(signs, mark).items()}
    return minimax(signs, mark)[0], found.pop(cell), {*found.values()}


def later(signs: str, mark: str, cell: int) -> int:
    """Return how many more tokens the game takes than with the best move."""
    return moves(signs, mark)[cell][1] - minimax(signs, mark)[1]


KINDS: dict[str, Predicate] = {
    "wins": wins,
    "givesUpWin": lambda *move: results(*move)[0] == 1 > results(*move)[1],
    "givesUpDraw": lambda *move: results(*move)[:2] == (0, -1),
    "allowsWin": allows_win,
    "allowsFork": allows_fork,
    "allowsForcedFork": allows_forced_fork,
    "winsLater": lambda *move: results(*move)[:2] == (1, 1) and later(*move) > 0,
    "losesSooner": lambda *move: results(*move)[:2] == (-1, -1) and later(*move) < 0,
    "blocks": lambda signs, mark, cell: wins(signs, OTHER[mark], cell),
    "makesFork": lambda *move: new_threats(*move) >= 2,
    "forcesFork": forces_fork,
    "blocksFork": blocks_fork,
    "stopsForcedFork": stops_forced_fork,
    "onlyWin": lambda *move: (
        not wins(*move) and results(*move)[1] == 1 and results(*move)[2] in ({0}, {-1}, {0, -1})
    ),
    "onlyMove": lambda *move: results(*move)[1:] == (0, {-1}),
    "threatens": lambda *move: new_threats(*move) == 1,
    "centre": lambda _signs, _mark, cell: cell == 4,
    "corner": lambda _signs, _mark, cell: cell in {0, 2, 6, 8},
    "edge": lambda _signs, _mark, cell: cell in {1, 3, 5, 7},
}
"""What each kind of reason means, the most important first."""


def kinds(signs: str, mark: str, cell: int) -> list[str]:
    """Return all kinds of reasons that apply to a move, in order."""
    return [kind for kind, applies in KINDS.items() if applies(signs, mark, cell)]


def shown(kind: str, signs: str, mark: str, cell: int) -> tuple[Cells, frozenset[Line]]:
    """Return the cells that a reason of this kind names, and the lines that it shows."""
    after, other, itself = put(signs, mark, cell), OTHER[mark], frozenset({cell})
    match kind:
        case "wins":
            return itself, full_lines(after, mark)
        case "blocks":
            return itself, full_lines(put(signs, other, cell), other)
        case "forcesFork" | "onlyMove" | "onlyWin":
            return itself, NO_LINES
        case "givesUpWin" | "winsLater":
            return best(signs, mark), _to_complete(signs, mark)
        case "givesUpDraw" | "losesSooner":
            return best(signs, mark), NO_LINES
        case "allowsWin":
            return completing(after, other), _to_complete(after, other)
        case "makesFork" | "threatens":
            return completing(after, mark), _to_complete(after, mark)
        case "allowsFork":
            made = fork_answers(after, other)
            return made, _through_forks(after, other, made)
        case "blocksFork":
            return forks(signs, other), _through_forks(signs, other, forks(signs, other))
        case "allowsForcedFork":
            return _forcing(after, other), NO_LINES
        case "stopsForcedFork":
            allowing = frozenset(one for one in free(signs) if allows_forced_fork(signs, mark, one))
            return allowing, NO_LINES
    open_lines = (line for line in LINES if cell in line and all(signs[held] != other for held in line))
    return frozenset(), frozenset(open_lines)


def _to_complete(signs: str, mark: str) -> frozenset[Line]:
    """Return the lines that a mark could complete with one token."""
    return NO_LINES.union(*(full_lines(put(signs, mark, c), mark) for c in completing(signs, mark)))


def _through_forks(signs: str, mark: str, made: Iterable[int]) -> frozenset[Line]:
    """Return the lines through these forks that each of them would threaten."""
    return frozenset(
        line for fork in made for line in _to_complete(put(signs, mark, fork), mark) if fork in line
    )
