"""What every store promises, tried on each of them alike."""

from __future__ import annotations

import os
from functools import partial
from random import Random
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from at_once import in_threads
from noughts import Mark, events, fold
from noughts.core.errors import (
    ImpossibleHistory,
    InvalidId,
    MalformedRecord,
    NoughtsError,
    Reason,
    StaleVersion,
)
from noughts.core.player import clean_name
from noughts.store.base import Wanted
from noughts.store.chain import LATEST, LONGEST_ID
from noughts.store.ledger import Append, entries
from noughts.store.memory import MemoryStore
from noughts.store.opening import open_store
from noughts.store.verifying import Verified, verify
from played import DRAW, NOW, O_WINS, X_WINS, check_whole, feed_of, fill, game_of, play
from store_games import turns
from strategies import histories, names

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from noughts import Event
    from noughts.store.base import EventStore, Listed
    from noughts.store.chain import Recorded
    from postgres_server import Server

EXAMPLES = 60 if os.environ.get("NOUGHTS_TORTURE") else 12
"""How many examples a property looks at: each makes stores of its own, which takes longest."""

CREATED = (events.GameCreated(), events.GameReady(), events.PlayerActive(Mark.X))
PLACED = (events.PlayerPlacedToken(1, 1, Mark.X), events.GamePlacedCount(1), events.PlayerActive(Mark.O))

FAR = 2**63
"""A number that no place in a store has, and that fits into no column."""


# Append and read


def test_what_was_appended_is_read_back(store: EventStore) -> None:
    """With its place, its time and its key, and the version as the answer."""
    assert store.append("game", CREATED, expected=0, key="first", at=NOW) == 3
    assert store.append("game", PLACED, expected=3, key="second", at=NOW + 1) == 6

    records = store.read("game")
    assert tuple(record.event for record in records) == CREATED + PLACED
    assert [record.version for record in records] == [1, 2, 3, 4, 5, 6]
    assert [record.position for record in records] == [1, 2, 3, 4, 5, 6]
    assert [record.key for record in records] == ["first"] * 3 + ["second"] * 3
    assert [record.at for record in records] == [NOW] * 3 + [NOW + 1] * 3
    assert {record.game for record in records} == {"game"}


def test_a_game_is_read_from_a_version_on(store: EventStore) -> None:
    """Whatever is asked for: less than nothing, the end, and what is beyond it."""
    play(store, "game", game_of(X_WINS))
    play(store, "other", game_of(DRAW))
    everything = store.read("game")

    for after in range(-2, len(everything) + 3):
        assert store.read("game", after) == everything[max(after, 0) :]


def test_a_game_that_nobody_created_has_no_events(store: EventStore) -> None:
    """It is no error to ask: there is nothing."""
    play(store, "game", game_of(X_WINS))

    assert store.read("another") == ()
    assert store.read("gam") == ()
    assert store.read("another", 3) == ()


@pytest.mark.parametrize("after", [FAR, FAR - 1, 10**30])
def test_a_place_beyond_all_places_is_one_where_nothing_stands(store: EventStore, after: int) -> None:
    """However far out it is: somebody may have typed it."""
    play(store, "game", game_of(X_WINS))

    assert store.read("game", after) == ()
    assert store.feed(after) == ()
    assert [listed.id for listed in store.games(before=after)] == ["game"]


@pytest.mark.parametrize("expected", [4, 2, 1, 0, 3000, FAR])
def test_an_append_at_another_version_records_nothing(store: EventStore, expected: int) -> None:
    """Be it too early or too late; the sentence names both versions."""
    store.append("game", CREATED, expected=0, key="first", at=NOW)
    before = store.feed()

    with pytest.raises(StaleVersion, match=rf"game game is at version 3, not at {expected}:"):
        store.append("game", PLACED, expected=expected, key="second", at=NOW)

    assert store.feed() == before


def test_a_new_game_starts_at_version_0(store: EventStore) -> None:
    """An append past the end of a game that is not there makes no game."""
    with pytest.raises(StaleVersion, match="game game is at version 0, not at 3:"):
        store.append("game", PLACED, expected=3, key="key", at=NOW)

    assert store.feed() == ()
    assert store.games() == ()


