"""A naive MENACE: boards are text, and boxes are in a dictionary by their smallest image.

The rule is Michie's, as in `noughts.bots.menace.machine`: the same boxes and kinds of beads, the same
beads at first, the same change after a game. The opponent moves at random.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
IMAGES = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8),
    (6, 3, 0, 7, 4, 1, 8, 5, 2),
    (8, 7, 6, 5, 4, 3, 2, 1, 0),
    (2, 5, 8, 1, 4, 7, 0, 3, 6),
    (2, 1, 0, 5, 4, 3, 8, 7, 6),
    (0, 3, 6, 1, 4, 7, 2, 5, 8),
    (6, 7, 8, 3, 4, 5, 0, 1, 2),
    (8, 5, 2, 7, 4, 1, 6, 3, 0),
)
BEADS = (4, 3, 2, 1)
CHANGES = {"X": 3, "": 1, "O": -1}


class NaiveMenace:
    """The machine, which starts, with a box for each position it has met."""

    def __init__(self, rng: Random) -> None:
        self.boxes: dict[str, dict[int, int]] = {}
        self._rng = rng

    def play(self, games: int) -> None:
        """Play games, and learn from each."""
        for _ in range(games):
            drawn: list[tuple[str, int]] = []
            winner = self._play_one(drawn)
            for label, cell in drawn:
                self.boxes[label][cell] = max(0, self.boxes[label][cell] + CHANGES[winner])

    def _play_one(self, drawn: list[tuple[str, int]]) -> str:
        board, mark = "_" * 9, "X"
        while not (won := winner(board)) and "_" in board:
            free = [cell for cell in range(9) if board[cell] == "_"]
            if mark == "O":
                cell = self._rng.choice(free)
            elif len(free) == 1:
                cell = free[0]
            else:
                label, image = min((transform(board, image), image) for image in IMAGES)
                beads = self.boxes.setdefault(label, {}) or self._fill(label)
                if not any(beads.values()):
                    return "O"
                [bead] = self._rng.choices(list(beads), list(beads.values()))
                drawn.append((label, bead))
                cell = image[bead]
            board = board[:cell] + mark + board[cell + 1 :]
            mark = "O" if mark == "X" else "X"
        return won

    def _fill(self, label: str) -> dict[int, int]:
        """Put beads into a new box, for each distinct move up to symmetry."""
        different: dict[str, int] = {}
        for cell in (cell for cell in range(9) if label[cell] == "_"):
            moved = label[:cell] + "X" + label[cell + 1 :]
            different.setdefault(min(transform(moved, image) for image in IMAGES), cell)
        count = BEADS[(9 - label.count("_")) // 2]
        self.boxes[label] = dict.fromkeys(different.values(), count)
        return self.boxes[label]


def transform(board: str, image: tuple[int, ...]) -> str:
    """Return an image of a board."""
    return "".join(board[cell] for cell in image)


def winner(board: str) -> str:
    """Return the mark that has a line, if one has."""
    for a, b, c in LINES:
        if board[a] == board[b] == board[c] != "_":
            return board[a]
    return ""
