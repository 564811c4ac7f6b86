"""A second opinion on symmetry and on matchboxes: a position is nine signs, `X`, `O` and `_`.

It shares no code with the shelf that it judges; everything is found by turning text about.
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
    """Turn nine signs by a quarter."""
    rows = signs[:3], signs[3:6], signs[6:]
    return "".join("".join(column[::-1]) for column in zip(*rows, strict=True))


def mirrored(signs: str) -> str:
    """Swap left and right."""
    return signs[2::-1] + signs[5:2:-1] + signs[:5:-1]


def images(signs: str) -> list[str]:
    """Return nine signs as they look in each of the eight ways to lay them down."""
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
    """Return one name for a position and all its images."""
    return min(images(signs))


@cache
def move_of(signs: str, cell: int) -> Move:
    """Return one name for a move and all its images."""
    return min(
        ("".join(signs[int(source)] for source in way), way.index(str(cell)))  # the digits are cells
        for way in WAYS
    )


def is_won(signs: str) -> bool:
    """Return whether somebody has three in a row."""
    return any(signs[a] == signs[b] == signs[c] != "_" for a, b, c in _WINS)


def free(signs: str) -> list[int]:
    """Return the cells that nobody has marked."""
    return [cell for cell, sign in enumerate(signs) if sign == "_"]


@cache
def positions_with_a_choice() -> tuple[str, ...]:
    """Return every position of a game that X starts that is not over and has two free cells at least."""
    found = {"_" * 9}
    latest = found
    for count in range(7):
        mark = "XO"[count % 2]
        after = {signs[:cell] + mark + signs[cell + 1 :] for signs in latest for cell in free(signs)}
        latest = {signs for signs in after if not is_won(signs)}
        found = found | latest
    return tuple(sorted(found))
