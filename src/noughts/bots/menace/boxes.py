"""The matchboxes: one for each position up to symmetry, one kind of bead for each distinct move.

Positions that are turned or mirrored images of each other share a box, and equivalent moves share a
bead, as in Michie's machine. The machine that starts has 304 boxes; one that answers, as later builders
made it, has 289 of its own. The last free cell needs no box: the move is forced.
"""

from __future__ import annotations

from functools import cache

from noughts.analysis.solver import sides
from noughts.core.board import SYMMETRIES, Board, Cell, Symmetry, reachable
from noughts.core.value import Value


class Box(Value):
    board: Board
    """The position on its label, of a game that X started."""
    cells: tuple[Cell, ...]
    """The distinct moves, each with its own kind of bead."""
    self_symmetries: tuple[Symmetry, ...]
    """The symmetries that leave the label as it is."""

    @property
    def stage(self) -> int:
        """How many moves the machine has made before: 0 to 3."""
        return self.board.count // 2


class BoxView(Value):
    """The box of a position, and the meaning of its beads there."""

    box: int
    cells: tuple[Cell, ...]
    """The cell of each kind of bead."""
    turn: Symmetry
    """The symmetry from the label to the position."""

    @property
    def kinds(self) -> dict[Cell, int]:
        """The kind of bead of each free cell."""
        label = boxes()[self.box]
        return {
            self.turn[equivalent]: kind
            for kind, cell in enumerate(label.cells)
            for equivalent in _equivalent(cell, label.self_symmetries)
        }


def boxes() -> tuple[Box, ...]:
    """Return all boxes: those of a machine that starts, then those of one that answers.

    >>> sum(box.board.count % 2 == 0 for box in boxes())
    304
    """
    return _boxes_and_views()[0]


def find_box(board: Board) -> BoxView:
    """Return the box of an unfinished position with at least two free cells."""
    return _boxes_and_views()[1][sides(board)]


@cache
def _boxes_and_views() -> tuple[tuple[Box, ...], dict[tuple[int, int], BoxView]]:
    made: list[Box] = []
    views: dict[tuple[int, int], BoxView] = {}
    open_boards = [board for board in reachable() if not board.is_over and board.count < 8]
    for board in sorted(open_boards, key=lambda board: board.count % 2):
        if sides(board) not in views:
            label = board.canonical
            images = {turn: label.image(turn) for turn in SYMMETRIES}
            self_symmetries = tuple(turn for turn, image in images.items() if image is label)
            made.append(Box(label, _distinct(label, self_symmetries), self_symmetries))
            for turn, image in images.items():
                if (at := sides(image)) not in views:
                    cells = tuple(turn[cell] for cell in made[-1].cells)
                    views[at] = BoxView(len(made) - 1, cells, turn)
    return tuple(made), views


def _distinct(label: Board, self_symmetries: tuple[Symmetry, ...]) -> tuple[Cell, ...]:
    """Return the first of each set of equivalent free cells."""
    if len(self_symmetries) == 1:
        return label.free_cells
    return tuple(sorted({min(_equivalent(cell, self_symmetries)) for cell in label.free_cells}))


def _equivalent(cell: Cell, self_symmetries: tuple[Symmetry, ...]) -> set[Cell]:
    return {turn[cell] for turn in self_symmetries}
