"""Any argument to the library is accepted, or refused with a `NoughtsError`.

What takes a board, a mark or a source of randomness takes every form of it, and nothing else.
"""

from __future__ import annotations

import inspect
import random
import sys
from collections import ChainMap
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from random import Random
from types import UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin

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
    lab,
    open_store,
    parse_board,
)
from noughts.bots.policy_file import SavedPolicy
from support.hostile_bots import POLITE, program
from support.length import short_or_long

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
@settings(max_examples=short_or_long(10, 200))
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


POSITION = parse_board("X__/_O_/___")

# For each type: its values, each with other ways to give it.
FORMS: dict[type, list[tuple[object, list[object]]]] = {
    Board: [
        (
            POSITION,
            [
                "X__/_O_/___",
                "X...O....",
                "X|2|3\n-+-+-\n4|O|6\n-+-+-\n7|8|9",
                ["X", "", " ", "_", "O", ".", None, "", ""],
                [["X", "", ""], ["", "O", ""], ["", "", ""]],
                ("X__", "_O_", "___"),
            ],
        )
    ],
    Mark: [(X, ["X", np.str_("X")]), (O, ["O", np.str_("O")])],
    Random: [],
}
JUNK: dict[type, list[object]] = {
    Board: [5, 4.5, True, object(), len, [1, 2, 3]],
    Mark: ["Y", "x", "0", "XO", 0, 1, True, object(), ["X"], Mark],
    Random: [0, 1, "1", object(), Random, random],
}

# What else is needed for a call, by the name of the parameter.
ARGUMENTS: dict[str, Callable[[], object]] = {
    "board": lambda: POSITION,
    "mark": lambda: X,
    "winner": lambda: X,
    "cell": lambda: 8,
    "row": lambda: 2,
    "column": lambda: 2,
    "moves": lambda: (0, 3, 1, 4, 2),
    "digits": lambda: "5",
    "written": lambda: "_________",
    "games": lambda: [0],
    "name": lambda: "bob",
    "reason": lambda: noughts.errors.IllegalMoveReason.CELL_TAKEN,
    "machine": noughts.Menace,
    "rng": lambda: Random(1),
    **dict.fromkeys(("policy", "against", "x", "o"), lambda: "perfect"),
    # the fields of what is returned
    **dict.fromkeys(("prospect", "reasons", "is_best", "play"), lambda: None),
    **dict.fromkeys(("worst", "least", "against_random", "against_perfect"), lambda: None),
}


class Taker(NamedTuple):
    """Something public that takes a board, a mark or a source of randomness."""

    name: str
    called: Callable[..., object]
    owner: type | None
    """The class, if it is a method that needs an object."""
    parameter: inspect.Parameter
    others: tuple[inspect.Parameter, ...]
    kind: type
    is_one: bool
    """False if it takes several."""
    is_optional: bool
    """True if it takes None too."""


@pytest.fixture(scope="module")
def objects() -> Iterator[dict[type, Callable[[], object]]]:
    """Return how to make an object of each class whose methods are called."""
    with noughts.Program(program(POLITE).removeprefix("program:")) as started:
        yield {
            Board: lambda: POSITION,
            noughts.Bot: lambda: noughts.Bot("perfect", Random(1)),
            noughts.Game: lambda: GAME,
            noughts.Menace: noughts.Menace,
            noughts.Odds: lambda: noughts.odds("perfect", "perfect"),
            noughts.Program: lambda: started,
            noughts.Wording: lambda: noughts.KATA,
            lab.Rules: lab.Rules,
        }


def test_every_form_of_a_board_and_a_mark_is_taken_and_nothing_else(
    objects: dict[type, Callable[[], object]],
) -> None:
    """By every public function, method, constructor and policy: they are found by their annotations."""
    found = [taker for name, called, owner in _public() for taker in _takers(name, called, owner)]

    faults = [fault for taker in found for fault in _faults(taker, objects)]

    assert "\n".join(faults) == ""
    assert {taker.kind for taker in found} == {*FORMS}


