"""What every store promises about games, tested on each engine."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from itertools import islice, product
from threading import Event
from typing import Any
from unittest.mock import patch

import pytest

from noughts import Mark, TakeBack, decide, fold
from noughts.core.errors import MalformedRecord
from noughts.store import base
from noughts.store.base import Change, Entry, GameFilter, Store, StoredGame, nothing
from noughts.store.errors import CorruptStore, InvalidId, NoSuchGame, StaleVersion, StoreUnavailable
from noughts.store.rows import MAX_ID_CHARACTERS, MAX_NUMBER, MAX_RECORD_BYTES, MAX_ROOM_BYTES
from support.at_once import in_threads
from support.deadlines import LONG_DEADLINE_SECONDS
from support.played import (
    CREATED,
    DRAW,
    NOW,
    O_WINS,
    PLACED,
    ROOM,
    X_WINS,
    change_of,
    commit,
    fill,
    found,
    game_of,
    listed,
    play,
)
from support.store_fixtures import Opening
from support.store_games import everything, hashes, one_batch

FAR = 2**63
"""A number that is beyond everything in a store, and too large for any column."""

KINDS: list[Callable[[StoredGame, str], Change]] = [
    lambda game, writer: change_of(game, PLACED, key=writer),
    lambda game, writer: change_of(game, room=json.dumps({"by": writer})),
    lambda game, writer: change_of(game, hour=len(writer)),
    lambda game, writer: change_of(game, PLACED, key=writer, room=ROOM, hour=len(writer)),
    lambda game, _writer: Change(game, game.deleted()),
]
"""Every kind of change; two writers never change the same, unless both delete."""


# One change


def test_a_change_is_recorded_and_read_by_every_store_object(open_again: Opening) -> None:
    one, other = open_again(), open_again()
    assert (one.read("game"), one.look("game"), one.hashes(["game"]), one.count()) == (None, None, {}, 0)
    created = commit(one, change_of(nothing("game"), CREATED, room=ROOM, hour=7))
    placed = commit(other, change_of(found(other, "game"), PLACED))
    last = commit(one, change_of(placed, room="", hour=9))

    assert [(each.revision, each.version) for each in (created, placed, last)] == [(1, 3), (2, 6), (3, 6)]
    for store in (one, other):
        game = found(store, "game")
        assert (game.hash, game.room, game.hour) == (last.hash, "", 9)
        assert game.game == fold((*CREATED, *PLACED))
        assert [(entry.key, entry.at, entry.events) for entry in game.entries] == [
            ("k0", NOW, CREATED),
            ("k3", NOW + 3, PLACED),
        ]
        assert store.hashes(["game", "missing"]) == {"game": game.hash}
    assert everything(one).keys() == {"game"}


def test_of_two_who_have_read_the_same_the_second_is_refused(open_again: Opening) -> None:
    """Whatever each of them changes; and the id of a deleted game is never used again."""
    one, other = open_again(), open_again()
    for number, (first, second) in enumerate([*product(KINDS, KINDS)][:-1]):
        before = play(one, f"game-{number}", [CREATED])
        after = commit(other, first(before, "other"))
        late = second(before, "one"), change_of(nothing(before.id), CREATED, key="new")
        for change in late:
            with pytest.raises(NoSuchGame if after.is_deleted else StaleVersion, match=before.id):
                commit(one, change)
        assert one.hashes([before.id]) == {before.id: after.hash}
        assert (one.read(before.id) is None) == after.is_deleted
    with pytest.raises(NoSuchGame, match="no game has the id 'new'"):
        one.delete("new")
    with pytest.raises(NoSuchGame, match="no game has the id 'new'"):
        commit(one, change_of(change_of(nothing("new"), CREATED).after, PLACED))
    everything(one)


def test_a_deletion_goes_on_if_the_game_did(store: Store) -> None:
    before = play(store, "game", [CREATED])
    play(store, "game", [PLACED])
    read, late = store.read, iter([before])
    with patch.object(store, "read", lambda game: next(late, None) or read(game)):
        store.delete("game")
    assert store.read("game") is None
    assert [game.revision for game in everything(store).values()] == [3]


def test_a_row_of_another_game_is_not_shown_as_the_one_that_was_asked_for(store: Store) -> None:
    """A damaged index can lead to it, and its hash is right."""
    play(store, "game", [CREATED])
    play(store, "other", [CREATED])
    (other,) = store.read_rows(["other"])
    with (
        patch.object(store, "_rows", lambda _games: [other]),
        pytest.raises(CorruptStore, match="an index leads to another game"),
    ):
        store.look("game")


# Several changes in one commit


def test_a_large_commit_has_every_kind_of_change(store: Store) -> None:
    """Each is recorded for its own game, even if there are more than one statement takes."""
    moves = {"b": game_of(X_WINS), "l": game_of(O_WINS, "Ann"), "m": game_of(DRAW, "Ann", "Zoë")}
    with one_batch(store):
        begun = [
            store.submit(change_of(nothing(f"{kind}{number}"), *steps[:-1], room=ROOM * (number % 2)))
            for number in range(70)
            for kind, steps in moves.items()
        ]
    games = [change.result() for change in begun]
    with one_batch(store):
        changes = []
        for number, game in enumerate(games):
            end = moves[game.id[0]][-1]
            kinds = [
                *(change_of(game, end), change_of(game, end, room="{}")),
                *(KINDS[kind](game, "one") for kind in (1, 2, 4)),
            ]
            changes.append(store.submit(kinds[number % 5]))
    expected = {change.result().id: change.after.hash for change in changes}
    assert hashes(store) == expected


# What is refused, and what is just not


@pytest.mark.parametrize(
    "name",
    [
        *("", " ", "a b", "a\n", "\0", "ä", "\uff11", "a/b", "../a", "a'--", "%", "\x1b[2J", "\ud800"),
        *("a" * (MAX_ID_CHARACTERS + 1), None, 7, b"game", []),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_a_bad_id_is_refused_wherever_it_is_given(store: Store, name: Any) -> None:  # noqa: ANN401 - anything else is refused
    attempts: list[Callable[[], object]] = [
        *(partial(take, name) for take in (store.read, store.look, store.confirm, store.delete)),
        *(partial(store.watch, name), partial(store.hashes, ["right", name]), partial(nothing, name)),
    ]
    for attempt in attempts:
        with pytest.raises(InvalidId, match=r"^the id of a game has 1 to 64 letters, digits") as refusal:
            attempt()
        assert str(refusal.value).isprintable()


def test_the_longest_of_everything_is_taken(store: Store) -> None:
    """Ids, which differ in case, times, the record and the room."""
    ids = ["a", "A", "0", "-", "_", "a" * MAX_ID_CHARACTERS]
    for name, at in zip(ids, (0, MAX_NUMBER, *[NOW] * 4), strict=True):
        commit(store, change_of(nothing(name), CREATED, key=name, at=at))
    game = commit(store, change_of(found(store, "a"), room='{"a":"' + "ë" * (MAX_ROOM_BYTES - 8) + '"}'))
    cycle = change_of(game, PLACED, TAKEN_BACK)
    times = (MAX_RECORD_BYTES - len(game.record)) // (len(cycle.piece) + 6)
    longest = commit(store, change_of(game, *(PLACED, TAKEN_BACK) * times))
    with pytest.raises(MalformedRecord, match="becomes too long"):
        change_of(longest, *(PLACED, TAKEN_BACK) * (times // 9))
    assert len(longest.record) > MAX_RECORD_BYTES * 0.9
    assert everything(store).keys() == {*ids}


TAKEN_BACK = decide(fold((*CREATED, *PLACED)), TakeBack(Mark.X))
"""The events that take the first move back, so that it can be made again."""


# Lists

FILTERS = [
    GameFilter(player, is_over, result, prefix)
    for player in (None, "Ann", "名前", "An%", "ann", "' OR x = 'Ann")
    for is_over in (None, True, False)
    for result in (None, "X", "O", "draw", "x")
    for prefix in ("", "d", "unfinished", "_", "D")
]


def test_games_are_found_by_any_filter(store: Store) -> None:
    """The newest first, in pages of any size; not the deleted one."""
    fill(store)
    play(store, "at-once", game_of("", "Ann"), at=NOW + 3000)
    games = [game for game in everything(store).values() if not game.is_deleted]
    games.sort(key=lambda game: (game.entries[0].at, game.id), reverse=True)
    newest = ["Empty_1", "given-up", "unfinished", "at-once", "drawn", "lost", "won"]
    assert [game.id for game in games] == newest
    for wanted in FILTERS:
        ids = [game.id for game in games if is_wanted(game, wanted)]
        assert [each.id for each in store.games(wanted)] == ids
        assert [game for _, game in listed(store, 1, wanted)] == ids


def is_wanted(stored: StoredGame, wanted: GameFilter) -> bool:
    game = stored.game
    seats = [player.name for mark in Mark if (player := game.player(mark))]
    result = (game.winner.value if game.winner else "draw") if game.is_over else None
    return (
        (wanted.player is None or wanted.player in seats)
        and (wanted.is_over is None or wanted.is_over == game.is_over)
        and (wanted.result is None or wanted.result == result)
        and stored.id.startswith(wanted.id_prefix)
    )


@pytest.mark.parametrize(
    "nobody", ["\0", "a\0b", "\ud800", "é", "a" * 100_000], ids=lambda name: ascii(name[:8])
)
def test_a_list_of_what_cannot_be_is_empty(store: Store, nobody: str) -> None:
    fill(store)
    for wanted in (GameFilter(player=nobody), GameFilter(result=nobody), GameFilter(id_prefix=nobody)):
        assert store.games(wanted) == ()
    for before in ((NOW, nobody[:0]), (-1, "a"), (True, "a"), (FAR, "\0")):
        assert store.games(before=before) == ()
    assert [len(store.games(limit=limit)) for limit in (-FAR, -1, 0, FAR)] == [0, 0, 0, 6]
    assert len(store.games(before=(FAR, ""))) == 6


def test_games_of_the_server_are_found_by_the_hour_of_their_last_use(store: Store) -> None:
    """Without those of the terminal, and without deleted ones."""
    for number, (game, hour) in enumerate((("c", 5), ("a", 7), ("b", 5), ("gone", 1))):
        commit(store, change_of(nothing(game), CREATED, room=ROOM, hour=hour, at=NOW + number))
    commit(store, change_of(nothing("terminal"), CREATED))
    store.delete("gone")
    assert [store.idle(hour) for hour in (-1, 5, 6, 8, FAR)] == [[], [], ["b", "c"], [*"abc"], [*"abc"]]
    assert (store.idle(9, "a", 1), store.idle(9, "c")) == (["b"], [])
    commit(store, change_of(found(store, "b"), hour=9))
    assert store.idle(9) == ["a", "c"]


# Watching


def follow(store: Store, game: str, count: int) -> list[Entry]:
    """Return this number of entries as they arrive; hang if nothing wakes the watch."""
    return [*islice(store.watch(game), count)]


def test_a_watch_shows_each_entry_once_from_a_version_on(
    open_again: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also before the game is created; by other store objects, it looks from time to time."""
    one, other = open_again(), open_again()
    steps = game_of(DRAW)
    monkeypatch.setattr(base, "POLL_SECONDS", LONG_DEADLINE_SECONDS)
    outcomes = in_threads(
        *(partial(follow, one, f"game{number}", len(steps)) for number in range(3)),
        *(partial(play, one, f"game{number}", steps) for number in range(3)),
    )
    assert outcomes[:3] == [[*found(one, f"game{number}").entries] for number in range(3)]
    commit(one, change_of(found(one, "game0"), room=ROOM))
    assert (*one.watch("game0", after=6, timeout=0),) == found(one, "game0").entries[2:]
    assert [*one.watch("game0", after=found(one, "game0").version, timeout=0.01)] == []
    monkeypatch.setattr(base, "POLL_SECONDS", 0.001)
    seen, _ = in_threads(partial(follow, one, "new", len(steps)), partial(play, other, "new", steps))
    assert seen == [*found(one, "new").entries]


