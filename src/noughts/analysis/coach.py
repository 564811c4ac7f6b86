"""The coach: judges every move of a position or a game. Data only; `text.sentences` has the words."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index

from noughts.analysis.best_moves import best_cells
from noughts.analysis.reasons import Kind, Reason, line_of, reasons
from noughts.analysis.solver import Prospect, prospect, prospects
from noughts.core.board import AnyMark, Board, Cell, Mark, as_mark, each_move
from noughts.core.notation import AnyBoard, as_board
from noughts.core.value import Value

MISTAKES = Kind.GIVES_UP_WIN, Kind.GIVES_UP_DRAW
"""Moves that change the result of best play."""


class Advice(Value):
    """The coach's advice on one move."""

    mark: Mark
    cell: Cell
    prospect: Prospect
    """For the mark that moves."""
    reasons: tuple[Reason, ...]
    """The most important first."""
    is_best: bool
    """True if no other move ends better, wins sooner or loses later."""
    play: tuple[Cell, ...]
    """The moves that prove the prospect: this one, and best play to the end of the game."""

    def __init__(
        self,
        mark: AnyMark,
        cell: Cell,
        prospect: Prospect,
        reasons: tuple[Reason, ...],
        is_best: bool,  # noqa: FBT001 - a record takes its fields in order or by name
        play: tuple[Cell, ...],
    ) -> None:
        super().__init__(as_mark(mark), cell, prospect, reasons, is_best, play)

    @property
    def mistake(self) -> Reason | None:
        """The reason if the move gave up a win or a draw."""
        return next((reason for reason in self.reasons if reason.kind in MISTAKES), None)


class Review(Value):
    """The coach's review of a game."""

    moves: tuple[Advice, ...]
    standing: Prospect
    """Of the last position, for the mark that would move."""

    @property
    def mistakes(self) -> tuple[int, ...]:
        """The numbers of the moves that gave up a win or a draw; the first move is 1."""
        return tuple(number for number, move in enumerate(self.moves, 1) if move.mistake)

    @property
    def decisive(self) -> int | None:
        """The number of the move that decided the game: the last mistake, or None."""
        return self.mistakes[-1] if self.mistakes else None


def advise(board: AnyBoard) -> tuple[Advice, ...]:
    """Return advice on each move; nothing when the game is over.

    >>> for advice in advise(Board().place(0).place(4).place(8)):
    ...     print(advice.cell, advice.prospect.result, advice.prospect.distance, advice.is_best)
    1 draw 6 True
    2 loss 4 False
    3 draw 6 True
    5 draw 6 True
    6 loss 4 False
    7 draw 6 True
    """
    board = as_board(board)
    return tuple(judge_move(board, cell) for cell in ([] if board.is_over else board.free_cells))


def judge_move(board: AnyBoard, cell: Cell) -> Advice:
    """Return advice on one move."""
    board = as_board(board)
    found = reasons(board, cell)
    cell = index(cell)
    is_best, play = cell in best_cells(board), line_of(board, cell)
    return Advice(board.turn, cell, prospects(board)[cell], found, is_best, play)


def review(moves: Iterable[Cell], first: AnyMark = Mark.X) -> Review:
    """Review a game, finished or not.

    >>> found = review((0, 4, 8, 2, 6))
    >>> found.mistakes, found.decisive
    ((4,), 4)
    """
    board, judged = Board(first=first), []
    for cell in each_move(moves):
        judged.append(judge_move(board, cell))
        board = board.place(cell)
    return Review(tuple(judged), prospect(board))
