"""All stores answer alike: whatever is asked of one, the others say the same."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from noughts import NoughtsError
from noughts.store.base import Wanted
from noughts.store.opening import open_store
from noughts.store.verifying import verify
from played import NOW
from strategies import any_event, histories

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from noughts import Event
    from noughts.store.base import EventStore
    from noughts.store.watching import Watch
    from postgres_server import Server

EXAMPLES, STEPS = (100, 50) if os.environ.get("NOUGHTS_TORTURE") else (8, 25)

games = st.sampled_from(["a", "b", "ab", "B"])
keys = st.sampled_from(["k1", "k2", "k3"])
some_events = histories().map(lambda history: history[:5]) | st.lists(any_event, max_size=3)
asked = st.builds(
    Wanted,
    player=st.none() | st.sampled_from(["Ann", "0", "A"]),
    is_over=st.none() | st.booleans(),
    result=st.none() | st.sampled_from(["X", "O", "draw"]),
    beginning=st.sampled_from(["", "a", "ab", "B", "_"]),
)


class Agreement(RuleBasedStateMachine):
    """Three stores of three kinds to which the same things happen."""

    def __init__(self, *urls: str) -> None:
        super().__init__()
        self.stores: list[EventStore] = [open_store(url) for url in urls]
        self.watches: list[Watch] = [store.watch() for store in self.stores]
        self.last: tuple[str, list[Event], int, str] | None = None

    def all_say(self, ask: Callable[[EventStore], object]) -> object:
        """Ask all, and return what they agree upon: an answer, or a refusal and its sentence."""
        first, *others = [_answer(ask, store) for store in self.stores]
        for other in others:
            assert other == first
        return first

    @rule(game=games, found=some_events, key=keys, shift=st.sampled_from([0, 0, 0, 0, -1, -3, 1]))
    def append(self, game: str, found: list[Event], key: str, shift: int) -> None:
        """Append at the end of a game, or before it, or past it."""
        version = len(self.stores[0].read(game))
        self.last = game, list(found), max(0, version + shift), key
        self.append_again()

    @rule()
    def append_again(self) -> None:
        """Append once more what was appended, or refused, last."""
        if self.last:
            game, found, expected, key = self.last
            self.all_say(lambda store: store.append(game, found, expected=expected, key=key, at=NOW))

    @rule(game=games, after=st.integers(-1, 12))
    def read(self, game: str, after: int) -> None:
        """Read a game from somewhere on."""
        self.all_say(lambda store: store.read(game, after))

    @rule(after=st.integers(-1, 40), limit=st.integers(0, 9))
    def feed(self, after: int, limit: int) -> None:
        """Read a page of the feed."""
        self.all_say(lambda store: store.feed(after, limit))

    @rule(wanted=asked, limit=st.integers(0, 4), before=st.none() | st.integers(-1, 5))
    def list_games(self, wanted: Wanted, limit: int, before: int | None) -> None:
        """List some games."""
        self.all_say(lambda store: store.catalogue(wanted, limit, before))

    @rule()
    def see_how_they_stand(self) -> None:
        """List all games as they stand."""
        self.all_say(lambda store: store.games())

    @rule()
    def look(self) -> None:
        """See what is new to whoever watches."""
        first, *others = [watch.wait(0) for watch in self.watches]
        for other in others:
            assert other == first

    @invariant()
    def all_hold_the_same(self) -> None:
        """Everything, to the last byte."""
        self.all_say(lambda store: store.feed())

    def teardown(self) -> None:
        """See that all are sound, and close them."""
        try:
            self.all_say(verify)
        finally:
            for store in self.stores:
                store.close()


def _answer(ask: Callable[[EventStore], object], store: EventStore) -> object:
    try:
        return ask(store)
    except (NoughtsError, ValueError) as refusal:
        return type(refusal), str(refusal)


def test_all_stores_answer_alike(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The same commands lead to the same answers, the same refusals and the same records."""

    class Alike(Agreement):
        def __init__(self) -> None:
            place = tmp_path_factory.mktemp("store") / "games.db"
            super().__init__("memory:", f"sqlite:{place}", postgres.place())

    run_state_machine_as_test(Alike, settings=settings(max_examples=EXAMPLES, stateful_step_count=STEPS))
