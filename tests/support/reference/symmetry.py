"""A second implementation of symmetry and matchboxes: a position is nine signs, `X`, `O` and `_`.

It shares no code with `noughts.bots.menace`; it only rearranges text.
"""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

from support.reference.tactics import free, put, winner

Move: TypeAlias = tuple[str, int]
"""A position, and the cell that is marked in it."""


def clockwise(signs: str) -> str:
    """Rotate nine signs by a quarter turn."""
    rows = signs[:3], signs[3:6], signs[6:]
    return "".join("".join(column[::-1]) for column in zip(*rows, strict=True))


def mirrored(signs: str) -> str:
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


@cache
def positions_with_a_choice() -> tuple[str, ...]:
    """Return every unfinished position with at least two free cells, of games that X starts."""
    found = {"_" * 9}
    latest = found
    for count in range(7):
        mark = "XO"[count % 2]
        after = {put(signs, mark, cell) for signs in latest for cell in free(signs)}
        latest = {signs for signs in after if not winner(signs)}
        found = found | latest
    return tuple(sorted(found))