@pytest.mark.parametrize("expected", [-1, -3])
def test_no_version_is_below_0(store: EventStore, expected: int) -> None:
    """Not even for somebody who appends again what stands there."""
    store.append("game", CREATED, expected=0, key="key", at=NOW)
    with pytest.raises((StaleVersion, ValueError)):
        store.append("game", CREATED, expected=expected, key="key", at=NOW)
    with pytest.raises((StaleVersion, ValueError)):
        store.append("game", CREATED[expected:], expected=expected, key="key", at=NOW)

    assert len(store.feed()) == 3


def test_one_of_two_at_one_version_wins(store: EventStore) -> None:
    """The other is refused, and nothing of theirs is recorded."""
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
        winner = f"key{outcomes.index(3)}"
        assert [record.key for record in store.read(game)] == [winner] * 3
    check_whole(feed_of(store))


def test_an_append_that_is_tried_again_is_recorded_once(store: EventStore) -> None:
    """It answers as it did the first time, also when the game has gone on since."""
    for _ in range(2):
        assert store.append("game", CREATED, expected=0, key="first", at=NOW) == 3
    assert store.append("game", PLACED, expected=3, key="second", at=NOW) == 6
    for _ in range(2):
        assert store.append("game", CREATED, expected=0, key="first", at=NOW + 9) == 3
        assert store.append("game", PLACED, expected=3, key="second", at=NOW + 9) == 6

    assert [(record.key, record.at) for record in store.read("game")] == [("first", NOW)] * 3 + [
        ("second", NOW)
    ] * 3


def test_an_append_that_many_try_at_once_is_recorded_once(store: EventStore) -> None:
    """All get the same answer, though they share one commit."""
    for turn in range(10):
        game = f"game{turn}"
        for expected, step in ((0, CREATED), (3, PLACED)):
            again = partial(store.append, game, step, expected=expected, key=f"key{expected}", at=NOW)
            outcomes = in_threads(*[again] * 8)

            assert outcomes == [expected + 3] * 8
        assert len(store.read(game)) == 6
    check_whole(feed_of(store))


def test_an_append_that_stands_twice_in_one_commit_is_recorded_once(store: EventStore) -> None:
    """Whoever tried it twice at once gets one answer; where all is to be recorded, a rival spoils it."""
    for game, version, step in (("new", 0, CREATED), ("known", 3, PLACED)):
        if version:
            play(store, game, [CREATED])
        store.restore([Append(game, version, entries(step, "key", NOW)) for _ in range(2)])
        assert len(store.read(game)) == version + 3

        with pytest.raises(StaleVersion):
            store.restore([Append(game, version + 3, entries(PLACED, key, NOW)) for key in "ab"])
        assert store.read(game, version + 3) == ()
    check_whole(feed_of(store))


@pytest.mark.parametrize(
    "others",
    [PLACED, CREATED[:2], CREATED[1:], (*CREATED, PLACED[0]), CREATED[::-1]],
    ids=["others", "fewer", "without the first", "more", "turned round"],
)
def test_a_key_does_not_stand_for_other_events(store: EventStore, others: tuple[Event, ...]) -> None:
    """Somebody who tries again tries the same."""
    store.append("game", CREATED, expected=0, key="key", at=NOW)
    store.append("game", PLACED, expected=3, key="next", at=NOW)
    before = store.feed()

    with pytest.raises(StaleVersion):
        store.append("game", others, expected=0, key="key", at=NOW)

    assert store.feed() == before


def test_the_same_events_under_another_key_are_another_command(store: EventStore) -> None:
    """So they come too late."""
    store.append("game", CREATED, expected=0, key="key", at=NOW)

    with pytest.raises(StaleVersion):
        store.append("game", CREATED, expected=0, key="another", at=NOW)


# What is refused


NO_IDS: list[Any] = [
    "",
    " ",
    "a b",
    "a\n",
    "\0",
    "ä",
    "\uff11",
    "a/b",
    "../a",
    "a'--",
    "%",
    "\x1b[2J",
    "\ud800",
    "a" * (LONGEST_ID + 1),
    None,
    7,
    b"game",
]