def _public() -> Iterator[tuple[str, Callable[..., object], type | None]]:
    """List what can be called, with its name, and the class of a method."""
    places = [(package, name) for package in (noughts, lab) for name in package.__all__]
    places += [(events, kind.__name__) for kind in events.Event.__args__]
    for package, name in places:
        thing = getattr(package, name)
        if inspect.isfunction(thing):
            yield name, thing, None
        elif inspect.isclass(thing) and not issubclass(thing, Exception | int):
            yield name, thing, None
            own = [base for base in thing.__mro__ if base.__module__.startswith("noughts.")]
            for method in {method for base in own for method in vars(base)}:
                called = getattr(thing, method)
                if inspect.isroutine(called) and (method == "__call__" or method[0] != "_"):
                    yield f"{name}.{method}", called, None if inspect.ismethod(called) else thing
    for policy in noughts.policy_names():
        yield f"find_policy({policy!r})", noughts.find_policy(policy), None
    yield "load_policy(…)", SavedPolicy({}), None
    yield "lab.greedy(…)", lab.greedy(np.zeros((5478, 9))), None


def _takers(name: str, called: Callable[..., object], owner: type | None) -> Iterator[Taker]:
    takes: Any = called
    if not hasattr(called, "__name__"):  # it is an object
        takes = takes.__call__
    homes = [base.__module__ for base in inspect.getmro(called)] if inspect.isclass(called) else []
    known = ChainMap(*(vars(sys.modules[home]) for home in homes or [takes.__module__]))
    given = [*inspect.signature(takes).parameters.values()][owner is not None :]
    for parameter in given:
        hint = parameter.annotation
        if isinstance(hint, str):
            hint = eval(hint, {}, known)  # noqa: S307 - our own annotation
        others = tuple(
            one
            for one in given
            if one is not parameter and (one.default is one.empty or one.name == "rng")
        )
        for kind in FORMS:
            if how := _how(hint, kind):
                is_optional = type(None) in get_args(hint)
                yield Taker(name, called, owner, parameter, others, kind, how == "one", is_optional)


def _how(hint: object, kind: type) -> str:
    """Return whether a parameter takes one of a kind, several, or none."""
    origin = get_origin(hint)
    if hint is kind:
        return "one"
    if origin is Callable or not any(_how(part, kind) for part in get_args(hint)):
        return ""
    return "one" if origin in (Union, UnionType) else "several"


def _faults(taker: Taker, objects: dict[type, Callable[[], object]]) -> Iterator[str]:
    name, parameter = f"{taker.name}, {taker.parameter.name}", taker.parameter
    if taker.owner and taker.owner not in objects:
        yield f"{name}: add an object of {taker.owner.__name__} to `objects`"
        return
    if unknown := [one.name for one in taker.others if one.name not in ARGUMENTS]:
        yield f"{name}: add a value for {' and '.join(unknown)} to ARGUMENTS"
        return

    def outcome(thing: object) -> object:
        arguments = {one.name: ARGUMENTS[one.name]() for one in taker.others}
        arguments[parameter.name] = thing if taker.is_one else [thing]
        owner = objects[taker.owner]() if taker.owner else None
        called = getattr(owner, taker.called.__name__) if owner is not None else taker.called
        try:
            return repr(called(**arguments))
        except NoughtsError as refusal:
            return refusal
        except Exception as error:  # noqa: BLE001 - any other error is a fault
            return f"{type(error).__name__}: {error}"

    for value, forms in FORMS[taker.kind]:
        expected = outcome(value)
        for form in forms:
            if str(found := outcome(form)) != str(expected):
                yield f"{name}: {form!r} leads to {found}, and {value!r} to {expected}"
    for junk in [*JUNK[taker.kind], *([] if taker.is_optional else [None])]:
        if not isinstance(refusal := outcome(junk), noughts.errors.InvalidArgument):
            yield f"{name}: {junk!r} leads to {refusal!r}, and not to InvalidArgument"
