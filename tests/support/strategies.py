"""Hypothesis strategies: boards, names, histories, filters and hostile text."""

from __future__ import annotations

from hypothesis import strategies as st

from noughts import (
    Command,
    CreateGame,
    Event,
    JoinGame,
    Mark,
    NoughtsError,
    PlaceToken,
    Resign,
    TakeBack,
    decide,
    events,
    facts,
    fold,
    reachable,
)
from noughts.core.errors import IllegalMoveReason
from noughts.core.player import clean_name

marks = st.sampled_from(Mark)
cells = st.integers(0, 8)
boards = st.sampled_from([*reachable(Mark.X), *reachable(Mark.O)])

_BLANKS = "\u115f\u1160\u2800\u3164\uffa0\U00013441\U00013442\U0001d159"
_letters = st.characters(categories=["L", "N", "P", "S"], exclude_characters=_BLANKS)
names = st.text(_letters, min_size=1, max_size=8).map(clean_name)

commands: st.SearchStrategy[Command] = st.one_of(
    st.builds(PlaceToken, marks, st.integers(-1, 9)),
    st.builds(PlaceToken, marks, cells),
    st.builds(PlaceToken, marks, cells),
    st.builds(TakeBack, marks),
    st.builds(JoinGame, marks, names, st.booleans()),
    st.builds(Resign, marks),
    st.builds(CreateGame, marks, st.booleans()),
)


@st.composite
def histories(draw: st.DrawFn) -> tuple[Event, ...]:
    """Draw the events of a game, finished or not, including refused attempts."""
    history = list(decide(None, draw(st.builds(CreateGame, marks, st.booleans()))))
    for command in draw(st.lists(commands, max_size=30)):
        try:
            history += facts(decide(fold(history), command))
        except NoughtsError:
            continue
    return tuple(history)


any_event: st.SearchStrategy[Event] = st.one_of(
    st.builds(events.GameCreated, marks),
    st.just(events.GameReady()),
    st.builds(events.PlayerActive, marks),
    st.builds(events.PlayerPlacedToken, st.integers(0, 2), st.integers(0, 2), marks),
    st.builds(events.GamePlacedCount, st.integers(0, 9)),
    st.builds(events.PlayerNotifyIllegalMove, marks, st.sampled_from(IllegalMoveReason)),
    st.builds(events.GameWon, marks),
    st.builds(events.GameLost, marks),
    st.just(events.GameDraw()),
    st.just(events.GameCompleted()),
    st.builds(events.PlayerJoined, marks, names),
    st.builds(events.PlayerResigned, marks),
    st.builds(events.PlayerTookBack, marks),
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
