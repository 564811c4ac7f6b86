"""What every store promises about games, tested on each engine."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from noughts import Event, Mark, events, fold
from noughts.core.errors import (
    IllegalMoveReason,
    ImpossibleHistory,
    InvalidArgument,
    MalformedRecord,
    NoughtsError,
)
from noughts.core.player import clean_name
from noughts.store.appends import CatalogueRow, append_of
from noughts.store.base import EventStore, GameFilter, GameSummary
from noughts.store.documents import Document, Write
from noughts.store.errors import InvalidId, NoSuchGame, StaleVersion
from noughts.store.memory import MemoryStore
from noughts.store.records import MAX_ID_CHARACTERS, MAX_NUMBER, Record
from noughts.store.urls import open_store
from noughts.store.verify import verify
from support.at_once import in_threads
from support.length import short_or_long
from support.played import (
    CREATED,
    DRAW,
    NOW,
    O_WINS,
    X_WINS,
    check_whole,
    documents_of,
    events_of,
    feed_of,
    fill,
    game_of,
    listed,
    play,
)
from support.store_games import everything, row_of, turns
from support.strategies import game_filters, histories, names

EXAMPLES = short_or_long(12, 60)
"""How many examples a property tries: each creates stores of its own, which takes longest."""

PLACED = (events.PlayerPlacedToken(1, 1, Mark.X), events.GamePlacedCount(1), events.PlayerActive(Mark.O))

FAR = 2**63
"""A number that is beyond everything in a store, and too large for any column."""

record_of = partial(append_of, at=NOW)


# Append and read


def test_what_was_appended_is_read_back(store: EventStore) -> None:
    assert store.append("game", CREATED, expected=0, key="first", at=NOW) == 3
    assert store.append("game", PLACED, expected=3, key="second", at=NOW + 1) == 6

    first, second = store.read("game")
    assert row_of(first)[:4] == ("game", 0, NOW, "first")
    assert row_of(second)[:4] == ("game", 3, NOW + 1, "second")
    assert (first.events, second.events) == (CREATED, PLACED)
    assert (first.next_version, second.next_version) == (3, 6)


def test_a_game_is_read_after_a_version(store: EventStore) -> None:
    """Every record that reaches beyond the version is returned, whole if the version lies within it."""
    play(store, "game", game_of(X_WINS))
    play(store, "other", game_of(DRAW))
    records = store.read("game")

    for after in [*range(-2, records[-1].next_version + 3), FAR, FAR - 1, 10**30]:
        assert store.read("game", after) == tuple(one for one in records if one.next_version > after)
    assert store.read("gam") == store.read("another", 3) == ()


@pytest.mark.parametrize("expected", [False, 0.0, "0", None, -1, -3])
def test_a_version_is_a_number(store: EventStore, expected: Any) -> None:  # noqa: ANN401 - anything else is refused
    """What only equals one, and would be hashed as something else, is refused."""
    with pytest.raises(StaleVersion, match="no game is at version"):
        store.append("game", CREATED, expected=expected, key="key", at=NOW)
    with pytest.raises(StaleVersion, match="no document is at revision"):
        store.write_document("game", "text", expected=expected)
    assert store.read("game") == ()
    store.append("game", CREATED, expected=0, key="key", at=NOW)
    for some in (CREATED, CREATED[-1:]):  # not a retry, either
        with pytest.raises(StaleVersion, match="no game is at version"):
            store.append("game", some, expected=expected, key="key", at=NOW)
    assert len(feed_of(store)) == 1


def test_a_game_that_is_deleted_while_games_are_listed_is_left_out(
    store: EventStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not damaged; if the whole page is gone, the next one is listed."""
    for number, game in enumerate(("old", "new")):
        store.append(game, CREATED, expected=0, key="key", at=NOW + number)
    rows = store.catalogue(GameFilter(), 1)
    store.delete("new", at=NOW)
    catalogue = store.catalogue
    pages = iter([rows])
    monkeypatch.setattr(store, "catalogue", lambda *asked: next(pages, None) or catalogue(*asked))

    assert [summary.id for summary in store.games(limit=1)] == ["old"]


def test_several_games_are_read_at_once(store: EventStore) -> None:
    for game, moves in (("game", X_WINS), ("other", DRAW), ("gone", "5")):
        play(store, game, game_of(moves))
    store.delete("gone", at=NOW)

    for after in (0, 1, 3, 6, 7, FAR):
        found = store.read_many({"game": after, "other": 3, "gone": 1})
        assert found == {"game": store.read("game", after), "other": store.read("other", 3)}
    assert store.read_many({"nobody": 2}) == {"nobody": ()}
    assert store.read_many({}) == {}


def test_versions_are_read_for_many_games_at_once(store: EventStore) -> None:
    fill(store)
    names = ["won", "unfinished", "Empty_1", "missing", "wo", *(f"no-{number}" for number in range(1500))]

    assert store.versions(names) == {"won": 22, "unfinished": 7, "Empty_1": 3}
    assert store.versions([]) == {}


