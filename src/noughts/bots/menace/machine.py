"""MENACE, Donald Michie's machine of matchboxes and beads, which learns by playing.

To move, it draws a bead from the box of the position. After a win each drawn bead is put back with three
more of its kind, after a draw with one more; after a loss it stays out. An empty box makes it resign.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import index

from noughts.analysis.solver import Result
from noughts.bots.errors import UnknownPolicy
from noughts.bots.menace.boxes import boxes, find_box
from noughts.bots.policy import ExactPolicy, Weights, check_parameters
from noughts.core.board import AnyMark, Board, Cell, Mark, as_mark, each_move
from noughts.core.errors import NotOver, quoted
from noughts.core.notation import AnyBoard, as_board
from noughts.core.value import Value

MAX_BEADS = 10**9
"""Of one kind in a box."""

RESIGN, REFILL, KEEP = "resign", "refill", "keep"
ALL, LAST = "all", "last"


class BeadRules(Value):
    """How many beads the boxes have at first, and how a game changes them. The defaults are Michie's.

    >>> BeadRules(empty="burn")
    Traceback (most recent call last):
    noughts.bots.errors.UnknownPolicy: empty is resign, refill or keep, not 'burn'
    """

    beads: tuple[int, ...] = (4, 3, 2, 1)
    """Of each kind, in the boxes of the machine's first to fourth move."""
    win: int = 3
    """How many beads are added for each move of a game that it won; likewise `draw` and `loss`."""
    draw: int = 1
    loss: int = -1
    blame: str = ALL
    """Which moves of a lost game lose a bead: all, or the last, as in Gardner's hexapawn machine."""
    empty: str = RESIGN
    """What happens when the last bead of a box is taken: the machine resigns there; the box is filled as
    at first (refill); or the bead stays (keep)."""

    def __init__(self, *values: object, **named: object) -> None:
        super().__init__(*values, **named)
        try:
            beads = tuple(map(_whole, self.beads))
            changes = {name: _whole(getattr(self, name)) for name in ("win", "draw", "loss")}
        except TypeError:
            raise UnknownPolicy("beads are counted in whole numbers") from None
        self.__dict__.update(beads=beads, **changes)  # a list of beads becomes a tuple
        if len(self.beads) != 4 or not all(1 <= count <= MAX_BEADS for count in self.beads):
            raise UnknownPolicy("the beads at first are four numbers of at least 1, such as 4-3-2-1")
        if not all(abs(change) <= MAX_BEADS for change in (self.win, self.draw, self.loss)):
            raise UnknownPolicy(f"a game changes at most {MAX_BEADS:,} beads")
        if not _is_one_of(self.blame, ALL, LAST):
            raise UnknownPolicy(f"blame is all or last, not {quoted(self.blame)}")
        if not _is_one_of(self.empty, RESIGN, REFILL, KEEP):
            raise UnknownPolicy(f"empty is resign, refill or keep, not {quoted(self.empty)}")

    def change(self, result: Result) -> int:
        """Return how many beads a game with that result adds for each move, or takes if negative."""
        return {Result.WIN: self.win, Result.DRAW: self.draw, Result.LOSS: self.loss}[result]