@pytest.mark.parametrize("name", NO_IDS, ids=lambda value: ascii(value)[:40])
def test_a_bad_id_is_refused_wherever_it_is_given(store: EventStore, name: Any) -> None:  # noqa: ANN401
    """For a game, and for a command; with a sentence that can be printed."""
    attempts: list[Callable[[], object]] = [
        lambda: store.append(name, CREATED, expected=0, key="key", at=NOW),
        lambda: store.append("game", CREATED, expected=0, key=name, at=NOW),
        lambda: store.read(name),
    ]
    if name is not None:  # which stands for all games
        attempts.append(lambda: store.watch(name))
    for attempt in attempts:
        with pytest.raises(InvalidId, match="has 1 to 64 letters, digits, - and _") as refusal:
            attempt()
        assert str(refusal.value).isprintable()

    assert store.feed() == ()


@pytest.mark.parametrize("name", ["a", "A", "0", "-", "_", "a" * LONGEST_ID])
def test_an_id_is_as_short_or_as_long_as_is_said(store: EventStore, name: str) -> None:
    """Both ends are taken."""
    store.append(name, CREATED, expected=0, key=name, at=NOW)

    assert [record.game for record in store.read(name)] == [name] * 3


def test_ids_that_differ_in_case_are_two(store: EventStore) -> None:
    """No store takes one game for another."""
    play(store, "game", game_of("1"))
    play(store, "Game", game_of("2"))

    assert store.read("game") != store.read("Game")
    assert [listed.id for listed in store.games(Wanted(beginning="G"))] == ["Game"]


MALFORMED: list[Any] = [
    events.GamePlacedCount(True),  # noqa: FBT003 - that is what is wrong with it
    events.GamePlacedCount(10),
    events.GamePlacedCount(1.0),  # type: ignore[arg-type]  # that is what is wrong with it
    events.PlayerPlacedToken(7, 0, Mark.X),
    events.PlayerPlacedToken(0, -1, Mark.X),
    events.PlayerPlacedToken(False, 0, Mark.X),  # noqa: FBT003 - the same
    events.GameCompleted(1),  # type: ignore[arg-type]  # the same
    events.GameCompleted(False),  # noqa: FBT003 - the same
    events.PlayerJoined(Mark.X, "a\0b"),
    events.PlayerJoined(Mark.X, "\ud800"),
    events.PlayerJoined(Mark.X, 5),  # type: ignore[arg-type]  # the same
    events.PlayerActive("X"),  # type: ignore[arg-type]  # the same
    events.PlayerActive(None),  # type: ignore[arg-type]  # the same
]


@pytest.mark.parametrize("malformed", MALFORMED, ids=lambda value: ascii(value)[:40])
def test_an_event_that_could_not_be_read_again_is_refused(store: EventStore, malformed: Event) -> None:
    """And nothing of what was to be recorded with it; also when an equal one was recorded before."""
    right = (events.GamePlacedCount(1), events.PlayerPlacedToken(0, 0, Mark.X), events.GameCompleted())
    for known, version in ((False, 0), (True, 3)):
        if known:
            store.append("right", right, expected=0, key="key", at=NOW)
        before = store.feed()
        with pytest.raises(MalformedRecord):
            store.append("right", (*PLACED, malformed), expected=version, key="next", at=NOW)

        assert store.feed() == before


def test_what_was_said_to_one_player_alone_is_not_recorded(store: EventStore) -> None:
    """A refused move is no part of a game."""
    notice = events.PlayerNotifyIllegalMove(Mark.X, Reason.CELL_TAKEN)
    with pytest.raises(ImpossibleHistory, match="is no part of a game's record"):
        store.append("game", (*CREATED, notice), expected=0, key="key", at=NOW)

    assert store.feed() == ()


def test_an_append_of_nothing_is_refused(store: EventStore) -> None:
    """A command that led to nothing has nothing to record."""
    with pytest.raises(ValueError, match="one event at least"):
        store.append("game", (), expected=0, key="key", at=NOW)

    assert store.games() == ()