@pytest.mark.parametrize("expected", [4, 2, 1, 0, 3000, FAR])
def test_an_append_at_another_version_records_nothing(store: EventStore, expected: int) -> None:
    """Too early or too late, it is refused, and the message names both versions."""
    store.append("game", CREATED, expected=0, key="first", at=NOW)
    before = feed_of(store)

    with pytest.raises(StaleVersion, match=rf"game game is at version 3, not at {expected}:"):
        store.append("game", PLACED, expected=expected, key="second", at=NOW)
    with pytest.raises(StaleVersion, match="game new is at version 0, not at 3:"):
        store.append("new", PLACED, expected=3, key="key", at=NOW)

    assert feed_of(store) == before
    assert ids(store.games()) == ["game"]


def test_one_of_many_at_one_version_wins(store: EventStore) -> None:
    rivals = 8
    for turn in range(10):
        game = f"game{turn}"
        outcomes = in_threads(
            *(
                partial(store.append, game, CREATED, expected=0, key=f"key{rival}", at=NOW)
                for rival in range(rivals)
            )
        )

        assert outcomes.count(3) == 1
        assert sum(isinstance(outcome, StaleVersion) for outcome in outcomes) == rivals - 1
        assert [record.key for record in store.read(game)] == [f"key{outcomes.index(3)}"]
    everything(store)


def test_a_retried_append_is_recorded_once(store: EventStore) -> None:
    for _ in range(2):
        assert store.append("game", CREATED, expected=0, key="first", at=NOW) == 3
    assert store.append("game", PLACED, expected=3, key="second", at=NOW) == 6
    for _ in range(2):
        assert store.append("game", CREATED, expected=0, key="first", at=NOW + 9) == 3
        assert store.append("game", PLACED, expected=3, key="second", at=NOW + 9) == 6

    assert [(record.key, record.at) for record in store.read("game")] == [("first", NOW), ("second", NOW)]


def test_an_append_that_many_try_at_once_is_recorded_once(store: EventStore) -> None:
    for turn in range(10):
        for expected, step in ((0, CREATED), (3, PLACED)):
            again = partial(store.append, f"game{turn}", step, expected=expected, key="key", at=NOW)
            assert in_threads(*[again] * 8) == [expected + 3] * 8
        assert len(store.read(f"game{turn}")) == 2
    everything(store)


@pytest.mark.parametrize(
    "others",
    [PLACED, CREATED[:2], CREATED[1:], (*CREATED, PLACED[0]), CREATED[::-1]],
    ids=["others", "fewer", "without the first", "more", "reversed"],
)
def test_a_retry_has_the_same_key_and_events(store: EventStore, others: tuple[Event, ...]) -> None:
    """An append with a known key but other events is not a retry, so it is late."""
    store.append("game", CREATED, expected=0, key="key", at=NOW)
    store.append("game", PLACED, expected=3, key="next", at=NOW)
    before = feed_of(store)

    for some, key in ((others, "key"), (CREATED, "another")):
        with pytest.raises(StaleVersion):
            store.append("game", some, expected=0, key=key, at=NOW)

    assert feed_of(store) == before


# Several in one commit


def test_appends_in_one_commit_are_judged_each_alone(store: EventStore) -> None:
    store.append("known", CREATED, expected=0, key="first", at=NOW)
    appends = [
        record_of("new", 0, CREATED, key="a"),
        record_of("known", 0, CREATED, key="late"),
        record_of("known", 0, CREATED, key="first"),
        record_of("known", 3, PLACED, key="b"),
        record_of("new", 0, CREATED, key="a"),
        record_of("other", 2, CREATED, key="early"),
        record_of("new", 3, PLACED, key="c"),
        record_of("new", 3, PLACED, key="d"),
    ]
    store.record(appends)

    refused = [append.key for append in appends if isinstance(append.refusal, StaleVersion)]
    assert refused == ["late", "early", "d"]
    assert [append.key for append in appends if append.refusal] == refused
    assert [record.key for record in store.read("new")] == ["a", "c"]
    assert [record.key for record in store.read("known")] == ["first", "b"]
    store.record([])
    everything(store)


def test_many_games_that_end_in_one_commit_are_listed(store: EventStore) -> None:
    """Each has its own result, even if there are more than one statement takes."""
    games = {f"game-{number}": (X_WINS, O_WINS, DRAW)[number % 3] for number in range(330)}
    begun, ended = [], []
    for name, moves in games.items():
        *steps, end = game_of(moves)
        events_before = [event for step in steps for event in step]
        begun.append(record_of(name, 0, events_before, key="begin"))
        ended.append(record_of(name, len(events_before), end, key="end"))

    store.record(begun)
    store.record(ended[:20])
    store.record(ended[20:])

    for result, moves in (("X", X_WINS), ("O", O_WINS), ("draw", DRAW)):
        found = store.catalogue(GameFilter(result=result), 400)
        assert {row.game for row in found} == {name for name, played in games.items() if played == moves}
    everything(store)


