"""A second implementation of symmetry and matchboxes: a position is nine signs, `X`, `O` and `_`.

It shares no code with `noughts.bots.menace`; it only rearranges text.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from noughts import Board

Move: TypeAlias = tuple[str, int]
"""A position, and the cell that is marked in it."""

_ROWS = ((0, 1, 2), (3, 4, 5), (6, 7, 8))
_WINS = (*_ROWS, *zip(*_ROWS, strict=True), (0, 4, 8), (2, 4, 6))


def signs_of(board: Board) -> str:
    """Write a position as nine signs."""
    return str(board).replace("/", "")


def clockwise(signs: str) -> str:
    """Rotate nine signs by a quarter turn."""
    rows = signs[:3], signs[3:6], signs[6:]
    return "".join("".join(column[::-1]) for column in zip(*rows, strict=True))


def mirrored(signs: str) -> str:
    """Swap left and right."""
    return signs[2::-1] + signs[5:2:-1] + signs[:5:-1]


def images(signs: str) -> list[str]:
    """Return the eight images of nine signs."""
    found = []
    for start in (signs, mirrored(signs)):
        turned = start
        for _ in range(4):
            found.append(turned)
            turned = clockwise(turned)
    return found


WAYS = tuple(images("012345678"))
"""For each of the eight ways, which cell comes to lie where."""


def box_of(signs: str) -> str:
    """Return the same name for a position and all its images."""
    return min(images(signs))


@cache
def move_of(signs: str, cell: int) -> Move:
    """Return the same name for a move and all its images."""
    return min(
        ("".join(signs[int(source)] for source in way), way.index(str(cell)))  # the digits are cells
        for way in WAYS
    )


def is_won(signs: str) -> bool:
    """Return whether a player has three in a row."""
    return any(signs[a] == signs[b] == signs[c] != "_" for a, b, c in _WINS)


def free(signs: str) -> list[int]:
    """Return the free cells."""
    return [cell for cell, sign in enumerate(signs) if sign == "_"]


@cache
def positions_with_a_choice() -> tuple[str, ...]:
    """Return every unfinished position with at least two free cells, of games that X starts."""
    found = {"_" * 9}
    latest = found
    for count in range(7):
        mark = "XO"[count % 2]
        after = {signs[:cell] + mark + signs[cell + 1 :] for signs in latest for cell in free(signs)}
        latest = {signs for signs in after if not is_won(signs)}
        found = found | latest
    return tuple(sorted(found))