@pytest.mark.parametrize(
    "at", [-1, LATEST + 1, FAR, True, 1.5, None, "now"], ids=lambda value: ascii(value)[:40]
)
def test_a_time_that_no_calendar_has_is_refused(store: EventStore, at: Any) -> None:  # noqa: ANN401
    """So that whatever was recorded can be read, exported and imported."""
    with pytest.raises((NoughtsError, ValueError, TypeError)):
        store.append("game", CREATED, expected=0, key="key", at=at)

    assert store.feed() == ()


@pytest.mark.parametrize("at", [0, LATEST])
def test_the_first_and_the_last_time_are_taken(store: EventStore, at: int) -> None:
    """From 1970 to the year 9999."""
    store.append("game", CREATED, expected=0, key="key", at=at)

    assert store.games()[0].started == at


@settings(max_examples=EXAMPLES)
@given(st.lists(names, min_size=1, max_size=40))
@example(["\U0001f3b2", "\u05d0\u05d1", "'; DROP TABLE games; --", "%s", "\\x00", "{}"])
@example([" Ann", "a\nb", "", "e\u0301", "\x1b[2J", "Bob", "bob", "bob\u2800"])
@example([clean_name("e\u0301"), "\U0001f468\U0001f3fd", "\ufdfa" * 32, '"', "NULL"])
def test_a_name_is_read_back_as_it_is(
    postgres: Server, tmp_path_factory: pytest.TempPathFactory, found: list[str]
) -> None:
    """Whatever it is, in any script, even if nobody could enter it now."""
    joins = [events.PlayerJoined(Mark.X, name) for name in found]
    place = tmp_path_factory.mktemp("store") / "games.db"
    for each in ("memory:", f"sqlite:{place}", postgres.place()):
        with open_store(each) as store:
            store.append("game", joins, expected=0, key="key", at=NOW)

            assert [record.event for record in store.read("game")] == joins
            wanted = Wanted(player=found[-1])
            assert [listing.x for listing in store.catalogue(wanted, 9)] == [found[-1]]


# The feed


def test_the_feed_tells_everything_in_order(store: EventStore) -> None:
    """Without gaps, page by page, from any place on."""
    fill(store)
    everything = store.feed()

    check_whole(everything)
    for after in range(-1, len(everything) + 2):
        for limit in (1, 4, 1000):
            assert store.feed(after, limit) == everything[max(after, 0) :][:limit]


def test_a_feed_of_nothing_is_empty(store: EventStore) -> None:
    """Both where there is nothing, and where nothing is asked for."""
    assert store.feed() == ()
    fill(store)
    assert store.feed(limit=0) == ()


def test_every_record_has_the_hash_that_anybody_can_work_out(store: EventStore) -> None:
    """SHA-256 over the hash before it, and over what was recorded."""
    fill(store)

    check_whole(store.feed())
    assert verify(store) == Verified(games=6, events=len(store.feed()))


def test_an_empty_store_is_sound(store: EventStore) -> None:
    """There is nothing to find fault with."""
    assert verify(store) == Verified(0, 0)
    assert store.games() == ()


def test_many_threads_write_and_read_at_once(store: EventStore) -> None:
    """Each plays its games; everything is there once, in order, and sound."""

    def play_games(number: int) -> int:
        chance = Random(number)
        for name in range(3):
            game = f"game{number}-{name}"
            for turn in turns(game, chance):
                assert turn.append_to(store) == turn.expected + len(turn.events)
                assert len(store.read(game)) == turn.expected + len(turn.events)
                check = store.feed(limit=5)
                assert [record.position for record in check] == list(range(1, len(check) + 1))
        return number

    outcomes = in_threads(*(partial(play_games, number) for number in range(8)))

    assert outcomes == list(range(8))
    check_whole(feed_of(store))
    assert verify(store).games == 24


def test_writers_of_one_game_take_turns(store: EventStore) -> None:
    """Whoever was refused looks again; the game grows by one command at a time."""
    store.append("game", CREATED, expected=0, key="first", at=NOW)
    won: list[str] = []

    def count_up(name: str) -> int:
        wins = 0
        while wins < 10:
            version = len(store.read("game"))
            try:
                store.append(
                    "game", [events.GamePlacedCount(wins % 10)], expected=version, key=name, at=NOW
                )
            except StaleVersion:
                continue
            wins += 1
        won.append(name)
        return wins

    assert in_threads(*(partial(count_up, f"writer{each}") for each in range(6))) == [10] * 6

    records = store.read("game")
    assert len(records) == 3 + 60
    for name in won:
        counts = [record.event for record in records if record.key == name]
        assert counts == [events.GamePlacedCount(count) for count in range(10)]


