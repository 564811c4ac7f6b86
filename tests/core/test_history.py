"""Whole histories: what `replay` accepts, and which event it names otherwise."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from noughts import (
    CreateGame,
    Event,
    JoinGame,
    O,
    PlaceToken,
    Resign,
    TakeBack,
    X,
    decide,
    errors,
    events,
    facts,
    fold,
    replay,
)
from support.strategies import any_event, histories


@given(histories())
def test_every_real_history_is_accepted(history: tuple[Event, ...]) -> None:
    assert replay(history) == fold(history)


@given(histories(), any_event, st.data())
def test_an_event_that_was_put_in_is_noticed(
    history: tuple[Event, ...], stray: Event, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(history)))
    try:
        game = replay((*history[:place], stray, *history[place:]))
    except errors.ImpossibleHistory as refusal:
        assert str(refusal).isprintable()
    else:  # a name may take a free seat, and a game with open seats may have been ready sooner
        before = [type(event) for event in history[:place]]
        is_sooner = before[-1:] in ([events.GameCreated], [events.PlayerJoined])
        assert isinstance(stray, events.PlayerJoined) or (stray == events.GameReady() and is_sooner)
        assert game != fold(history)


@given(histories().filter(lambda history: len(history) > 3), st.data())
def test_an_event_that_is_lost_is_noticed(history: tuple[Event, ...], data: st.DataObject) -> None:
    """A history with a gap makes another game or is refused; it never makes the same game."""
    hole = data.draw(st.integers(0, len(history) - 1))
    damaged = history[:hole] + history[hole + 1 :]

    try:
        game = replay(damaged)
    except errors.ImpossibleHistory:
        return
    assert game != replay(history)


@given(st.lists(any_event, max_size=6))
def test_random_events_are_refused_or_make_a_game(heap: list[Event]) -> None:
    try:
        game = replay(heap)
    except errors.ImpossibleHistory as refusal:
        assert str(refusal).isprintable()
    else:
        assert game == fold(heap)


NO_CELL = "no cell is in row True and column 0: each is 0, 1 or 2"


@pytest.mark.parametrize(
    ("history", "message"),
    [
        ([], "a game has at least one event, gameCreated"),
        ([events.GameReady()], "event 1 is gameReady(), which no command leads to"),
        ([events.GameCreated()], "the history stops after event 1, before gameReady()"),
        (
            [events.GameCreated(O), events.PlayerActive(X)],
            "event 2 is playerActive(X) instead of playerActive(O)",
        ),
        (
            [*decide(None, CreateGame()), events.PlayerPlacedToken(0, 0, O)],
            "event 4 is playerPlacedToken(0,0,O) instead of playerNotifyIllegalMove(O,notYourTurn)",
        ),
        (
            [*decide(None, CreateGame()), events.PlayerPlacedToken(0, 0, X)],
            "the history stops after event 4, before gamePlacedCount(1)",
        ),
        (
            [*decide(None, CreateGame()), events.PlayerTookBack(X)],
            "event 4, playerTookBack(X): no token to take back",
        ),
        (
            [*decide(None, CreateGame()), *decide(None, CreateGame())],
            "event 4, gameCreated(X): the game exists already: a new one needs a new record",
        ),
        (
            [*decide(None, CreateGame()), events.PlayerPlacedToken(row=True, column=0, mark=X)],
            f"event 4, playerPlacedToken(true,0,X): {NO_CELL}",
        ),
        (
            [events.PlayerResigned(X)],
            "event 1, playerResigned(X): the game does not exist yet: create it first",
        ),
    ],
)
def test_the_first_event_at_fault_is_named(history: list[Event], message: str) -> None:
    with pytest.raises(errors.ImpossibleHistory) as raised:
        replay(history)

    assert str(raised.value) == message


@pytest.mark.parametrize("names", [1, 2])
@pytest.mark.parametrize("is_ready_first", [True, False])
def test_names_may_come_before_or_after_the_game_is_ready(names: int, *, is_ready_first: bool) -> None:
    active, ready = events.PlayerActive(X), events.GameReady()
    joins = [events.PlayerJoined(X, "Ann"), events.PlayerJoined(O, "Bob")][:names]
    start: list[Event] = [ready, active, *joins] if is_ready_first else [active, *joins, ready]
    token: list[Event] = [
        events.PlayerPlacedToken(1, 1, X),
        events.GamePlacedCount(1),
        events.PlayerActive(O),
    ]

    game = replay([events.GameCreated(X), *start, *token])

    assert game.is_ready
    assert [player.name for player in game.players] == ["Ann", "Bob"][:names]
    assert game.moves == (4,)


def test_a_game_is_ready_once() -> None:
    ready_at_once = decide(None, CreateGame())

    with pytest.raises(errors.ImpossibleHistory) as raised:
        replay([*ready_at_once, events.PlayerJoined(X, "Ann"), events.GameReady()])

    assert str(raised.value) == "event 5 is gameReady(), which no command leads to"


@pytest.mark.parametrize(
    ("one", "other"), [("bob", "bob"), ("Bob", "bob"), ("bob", "bob\ufe0f"), ("", " ")]
)
def test_names_that_would_be_refused_now_stay_in_their_record(one: str, other: str) -> None:
    """Only entering the name is refused."""
    start = decide(None, CreateGame(open_seats=True))
    history = (*start, events.PlayerJoined(X, one), events.PlayerJoined(O, other), events.GameReady())

    game = replay(history)

    assert [player.name for player in game.players] == [one, other]
    assert game.is_ready
    with pytest.raises(errors.InvalidName):
        decide(replay(history[:-2]), JoinGame(O, other))


def test_a_seat_is_taken_once_in_a_history() -> None:
    history = (*decide(None, CreateGame()), events.PlayerJoined(X, "a\x1b"), events.PlayerJoined(X, "b"))

    with pytest.raises(errors.ImpossibleHistory) as raised:
        replay(history)

    assert str(raised.value) == "event 5, playerJoined(X,b): 'a\\x1b' has the seat of X already"


def test_nobody_joins_a_finished_game_in_a_history() -> None:
    history = [*decide(None, CreateGame())]
    history += decide(fold(history), Resign(X))

    with pytest.raises(errors.ImpossibleHistory) as raised:
        replay([*history, events.PlayerJoined(X, "bob")])

    assert str(raised.value) == "event 8, playerJoined(X,bob): the game is over: nobody can join it"


def test_every_command_can_be_inferred_from_its_events() -> None:
    history: list[Event] = list(decide(None, CreateGame(O, open_seats=True)))
    for command in (
        JoinGame(X, "bob"),
        PlaceToken(O, 4),
        JoinGame(O, "frank"),
        PlaceToken(X, 5),
        TakeBack(O),
        PlaceToken(O, 2),
        Resign(O),
    ):
        history += decide(fold(history), command)

    game = replay(history)

    assert (game.winner, game.resigned, game.moves, game.is_ready) == (X, O, (2,), True)
    assert facts(history) == tuple(history)
