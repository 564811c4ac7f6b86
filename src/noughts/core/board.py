"""Marks, cells, lines, symmetries and positions.

Boards are interned: each position is one object, created when it is first reached. So a move is one
lookup in a list, and equal boards are the same object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cache
from operator import index
from typing import Final, Literal, Never, TypeAlias

from noughts.core.errors import (
    CellTaken,
    GameOver,
    IllegalMove,
    ImpossibleBoard,
    InvalidArgument,
    MoveAfterEnd,
    NoSuchCell,
    NotYourTurn,
    TwoWinners,
    UnreadableMoves,
    WrongCounts,
    quoted,
)
from noughts.core.grid import read_grid

Cell: TypeAlias = int
"""0 to 8, row by row from the top left. (People count 1 to 9: see `notation`.)"""

Symmetry: TypeAlias = tuple[Cell, ...]
"""Where each of the nine cells goes."""

Status: TypeAlias = Literal["X won", "O won", "draw", "in play"]
"""How a position stands."""


class Mark(StrEnum):
    """X or O, each equal to its letter.

    >>> X.other, X == "X"
    (O, True)
    """

    X = "X"
    O = "O"

    @property
    def other(self) -> Mark:
        """The opponent's mark."""
        return O if self is X else X

    __repr__ = str.__str__
    __hash__ = str.__hash__  # that of an enum is slow


X: Final = Mark.X
O: Final = Mark.O


AnyMark: TypeAlias = Mark | Literal["X", "O"]
"""A mark or its letter."""


def as_mark(mark: object) -> Mark:
    """Return a mark as it is, or by its letter; refuse anything else."""
    if isinstance(mark, Mark):
        return mark
    if isinstance(mark, str) and mark in ("X", "O"):
        return Mark(mark)
    raise InvalidArgument(f"a mark is X or O, not {quoted(mark)}")


# One octal digit is one row, so 0o111 is the left column.
LINES = (0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)
FULL = 0o777

# By held cells; boards share the tuples.
_FREE_CELLS = tuple(tuple(cell for cell in range(9) if not held >> cell & 1) for held in range(FULL + 1))

# The four rotations, clockwise, and those of the mirror image.
SYMMETRIES: tuple[Symmetry, ...] = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8),
    (2, 5, 8, 1, 4, 7, 0, 3, 6),
    (8, 7, 6, 5, 4, 3, 2, 1, 0),
    (6, 3, 0, 7, 4, 1, 8, 5, 2),
    (2, 1, 0, 5, 4, 3, 8, 7, 6),
    (8, 5, 2, 7, 4, 1, 6, 3, 0),
    (6, 7, 8, 3, 4, 5, 0, 1, 2),
    (0, 3, 6, 1, 4, 7, 2, 5, 8),
)