# The list of games


def ids(listed: Sequence[Listed]) -> list[str]:
    """Name the games of a list."""
    return [each.id for each in listed]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted(), ["Empty_1", "given-up", "unfinished", "drawn", "lost", "won"]),
        (Wanted(player="Ann"), ["unfinished", "lost", "won"]),
        (Wanted(player="Zoë"), ["lost"]),
        (Wanted(player="名前"), ["drawn"]),
        (Wanted(player="ann"), []),
        (Wanted(player=""), []),
        (Wanted(player="An%"), []),
        (Wanted(is_over=True), ["given-up", "drawn", "lost", "won"]),
        (Wanted(is_over=False), ["Empty_1", "unfinished"]),
        (Wanted(result="X"), ["won"]),
        (Wanted(result="O"), ["given-up", "lost"]),
        (Wanted(result="draw"), ["drawn"]),
        (Wanted(result="x"), []),
        (Wanted(beginning="w"), ["won"]),
        (Wanted(beginning="unfinished"), ["unfinished"]),
        (Wanted(beginning="unfinished1"), []),
        (Wanted(beginning="_"), []),
        (Wanted(beginning="%"), []),
        (Wanted(player="Ann", is_over=False), ["unfinished"]),
        (Wanted(player="Ann", result="O"), ["lost"]),
        (Wanted(player="Bob", is_over=True, beginning="d"), ["drawn"]),
        (Wanted(is_over=False, result="X"), []),
    ],
    ids=lambda value: repr(value) if isinstance(value, Wanted) else "",
)
def test_games_are_found_by_what_is_asked(store: EventStore, wanted: Wanted, found: list[str]) -> None:
    """By player, by end, by result, by how the id begins, and by all of them; the newest first."""
    fill(store)

    assert ids(store.games(wanted)) == found


@pytest.mark.parametrize(
    "nobody", ["\0", "a\0b", "\ud800", "a" * 100_000], ids=lambda name: ascii(name[:8])
)
def test_nothing_is_found_for_what_nobody_can_be_called(store: EventStore, nobody: str) -> None:
    """It is no error to ask, whatever was typed."""
    fill(store)

    assert store.games(Wanted(player=nobody)) == ()
    assert store.games(Wanted(result=nobody)) == ()
    assert store.games(Wanted(beginning=nobody)) == ()


def test_the_list_says_how_each_game_stands(store: EventStore) -> None:
    """Its number, its start, its version, its state, and its last place in the feed."""
    fill(store)

    for number, listed in enumerate(reversed(store.games()), start=1):
        records = store.read(listed.id)
        assert listed.number == number
        assert listed.started == records[0].at
        assert listed.version == len(records)
        assert listed.game == fold(record.event for record in records)
        assert listed.position == records[-1].position


def test_a_list_has_as_many_games_as_asked_for(store: EventStore) -> None:
    """None, if none is asked for."""
    fill(store)

    assert store.games(limit=0) == ()
    assert ids(store.games(limit=2)) == ["Empty_1", "given-up"]
    assert len(store.games(limit=100)) == 6
    assert store.games(before=1) == ()
    assert store.games(before=0) == ()
    assert store.games(before=-1) == ()


def test_a_game_whose_events_make_no_game_does_not_hide_the_others(store: EventStore) -> None:
    """The list shows that there is something, and goes on."""
    play(store, "won", game_of(X_WINS))
    store.append("odd", PLACED, expected=0, key="key", at=NOW)
    play(store, "lost", game_of(O_WINS))

    assert [(listed.id, listed.game is None) for listed in store.games()] == [
        ("lost", False),
        ("odd", True),
        ("won", False),
    ]


