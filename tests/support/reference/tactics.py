"""A second implementation of tactics and perfect play, on boards of nine signs.

It shares no code with the bots, and prefers the obvious way to the fast one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from typing import TypeAlias

from noughts import Board, Mark
from support.positions import positions

Chances: TypeAlias = dict[int, Fraction]
Plain: TypeAlias = Callable[[str, str], Chances]
"""From nine signs and the mark to move to the chance of each cell."""
Ends: TypeAlias = tuple[Fraction, Fraction, Fraction, Fraction]
"""The chances that X wins, of a draw and that O wins; and the tokens still placed on average."""
Cells: TypeAlias = frozenset[int]

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
CENTRE = frozenset({4})
CORNERS = frozenset({0, 2, 6, 8})
EDGES = frozenset({1, 3, 5, 7})
OPPOSITE = {0: 8, 8: 0, 2: 6, 6: 2}
OTHER = {"X": "O", "O": "X"}


def signs_of(board: Board) -> str:
    return str(board).replace("/", "")


def seen(board: Board) -> tuple[str, str]:
    """Return the nine signs of a board, and the mark to move."""
    return signs_of(board), str(board.turn)


def in_play(*first: Mark) -> list[Board]:
    """Return the unfinished ones of these positions, in the games that these marks start."""
    return [board for mark in first for board in positions(mark) if not board.is_over]


def bits(cells: Iterable[int]) -> int:
    """Return a set of cells as a number, one bit per cell."""
    return sum(2**cell for cell in set(cells))


@cache
def free(signs: str) -> Cells:
    return frozenset(cell for cell in range(9) if signs[cell] == "_")


def put(signs: str, mark: str, cell: int) -> str:
    assert signs[cell] == "_"
    return signs[:cell] + mark + signs[cell + 1 :]


@cache
def has_line(signs: str, mark: str) -> bool:
    return any(all(signs[cell] == mark for cell in line) for line in LINES)


def winner(signs: str) -> str:
    """Return the mark that has a line, or nothing."""
    return "".join(mark for mark in OTHER if has_line(signs, mark))


def is_over(signs: str) -> bool:
    return bool(winner(signs)) or "_" not in signs


@cache
def minimax(signs: str, mark: str) -> tuple[int, int]:
    """Return the result for the mark to move (1, 0 or -1), and after how many tokens.

    The winner plays for a fast win, the loser for a slow loss.
    """
    if has_line(signs, OTHER[mark]):
        return -1, 0
    if "_" not in signs:
        return 0, 0
    return max(moves(signs, mark).values(), key=preference)


@cache
def moves(signs: str, mark: str) -> dict[int, tuple[int, int]]:
    """Return the result and length for the mark to move after each of its moves."""
    found = {}
    for cell in sorted(free(signs)):
        result, distance = minimax(put(signs, mark, cell), OTHER[mark])
        found[cell] = -result, distance + 1
    return found


@cache
def best(signs: str, mark: str) -> Cells:
    """Return the best moves: the fastest wins, or else draws, or else the slowest losses."""
    return frozenset(cell for cell, end in moves(signs, mark).items() if end == minimax(signs, mark))


def preference(end: tuple[int, int]) -> tuple[int, int]:
    """Return a sort key: fast wins are best, fast losses worst."""
    result, distance = end
    return result, -result * distance


@cache
def wins(signs: str, mark: str) -> Cells:
    """Return the free cells on lines of which a mark has the other two."""
    return frozenset(
        cell
        for cell in free(signs)
        for line in LINES
        if cell in line and all(signs[other] == mark for other in line if other != cell)
    )


def threatening(signs: str, mark: str, count: int) -> Cells:
    """Return the cells that do not win, but after which at least `count` cells would."""
    return frozenset(
        cell
        for cell in free(signs) - wins(signs, mark)
        if len(wins(put(signs, mark, cell), mark)) >= count
    )


@cache
def threats(signs: str, mark: str) -> Cells:
    """Return the cells that make a threat."""
    return threatening(signs, mark, 1)


@cache
def forks(signs: str, mark: str) -> Cells:
    """Return the cells that make two threats."""
    return threatening(signs, mark, 2)


@cache
def fork_answers(signs: str, mark: str) -> Cells:
    """Return the forks with which the opponent can answer after `mark` has moved.

    One threat must be blocked, so only that cell can be an answer; two cannot be blocked.
    """
    to_stop = wins(signs, mark)
    answers = free(signs) if not to_stop else to_stop if len(to_stop) == 1 else frozenset()
    return frozenset(cell for cell in answers if cell in forks(signs, OTHER[mark]))


@cache
def fork_blocks(signs: str, mark: str) -> Cells:
    """Return the cells that leave the opponent no fork, if there is one; so does a win."""
    if not forks(signs, OTHER[mark]):
        return frozenset()
    return wins(signs, mark) | {
        cell for cell in free(signs) if not fork_answers(put(signs, mark, cell), mark)
    }


def evenly(cells: Iterable[int]) -> Chances:
    """Return the same probability for each cell."""
    found = sorted(cells)
    return {cell: Fraction(1, len(found)) for cell in found}


def by_chance(signs: str, _mark: str) -> Chances:
    return evenly(free(signs))


def hopeful(signs: str, mark: str) -> Chances:
    """Play perfectly, with the best chances against random moves."""
    return evenly(most_hopeful(signs, mark)[0])


@cache
def most_hopeful(signs: str, mark: str) -> tuple[Cells, Fraction]:
    """Return the perfect moves with the highest expectation against random answers, and that expectation.

    A win counts 1, a loss -1; later moves are chosen in the same way.
    """
    hopes = {cell: hope(put(signs, mark, cell), mark) for cell in best(signs, mark)}
    highest = max(hopes.values())
    return frozenset(cell for cell, expected in hopes.items() if expected == highest), highest


def hope(signs: str, mark: str) -> Fraction:
    """Return the expectation of a mark that has just moved."""
    if has_line(signs, mark):
        return Fraction(1)
    if "_" not in signs:
        return Fraction(0)
    total = Fraction(0)
    for cell in free(signs):
        answered = put(signs, OTHER[mark], cell)
        if has_line(answered, OTHER[mark]):
            total -= 1
        elif "_" in answered:
            total += most_hopeful(answered, mark)[1]
    return total / len(free(signs))


def eight_rules(signs: str, mark: str) -> list[Cells]:
    """Return the cells that each of Newell and Simon's eight rules would take, in order."""
    theirs = OTHER[mark]
    feared = forks(signs, theirs)
    forcing = frozenset(
        cell for cell in threats(signs, mark) if not fork_answers(put(signs, mark, cell), mark)
    )
    opposite = frozenset(OPPOSITE[cell] for cell in CORNERS if signs[cell] == theirs)
    return [
        wins(signs, mark),
        wins(signs, theirs),
        forks(signs, mark),
        (forcing or feared) if feared else frozenset(),
        CENTRE & free(signs),
        opposite & free(signs),
        CORNERS & free(signs),
        EDGES & free(signs),
    ]


