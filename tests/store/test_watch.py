"""Watching games, and closing a store while others use it, on each engine."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Event
from unittest.mock import Mock, patch

import pytest

from noughts.store import watch as watching
from noughts.store.base import Entry, Store
from noughts.store.errors import CorruptStore, NoSuchGame, StoreUnavailable
from support.at_once import in_threads
from support.deadlines import LONG_DEADLINE_SECONDS
from support.played import CREATED, DRAW, PLACED, ROOM, change_of, commit, found, game_of, play
from support.store_fixtures import Opening
from support.store_games import hashes


def follow(store: Store, game: str, count: int) -> tuple[Entry, ...]:
    """Return this number of entries as they arrive; hang if nothing wakes the watch."""
    seen: tuple[Entry, ...] = ()
    with store.watch(game) as watch:
        while len(seen) < count:
            seen += watch.wait()
        assert watch.wait(0) == ()
    return seen


def test_a_watch_shows_each_entry_once_from_a_version_on(
    open_again: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also before the game is created; by other store objects, it looks from time to time."""
    one, other = open_again(), open_again()
    steps = game_of(DRAW)
    monkeypatch.setattr(watching, "POLL_SECONDS", LONG_DEADLINE_SECONDS)
    outcomes = in_threads(
        *(partial(follow, one, f"game{number}", len(steps)) for number in range(3)),
        *(partial(play, one, f"game{number}", steps) for number in range(3)),
    )
    assert outcomes[:3] == [found(one, f"game{number}").entries for number in range(3)]
    with one.watch("game0", after=6) as watch:
        assert watch.wait(LONG_DEADLINE_SECONDS) == found(one, "game0").entries[2:]
        commit(one, change_of(found(one, "game0"), room=ROOM))
        assert watch.wait(0) == ()
    monkeypatch.setattr(watching, "POLL_SECONDS", 0.001)
    seen, _ = in_threads(partial(follow, one, "new", len(steps)), partial(play, other, "new", steps))
    assert seen == found(one, "new").entries


def test_a_watch_looks_once_for_each_wake_up(store: Store) -> None:
    """A needless one shows nothing; an engine that listens may send one, too."""
    play(store, "game", [CREATED])
    watch = store.watch("game")
    assert len(watch.wait(LONG_DEADLINE_SECONDS)) == 1
    with patch.object(
        watch, "_hash_of", Mock(side_effect=lambda game: store.hashes([game])[game])
    ) as look:
        watch.wake()
        assert watch.wait(0.01) == ()
    assert look.call_count < 5


def test_a_watch_ends_when_its_game_is_deleted_or_its_store_is_closed(store: Store) -> None:
    play(store, "game", [CREATED, PLACED])
    watch = store.watch("game")
    assert len(watch.wait(LONG_DEADLINE_SECONDS)) == 2
    outcome, _ = in_threads(watch.wait, partial(store.delete, "game"))
    assert isinstance(outcome, NoSuchGame)
    with pytest.raises(NoSuchGame, match="game game was deleted"):
        store.watch("game", after=3).wait(0)

    closed, waiting = store.watch("other"), store.watch("other")
    assert in_threads(lambda: [*closed], closed.close) == [[], None]
    outcome, _ = in_threads(waiting.wait, store.close)
    assert isinstance(outcome, StoreUnavailable)


def test_a_watch_notices_a_store_that_went_back(open_again: Opening) -> None:
    """A game that is shorter than it was, or is gone, is not shown as if nothing had happened."""
    one, other, watched = open_again(), open_again(), open_again()
    shorter = play(other, "game", [CREATED])
    watch = watched.watch("game")
    play(one, "game", [PLACED])
    assert len(watch.wait(LONG_DEADLINE_SECONDS)) == 2
    for past in (shorter, None):
        with (
            patch.object(watch, "_read", lambda _game, past=past: past),
            patch.object(watch, "_hash_of", lambda _game: None),
            pytest.raises(CorruptStore, match="the store went back"),
        ):
            watch.wait(0)


# Closing


def test_a_closed_store_refuses_everything(store: Store) -> None:
    game = play(store, "game", [CREATED])
    watch = store.watch("game")
    store.close()
    store.close()
    attempts: list[Callable[[], object]] = [
        *(partial(ask, "game") for ask in (store.read, store.look, store.confirm, store.watch)),
        *(partial(store.delete, "game"), partial(store.hashes, ["game"]), watch.wait),
        *(store.games, store.count, store.hours, store.check, partial(store.idle, 1)),
        *(partial(store.count_hour, 0), lambda: [*store.rows()]),
        *(partial(take, change_of(game, PLACED)) for take in (store.submit, store.writer.submit)),
    ]
    for attempt in attempts:
        with pytest.raises(StoreUnavailable, match="the store is closed"):
            attempt()


def test_closing_waits_for_the_commit_in_progress_and_refuses_the_others(open_again: Opening) -> None:
    """Every answered change is recorded, every other one is refused, and nobody waits forever."""
    store, again = open_again(), open_again()
    recorded: dict[str, bytes] = {}
    many = Event()

    def write(writer: int) -> None:
        for number in range(100_000):
            try:
                game = play(store, f"game-{writer}-{number % 3}-{number // 3}", [CREATED])
            except StoreUnavailable:
                return
            recorded[game.id] = game.hash
            if len(recorded) > 50:
                many.set()

    def close() -> None:
        assert many.wait(LONG_DEADLINE_SECONDS)
        store.close()

    in_threads(close, *(partial(write, writer) for writer in range(6)))
    assert hashes(again).items() >= recorded.items()
