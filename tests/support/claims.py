"""Checks what the coach's sentences claim, on boards of nine signs, without the coach's code.

A claim is a pattern, with cells as numbers, and a check of the lines and moves that prove it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from support.reference.tactics import LINES as ALL_LINES, OTHER, best, is_over, moves, put, winner

LINE = r"\d-\d-\d"
LINES = rf"({LINE}(?:(?:, | and ){LINE})*)"
PLAY = r"\((\d(?:, then \d(?:, \d)*)?)\)"
CELLS = r"(\d(?:(?:, | or )\d)*)"
COUNTS = ["no", "one", "two", "three", "four"]


class Move(NamedTuple):
    """A move on a board of nine signs."""

    signs: str
    mark: str
    cell: int

    @property
    def other(self) -> str:
        return OTHER[self.mark]

    @property
    def number(self) -> str:
        return str(self.cell + 1)

    @property
    def after(self) -> str:
        return put(self.signs, self.mark, self.cell)

    @property
    def best(self) -> set[str]:
        return {str(cell + 1) for cell in best(self.signs, self.mark)}


def missing(signs: str, mark: str, lines: str) -> set[str]:
    """Return the cells that these lines still need; the mark must hold the others."""
    found = set()
    for line in re.findall(LINE, lines):
        held = "".join(signs[int(digit) - 1] for digit in line.split("-"))
        assert sorted(held) == sorted(f"{mark}{mark}_"), line
        found.add(line.split("-")[held.index("_")])
    return found


def is_fork(signs: str, mark: str, lines: str) -> bool:
    """Return whether these lines need two cells, and the other mark cannot win first."""
    can_win = (1, 1) in moves(signs, OTHER[mark]).values()
    return len(missing(signs, mark, lines)) > 1 and not can_win


def winner_of(move: Move, play: str) -> str:
    """Return who wins these moves; after the first, both sides must play best to the end."""
    first, *rest = (int(digit) - 1 for digit in re.findall(r"\d", play))
    signs, mark = put(move.signs, move.mark, first), move.other
    assert len(rest) + 1 == moves(move.signs, move.mark)[first][1]
    for cell in rest:
        assert cell in best(signs, mark)
        signs, mark = put(signs, mark, cell), OTHER[mark]
    assert is_over(signs)
    return winner(signs)


def completes(move: Move, who: str, lines: str) -> bool:
    if who == move.other:
        return bool(missing(move.after, who, lines))
    return missing(move.signs, move.mark, lines) == {who}


def prevents_fork(move: Move, where: str, lines: str) -> bool:
    cell = move.cell if where == "there" else int(where[-1]) - 1
    return len(missing(put(move.signs, move.other, cell), move.other, lines)) > 1


def answer_forks(move: Move, answer: str, lines: str) -> bool:
    return is_fork(put(move.after, move.other, int(answer) - 1), move.other, lines)


def makes_threats(move: Move, count: str, lines: str) -> bool:
    needed = missing(move.after, move.mark, lines)
    return is_fork(move.after, move.mark, lines) and count == COUNTS[len(needed)]


def has_open_lines(move: Move, count: str) -> bool:
    lines = [line for line in ALL_LINES if move.cell in line]
    return count == COUNTS[sum(move.other not in {move.signs[cell] for cell in line} for line in lines)]


def is_worth(move: Move, value: str, play: str) -> bool:
    result, distance = moves(move.signs, move.mark)[move.cell]
    values = {1: f"win in {distance}", 0: "draw", -1: f"loss in {distance}"}
    winners = {1: move.mark, 0: "", -1: move.other}
    return play[0] == move.number and (value, winner_of(move, play)) == (values[result], winners[result])


def is_loss(move: Move, cells: str, play: str) -> bool:
    """Return whether each of these cells loses in 6, and the moves show it."""
    ends = {moves(move.signs, move.mark)[int(cell) - 1] for cell in re.findall(r"\d", cells)}
    return ends <= {(-1, 6)} and len(re.findall(r"\d", play)) == 6 and winner_of(move, play) == move.other


CLAIMS: dict[str, Callable[..., bool]] = {
    rf"(\d|[XO]) (?:completes|would have completed) {LINES}": completes,
    r"Every move (loses)": lambda move, _: all(
        end < 0 for end, _ in moves(move.signs, move.mark).values()
    ),
    rf"Complete {LINES} and win!": lambda move, lines: completes(move, move.number, lines),
    rf"[Bb]locks? {LINES}": lambda move, lines: missing(move.signs, move.other, lines) == {move.number},
    rf"[XO] threatens {LINES}": lambda move, lines: len(missing(move.after, move.other, lines)) > 1,
    rf"[XO] takes (\d) and threatens both {LINES}": answer_forks,
    rf"let [XO] threaten both {LINES} with (\d)": lambda move, lines, cell: answer_forks(
        move, cell, lines
    ),
    rf"(?<![XO])(?<!takes \d and) threatens {LINES}": (
        lambda move, lines: len(missing(move.after, move.mark, lines)) == 1
    ),
    rf"(two|three) threats at once, {LINES}": makes_threats,
    rf"fork (?:that [XO] would make )?(there|with \d) \({LINES}\)": prevents_fork,
    rf"left {LINES} open": lambda move, lines: bool(missing(move.after, move.other, lines)),
    r"(\d) (?:is|was) the block": lambda move, cell: {cell} == move.best,
    rf"{CELLS} (?:wins|would have won) {PLAY}": (
        lambda move, cells, play: (
            {*re.findall(r"\d", cells)} == move.best and winner_of(move, play) == move.mark
        )
    ),
    rf"{CELLS} holds out longer {PLAY}": (
        lambda move, cells, play: (
            {*re.findall(r"\d", cells)} == move.best and winner_of(move, play) == move.other
        )
    ),
    rf"[Bb]etter: (?:an edge |a corner )?\(?{CELLS}": (
        lambda move, cells: {*re.findall(r"\d", cells)} == move.best
    ),
    rf"{CELLS}\)? was better": lambda move, cells: {*re.findall(r"\d", cells)} == move.best,
    rf"{CELLS} (?:would let|lets) [XO] (?:force|make) a fork {PLAY}": is_loss,
    rf"()(?:anything else lets|and let) [XO] (?:force|make) a fork {PLAY}": is_loss,
    rf"[XO] takes \d and makes a fork next {PLAY}": lambda move, play: is_loss(move, move.number, play),
    rf"(?:comes next|\d forks|fork, whatever [XO] answers) {PLAY}": (
        lambda move, play: winner_of(move, play) == move.mark and play[0] == move.number
    ),
    rf"(win in \d|draw|loss in \d) {PLAY}": is_worth,
    r"(one|two|three|four) lines? (?:still|is|are) open": has_open_lines,
}


@cache
def claims_of(text: str) -> tuple[tuple[str, re.Match[str]], ...]:
    """Return the claims of a text, with their patterns; no line and no moves are named without one."""
    found = tuple((pattern, claim) for pattern in CLAIMS for claim in re.finditer(pattern, text))
    covered = {place for _, claim in found for place in range(*claim.span())}
    for fact in re.finditer(rf"{LINE}|{PLAY}", text):
        assert {*range(*fact.span())} <= covered, fact[0]
    return found


def check_claims(text: str, move: Move) -> set[str]:
    """Prove every claim of a text, and return their patterns."""
    found = claims_of(text)
    for pattern, claim in found:
        assert CLAIMS[pattern](move, *claim.groups()), claim[0]
    return {pattern for pattern, _ in found}
