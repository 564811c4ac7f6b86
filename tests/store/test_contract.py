"""What every store promises about games, tested on each engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product
from threading import Event
from typing import Any
from unittest.mock import patch

import pytest

from noughts import Mark, NoughtsError, TakeBack, decide, fold
from noughts.core.errors import MalformedRecord
from noughts.store.base import Change, GameFilter, Store, StoredGame, nothing
from noughts.store.errors import CorruptStore, InvalidId, NoSuchGame, StaleVersion, StoreUnavailable
from noughts.store.rows import MAX_ID_CHARACTERS, MAX_NUMBER, MAX_RECORD_BYTES, MAX_ROOM_BYTES, row_hash
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
from support.store_games import everything, hashes

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


def outcome_of(change: Change) -> StoredGame | NoughtsError:
    try:
        return change.result()
    except NoughtsError as refusal:
        return refusal


@contextmanager
def one_batch(store: Store) -> Iterator[None]:
    """Commit together what is submitted meanwhile."""
    gate = Event()
    store._worker(partial(gate.wait, LONG_DEADLINE_SECONDS))  # noqa: SLF001 - the writer waits
    try:
        yield
    finally:
        gate.set()


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


def test_a_change_repeated_after_an_unknown_outcome_counts_once(open_again: Opening) -> None:
    one, other = open_again(), open_again()
    commit_really = one._commit  # noqa: SLF001 - where a connection breaks

    def break_before(_batch: list[Change]) -> None:
        raise StoreUnavailable("the connection is broken")

    def break_after(batch: list[Change]) -> None:
        commit_really(batch)
        break_before(batch)

    for place, is_recorded in ((break_before, False), (break_after, True)):
        before = nothing(f"game-{is_recorded}")
        for kind in [lambda game, _: change_of(game, CREATED, room=ROOM), *KINDS[1:]]:
            change = kind(before, "one")
            with patch.object(one, "_commit", place), pytest.raises(StoreUnavailable, match="is broken"):
                commit(one, change)
            assert (other.hashes([before.id]) == {before.id: change.after.hash}) == is_recorded
            for store in (one, other):
                assert commit(store, Change(before, change.after)).hash == change.after.hash
            before = change.after
    assert {(game.revision, game.is_deleted) for game in everything(one).values()} == {(5, True)}


@pytest.mark.parametrize("is_new", [True, False])
def test_one_of_many_threads_wins(open_again: Opening, *, is_new: bool) -> None:
    stores = [open_again(), open_again()]
    for turn in range(10):
        before = nothing(f"game{turn}") if is_new else play(stores[0], f"game{turn}", [CREATED])
        step = CREATED if is_new else PLACED
        rivals = [change_of(before, step, key=f"k{rival}") for rival in range(8)]
        outcomes = in_threads(
            *(partial(commit, stores[number % 2], rival) for number, rival in enumerate(rivals))
        )

        (winner,) = (outcome for outcome in outcomes if isinstance(outcome, StoredGame))
        assert sum(isinstance(outcome, StaleVersion) for outcome in outcomes) == 7
        assert found(stores[1], before.id).hash == winner.hash
    everything(stores[0])


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


def test_no_change_is_lost_among_writers_of_one_game(open_again: Opening) -> None:
    """Each reads, changes, and reads again if another was faster."""
    stores = [open_again(), open_again()]
    play(stores[0], "game", [CREATED], room='{"n": 0}')

    def count_up(writer: int) -> None:
        store, wins = stores[writer % 2], 0
        while wins < 10:
            before = found(store, "game")
            number = json.loads(before.room)["n"] + 1
            change = change_of(before, room=json.dumps({"n": number, "by": writer}))
            wins += isinstance(outcome_of(store.submit(change)), StoredGame)

    in_threads(*(partial(count_up, writer) for writer in range(6)))
    game = found(stores[0], "game")
    assert (json.loads(game.room)["n"], game.revision) == (60, 61)
    everything(stores[1])


# Several changes in one commit


def test_changes_in_one_commit_are_judged_each_alone(store: Store) -> None:
    """A commit takes one change of each game, in the order of ids; the others come in the next."""
    known, gone = play(store, "known", [CREATED]), play(store, "gone", [CREATED])
    store.delete("gone")
    new = change_of(nothing("new"), CREATED)
    changes = {
        new: StoredGame,
        change_of(known, PLACED): StoredGame,
        change_of(new.after, PLACED): StoredGame,
        change_of(known, PLACED, key="late"): StaleVersion,
        change_of(gone, PLACED): NoSuchGame,
        change_of(nothing("known"), CREATED): StaleVersion,
        Change(new.after, new.after.deleted()): StaleVersion,
    }
    batches = []
    commit_really = store._commit  # noqa: SLF001 - what is in one commit

    def note(batch: list[Change]) -> None:
        batches.append([change.id for change in batch])
        commit_really(batch)

    with patch.object(store, "_commit", note):
        with one_batch(store):
            for change in changes:
                store.submit(change)
        assert {change: type(outcome_of(change)) for change in changes} == changes
    assert batches == [["gone", "known", "new"], ["known", "new"], ["known", "new"]]
    everything(store)


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


# Lists; pages of any filter are compared with a model in `test_model.py`


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        (GameFilter(), ["Empty_1", "given-up", "unfinished", "drawn", "lost", "won"]),
        (GameFilter(player="Ann"), ["unfinished", "lost", "won"]),
        (GameFilter(player="名前"), ["drawn"]),
        (GameFilter(player="An%"), []),
        (GameFilter(is_over=True), ["given-up", "drawn", "lost", "won"]),
        (GameFilter(is_over=False), ["Empty_1", "unfinished"]),
        (GameFilter(result="O"), ["given-up", "lost"]),
        (GameFilter(result="draw"), ["drawn"]),
        (GameFilter(result="x"), []),
        (GameFilter(id_prefix="unfinished"), ["unfinished"]),
        (GameFilter(id_prefix="_"), []),
        (GameFilter(id_prefix="d"), ["drawn"]),
        (GameFilter(player="Ann", is_over=False), ["unfinished"]),
        (GameFilter(player="Bob", is_over=True, id_prefix="d"), ["drawn"]),
        (GameFilter(is_over=False, result="X"), []),
    ],
    ids=lambda value: ascii(value)[:60] if isinstance(value, GameFilter) else "",
)
def test_games_are_found_by_a_filter(store: Store, wanted: GameFilter, ids: list[str]) -> None:
    fill(store)
    assert [each.id for each in store.games(wanted)] == ids
    assert [game for _, game in listed(store, 1, wanted)] == ids


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


# Hours


def test_an_hour_is_counted_once_by_those_who_saw_the_same(open_again: Opening) -> None:
    one, other = open_again(), open_again()
    for hour in range(3):
        assert one.hours() == other.hours() == hour
        in_threads(*(partial(store.count_hour, hour) for store in (one, other) * 4))
    one.count_hour(1)
    assert other.hours() == 3


def test_a_count_that_was_changed_is_noticed(store: Store) -> None:
    store._set_counter(0, 1000, row_hash("counter", 1, 0, "", ""))  # noqa: SLF001 - as no store does
    with pytest.raises(CorruptStore, match="the count of hours has changed"):
        store.hours()