def test_a_watch_ends_when_its_game_is_deleted_or_its_store_is_closed(store: Store) -> None:
    play(store, "game", [CREATED, PLACED])
    watch = store.watch("game")
    assert len([*islice(watch, 2)]) == 2
    outcome, _ = in_threads(lambda: next(watch), partial(store.delete, "game"))
    assert isinstance(outcome, NoSuchGame)
    with pytest.raises(NoSuchGame, match="game game was deleted"):
        next(store.watch("game", after=3))
    outcome, _ = in_threads(partial(follow, store, "other", 1), store.close)
    assert isinstance(outcome, StoreUnavailable)


def test_a_watch_notices_a_store_that_went_back(store: Store) -> None:
    """A game that is shorter than it was, or is gone, is not shown as if nothing had happened."""
    shorter = play(store, "game", [CREATED])
    play(store, "game", [PLACED])
    for past in (shorter, None):
        watch = store.watch("game")
        assert len([*islice(watch, 2)]) == 2
        with (
            patch.object(store, "look", lambda _game, past=past: past),
            patch.object(store, "hashes", lambda _games: {}),
            pytest.raises(CorruptStore, match="the store went back"),
        ):
            next(watch)


# Closing


def test_a_closed_store_refuses_everything(store: Store) -> None:
    game = play(store, "game", [CREATED])
    watch = store.watch("game")
    store.close()
    store.close()
    attempts: list[Callable[[], object]] = [
        *(partial(ask, "game") for ask in (store.read, store.look, store.confirm, store.watch)),
        *(partial(store.delete, "game"), partial(store.hashes, ["game"]), partial(next, watch)),
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