def classic(signs: str, mark: str) -> Chances:
    """Play by the first of the eight rules that applies."""
    return evenly(next(cells for cells in eight_rules(signs, mark) if cells))


def somebody(**overlooked: str) -> Plain:
    """Return a player who goes down a list of rules, and overlooks each with its own probability."""
    missed = [Fraction(overlooked[key]) for key in ("win", "block", "fork", "defence", "centre")]

    def play(signs: str, mark: str) -> Chances:
        found = free(signs)
        sensible = threats(signs, mark) | (CENTRE | CORNERS) & found
        reasons = [
            wins(signs, mark),
            wins(signs, OTHER[mark]),
            forks(signs, mark),
            fork_blocks(signs, mark),
            CENTRE & found,
        ]
        chances = dict.fromkeys(range(9), Fraction(0))
        left = Fraction(1)
        last = sensible or frozenset().union(*reasons) or found
        for cells, chance in [*zip(reasons, missed, strict=True), (last, Fraction(0))]:
            for cell in cells:
                chances[cell] += left * (1 - chance) / len(cells)
            left *= chance if cells else 1
        return {cell: chance for cell, chance in chances.items() if chance}

    return play


def all_odds(x: Plain, o: Plain, first: str = "X") -> dict[str, Ends]:
    """Return the odds from every position between two players."""
    plays = {"X": x, "O": o}
    known: dict[str, Ends] = {}

    def ends(signs: str, mark: str) -> Ends:
        if signs not in known:
            known[signs] = at_end(signs) if is_over(signs) else mixed(signs, mark)
        return known[signs]

    def mixed(signs: str, mark: str) -> Ends:
        x_wins = draws = o_wins = length = Fraction(0)
        chances = plays[mark](signs, mark)
        for cell in free(signs):
            after = ends(put(signs, mark, cell), OTHER[mark])
            if cell not in chances:  # never played, but every position gets its odds
                continue
            chance = chances[cell]
            x_wins += chance * after[0]
            draws += chance * after[1]
            o_wins += chance * after[2]
            length += chance * (1 + after[3])
        return x_wins, draws, o_wins, length

    ends("_" * 9, first)
    return known


def at_end(signs: str) -> Ends:
    x, o = has_line(signs, "X"), has_line(signs, "O")
    return Fraction(x), Fraction(not (x or o)), Fraction(o), Fraction(0)