class Board:
    """A position: the cells of each mark, one bit a cell, and the mark that started.

    Positions that no game can reach are refused.

    >>> board = Board().place(4, X).place(0, O)
    >>> str(board)
    'O__/_X_/___'
    >>> board[4], board[1, 1], board.status, board is Board.parse("O__/_X_/___")
    (X, X, 'in play', True)
    >>> board.place(4, X)
    Traceback (most recent call last):
    noughts.core.errors.CellTaken: cell 4 holds X in 'O__/_X_/___'
    """

    __slots__ = ("_after", "first", "free_cells", "is_over", "o", "turn", "winner", "x")

    x: int
    """The cells of X; bit 0 is cell 0."""
    o: int
    first: Mark
    """The mark that moved first."""
    turn: Mark
    """The mark to move, or that would move if the game were not over."""
    winner: Mark | None
    is_over: bool
    free_cells: tuple[Cell, ...]
    _after: list[Board | None]
    """The next boards by cell, filled in when first reached."""

    def __new__(cls, x: int = 0, o: int = 0, first: AnyMark = X) -> Board:  # noqa: PYI034 - always this class
        """Return the board with these marks; refuse it if no game reaches it."""
        if x.__class__ is o.__class__ is int and first.__class__ is Mark:  # 1.0 and True equal 1, "X" X
            known = _BOARDS.get((x, o, first))
            if known is not None:
                return known
        starter = as_mark(first)
        return _make(*_check_reachable(x, o, starter), starter)

    @classmethod
    def parse(cls, written: str | Iterable[object], first: AnyMark = X) -> Board:
        """Read a board from text or lists; `parse_board` says how it may be written."""
        return cls(*read_grid(written), first)

    @classmethod
    def from_moves(cls, moves: Iterable[Cell], first: AnyMark = X) -> Board:
        """Return the board after these moves."""
        board = cls(first=first)
        for cell in each_move(moves):
            board = board.place(cell)
        return board

    def __init_subclass__(cls) -> Never:
        raise TypeError("Board cannot be subclassed: each position is one object")

    @property
    def count(self) -> int:
        """The number of tokens on the board."""
        return 9 - len(self.free_cells)

    @property
    def is_draw(self) -> bool:
        """True if the board is full without a line."""
        return self.is_over and self.winner is None

    @property
    def status(self) -> Status:
        """One of "X won", "O won", "draw" and "in play"."""
        if self.winner:
            return "X won" if self.winner is X else "O won"
        return "draw" if self.is_over else "in play"

    @property
    def cells(self) -> tuple[Mark | None, ...]:
        """The mark in each of the nine cells.

        >>> Board().place(1).cells[:3]
        (None, X, None)
        """
        return _cells(self.x, self.o)

    @property
    def winning_cells(self) -> tuple[Cell, ...]:
        """The cells of the winner's line or lines."""
        held = self.x if self.winner is X else self.o
        won = 0
        for line in LINES:
            if held & line == line:
                won |= line
        return tuple(cell for cell in range(9) if won >> cell & 1)

    def mark_at(self, x: int, y: int) -> Mark | None:
        """Return the mark in column `x` and row `y`, each 0 to 2 from the top left.

        >>> Board().place(5).mark_at(x=2, y=1)
        X
        """
        return self[y, x]

    def __getitem__(self, cell: Cell | tuple[int, int]) -> Mark | None:
        if isinstance(cell, tuple) and len(cell) == 2:
            return self.cells[cell_at(*cell)]
        return self.cells[check_cell(cell)]

    def __iter__(self) -> Iterator[Mark | None]:
        return iter(self.cells)

    def place(self, cell: Cell, mark: AnyMark | None = None) -> Board:
        """Return the board with one more token; the mark, if given, must be the one to move."""
        if (mark is None or mark is self.turn) and cell.__class__ is int and cell >= 0:
            try:
                after = self._after[cell]
            except IndexError:
                after = None
            if after is not None:
                return after
        return self._place_first_time(cell, self.turn if mark is None else as_mark(mark))

    def why_not(self, cell: Cell, mark: AnyMark) -> IllegalMove | None:
        """Return why `mark` may not be placed on `cell`, or None if it may."""
        mark = as_mark(mark)
        if self.is_over:
            return game_is_over(self)
        place = whole_number(cell, 9)
        if place is None:
            return no_such_cell(cell)
        if place not in self.free_cells:
            return CellTaken(f"cell {place} holds {self.cells[place]} in '{self}'")
        if mark is not self.turn:
            return NotYourTurn(f"it is {self.turn}'s turn, not {mark}'s, in '{self}'")
        return None

    def image(self, symmetry: Symmetry) -> Board:
        """Return the board turned or mirrored.

        >>> str(Board().place(0).image(SYMMETRIES[1]))
        '__X/___/___'
        """
        try:
            turn = SYMMETRIES.index(symmetry)
        except (TypeError, ValueError):  # an array cannot be compared
            raise InvalidArgument(f"{quoted(symmetry)} is not one of the eight symmetries") from None
        return Board(_images(self.x)[turn], _images(self.o)[turn], self.first)

    @property
    def canonical(self) -> Board:
        """The same board for this and all its images."""
        return Board(*min(zip(_images(self.x), _images(self.o), strict=True)), self.first)

    def __str__(self) -> str:
        signs = "".join("_" if mark is None else mark.value for mark in self.cells)
        return f"{signs[:3]}/{signs[3:6]}/{signs[6:]}"

    def __repr__(self) -> str:
        return f"<Board {self}, {self.first} first>"

    def _repr_html_(self) -> str:
        """Draw the board in a notebook."""
        from importlib import import_module  # noqa: PLC0415 - slow, and rarely needed

        return str(import_module("noughts.text.svg").svg(self))  # the rules import no drawing

    def __reduce__(self) -> tuple[type[Board], tuple[int, int, Mark]]:
        return Board, (self.x, self.o, self.first)

    def __setattr__(self, name: str, value: object) -> Never:
        raise AttributeError(f"a board never changes: {name} cannot be set")

    def __delattr__(self, name: str) -> Never:
        raise AttributeError(f"a board never changes: {name} cannot be deleted")

    def _place_first_time(self, cell: Cell, mark: Mark) -> Board:
        if refusal := self.why_not(cell, mark):
            raise refusal
        token = 1 << index(cell)
        x, o = (self.x | token, self.o) if mark is X else (self.x, self.o | token)
        after = _BOARDS.get((x, o, self.first)) or _make(x, o, self.first)
        self._after[cell] = after
        return after


_BOARDS: dict[tuple[int, int, Mark], Board] = {}


