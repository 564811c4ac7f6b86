"""The shelf of matchboxes: a box for each position that looks different, a bead for each such move.

Positions that are turned or mirrored images of each other share a box, and moves that come to the same
share a bead, as on Michie's shelf. The machine that starts has 304 boxes; one that answers, as later
builders made it, has 289 of its own. A last free cell needs no box: there is no choice.
"""

from __future__ import annotations

from functools import cache

from noughts.analysis.solver import sides
from noughts.core.board import SYMMETRIES, Board, Cell, Symmetry, reachable
from noughts.core.value import Value


class Box(Value):
    """A box, before beads come into it."""

    board: Board
    """The position on its label, of a game that X started."""
    cells: tuple[Cell, ...]
    """The moves that look different on the label; there is a kind of bead for each."""
    self_symmetries: tuple[Symmetry, ...]
    """The ways to turn and mirror the label that leave it as it is."""

    @property
    def stage(self) -> int:
        """How many moves the machine has made before: 0 to 3."""
        return self.board.count // 2


class BoxView(Value):
    """Where a position is found on the shelf, and what the beads mean in it."""

    box: int
    cells: tuple[Cell, ...]
    """The cell of each kind of bead."""
    turn: Symmetry
    """How the label has to be turned."""

    @property
    def kinds(self) -> dict[Cell, int]:
        """The kind of bead of each free cell."""
        label, turn = boxes()[self.box], self.turn
        return {
            turn[alike]: kind
            for kind, cell in enumerate(label.cells)
            for alike in _alike(cell, label.self_symmetries)
        }


def boxes() -> tuple[Box, ...]:
    """Return all boxes: those of a machine that starts, and then those of one that answers.

    >>> sum(box.board.count % 2 == 0 for box in boxes())
    304
    """
    return _stocked()[0]


def find_box(board: Board) -> BoxView:
    """Return the place of a position that is not over and has two free cells at least."""
    return _stocked()[1][sides(board)]


@cache
def _stocked() -> tuple[tuple[Box, ...], dict[tuple[int, int], BoxView]]:
    """Return the boxes, and the places of all positions by the cells of the mover and of the other."""
    made: list[Box] = []
    places: dict[tuple[int, int], BoxView] = {}
    open_boards = [board for board in reachable() if not board.is_over and board.count < 8]
    for board in sorted(open_boards, key=lambda board: board.count % 2):
        if sides(board) not in places:
            label = board.canonical
            images = {turn: label.image(turn) for turn in SYMMETRIES}
            self_symmetries = tuple(turn for turn, image in images.items() if image is label)
            made.append(Box(label, _distinct(label, self_symmetries), self_symmetries))
            for turn, image in images.items():
                if (at := sides(image)) not in places:
                    cells = tuple(turn[cell] for cell in made[-1].cells)
                    places[at] = BoxView(len(made) - 1, cells, turn)
    return tuple(made), places


def _distinct(label: Board, self_symmetries: tuple[Symmetry, ...]) -> tuple[Cell, ...]:
    """Return the first of all free cells that come to the same."""
    if len(self_symmetries) == 1:
        return label.free_cells
    return tuple(sorted({min(_alike(cell, self_symmetries)) for cell in label.free_cells}))


def _alike(cell: Cell, self_symmetries: tuple[Symmetry, ...]) -> set[Cell]:
    """Return the cells that come to the same as this one, the label being as even as it is."""
    return {turn[cell] for turn in self_symmetries}