def test_a_restore_is_recorded_whole_or_not_at_all(store: EventStore) -> None:
    """One refused append refuses all of it, documents included; a restore that is retried succeeds."""
    store.append("known", CREATED, expected=0, key="first", at=NOW)
    document = Document("doc", 7, "label", "text", "k7")
    appends = [
        record_of("new", 0, CREATED, key="a"),
        record_of("known", 3, PLACED, key="b"),
        record_of("new", 3, PLACED, key="c"),
    ]
    for refused in (
        record_of("known", 0, CREATED, key="late"),
        record_of("odd", 1, CREATED, key="early"),
    ):
        with pytest.raises(StaleVersion):
            store.restore([*appends, refused], [document])
        assert [row_of(record)[:2] for record in feed_of(store)] == [("known", 0)]
        assert store.document("doc") is None
        assert [row.game for row in store.catalogue(GameFilter(), 9)] == ["known"]

    store.restore(appends, [document])
    store.restore(appends)
    store.restore([])

    assert [record.key for record in store.read("new")] == ["a", "c"]
    assert [record.key for record in store.read("known")] == ["first", "b"]
    assert store.document("doc") == document
    assert store.write_document("doc", "more", expected=7).revision == 8
    everything(store)


def test_an_append_that_is_twice_in_a_restore_is_recorded_once(store: EventStore) -> None:
    for game, version, step in (("new", 0, CREATED), ("known", 3, PLACED)):
        if version:
            play(store, game, [CREATED])
        store.restore([record_of(game, version, step, key="key") for _ in range(2)])
        assert store.versions([game]) == {game: version + 3}

        with pytest.raises(StaleVersion):
            store.restore([record_of(game, version + 3, PLACED, key=key) for key in "ab"])
        assert store.read(game, version + 3) == ()
    check_whole(feed_of(store))


# An append with a document


def test_an_append_and_its_document_are_written_together(store: EventStore) -> None:
    """Both or neither, and a retry after success changes nothing."""
    room = Write("game", "room", expected=0, label="open")
    first = record_of("game", 0, CREATED, key="first", document=room)
    store.record([first])
    store.record([first])
    assert first.refusal is None
    assert store.document("game") == room.document

    second = record_of("game", 3, PLACED, key="second", document=Write("game", "taken", expected=1))
    store.record([second])
    store.write_document("game", "later", expected=2)
    store.record([first, second])

    assert (first.refusal, second.refusal) == (None, None)
    assert [record.key for record in store.read("game")] == ["first", "second"]
    assert [(one.revision, one.text) for one in store.changed_documents()[0]] == [(3, "later")]
    everything(store)


@pytest.mark.parametrize(("expected", "revision"), [(0, 1), (6, 1), (3, 0), (3, 2), (0, 0)], ids=str)
def test_neither_is_written_if_one_of_them_is_stale(
    store: EventStore, expected: int, revision: int
) -> None:
    """The refusal is in the append, and others in the same commit are written."""
    store.record([record_of("game", 0, CREATED, key="a", document=Write("game", "room", expected=0))])
    append = record_of("game", expected, PLACED, key="b", document=Write("game", "no", expected=revision))
    other = record_of("other", 0, CREATED, key="c", document=Write("other", "yes", expected=0))
    store.record([append, other])

    assert isinstance(append.refusal, StaleVersion)
    assert other.refusal is None
    assert store.versions(["game", "other"]) == {"game": 3, "other": 3}
    assert [one.text for one in store.documents_named(["game", "other"])] == ["room", "yes"]
    everything(store)


def test_two_who_begin_a_game_with_a_document_at_once(store: EventStore) -> None:
    for turn in range(10):
        game = f"game{turn}"
        rivals = [
            record_of(game, 0, CREATED, key=f"key{one}", document=Write(game, f"key{one}", expected=0))
            for one in range(6)
        ]
        in_threads(*(partial(store.record, [rival]) for rival in rivals))

        (winner,) = (rival.key for rival in rivals if not rival.refusal)
        document = store.document(game)
        assert document
        assert document.text == winner == store.read(game)[0].key


# What is refused


NO_IDS: list[Any] = [
    "", " ", "a b", "a\n", "\0", "ä", "\uff11", "a/b", "../a", "a'--", "%", "\x1b[2J", "\ud800",
    "a" * (MAX_ID_CHARACTERS + 1), None, 7, b"game", [],
]  # fmt: skip


@pytest.mark.parametrize("name", NO_IDS, ids=lambda value: ascii(value)[:40])
def test_a_bad_id_is_refused_wherever_it_is_given(store: EventStore, name: Any) -> None:  # noqa: ANN401 - anything else is refused
    """Of a game, a command, a document or a label, which alone may be empty; the message is printable."""
    attempts: list[Callable[[], object]] = [
        lambda: store.append(name, CREATED, expected=0, key="key", at=NOW),
        lambda: store.append("game", CREATED, expected=0, key=name, at=NOW),
        lambda: store.read(name),
        lambda: store.versions([name]),
        lambda: store.delete(name, at=NOW),
        lambda: store.watch(name),
        lambda: store.document(name),
        lambda: store.documents_named(["right", name]),
        lambda: store.labelled(name),
        lambda: store.write_document(name, "text", expected=0),
        lambda: store.write_document("name", "text", expected=0, label=name if name != "" else " "),
    ]
    words = r"^the id of a (game|command|document|label) has 1 to 64 letters, digits, - and _"
    for attempt in attempts:
        with pytest.raises(InvalidId, match=words) as refusal:
            attempt()
        assert str(refusal.value).isprintable()

    assert (feed_of(store), documents_of(store)) == ([], [])


