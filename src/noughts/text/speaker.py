"""Cells, lines and moves in words, as the board in front of the reader shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from noughts.core.board import Cell
from noughts.core.value import Value
from noughts.text.catalogue import ENGLISH, Catalogue

CellNames: TypeAlias = Literal["numbers", "numpad", "places"]
"""Cells are called 1 to 9, from the top or as on a numpad; or by their places, such as the top left."""

READING_ORDER, NUMPAD_ORDER = "123456789", "789456123"

_PLACES = (
    *("place.top_left", "place.top", "place.top_right"),
    *("place.left", "place.middle", "place.right"),
    *("place.bottom_left", "place.bottom", "place.bottom_right"),
)
_LINES: dict[tuple[Cell, ...], str] = {
    (0, 1, 2): "line.top_row",
    (3, 4, 5): "line.middle_row",
    (6, 7, 8): "line.bottom_row",
    (0, 3, 6): "line.left_column",
    (1, 4, 7): "line.middle_column",
    (2, 5, 8): "line.right_column",
    (0, 4, 8): "line.falling_diagonal",
    (2, 4, 6): "line.rising_diagonal",
}
_KINDS: dict[tuple[Cell, ...], str] = {(0, 2, 6, 8): "list.corners", (1, 3, 5, 7): "list.edges"}
_COUNTS = "count.one", "count.two", "count.three", "count.four"


class Speaker(Value):
    """Fills the sentences of a catalogue."""

    wording: Catalogue = ENGLISH
    cells: CellNames = "numbers"

    def say(self, key: str, **values: object) -> str:
        return self.wording.say(key, **values)

    def cell(self, cell: Cell) -> str:
        return self.say(_PLACES[cell]) if self.cells == "places" else self.number(cell)

    def line(self, line: tuple[Cell, ...]) -> str:
        return self.say(_LINES[line]) if self.cells == "places" else "-".join(map(self.number, line))

    def number(self, cell: Cell) -> str:
        return (NUMPAD_ORDER if self.cells == "numpad" else READING_ORDER)[cell]

    def one_of(self, cells: Iterable[Cell]) -> str:
        """List cells of which any will do.

        >>> Speaker().one_of([0, 4, 8]), Speaker(cells="places").one_of([0, 4])
        ('1, 5 or 9', 'the top left or the middle')
        """
        return self.any_of([self.cell(cell) for cell in cells])

    def all_of(self, cells: Iterable[Cell]) -> str:
        return self._listed([self.cell(cell) for cell in cells], "list.and")

    def kind_of(self, cells: Sequence[Cell]) -> str:
        """List cells like `one_of`, and say what they are if they are the corners or the edges."""
        key, listed = _KINDS.get(tuple(cells)), self.one_of(cells)
        return self.say(key, cells=listed) if key else listed

    def lines(self, lines: Iterable[tuple[Cell, ...]]) -> str:
        """List lines.

        >>> Speaker().lines([(0, 4, 8)]), Speaker(cells="places").lines([(0, 1, 2), (2, 5, 8)])
        ('1-5-9', 'the top row and the right column')
        """
        return self._listed([self.line(line) for line in lines], "list.and")

    def play(self, moves: Sequence[Cell]) -> str:
        """List moves, both players' in turn; in places, which are long, only the first and the answer.

        >>> Speaker().play([3, 1, 2]), Speaker(cells="places").play([3, 1, 2])
        ('4, then 2, 3', 'the middle left, then the top middle and so on')
        """
        is_short = self.cells == "places" and len(moves) > 2
        return self._played(moves[:2], "play.begins") if is_short else self.whole_play(moves)

    def whole_play(self, moves: Sequence[Cell]) -> str:
        """List moves, both players' in turn."""
        return self._played(moves, "play.whole")

    def count(self, number: int) -> str:
        """Return a number from 1 to 4 in words."""
        return self.say(_COUNTS[number - 1])

    def join(self, phrases: Sequence[str]) -> str:
        return self._listed(phrases, "list.and")

    def any_of(self, phrases: Sequence[str]) -> str:
        return self._listed(phrases, "list.or")

    def _played(self, moves: Sequence[Cell], key: str) -> str:
        words = [*map(self.cell, moves)]
        if len(words) < 2:
            return "".join(words)
        return self.say(key, first=words[0], rest=", ".join(words[1:]))

    def _listed(self, words: Sequence[str], key: str) -> str:
        *most, last = words or [""]
        return self.say(key, most=", ".join(most), last=last) if most else last


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
