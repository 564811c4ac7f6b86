"""A store against a plain dict: two store objects on the same games, and commits that fail."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import patch

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from noughts import Command, CreateGame, JoinGame, Mark, NoughtsError, decide, facts
from noughts.store.base import Change, Entry, Store, StoredGame, nothing
from noughts.store.errors import NoSuchGame, StaleVersion, StoreUnavailable
from support.length import short_or_long
from support.played import NOW, ROOM, change_of
from support.store_fixtures import Opening
from support.store_games import everything, one_batch
from support.strategies import commands, names

EXAMPLES, STEPS = short_or_long((12, 30), (150, 50))

IDS = ("a", "b", "az", "B")
NAMES = ("Ann", "'; DROP TABLE games; --", 'a","b {a} \\x00 %s NULL', "\U0001f3b2 \u05d0\u05d1")
ROOMS = ("", ROOM, '{"open":"play"}', '{"n":"\u00eb"}')

joins = st.builds(JoinGame, st.sampled_from(Mark), st.sampled_from(NAMES) | names)


class Model(RuleBasedStateMachine):
    """Everything that happened to two store objects, and what must be there now."""

    def __init__(self, opening: Opening) -> None:
        super().__init__()
        self.stores = [opening(), opening()]
        self.rows: dict[str, StoredGame] = {}
        self.seen: list[StoredGame] = []
        """What was read or tried at any time."""
        self.last: Change | None = None
        self.hours = self.times = 0
        self.watches: list[tuple[Store, str, list[Entry]]] = [
            (store, game, []) for store in self.stores for game in IDS[:2]
        ]

    def before(self, data: st.DataObject) -> StoredGame:
        """Draw what somebody has read: mostly what is there now."""
        game = data.draw(st.sampled_from(IDS))
        if self.seen and data.draw(st.integers(0, 3)) == 0:
            return data.draw(st.sampled_from(self.seen))
        store = data.draw(st.sampled_from(self.stores))
        found = store.look(game) or nothing(game)
        self.seen.append(found)
        return found

    def change(self, before: StoredGame, data: st.DataObject) -> Change | None:
        """Draw a change, if somebody who has read that may make it."""
        self.times += 1
        at, room, hour = NOW + self.times // 3, data.draw(st.none() | st.sampled_from(ROOMS)), None
        try:
            if before.entries and data.draw(st.integers(0, 9)) == 0:
                return Change(before, before.deleted())
            steps = []
            if not before.entries or data.draw(st.booleans()):
                command: Command = CreateGame() if not before.entries else data.draw(commands | joins)
                steps = [facts(decide(before.game if before.entries else None, command))]
            if data.draw(st.booleans()):
                hour = self.hours
            key = f"k{data.draw(st.integers(0, 1))}-{before.version}"
            return change_of(before, *filter(None, steps), key=key, at=at, room=room, hour=hour)
        except NoughtsError:
            return None

    def expect(self, change: Change) -> type[NoughtsError] | None:
        """Apply a change to the dict, or return why it is refused."""
        now = self.rows.get(change.id)
        if now and now.hash == change.after.hash:
            return None  # it is there
        if now.hash != change.before.hash if now else change.before.revision:
            return NoSuchGame if not now or now.is_deleted else StaleVersion
        self.rows[change.id] = change.after
        return None

    @rule(data=st.data(), fails=st.sampled_from(["", "", "", "before", "after"]))
    def commit_one(self, data: st.DataObject, fails: str) -> None:
        """Change a game; a commit that fails may have been recorded all the same."""
        self.last = self.change(self.before(data), data) or self.last
        if self.last:
            self.submit(data.draw(st.sampled_from(self.stores)), self.last, fails)

    @rule(number=st.integers(0, 1))
    def commit_again(self, number: int) -> None:
        if self.last:
            self.submit(self.stores[number], self.last, "")

    def submit(self, store: Store, change: Change, fails: str) -> None:
        commit_really = store._commit  # noqa: SLF001 - where a connection breaks

        def commit(batch: list[Change]) -> None:
            if fails != "before":
                commit_really(batch)
            if fails:
                raise StoreUnavailable("the connection is broken")

        refusal = self.expect(change) if fails != "before" else None
        self.seen.append(change.after)
        with patch.object(store, "_commit", commit):
            again = store.submit(Change(change.before, change.after))
            assert outcome(again) == (refusal or (StoreUnavailable if fails else None))

    @rule(data=st.data(), number=st.integers(0, 1))
    def commit_several(self, data: st.DataObject, number: int) -> None:
        """Submit several changes at once, also of the same game: each is judged alone, in their order."""
        drawn = (self.change(self.before(data), data) for _ in range(data.draw(st.integers(2, 5))))
        changes = [change for change in drawn if change]
        expected = [self.expect(change) for change in changes]
        with one_batch(self.stores[number]):
            for change in changes:
                self.stores[number].submit(change)
        assert [*map(outcome, changes)] == expected

    @rule(number=st.integers(0, 1), game=st.sampled_from(IDS))
    def delete(self, number: int, game: str) -> None:
        now = self.rows.get(game)
        try:
            self.stores[number].delete(game)
        except NoSuchGame:
            assert now is None or now.is_deleted
        else:
            assert now
            self.rows[game] = now.deleted()

    @rule(number=st.integers(0, 1), seen=st.integers(0, 3))
    def count_hour(self, number: int, seen: int) -> None:
        self.stores[number].count_hour(seen)
        self.hours += seen == self.hours
        assert {store.hours() for store in self.stores} == {self.hours}

    @rule(number=st.integers(0, 3))
    def watch(self, number: int) -> None:
        store, game, seen = self.watches[number]
        now = self.rows.get(game)
        try:
            seen += store.watch(game, after=seen[-1].next_version if seen else 0, timeout=0)
        except NoSuchGame:
            assert now
            assert now.is_deleted
        else:
            assert seen == [*(now.entries if now else ())]

    @invariant()
    def all_is_as_expected(self) -> None:
        rows = [
            (*(game.id, game.revision, game.hour, game.record, game.room, game.hash), *game.columns)
            for _, game in sorted(self.rows.items())
        ]
        for store in self.stores:
            assert [*store.rows()] == rows

    def teardown(self) -> None:
        try:
            for store in self.stores:
                assert everything(store).keys() == self.rows.keys()
        finally:
            for store in self.stores:
                store.close()


def outcome(change: Change) -> type[Exception] | None:
    try:
        assert change.result() is change.after
    except NoughtsError as refusal:
        return type(refusal)
    return None


@pytest.mark.torture
def test_a_store_is_a_dict_that_two_may_change(new_place: Callable[[], Opening]) -> None:
    class Here(Model):
        def __init__(self) -> None:
            super().__init__(new_place())

    run_state_machine_as_test(Here, settings=settings(max_examples=EXAMPLES, stateful_step_count=STEPS))