def matches(record: Sequence[Recorded], wanted: Wanted) -> bool:
    """Tell whether a game is wanted, by looking at its events alone."""
    seats = [record.event.name for record in record if isinstance(record.event, events.PlayerJoined)]
    result = None
    for each in record:
        match each.event:
            case events.GameWon(mark):
                result = mark.value
            case events.GameDraw():
                result = "draw"
            case _:
                pass
    return (
        (wanted.player is None or wanted.player in seats)
        and (wanted.is_over is None or wanted.is_over == (result is not None))
        and (wanted.result is None or wanted.result == result)
        and record[0].game.startswith(wanted.beginning)
    )


NAMES = ("Ann", "Bob", "Zoë")
ASKED = st.builds(
    Wanted,
    player=st.none() | st.sampled_from(NAMES),
    is_over=st.none() | st.booleans(),
    result=st.none() | st.sampled_from(["X", "O", "draw"]),
    beginning=st.sampled_from(["", "a", "ab", "b", "z"]),
)


@settings(max_examples=EXAMPLES)
@given(
    games=st.dictionaries(st.text("ab-_", min_size=1, max_size=5), histories(), max_size=12),
    seats=st.lists(st.sampled_from(NAMES), min_size=12, max_size=12),
    asked=st.lists(ASKED, min_size=8, max_size=8),
    size=st.integers(1, 5),
)
def test_paging_neither_misses_a_game_nor_tells_one_twice(
    postgres: Server,
    tmp_path_factory: pytest.TempPathFactory,
    games: dict[str, tuple[Event, ...]],
    seats: list[str],
    asked: list[Wanted],
    size: int,
) -> None:
    """Whatever is wanted, and however many at a time: the same as looking at every game's events."""
    place = tmp_path_factory.mktemp("store") / "games.db"
    for each in ("memory:", f"sqlite:{place}", postgres.place()):
        with open_store(each) as store:
            for (game, history), name in zip(games.items(), seats, strict=False):
                named = tuple(
                    events.PlayerJoined(event.mark, name)
                    if isinstance(event, events.PlayerJoined)
                    else event
                    for event in history
                )
                store.append(game, named, expected=0, key="key", at=NOW)
            for wanted in asked:
                right = [game for game in reversed(games) if matches(store.read(game), wanted)]
                pages: list[Listed] = []
                while page := store.games(wanted, limit=size, before=pages[-1].number if pages else None):
                    assert len(page) <= size
                    pages += page
                assert ids(pages) == right


# Watching


def test_a_watch_tells_what_was_there_and_then_what_comes(store: EventStore) -> None:
    """Of one game, from a version on; once each."""
    steps = game_of(X_WINS)
    version = play(store, "game", steps[:2])
    with store.watch("game", after=2) as watch:
        assert watch.wait(60) == store.read("game", 2)
        assert watch.wait(0) == ()
        play(store, "other", game_of(DRAW))
        play(store, "game", steps[2:3], version)
        assert watch.wait(60) == store.read("game", version)
        assert watch.wait(0) == ()


def test_a_watch_of_all_games_tells_of_all(store: EventStore) -> None:
    """From a position on."""
    fill(store)
    with store.watch(after=5) as watch:
        assert watch.wait(60) == store.feed(5)
        play(store, "new", game_of(O_WINS))
        assert [record.game for record in watch.wait(60)] == ["new"] * len(store.read("new"))
        assert watch.wait(0) == ()


def test_a_game_can_be_watched_before_it_is_created(store: EventStore) -> None:
    """Somebody may be waiting for it."""
    seen: list[Recorded] = []
    with store.watch("game") as watch:
        assert watch.wait(0) == ()
        assert watch.wait(0.01) == ()

        def follow() -> None:
            while not (seen and isinstance(seen[-1].event, events.GameCompleted)):
                seen.extend(watch.wait())

        in_threads(follow, partial(play, store, "game", game_of(X_WINS)))
    assert tuple(seen) == store.read("game")


def test_closing_a_watch_ends_it_for_whoever_waits(store: EventStore) -> None:
    """They are told that there is no more; and there is none."""
    watch = store.watch("game")
    seen: list[Recorded] = []

    def follow() -> str:
        for record in watch:
            seen.append(record)
            if len(seen) == 3:
                closer.start()
        return "ended"

    closer = Thread(target=watch.close, daemon=True)

    def begin() -> int:
        return store.append("game", CREATED, expected=0, key="key", at=NOW)

    assert in_threads(follow, begin) == ["ended", 3]
    assert tuple(seen) == store.read("game")
    store.append("game", PLACED, expected=3, key="next", at=NOW)
    assert watch.wait() == ()
    assert list(watch) == []


