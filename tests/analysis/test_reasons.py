"""Why a move is good or bad: every reason of every move, compared with the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import pytest

from noughts import SYMMETRIES, Board, Mark, X, errors, parse_board
from noughts.analysis.reasons import Kind, Reason, best_play, reasons
from support.length import short_or_long
from support.positions import positions
from support.reference import reasons as plain
from support.reference.tactics import OTHER, best, is_over, minimax, moves, put, seen, winner, wins

MOVES = short_or_long(2_270, 16_167)
PLACES = {"centre", "corner", "edge"}
KINDS = [*plain.meanings("_" * 9, "X", 0)]
MISSED = {"givesUpWin", "winsLater", "losesSooner"}
"""The kinds that show what would have been better instead of what comes of the move."""
FORCED = {"forcesFork": 0, "allowsForcedFork": 1, "stopsForcedFork": 1}
"""The kinds that show how a fork is forced, and the place in their lines where that begins."""


class Move(NamedTuple):
    """A move on an unfinished board, with its reasons."""

    board: Board
    signs: str
    mark: str
    cell: int
    reasons: tuple[Reason, ...]
    kinds: list[str]
    """The kinds of the reasons, in the order in which they come."""


@cache
def every_move() -> tuple[Move, ...]:
    """Return every move in the unfinished positions, whichever mark started."""
    return tuple(
        Move(board, *seen(board), cell, found, [str(reason.kind) for reason in found])
        for first in Mark
        for board in positions(first)
        if not board.is_over
        for cell in board.free_cells
        for found in [reasons(board, cell)]
    )


@cache
def every_reason() -> dict[str, list[tuple[Move, Reason]]]:
    """Return every reason of every move, by its kind."""
    found: dict[str, list[tuple[Move, Reason]]] = {kind: [] for kind in KINDS}
    for move in every_move():
        for kind, reason in zip(move.kinds, move.reasons, strict=True):
            found[kind].append((move, reason))
    return found


def given(*kinds: str) -> Iterator[tuple[Move, str, Reason]]:
    """Yield every reason of these kinds, with its kind as text."""
    for kind in kinds:
        for move, reason in every_reason()[kind]:
            yield move, kind, reason


def after(signs: str, mark: str, play: tuple[int, ...]) -> str:
    """Return the signs after these moves; each must be legal."""
    for cell in play:
        assert not is_over(signs)
        signs, mark = put(signs, mark, cell), OTHER[mark]
    return signs


def is_perfect(signs: str, mark: str, play: tuple[int, ...]) -> bool:
    """Return whether each of these moves keeps the result, and the last one ends the game."""
    for cell in play:
        if is_over(signs) or cell not in best(signs, mark):
            return False
        signs, mark = put(signs, mark, cell), OTHER[mark]
    return is_over(signs)


def test_every_reason_matches_the_reference() -> None:
    """For all moves: the kinds in order, the place of the cell last, with exactly its cells and lines."""
    assert Counter(move.board.first for move in every_move()) == dict.fromkeys(Mark, MOVES)
    assert [str(kind) for kind in Kind] == [repr(kind) for kind in Kind] == KINDS
    assert all(0 < len(found) < len(every_move()) for found in every_reason().values())
    for move in every_move():
        assert move.kinds == plain.kinds(move.signs, move.mark, move.cell), move
        assert [kind for kind in move.kinds if kind in PLACES] == move.kinds[-1:]
        for kind, reason in zip(move.kinds, move.reasons, strict=True):
            cells, lines = plain.shown(kind, move.signs, move.mark, move.cell)
            assert reason.cells == tuple(sorted(cells)), (move, kind)
            assert bool(reason.cells) == (kind not in PLACES)
            assert len(reason.lines) == len(lines)
            assert set(reason.lines) == lines, (move, kind)


def test_the_moves_that_show_a_reason_go_to_the_end_of_the_game() -> None:
    """After the first, both sides play their best, and it ends as that first move is said to."""
    shown = {kind for _, kind, reason in given(*KINDS) if reason.play}

    assert shown == set(KINDS) - PLACES - {"blocks", "blocksFork"}
    for move, _, reason in given(*shown):
        first, *rest = reason.play
        result, distance = moves(move.signs, move.mark)[first]
        end = after(move.signs, move.mark, reason.play)
        assert is_perfect(put(move.signs, move.mark, first), OTHER[move.mark], (*rest,)), move
        assert len(reason.play) == distance
        assert winner(end) == {1: move.mark, 0: "", -1: OTHER[move.mark]}[result]


def test_the_moves_that_show_a_reason_start_as_they_should() -> None:
    """With the move itself; or with the best that it missed, or the forced fork that it stops."""
    for move, kind, reason in given(*KINDS):
        if kind in MISSED:
            assert reason.play[0] in reason.cells
            assert reason.play[0] != move.cell
        elif kind == "stopsForcedFork":
            assert reason.play[0] in reason.cells
        elif reason.play:
            assert reason.play[0] == move.cell


def test_what_a_reason_names_comes_up_in_the_moves_that_show_it() -> None:
    """The line or the fork that is allowed is the answer, and a threat is answered where it lies."""
    for _, _, reason in given("allowsWin", "allowsFork", "allowsForcedFork", "threatens"):
        assert reason.play[1] in reason.cells
    for _, _, reason in given("makesFork"):
        assert set(reason.play[1:]) <= set(reason.cells)
    for move, _, reason in given("allowsFork"):
        _, fork, block, last = reason.play
        assert any({fork, last} <= set(line) for line in reason.lines)
        for cell in reason.cells:
            forked = after(move.signs, move.mark, (move.cell, cell))
            assert len(wins(forked, OTHER[move.mark])) >= 2
            assert not wins(forked, move.mark)
            assert cell != fork or block in wins(forked, OTHER[move.mark])


def test_a_fork_that_is_forced_is_made_two_moves_later() -> None:
    """No line can be completed before it; then there are two, and none for the other side."""
    for move, kind, reason in given(*FORCED):
        start = FORCED[kind]
        owner = OTHER[move.mark] if start else move.mark
        answered, fork = (after(move.signs, move.mark, reason.play[: start + count]) for count in (2, 3))
        assert not wins(answered, owner)
        assert len(wins(fork, owner)) >= 2
        assert not wins(fork, OTHER[owner])


def test_the_marks_do_not_matter() -> None:
    exchange = str.maketrans("XO", "OX")
    known = {(move.signs, move.mark, move.cell): move.reasons for move in every_move()}
    for move in every_move():
        assert known[move.signs.translate(exchange), OTHER[move.mark], move.cell] == move.reasons


@pytest.mark.thorough
def test_images_of_a_position_have_the_images_of_its_reasons() -> None:
    plain_image = SYMMETRIES[0]
    for move in every_move():
        if move.board.first is X:
            for symmetry in SYMMETRIES[1:]:
                found = reasons(move.board.image(symmetry), symmetry[move.cell])
                image = [turned(reason, plain_image) for reason in found]
                assert image == [turned(reason, symmetry) for reason in move.reasons], move


def turned(reason: Reason, symmetry: tuple[int, ...]) -> tuple[object, ...]:
    """Return a reason in an image of the board, without the order of its parts."""
    cells = {symmetry[cell] for cell in reason.cells}
    lines = {frozenset(symmetry[cell] for cell in line) for line in reason.lines}
    return reason.kind, cells, lines, len(reason.play)


def test_best_play_goes_to_the_end_and_is_the_best_of_both() -> None:
    for first in Mark:
        for board in positions(first):
            signs, mark = seen(board)
            play = best_play(board)
            assert len(play) == minimax(signs, mark)[1]
            assert is_perfect(signs, mark, play)
            assert board.is_over or play[0] in best(signs, mark)


def test_a_move_that_is_not_legal_is_refused_as_the_board_refuses_it() -> None:
    refused = Counter[type]()
    for board in positions():
        for cell in range(-1, 10):
            if board.why_not(cell, board.turn) is None:
                continue
            with pytest.raises(errors.IllegalMove) as wanted:
                board.place(cell)
            with pytest.raises(errors.IllegalMove) as found:
                reasons(board, cell)
            assert type(found.value) is type(wanted.value)
            assert str(found.value) == str(wanted.value)
            refused[type(found.value)] += 1
    assert set(refused) == {errors.CellTaken, errors.NoSuchCell, errors.GameOver}


def test_a_reason_is_a_value() -> None:
    bare = Reason(Kind.CORNER)

    assert bare == Reason(Kind.CORNER, (), (), ())
    assert bare != Reason(Kind.EDGE)
    assert len({bare, Reason(Kind.CORNER), Reason(Kind.CORNER, (1,))}) == 2


EXAMPLES = {
    # It completes two lines at once.
    ("XX_/OOX/OOX", 2): [
        Reason(Kind.WINS, (2,), ((0, 1, 2), (2, 5, 8)), (2,)),
        Reason(Kind.BLOCKS, (2,), ((2, 4, 6),)),
        Reason(Kind.CORNER, (), ((0, 1, 2), (2, 5, 8))),
    ],
    # It forks.
    ("XO_/_X_/__O", 3): [
        Reason(Kind.MAKES_FORK, (5, 6), ((3, 4, 5), (0, 3, 6)), (3, 5, 6)),
        Reason(Kind.EDGE, (), ((3, 4, 5), (0, 3, 6))),
    ],
    # It forks and forgets the block.
    ("XOX/___/_O_", 6): [
        Reason(Kind.GIVES_UP_WIN, (4,), (), (4, 6, 8)),
        Reason(Kind.ALLOWS_WIN, (4,), ((1, 4, 7),), (6, 4)),
        Reason(Kind.CORNER, (), ((0, 3, 6), (2, 4, 6))),
    ],
    # It answers the corner on an edge.
    ("X__/___/___", 1): [
        Reason(Kind.GIVES_UP_DRAW, (4,), (), (1, 3, 6, 4, 8, 5)),
        Reason(Kind.ALLOWS_FORCED_FORK, (3, 4, 6), (), (1, 3, 6, 4, 8, 5)),
        Reason(Kind.EDGE, (), ((1, 4, 7),)),
    ],
    # It answers the centre in a corner.
    ("___/_X_/___", 0): [
        Reason(Kind.STOPS_FORCED_FORK, (1, 3, 5, 7), (), (1, 0, 8, 3, 5, 6)),
        Reason(Kind.CORNER, (), ((0, 1, 2), (0, 3, 6))),
    ],
    # It threatens, and a fork follows.
    ("XO_/___/___", 4): [
        Reason(Kind.FORCES_FORK, (4,), (), (4, 8, 3, 5, 6)),
        Reason(Kind.THREATENS, (8,), ((0, 4, 8),), (4, 8, 3, 5, 6)),
        Reason(Kind.CENTRE, (), ((3, 4, 5), (0, 4, 8), (2, 4, 6))),
    ],
    # It stops what it can.
    ("XO_/X__/___", 6): [
        Reason(Kind.ALLOWS_FORK, (4,), ((3, 4, 5), (0, 4, 8)), (6, 4, 5, 8)),
        Reason(Kind.BLOCKS, (6,), ((0, 3, 6),)),
        Reason(Kind.CORNER, (), ((6, 7, 8), (2, 4, 6))),
    ],
    # It takes the last cell, in no line that is open.
    ("XOX/XOO/OX_", 8): [Reason(Kind.CORNER)],
}


@pytest.mark.parametrize(("written", "cell"), EXAMPLES)
def test_all_reasons_of_a_move(written: str, cell: int) -> None:
    assert list(reasons(parse_board(written), cell)) == EXAMPLES[written, cell]