@pytest.mark.parametrize("name", ["a", "A", "0", "-", "_", "a" * MAX_ID_CHARACTERS])
def test_the_shortest_and_the_longest_ids_are_taken(store: EventStore, name: str) -> None:
    store.append(name, CREATED, expected=0, key=name, at=NOW)

    assert [(record.game, record.key) for record in store.read(name)] == [(name, name)]


def test_ids_that_differ_in_case_are_two(store: EventStore) -> None:
    play(store, "game", game_of("1"))
    play(store, "Game", game_of("2"))

    assert events_of(store.read("game")) != events_of(store.read("Game"))
    assert ids(store.games(GameFilter(id_prefix="G"))) == ["Game"]
    small, large = (store.write_document(name, name, expected=0, label=name) for name in ("doc", "DOC"))
    assert (store.document("doc"), store.document("DOC")) == (small, large)
    assert store.labelled("DOC") == (large,)


MALFORMED: list[Any] = [
    events.GamePlacedCount(True),  # noqa: FBT003 - malformed on purpose
    events.GamePlacedCount(10),
    events.GamePlacedCount(1.0),  # type: ignore[arg-type]  # malformed on purpose
    events.PlayerPlacedToken(7, 0, Mark.X),
    events.PlayerPlacedToken(0, -1, Mark.X),
    events.PlayerPlacedToken(False, 0, Mark.X),  # noqa: FBT003 - malformed on purpose
    events.GameCompleted(1),  # type: ignore[arg-type]  # malformed on purpose
    events.GameCompleted(False),  # noqa: FBT003 - malformed on purpose
    events.PlayerJoined(Mark.X, "a\0b"),
    events.PlayerJoined(Mark.X, "\ud800"),
    events.PlayerJoined(Mark.X, "a" * 2001),
    events.PlayerJoined(Mark.X, 5),  # type: ignore[arg-type]  # malformed on purpose
]


@pytest.mark.parametrize("malformed", MALFORMED, ids=lambda value: ascii(value)[:40])
def test_an_event_that_would_not_read_back_is_refused(store: EventStore, malformed: Event) -> None:
    """With the whole command, even if an equal event was recorded before."""
    right = (events.GamePlacedCount(1), events.PlayerPlacedToken(0, 0, Mark.X), events.GameCompleted())
    for version in (0, 3):
        if version:
            store.append("right", right, expected=0, key="key", at=NOW)
        before = feed_of(store)
        with pytest.raises(MalformedRecord):
            store.append("right", (*PLACED, malformed), expected=version, key="next", at=NOW)

        assert feed_of(store) == before


def test_a_notice_to_one_player_is_not_recorded(store: EventStore) -> None:
    notice = events.PlayerNotifyIllegalMove(Mark.X, IllegalMoveReason.CELL_TAKEN)
    with pytest.raises(ImpossibleHistory, match="is not part of a game's record"):
        store.append("game", (*CREATED, notice), expected=0, key="key", at=NOW)

    assert feed_of(store) == []


def test_an_append_of_nothing_is_refused(store: EventStore) -> None:
    with pytest.raises(ValueError, match="at least one event"):
        store.append("game", (), expected=0, key="key", at=NOW)

    assert store.games() == ()


@pytest.mark.parametrize(
    "at", [-1, MAX_NUMBER + 1, FAR, True, 1.5, None, "now"], ids=lambda value: ascii(value)[:40]
)
def test_a_time_that_no_calendar_has_is_refused(store: EventStore, at: Any) -> None:  # noqa: ANN401 - anything else is refused
    """So everything recorded can be read, exported and imported."""
    with pytest.raises((NoughtsError, ValueError, TypeError)):
        store.append("game", CREATED, expected=0, key="key", at=at)

    assert feed_of(store) == []


@pytest.mark.parametrize("at", [0, MAX_NUMBER])
def test_the_first_and_the_last_time_are_taken(store: EventStore, at: int) -> None:
    store.append("game", CREATED, expected=0, key="key", at=at)

    assert store.games() == (GameSummary("game", at, 3, fold(CREATED), at),)


@pytest.mark.torture
@settings(max_examples=EXAMPLES)
@given(st.lists(names, min_size=1, max_size=40))
@example(["\U0001f3b2", "\u05d0\u05d1", "'; DROP TABLE games; --", "%s", "\\x00", "{}"])
@example([" Ann", "a\nb", "", "e\u0301", "\x1b[2J", "Bob", "bob", "bob\u2800"])
@example([clean_name("e\u0301"), "\U0001f468\U0001f3fd", "\ufdfa" * 32, '"', "NULL"])
@example(["".join(map(chr, range(0x4E00, 0x4E00 + 666)))])
@example(['a","b', "{a}", "\\x00", '\\"'])
def test_a_name_is_read_back_as_it_is(new_url: Callable[[], str], found: list[str]) -> None:
    joins = tuple(events.PlayerJoined(Mark.X, name) for name in found)
    with open_store(new_url()) as store:
        store.append("game", joins, expected=0, key="key", at=NOW)

        assert events_of(store.read("game")) == joins
        assert [row.x for row in store.catalogue(GameFilter(player=found[-1]), 9)] == [found[-1]]


