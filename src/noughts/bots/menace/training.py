"""Trains a MENACE against a policy."""

from __future__ import annotations

from random import Random
from typing import TypeAlias

from noughts.analysis.solver import Result
from noughts.bots.bot import Bot, as_random
from noughts.bots.menace.boxes import find_box
from noughts.bots.menace.machine import Menace
from noughts.bots.policy import Policy
from noughts.core.board import AnyMark, Board, Cell, Mark, as_mark

Drawn: TypeAlias = list[tuple[int, int]]
"""The beads drawn in a game, as pairs of box and kind."""


class Training:
    """A machine that learns against an opponent in one seat. X starts."""

    def __init__(
        self, machine: Menace, against: Policy | str, rng: Random | None = None, mark: AnyMark = Mark.X
    ) -> None:
        self._machine = machine
        source = as_random(rng)
        self._opponent = Bot(against, source)
        self._answer = self._opponent.choose_or_resign
        self._below = source.randrange
        self._mark = as_mark(mark)
        self._known: dict[Board, tuple[int, list[int], tuple[Cell, ...]]] = {}

    def __repr__(self) -> str:
        return f"<Training of {self._machine} as {self._mark} against {self._opponent}>"

    def play(self, games: int) -> None:
        """Play that many games, and learn from each."""
        for _ in range(games):
            drawn: Drawn = []
            winner = self._play_one(drawn)
            self._machine.settle(drawn, Result.of(winner, self._mark))

    def _play_one(self, drawn: Drawn) -> Mark | None:
        """Play a game, add the beads that were drawn, and return the winner."""
        mark, below, answer, known = self._mark, self._below, self._answer, self._known
        board = Board()
        while not board.is_over:
            if board.turn is not mark:
                cell = answer(board)
                if cell is None:
                    return mark
                board = board.place(cell)
                continue
            box, beads, cells = known.get(board) or self._look_up(board)
            total = sum(beads)
            if not total:
                return mark.other
            left = below(total)
            kind = 0
            while left >= beads[kind]:
                left -= beads[kind]
                kind += 1
            if box >= 0:
                drawn.append((box, kind))
            board = board.place(cells[kind])
        return board.winner

    def _look_up(self, board: Board) -> tuple[int, list[int], tuple[Cell, ...]]:
        """Return the box of a position, the beads in it now, and their cells."""
        if len(board.free_cells) == 1:
            return -1, [1], board.free_cells  # no box, and no choice
        view = find_box(board)
        found = self._known[board] = view.box, self._machine.boxes[view.box], view.cells
        return found