def test_several_watch_while_several_write(store: EventStore) -> None:
    """Each sees everything that concerns it, once, in order."""
    games = [f"game{number}" for number in range(4)]
    total = {game: sum(map(len, game_of(DRAW))) for game in games}

    def follow(game: str | None) -> tuple[Recorded, ...]:
        wanted = total[game] if game else sum(total.values())
        seen: list[Recorded] = []
        with store.watch(game) as watch:
            while len(seen) < wanted:
                seen += watch.wait()
        return tuple(seen)

    writers = [partial(play, store, game, game_of(DRAW)) for game in games]
    watchers = [partial(follow, game) for game in (None, None, *games)]
    outcomes = in_threads(*writers, *watchers)

    assert outcomes[4:6] == [store.feed()] * 2
    assert outcomes[6:] == [store.read(game) for game in games]


# A store in memory


def test_a_store_in_memory_is_nobody_elses() -> None:
    """Each has its own games."""
    with open_store("memory:") as one, open_store("memory:") as other:
        play(one, "game", game_of(X_WINS))

        assert isinstance(one, MemoryStore)
        assert other.feed() == ()


def test_what_was_appended_is_there_when_the_store_is_opened_again(
    open_again: Callable[[], EventStore],
) -> None:
    """And another store on the same place sees it, and writes on."""
    with open_again() as store:
        fill(store)
        before = feed_of(store)
    one, other = open_again(), open_again()

    assert feed_of(one) == before
    play(other, "new", game_of(X_WINS))
    play(one, "newer", game_of(DRAW))
    play(other, "newest", game_of("5"))
    assert feed_of(one) == feed_of(other)
    check_whole(feed_of(one))
    assert ids(one.games(limit=3)) == ["newest", "newer", "new"]


def test_a_store_that_has_seen_less_is_refused_like_any_other(
    open_again: Callable[[], EventStore],
) -> None:
    """Two stores on one place that append at one version: one wins, whatever each remembers."""
    one, other = open_again(), open_again()
    play(one, "game", game_of(""))
    play(other, "game", game_of("5")[1:], 3)

    with pytest.raises(StaleVersion, match="is at version 6, not at 3"):
        one.append("game", PLACED, expected=3, key="mine", at=NOW)
    assert one.append("game", PLACED, expected=6, key="mine", at=NOW) == 9
    assert other.append("game", PLACED, expected=6, key="mine", at=NOW) == 9
    check_whole(feed_of(one))


def test_the_end_of_a_game_is_listed_by_a_store_that_has_seen_less(
    open_again: Callable[[], EventStore],
) -> None:
    """Another store has written meanwhile: the end goes behind that, with its line in the list."""
    one, other = open_again(), open_again()
    *steps, end = game_of(X_WINS)
    version = play(one, "won", steps)
    play(other, "meanwhile", game_of("5"))

    one.append("won", end, expected=version, key="end", at=NOW)

    check_whole(feed_of(one))
    assert ids(other.games(Wanted(result="X"))) == ["won"]


def test_many_games_that_end_in_one_commit_are_listed(store: EventStore) -> None:
    """Each with its own result, and more of them than one statement takes."""
    games = {f"game-{number}": (X_WINS, O_WINS, DRAW)[number % 3] for number in range(330)}
    begun, ended = [], []
    for name, moves in games.items():
        *steps, end = game_of(moves)
        events_before = [event for step in steps for event in step]
        begun.append(Append(name, 0, entries(events_before, "begin", NOW)))
        ended.append(Append(name, len(events_before), entries(end, "end", NOW)))

    store.record(begun)
    store.record(ended[:20])
    store.record(ended[20:])

    for result, moves in (("X", X_WINS), ("O", O_WINS), ("draw", DRAW)):
        found = store.games(Wanted(result=result), limit=400)
        assert {*ids(found)} == {name for name, played in games.items() if played == moves}