# The feed


def test_pages_of_every_size_have_every_record_once(store: EventStore) -> None:
    assert store.feed() == ((), "")
    fill(store)
    records = everything(store)
    assert len(records) == 37

    for limit in (1, 2, 5, 36, 37, 38, FAR):
        assert feed_of(store, limit=limit) == records
    cursor = ""
    for number in range(len(records)):
        assert feed_of(store, cursor) == records[number:]
        assert store.feed(cursor, 0) == store.feed(cursor, -1) == ((), cursor)
        (found,), cursor = store.feed(cursor, 1)
        assert found == records[number]
    assert store.feed(cursor) == ((), cursor)


def test_the_feed_goes_on_after_its_end(store: EventStore) -> None:
    """`feed_end` is a cursor after everything, and what is recorded later comes after it."""
    assert store.feed(store.feed_end()) == ((), store.feed_end())
    play(store, "before", [CREATED])
    end = store.feed_end()
    assert store.feed(end) == ((), end)
    play(store, "before", [PLACED], 3)
    store.write_document("document", "text", expected=0)
    play(store, "after", [CREATED])

    assert feed_of(store, end) == [*store.read("before", 3), *store.read("after")]


NO_CURSORS: list[Any] = [
    "x", " ", "-1", "1.5", "1;", "\0", "\ud800", "\u0663", "9" * 400, "a,b,c", None, 7, b"", [],
]  # fmt: skip


@pytest.mark.parametrize("cursor", NO_CURSORS, ids=lambda value: ascii(value)[:20])
def test_what_is_not_a_cursor_is_refused(store: EventStore, cursor: Any) -> None:  # noqa: ANN401 - anything else is refused
    """By the feed, a watch of it and the changes of documents, with a message that can be printed."""
    fill(store)
    store.write_document("document", "text", expected=0)
    attempts: list[Callable[[], object]] = [
        lambda: store.feed(cursor),
        lambda: store.changed_documents(cursor),
        lambda: store.watch_all(cursor).wait(0),
    ]
    for attempt in attempts:
        with pytest.raises(InvalidArgument, match="is not a cursor of this store") as refusal:
            attempt()
        assert str(refusal.value).isprintable()


def test_many_threads_write_and_read_at_once(store: EventStore) -> None:
    def play_games(number: int) -> int:
        chance = Random(number)
        for name in range(3):
            game = f"game{number}-{name}"
            for done, turn in enumerate(turns(game, chance), 1):
                assert turn.append_to(store) == turn.next_version
                assert len(store.read(game)) == done
                check_whole(store.feed(limit=5)[0])
        return number

    outcomes = in_threads(*(partial(play_games, number) for number in range(8)))

    assert outcomes == list(range(8))
    assert len({record.game for record in everything(store)}) == 24


def test_writers_of_one_game_take_turns(store: EventStore) -> None:
    store.append("game", CREATED, expected=0, key="first", at=NOW)

    def count_up(name: str) -> int:
        wins = 0
        while wins < 10:
            version = store.versions(["game"])["game"]
            counted = [events.GamePlacedCount(wins)]
            try:
                store.append("game", counted, expected=version, key=f"{name}-{wins}", at=NOW)
            except StaleVersion:
                continue
            wins += 1
        return wins

    assert in_threads(*(partial(count_up, f"writer{each}") for each in range(6))) == [10] * 6

    _, *records = store.read("game")
    for each in range(6):
        mine = [record.key for record in records if record.key.startswith(f"writer{each}-")]
        assert mine == [f"writer{each}-{count}" for count in range(10)]
    assert len(records) == 60


# The catalogue


def ids(games: Sequence[GameSummary]) -> list[str]:
    return [each.id for each in games]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (GameFilter(), ["Empty_1", "given-up", "unfinished", "drawn", "lost", "won"]),
        (GameFilter(player="Ann"), ["unfinished", "lost", "won"]),
        (GameFilter(player="Zoë"), ["lost"]),
        (GameFilter(player="名前"), ["drawn"]),
        (GameFilter(player="ann"), []),
        (GameFilter(player=""), []),
        (GameFilter(player="An%"), []),
        (GameFilter(is_over=True), ["given-up", "drawn", "lost", "won"]),
        (GameFilter(is_over=False), ["Empty_1", "unfinished"]),
        (GameFilter(result="X"), ["won"]),
        (GameFilter(result="O"), ["given-up", "lost"]),
        (GameFilter(result="draw"), ["drawn"]),
        (GameFilter(result="x"), []),
        (GameFilter(id_prefix="w"), ["won"]),
        (GameFilter(id_prefix="unfinished"), ["unfinished"]),
        (GameFilter(id_prefix="unfinished1"), []),
        (GameFilter(id_prefix="_"), []),
        (GameFilter(id_prefix="%"), []),
        (GameFilter(player="Ann", is_over=False), ["unfinished"]),
        (GameFilter(player="Ann", result="O"), ["lost"]),
        (GameFilter(player="Bob", is_over=True, id_prefix="d"), ["drawn"]),
        (GameFilter(is_over=False, result="X"), []),
    ],
    ids=lambda value: repr(value) if isinstance(value, GameFilter) else "",
)
def test_games_are_found_by_a_filter(store: EventStore, wanted: GameFilter, found: list[str]) -> None:
    fill(store)

    assert ids(store.games(wanted)) == found


