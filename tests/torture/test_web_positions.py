"""Every position over HTTP: the server answers like the core.

The analysis is requested for one position of each of the 765 symmetry classes. Every fifth game also
reaches its positions by playing. With NOUGHTS_TORTURE=1, both cover all 5,478 positions.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

import pytest

from noughts import (
    Board,
    Game,
    Mark,
    NoughtsError,
    PlaceToken,
    TakeBack,
    advise,
    decide,
    describe,
    facts,
    fold,
    parse_board,
    prospect,
    reachable,
)
from noughts.analysis.as_json import moves_to_dicts, prospect_to_dict
from noughts.core.codec import decode, encode
from noughts.core.events import PlayerNotifyIllegalMove
from support.length import short_or_long
from support.web.matches import Seat, one_player
from support.web.serving import Answer, Server

PARTS = 2
"""Each a test of its own, so that two processes share the work."""


parts = pytest.mark.parametrize("part", range(PARTS))


@pytest.mark.torture
@parts
def test_the_analysis_of_every_position_matches_the_core(quick: Server, part: int) -> None:
    boards = {_label(board): board for board in reachable(Mark.X)}
    assert len(boards) == short_or_long(765, 5478)

    with quick.client() as client:
        for board in islice(boards.values(), part, None, PARTS):
            found = client.get(f"/analysis?board={board}&first=X").json
            assert found == {
                "board": str(board),
                "turn": board.turn.value,
                "over": board.is_over,
                "prospect": prospect_to_dict(prospect(board)),
                "moves": moves_to_dicts(advise(board)),
                "description": describe(board),
                "review": None,
            }


@pytest.mark.torture
def test_unreachable_positions_are_refused(quick: Server) -> None:
    """One in 35 of the 14,205 impossible boards (with NOUGHTS_TORTURE one in 7), and other texts."""
    impossible, step = 0, short_or_long(35, 7)
    with quick.client() as client:
        for marks in islice(product("X_O", repeat=9), 0, None, step):
            text = "/".join("".join(marks[row : row + 3]) for row in (0, 3, 6))
            try:
                parse_board(text, Mark.X)
            except NoughtsError:
                impossible += 1
                refused = client.get(f"/analysis?board={text}")
                assert (refused.status, refused.code) == (400, "unreadable")
        for text in ("", "X", "%00", "___/___", "___/___/___/___", "%F0%9F%99%82__/___/___", "_" * 400):
            refused = client.get(f"/analysis?board={text}")
            assert (refused.status, refused.code) == (400, "unreadable")
    assert impossible > 14_000 / step


@pytest.mark.torture
@parts
def test_playing_to_a_position_matches_the_core(quick: Server, part: int) -> None:
    """All nine cells are tried in each: refusals, reasons and records are the core's."""
    seen: set[Board] = set()
    every = short_or_long(5, 1)
    for path in islice(_paths(), part * every, None, PARTS * every):
        with one_player(quick, "self") as both:
            shadow = _Shadow(both)
            for cell in path:
                label = _label(shadow.game.board)
                if label not in seen:
                    seen.add(label)
                    shadow.try_all()
                shadow.move(cell)
            if shadow.game.is_over:
                shadow.try_all()


class _Shadow:
    """A game on the server, and the same game in the core."""

    def __init__(self, both: Seat) -> None:
        self._both = both
        now = both.client.read(both.game)
        self._version: int = now["version"]
        found = fold(decode(event) for event in now["events"])
        assert found
        self.game: Game = found

    def move(self, cell: int) -> None:
        answer = self._both.move(cell, self._version)
        self._compare(answer, PlaceToken(self.game.board.turn, cell))

    def try_all(self) -> None:
        """Try every cell and take each token back; also try to move out of turn."""
        turn = self.game.board.turn
        other = Seat(self._both.client, self._both.game, turn.other.value)
        self._compare(other.move(4, self._version), PlaceToken(turn.other, 4))
        for cell in range(9):
            if self._would_end(cell):
                continue  # the last move of a game cannot be taken back: other paths end with it
            before = self.game
            self._compare(self._both.move(cell, self._version), PlaceToken(turn, cell))
            if self.game != before:
                mover = Seat(self._both.client, self._both.game, turn.value)
                self._compare(mover.take_back(self._version), TakeBack(turn))
                assert self.game == before

    def _would_end(self, cell: int) -> bool:
        board = self.game.board
        return not board.is_over and cell in board.free_cells and board.place(cell).is_over

    def _compare(self, answer: Answer, command: PlaceToken | TakeBack) -> None:
        events = decide(self.game, command)
        if isinstance(events[0], PlayerNotifyIllegalMove):
            assert answer.status == 409
            assert answer.code == events[0].reason.value
            assert answer.json["version"] == self._version
            return
        assert answer.status == 200
        self._version += len(facts(events))
        assert answer.json == {
            "version": self._version,
            "events": [encode(event) for event in events],
            "offer": None,
        }
        self.game = fold(events, self.game)


def _label(board: Board) -> Board:
    return short_or_long(board.canonical, board)


def _paths() -> Iterator[tuple[int, ...]]:
    """Yield games that together reach every position, the longest first."""
    found: dict[Board, tuple[int, ...]] = {_label(Board()): ()}
    boards: list[tuple[Board, tuple[int, ...]]] = [(Board(), ())]
    passed = {_label(Board())}
    for board, path in boards:
        for cell in () if board.is_over else board.free_cells:
            after = board.place(cell)
            if _label(after) not in found:
                found[_label(after)] = (*path, cell)
                boards.append((after, (*path, cell)))
    assert len(found) == short_or_long(765, 5478)
    for _, path in reversed(boards):
        if _label(_after(path)) not in passed or not path:
            yield path
            passed |= {_label(_after(path[:length])) for length in range(len(path) + 1)}


def _after(path: tuple[int, ...]) -> Board:
    board = Board()
    for cell in path:
        board = board.place(cell)
    return board
