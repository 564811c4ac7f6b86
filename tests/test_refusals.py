"""Any argument to the library is accepted, or refused with a `NoughtsError`."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

import noughts
from noughts import (
    Board,
    CreateGame,
    JoinGame,
    Mark,
    NoughtsError,
    O,
    PlaceToken,
    Resign,
    Service,
    TakeBack,
    X,
    decide,
    events,
    fold,
    open_store,
)

START = decide(None, CreateGame())
GAME = fold(START)
BOARD = Board().place(4)
MACHINE = noughts.Menace()
FIELDS = "schema", "event", "mark", "name", "row", "column", "count", "reason", "first", "completed"


def _decode_with(field: str, thing: object) -> object:
    """Decode an event with another value in this field."""
    written: dict[str, events.Event] = {
        "name": events.PlayerJoined(X, "bob"),
        "row": events.PlayerPlacedToken(0, 0, X),
        "column": events.PlayerPlacedToken(0, 0, X),
        "count": events.GamePlacedCount(1),
        "reason": events.PlayerNotifyIllegalMove(X, noughts.errors.IllegalMoveReason.CELL_TAKEN),
        "first": events.GameCreated(),
        "completed": events.GameCompleted(),
    }
    return noughts.decode({**noughts.encode(written.get(field, events.GameWon(X))), field: thing})


def _start(command: object) -> None:
    """Start a program, unless the command is text, which would be executed."""
    if not isinstance(command, str):
        noughts.Program(command).close()  # type: ignore[arg-type]  # that is the point


# Each takes what a user may hand over, in every place where one may be handed over.
TAKES: dict[str, Callable[[Any], object]] = {
    "Board x": lambda thing: Board(thing, 0),
    "Board o": lambda thing: Board(1, thing),
    "Board first": lambda thing: Board(first=thing),
    "place": BOARD.place,
    "place mark": lambda thing: BOARD.place(0, thing),
    "why_not": lambda thing: BOARD.why_not(thing, O),
    "why_not mark": lambda thing: BOARD.why_not(0, thing),
    "mark_at x": lambda thing: BOARD.mark_at(thing, 0),
    "mark_at y": lambda thing: BOARD.mark_at(0, thing),
    "image": BOARD.image,
    "reachable": noughts.reachable,
    "parse_board": noughts.parse_board,
    "parse_board row": lambda thing: noughts.parse_board([thing, "___", "___"]),
    "parse_board first": lambda thing: noughts.parse_board("_________", thing),
    "parse_cell": noughts.parse_cell,
    "parse_moves": noughts.parse_moves,
    "parse_moves first": lambda thing: noughts.parse_moves("5", thing),
    "format_cell": noughts.format_cell,
    "format_pair": noughts.format_pair,
    "format_square": noughts.format_square,
    "format_moves": noughts.format_moves,
    "format_moves one": lambda thing: noughts.format_moves([thing]),
    "Player name": lambda thing: noughts.Player(thing, X),
    "Player mark": lambda thing: noughts.Player("bob", thing),
    "decide": lambda thing: decide(GAME, thing),
    "decide first": lambda thing: decide(None, thing),
    "CreateGame": lambda thing: decide(None, CreateGame(thing)),
    "JoinGame mark": lambda thing: decide(GAME, JoinGame(thing, "bob")),
    "JoinGame name": lambda thing: decide(GAME, JoinGame(X, thing)),
    "PlaceToken mark": lambda thing: decide(GAME, PlaceToken(thing, 4)),
    "PlaceToken cell": lambda thing: decide(GAME, PlaceToken(X, thing)),
    "Resign": lambda thing: decide(GAME, Resign(thing)),
    "TakeBack": lambda thing: decide(GAME, TakeBack(thing)),
    "evolve": lambda thing: noughts.evolve(GAME, thing),
    "evolve row": lambda thing: noughts.evolve(GAME, events.PlayerPlacedToken(thing, 0, X)),
    "evolve column": lambda thing: noughts.evolve(GAME, events.PlayerPlacedToken(0, thing, X)),
    "evolve mark": lambda thing: noughts.evolve(GAME, events.PlayerPlacedToken(0, 0, thing)),
    "evolve name": lambda thing: noughts.evolve(GAME, events.PlayerJoined(X, thing)),
    "fold": fold,
    "fold one": lambda thing: fold([*START, thing]),
    "replay": noughts.replay,
    "replay one": lambda thing: noughts.replay([*START, thing]),
    "replay row": lambda thing: noughts.replay([*START, events.PlayerPlacedToken(thing, 0, X)]),
    "facts": noughts.facts,
    "encode": noughts.encode,
    "decode": noughts.decode,
    **{f"decode {field}": partial(_decode_with, field) for field in FIELDS},
    "format_record": noughts.format_record,
    "parse_record": noughts.parse_record,
    "open_store": lambda thing: open_store(thing).close(),
    "Service.look": lambda thing: Service(open_store("memory:")).look(thing),
    "Service.find": lambda thing: Service(open_store("memory:")).find(thing),
    "find_policy": noughts.find_policy,
    "a policy": lambda thing: noughts.Bot(lambda _: thing, Random(1)).choose(BOARD),
    "a policy's cell": lambda thing: noughts.Bot(lambda _: {thing: Fraction(1)}, Random(1)).choose(BOARD),
    "a policy's chance": lambda thing: noughts.Bot(lambda _: {0: thing}, Random(1)).choose(BOARD),
    "next_move": lambda thing: noughts.next_move(BOARD, thing, Random(1)),
    "Bot": noughts.Bot,
    "play_game": lambda thing: callable(thing) or noughts.play_game(thing, "random"),
    "play_game cell": lambda thing: noughts.play_game(lambda _: thing, "random"),
    "Board.parse": Board.parse,
    "Board.from_moves": Board.from_moves,
    "board[cell]": BOARD.__getitem__,
    "odds": lambda thing: noughts.odds(thing, thing),
    "certify": lambda thing: noughts.certify(noughts.find_policy("perfect"), thing),
    "judge_move": lambda thing: noughts.judge_move(BOARD, thing),
    "review": noughts.review,
    "review one": lambda thing: noughts.review([thing]),
    "review first": lambda thing: noughts.review([4], thing),
    "BeadRules beads": lambda thing: hash(noughts.BeadRules(beads=thing)),
    "BeadRules win": lambda thing: hash(noughts.BeadRules(win=thing)),
    "BeadRules blame": lambda thing: hash(noughts.BeadRules(blame=thing)),
    "BeadRules empty": lambda thing: hash(noughts.BeadRules(empty=thing)),
    "Menace.learn": lambda thing: MACHINE.learn(thing, X),
    "Menace.learn mark": lambda thing: MACHINE.learn([4], thing),
    "Menace.learn resigned": lambda thing: MACHINE.learn([4], X, X, thing),
    "load_policy": noughts.load_policy,
    "load_machine": noughts.load_machine,
    "Program": _start,
}


plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 10),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.fractions(),
    st.text(max_size=12),
    st.text("0123456789XO_/:= ", max_size=12),
    st.binary(max_size=12),
    st.sampled_from(Mark),
    st.sampled_from([Board(), CreateGame(), GAME, *START, object(), int, len, NotImplemented]),
)
things = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.lists(inner, max_size=4).map(iter),
        st.dictionaries(st.text(max_size=4), inner, max_size=3),
    ),
    max_leaves=9,
)


@pytest.mark.parametrize("name", TAKES)
@given(thing=things)
@example(thing=np.array([1, 2]))
@example(thing=np.array([[0] * 9]))
@example(thing=np.arange(9))
@example(thing=np.array(4.0))
@example(thing=np.bool_(True))  # noqa: FBT003 - that is the point
@example(thing=[""])
@example(thing=b"")
@example(thing=51937)
@example(thing={"X", "O"})
@settings(max_examples=15)
def test_anything_is_accepted_or_refused_with_a_sentence(name: str, thing: object) -> None:
    try:
        TAKES[name](thing)
    except NoughtsError as refusal:
        assert str(refusal)
        assert "\n" not in str(refusal)


CELLS = [
    *("place", "mark_at x", "mark_at y", "format_cell", "format_pair", "format_square"),
    *("format_moves one", "evolve row", "evolve column", "replay row", "judge_move", "review one"),
    *("a policy's cell", "Board x", "Board o", "decode row", "decode column", "decode count"),
]


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("thing", [True, False, 1.0, np.bool_(True), np.float64(1)], ids=repr)  # noqa: FBT003 - that is the point
def test_true_and_1_0_are_not_the_number_1(name: str, thing: object) -> None:
    with pytest.raises(NoughtsError):
        TAKES[name](thing)


def test_numbers_of_numeric_libraries_are_cells() -> None:
    four = np.int64(4)

    assert Board().place(four) is Board().place(4)  # type: ignore[arg-type]  # that is the point
    assert noughts.format_moves([four, np.int8(0)]) == "51"  # type: ignore[list-item]  # the same
    assert noughts.judge_move(Board(), four) == noughts.judge_move(Board(), 4)  # type: ignore[arg-type]  # the same