@pytest.mark.parametrize(
    "nobody", ["\0", "a\0b", "\ud800", "a" * 100_000], ids=lambda name: ascii(name[:8])
)
def test_a_filter_that_nothing_can_match_finds_nothing(store: EventStore, nobody: str) -> None:
    fill(store)

    assert store.games(GameFilter(player=nobody)) == ()
    assert store.games(GameFilter(result=nobody)) == ()
    assert store.games(GameFilter(id_prefix=nobody)) == ()


def test_the_catalogue_changes_with_the_records(store: EventStore) -> None:
    version = 0
    players = (None, None, None), ("Ann", None, None), *[("Ann", "Bob", None)] * 5, ("Ann", "Bob", "X")
    for number, step in enumerate(game_of(X_WINS, "Ann", "Bob")):
        version = store.append("game", step, expected=version, key=f"k{number}", at=NOW + number)
        with pytest.raises(StaleVersion):
            store.append("game", [events.PlayerJoined(Mark.X, "Eve")], expected=1, key="late", at=NOW)
        assert store.catalogue(GameFilter(), 9) == [CatalogueRow("game", NOW, *players[number])]

    game = fold(events_of(store.read("game")))
    assert store.games() == (GameSummary("game", NOW, version, game, NOW + 7),)


def test_games_of_equal_times_are_paged_by_id(store: EventStore) -> None:
    names = ["a", "B", "-", "_", "Z9", "ab", "A", "0", "aB", "b"]
    for number, name in enumerate(names):
        store.append(name, CREATED, expected=0, key="key", at=NOW + number // 6)
    right = sorted(((NOW + number // 6, name) for number, name in enumerate(names)), reverse=True)

    for size in range(1, 12):
        assert listed(store, size) == right
    assert store.games(limit=0) == store.games(limit=-1) == store.games(before=(NOW, "")) == ()
    assert store.games(before=(-1, "a")) == ()
    assert len(store.games(limit=FAR, before=(FAR, ""))) == 10


def test_a_game_that_is_against_the_rules_does_not_hide_the_others(store: EventStore) -> None:
    """The list shows that it exists, and why it has no position."""
    play(store, "won", game_of(X_WINS))
    store.append("odd", PLACED, expected=0, key="key", at=NOW + 1)
    play(store, "lost", game_of(O_WINS), at=NOW + 2)

    assert [(each.id, each.game is None, each.fault) for each in store.games()] == [
        ("lost", False, None),
        ("odd", True, "recorded, but against the rules"),
        ("won", False, None),
    ]


def matches(record: Sequence[Record], wanted: GameFilter) -> bool:
    """Return whether a game is wanted, by its events alone."""
    seats: dict[Mark, str] = {}
    result = None
    for event in events_of(record):
        match event:
            case events.PlayerJoined(mark, name):
                seats[mark] = name
            case events.GameWon(mark):
                result = mark.value
            case events.GameDraw():
                result = "draw"
            case _:
                pass
    return (
        (wanted.player is None or wanted.player in seats.values())
        and (wanted.is_over is None or wanted.is_over == (result is not None))
        and (wanted.result is None or wanted.result == result)
        and record[0].game.startswith(wanted.id_prefix)
    )


NAMES = ("Ann", "Bob", "Zoë")
FILTERS = game_filters(NAMES, ["", "a", "ab", "b", "z"])


@pytest.mark.torture
@settings(max_examples=EXAMPLES)
@given(
    games=st.dictionaries(st.text("ab-_AB", min_size=1, max_size=5), histories(), max_size=12),
    seats=st.lists(st.sampled_from(NAMES), min_size=12, max_size=12),
    times=st.lists(st.integers(NOW, NOW + 3), min_size=12, max_size=12),
    filters=st.lists(FILTERS, min_size=8, max_size=8),
    size=st.integers(1, 5),
)
def test_pages_of_any_filter_have_every_game_once(
    new_url: Callable[[], str],
    games: dict[str, tuple[Event, ...]],
    seats: list[str],
    times: list[int],
    filters: list[GameFilter],
    size: int,
) -> None:
    """They say the same as a look at every game's events."""
    with open_store(new_url()) as store:
        started = sorted(zip(times, games, strict=False), reverse=True)
        for (game, history), name, at in zip(games.items(), seats, times, strict=False):
            named = tuple(
                events.PlayerJoined(event.mark, name) if isinstance(event, events.PlayerJoined) else event
                for event in history
            )
            store.append(game, named, expected=0, key="key", at=at)
        for wanted in filters:
            right = [(at, game) for at, game in started if matches(store.read(game), wanted)]
            assert listed(store, size, wanted) == right


# Delete


def test_a_deleted_game_is_gone(store: EventStore) -> None:
    """With its records, its catalogue row and its document; only a deletion is left in the feed."""
    fill(store)
    before = feed_of(store)
    store.record(
        [record_of("game", 0, CREATED, key="a", document=Write("game", "room", expected=0, label="x"))]
    )
    (removed,) = store.read("game")
    end, documents_end = store.feed_end(), store.documents_end()
    store.write_document("other", "text", expected=0, label="x")

    store.delete("game", at=NOW + 5)

    assert store.read("game") == ()
    assert store.versions(["game", "won"]) == {"won": 22}
    assert "game" not in [row.game for row in store.catalogue(GameFilter(), 99)]
    assert store.document("game") is None
    assert [one.name for one in store.labelled("x")] == ["other"]
    assert [one.name for one in store.changed_documents()[0]] == ["other"]
    assert [one.name for one in store.changed_documents(documents_end)[0]] == ["other"]
    *rest, deletion = feed_of(store)
    assert rest == before
    assert deletion[:3] == ("game", 3, NOW + 5)
    assert deletion.text == f"deleted 1 {removed.hash.hex()}"
    assert deletion.is_deletion
    assert (deletion.events, deletion.next_version) == ((), 3)
    assert feed_of(store, end) == [deletion]
    everything(store)


def test_a_deletion_blocks_writers_with_an_old_view(store: EventStore) -> None:
    """Those that have seen the game, and those that create it, get NoSuchGame; nothing is recorded."""
    play(store, "game", [CREATED, PLACED])
    store.delete("game", at=NOW)
    before = feed_of(store)

    tries: list[tuple[int, tuple[Event, ...], str]]
    tries = [(6, PLACED, "a"), (0, CREATED, "b"), (3, PLACED, "k3"), (0, CREATED, "k0")]
    for expected, step, key in tries:
        with pytest.raises(NoSuchGame, match="game game was deleted"):
            store.append("game", step, expected=expected, key=key, at=NOW)
    with pytest.raises(NoSuchGame, match="game game was deleted"):
        store.restore([record_of("new", 0, CREATED, key="a"), record_of("game", 0, CREATED, key="b")])
    append = record_of("game", 6, PLACED, key="c", document=Write("game", "room", expected=0))
    store.record([append])
    assert isinstance(append.refusal, NoSuchGame)

    assert feed_of(store) == before
    assert store.document("game") is None
    assert store.games() == ()
    for after in (1, 3, 5, 6, FAR):
        with pytest.raises(NoSuchGame, match="game game was deleted"):
            store.read("game", after)
    assert store.read("game", -1) == ()


def test_only_a_game_that_exists_can_be_deleted(store: EventStore) -> None:
    with pytest.raises(NoSuchGame, match="no game has the id 'game'"):
        store.delete("game", at=NOW)
    play(store, "game", [CREATED])
    outcomes = in_threads(*[partial(store.delete, "game", at=NOW)] * 4)

    assert outcomes.count(None) == 1
    assert sum(isinstance(outcome, NoSuchGame) for outcome in outcomes) == 3
    assert len(feed_of(store)) == 1
    everything(store)


def play_and_delete(store: EventStore, deleter: EventStore) -> None:
    """Delete some games while they and others are played, and check what is left."""
    kept, games = [f"kept{number}" for number in range(3)], [f"game{number}" for number in range(6)]

    def delete(game: str) -> None:
        while not deleter.versions([game]):
            pass
        deleter.delete(game, at=NOW)

    outcomes = in_threads(
        *(partial(play, store, game, game_of(DRAW)) for game in (*kept, *games)),
        *(partial(delete, game) for game in games),
    )

    assert outcomes[:3] == [31] * 3
    assert all(outcome == 31 or isinstance(outcome, NoSuchGame) for outcome in outcomes[3:9])
    assert outcomes[9:] == [None] * 6
    assert store.versions([*kept, *games]) == dict.fromkeys(kept, 31)
    everything(store)


def test_games_are_deleted_while_they_are_played(store: EventStore) -> None:
    play_and_delete(store, store)


# Several store objects on one URL


def test_an_append_too_deep_in_the_stack_is_whole_or_not_there() -> None:
    recorded: set[str] = set()

    def descend(depth: int, game: str) -> int:
        if depth:
            return descend(depth - 1, game)
        return store.append(game, CREATED, expected=0, key="key", at=NOW)

    with open_store("memory:") as store:
        store.append("game", CREATED, expected=0, key="key", at=NOW)  # imports what is needed
        here = len(inspect.stack())
        for left in range(40):
            with suppress(RecursionError):
                descend(sys.getrecursionlimit() - here - left, f"game{left}")
                recorded.add(f"game{left}")

        assert {record.game for record in feed_of(store)} == {"game", *recorded}
        assert {row.id for row in store.games(limit=99)} == {"game", *recorded}
        assert 0 < len(recorded) < 40


def test_a_store_in_memory_is_not_shared() -> None:
    with open_store("memory:") as one, open_store("memory:") as other:
        play(one, "game", game_of(X_WINS))

        assert isinstance(one, MemoryStore)
        assert feed_of(other) == []


def test_games_are_there_when_the_store_is_opened_again(open_again: Callable[[], EventStore]) -> None:
    with open_again() as store:
        fill(store)
        before, cursor = store.feed()
    one, other = open_again(), open_again()

    assert tuple(feed_of(one)) == before
    play(other, "new", game_of(X_WINS), at=NOW + 6000)
    play(one, "newer", game_of(DRAW), at=NOW + 7000)
    play(other, "newest", game_of("5"), at=NOW + 8000)
    assert everything(one) == everything(other)
    assert tuple(everything(one)) == before + tuple(feed_of(other, cursor))
    assert ids(one.games(limit=3)) == ["newest", "newer", "new"]


def test_a_stale_view_is_noticed(open_again: Callable[[], EventStore]) -> None:
    one, other = open_again(), open_again()
    play(one, "game", game_of(""))
    play(other, "game", game_of("5")[1:], 3)

    with pytest.raises(StaleVersion, match="is at version 6, not at 3"):
        one.append("game", PLACED, expected=3, key="mine", at=NOW)
    assert one.append("game", PLACED, expected=6, key="mine", at=NOW) == 9
    assert other.append("game", PLACED, expected=6, key="mine", at=NOW) == 9
    assert one.write_document("doc", "1", expected=0).revision == 1
    assert other.write_document("doc", "2", expected=1).revision == 2
    with pytest.raises(StaleVersion, match="is at revision 2, not at 1"):
        one.write_document("doc", "3", expected=1)
    check_whole(feed_of(one))


def test_games_are_deleted_while_another_store_object_plays_them(
    open_again: Callable[[], EventStore],
) -> None:
    play_and_delete(open_again(), open_again())


@pytest.mark.parametrize("seen", [3, 6, 9])
def test_a_deletion_blocks_a_store_object_that_has_seen_less(
    open_again: Callable[[], EventStore], seen: int
) -> None:
    one, other, third = open_again(), open_again(), open_again()
    steps: list[tuple[Event, ...]] = [CREATED, PLACED, PLACED]
    play(one, "game", steps[: seen // 3])
    play(other, "game", steps[seen // 3 :], seen)
    other.delete("game", at=NOW)

    for store, step, expected in ((one, PLACED, seen), (third, PLACED, seen), (third, CREATED, 0)):
        with pytest.raises(NoSuchGame, match="game game was deleted"):
            store.append("game", step, expected=expected, key="late", at=NOW)
    append = record_of("game", seen, PLACED, key="later", document=Write("game", "room", expected=0))
    one.record([append])
    assert isinstance(append.refusal, NoSuchGame)
    with pytest.raises(NoSuchGame):
        one.restore([record_of("game", 0, CREATED, key="new")])
    assert one.document("game") is None
    with pytest.raises(NoSuchGame):
        one.delete("game", at=NOW)
    assert (one.read("game"), one.games()) == ((), ())
    assert [record.is_deletion for record in everything(one)] == [True]
    assert everything(one) == everything(other) == everything(third)
    assert verify(one) == (0, 0, ())


def test_rivals_with_one_document_for_two_games(open_again: Callable[[], EventStore]) -> None:
    stores = open_again(), open_again()
    for turn in range(20):
        rivals = [
            record_of(f"{side}{turn}", 0, CREATED, key=side, document=Write(f"d{turn}", side, expected=0))
            for side in "abcd"
        ]
        in_threads(*(partial(stores[one % 2].record, [rival]) for one, rival in enumerate(rivals)))

        (winner,) = (rival for rival in rivals if not rival.refusal)
        assert stores[0].versions(rival.game for rival in rivals) == {winner.game: 3}
        document = stores[1].document(f"d{turn}")
        assert document
        assert document.text == winner.key
    everything(stores[0])


def test_rival_restores_are_whole_or_not_at_all(open_again: Callable[[], EventStore]) -> None:
    stores = open_again(), open_again()
    for turn in range(20):

        def restore(side: str, store: EventStore, turn: int = turn) -> str:
            names = (f"{side}{turn}", f"shared{turn}")
            store.restore([record_of(name, 0, CREATED, key=side) for name in names])
            return side

        outcomes = in_threads(
            *(partial(restore, side, stores[one % 2]) for one, side in enumerate("abcd"))
        )

        (winner,) = (outcome for outcome in outcomes if isinstance(outcome, str))
        assert sum(isinstance(outcome, StaleVersion) for outcome in outcomes) == 3
        assert [record.key for record in stores[0].read(f"shared{turn}")] == [winner]
        assert stores[1].versions(f"{side}{turn}" for side in "abcd") == {f"{winner}{turn}": 3}
    everything(stores[0])


def test_the_end_of_a_game_is_catalogued_after_others_wrote(open_again: Callable[[], EventStore]) -> None:
    one, other = open_again(), open_again()
    *steps, end = game_of(X_WINS)
    version = play(one, "won", steps)
    play(other, "meanwhile", game_of("5"))

    one.append("won", end, expected=version, key="end", at=NOW)

    assert ids(other.games(GameFilter(result="X"))) == ["won"]
    everything(other)