def _make(x: int, o: int, first: Mark) -> Board:
    board = object.__new__(Board)
    held = x | o
    winner = X if _has_line(x) else O if _has_line(o) else None
    _set(board, "x", x)
    _set(board, "o", o)
    _set(board, "first", first)
    _set(board, "turn", first.other if held.bit_count() % 2 else first)
    _set(board, "winner", winner)
    _set(board, "is_over", winner is not None or held == FULL)
    _set(board, "free_cells", _FREE_CELLS[held])
    _set(board, "_after", [None] * 9)
    return _BOARDS.setdefault((x, o, first), board)


_set = object.__setattr__


def reachable(first: AnyMark = X) -> tuple[Board, ...]:
    """Return every position of games that `first` starts, ordered by number of tokens.

    >>> len(reachable())
    5478
    """
    found = [Board(first=first)]
    seen = set(found)
    for board in found:  # grows while it is walked
        for cell in () if board.is_over else board.free_cells:
            after = board.place(cell)
            if after not in seen:
                seen.add(after)
                found.append(after)
    return tuple(found)


def no_such_cell(cell: object) -> NoSuchCell:
    return NoSuchCell(f"{quoted(cell)} is not a cell: cells are 0 to 8, row by row")


def game_is_over(board: Board) -> GameOver:
    return GameOver(f"the game is over in '{board}'")


def check_cell(cell: object) -> Cell:
    """Return a cell as an int, or refuse it."""
    place = whole_number(cell, 9)
    if place is None:
        raise no_such_cell(cell)
    return place


def cell_at(row: object, column: object) -> Cell:
    """Return the cell in that row and column, or refuse them."""
    down, across = whole_number(row, 3), whole_number(column, 3)
    if down is None or across is None:
        raise NoSuchCell(
            f"no cell is in row {quoted(row)} and column {quoted(column)}: each is 0, 1 or 2"
        )
    return 3 * down + across


def each_move(moves: Iterable[Cell]) -> Iterator[Cell]:
    """Iterate over the moves of a game, or refuse what is not a list of cells."""
    if isinstance(moves, str):
        raise UnreadableMoves(f"moves are cells such as [4, 0, 8]: parse_moves reads {quoted(moves)}")
    try:
        return iter(moves)
    except TypeError:
        raise UnreadableMoves(
            f"a game is a list of cells such as [4, 0, 8], not {quoted(moves)}"
        ) from None


def whole_number(number: object, below: int) -> int | None:
    """Convert an integer of any type below `below`; return None for anything else, also a bool."""
    try:
        whole = index(number)  # type: ignore[arg-type]  # what is not an integer raises
    except TypeError:
        return None
    return whole if 0 <= whole < below and not isinstance(number, bool) else None


@cache
def _has_line(held: int) -> bool:
    return any(held & line == line for line in LINES)


@cache
def _cells(x: int, o: int) -> tuple[Mark | None, ...]:
    return tuple([X if x >> cell & 1 else O if o >> cell & 1 else None for cell in range(9)])


@cache
def _images(held: int) -> tuple[int, ...]:
    """Return a set of cells under each of the symmetries."""
    places = [cell for cell in range(9) if held >> cell & 1]
    return tuple([sum([1 << symmetry[cell] for cell in places]) for symmetry in SYMMETRIES])


def _check_reachable(x: int, o: int, first: Mark) -> tuple[int, int]:
    """Refuse a position that no game reaches."""
    crosses, noughts = whole_number(x, FULL + 1), whole_number(o, FULL + 1)
    if crosses is None or noughts is None:
        given = x if crosses is None else o
        raise ImpossibleBoard(
            "Board takes the cells of X and of O as two numbers of nine bits, "
            f"not {quoted(given)}: Board.parse reads text and lists"
        )
    if both := crosses & noughts:
        raise ImpossibleBoard(f"X and O are both on cell {both.bit_length() - 1}")
    other = first.other
    held, other_held = (crosses, noughts) if first is X else (noughts, crosses)
    ahead = held.bit_count() - other_held.bit_count()
    if ahead not in (0, 1):
        raise WrongCounts(
            f"{first} has {held.bit_count()} and {other} has {other_held.bit_count()}: "
            f"{first} starts, so {first} has as many as {other} or one more"
        )
    if _has_line(held) and _has_line(other_held):
        raise TwoWinners("X and O both have a line, but the first one ends the game")
    if _has_line(held) and ahead == 0:
        raise MoveAfterEnd(f"{first} has a line, but {other} moved after it")
    if _has_line(other_held) and ahead == 1:
        raise MoveAfterEnd(f"{other} has a line, but {first} moved after it")
    return crosses, noughts