class Menace(ExactPolicy):
    """The machine: its rules, its beads, and how many games it has learned from.

    >>> machine = Menace()
    >>> machine.beads(Board())
    {0: 4, 1: 4, 4: 4}
    >>> machine.learn((0, 4, 1, 5, 2), Mark.X)
    >>> machine.beads(Board())
    {0: 7, 1: 4, 4: 4}
    """

    is_symmetric = True

    def __init__(self, rules: BeadRules | None = None) -> None:
        self.rules = rules or BeadRules()
        self.boxes = [self._filled(number) for number in range(len(boxes()))]
        """The beads in each box, by kind."""
        self.results = dict.fromkeys(Result, 0)
        """How many games it has learned from, by result."""

    def __repr__(self) -> str:
        return f"<Menace after {self.games} game{'' if self.games == 1 else 's'}>"

    @property
    def games(self) -> int:
        """How many games it has learned from."""
        return sum(self.results.values())

    def weights(self, board: AnyBoard) -> Weights:
        """Return the chance of each move, its share of the beads; nothing from an empty box."""
        board = as_board(board)
        if len(board.free_cells) > 1 and not board.is_over:
            view = find_box(board)
            counts = self.boxes[view.box]
            if all(counts):
                return Weights(view.cells, tuple(counts), sum(counts))
        beads = {cell: count for cell, count in self.beads(board).items() if count}
        return Weights(tuple(beads), tuple(beads.values()), sum(beads.values()))

    def beads(self, board: AnyBoard) -> dict[Cell, int]:
        """Return the beads in the box of a position, by cell; of equivalent cells, one."""
        board = as_board(board)
        if board.is_over:
            return {}
        if len(board.free_cells) == 1:
            return {board.free_cells[0]: 1}  # no box, and no choice
        view = find_box(board)
        return dict(zip(view.cells, self.boxes[view.box], strict=True))

    def learn(
        self,
        moves: Iterable[Cell],
        mark: AnyMark,
        first: AnyMark = Mark.X,
        resigned: AnyMark | None = None,
    ) -> None:
        """Change the beads after a game in which the machine had that mark.

        An unfinished game is refused, unless `resigned` says who resigned.
        """
        mark, loser = as_mark(mark), None if resigned is None else as_mark(resigned)
        board, drawn = Board(first=first), []
        for cell in each_move(moves):
            before, board = board, board.place(cell)
            if before.turn is mark and len(before.free_cells) > 1:
                view = find_box(before)
                drawn.append((view.box, view.kinds[index(cell)]))
        if not board.is_over and loser is None:
            raise NotOver(f"the game is not over in '{board}': say who resigned, or finish it first")
        winner = board.winner if board.is_over or loser is None else loser.other
        self.settle(drawn, Result.of(winner, mark))

    def settle(self, drawn: list[tuple[int, int]], result: Result) -> None:
        """Change the beads that were drawn in a game, given as pairs of box and kind."""
        self.results[result] += 1
        change = self.rules.change(result)
        blamed = drawn[-1:] if result is Result.LOSS and self.rules.blame == LAST else drawn
        for box, kind in blamed:
            beads = self.boxes[box]
            before = beads[kind]
            beads[kind] = min(max(before + change, 0), MAX_BEADS)
            if change < 0 and not any(beads):
                if self.rules.empty == REFILL:
                    beads[:] = self._filled(box)
                elif self.rules.empty == KEEP:
                    beads[kind] = min(before, 1)

    def _filled(self, number: int) -> list[int]:
        box = boxes()[number]
        return [self.rules.beads[box.stage]] * len(box.cells)


def menace_policy(**parameters: str) -> Menace:
    """Return a new machine with rules given as text.

    >>> menace_policy(beads="8-4-2-1", empty="refill").rules.beads
    (8, 4, 2, 1)
    """
    check_parameters("menace", parameters, BeadRules.__match_args__)
    given: dict[str, object] = dict(parameters)
    try:
        if beads := parameters.get("beads"):
            given["beads"] = tuple(int(count) for count in _short(beads).split("-"))
        for name in ("win", "draw", "loss"):
            if name in parameters:
                given[name] = int(_short(parameters[name]))
    except ValueError:
        raise UnknownPolicy(
            "the rules of a menace are whole numbers, such as beads=4-3-2-1, win=3, draw=1, loss=-1"
        ) from None
    return Menace(BeadRules(**given))


def _is_one_of(value: object, *words: str) -> bool:
    return isinstance(value, str) and value in words


def _whole(number: object) -> int:
    """Convert an integer of any type; True and False are not numbers of beads."""
    if isinstance(number, bool):
        raise TypeError
    return index(number)  # type: ignore[arg-type]  # what is not an integer raises


def _short(number: str) -> str:
    """Refuse notations that only Python has, and long numbers, which are slow to read."""
    if len(number) > 40 or not set(number) <= {*"0123456789-"}:
        raise ValueError(number)
    return number
