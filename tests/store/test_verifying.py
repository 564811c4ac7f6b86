"""Whatever was changed behind a store's back is found, and the first bad record is named."""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from noughts.core.errors import CorruptStore
from noughts.store.opening import open_store
from noughts.store.verifying import Verified, verify
from played import X_WINS, feed_of, fill, game_of, play

if TYPE_CHECKING:
    from collections.abc import Iterator

    from noughts.store.base import EventStore, Wanted
    from noughts.store.chain import Recorded
    from noughts.store.ledger import Listing


class Damaged:
    """A store that was well, and what somebody did to it with the tools of the database."""

    def __init__(self, url: str) -> None:
        self.url = url
        with open_store(url) as store:
            fill(store)
            self.records = feed_of(store)

    def do(self, statement: str, *values: object) -> None:
        """Change something; tables are called as SQLite has them."""
        if self.url.startswith("sqlite:"):
            database = sqlite3.connect(Path(self.url.removeprefix("sqlite:")))
            database.execute(statement, values)
            database.commit()
            database.close()
        else:
            theirs = statement.replace("events", "noughts_events").replace("games", "noughts_games")
            with psycopg.connect(self.url) as connection:
                connection.execute(theirs.replace("?", "%s").encode(), values or None)

    def verdict(self) -> str:
        """Return what is found."""
        with open_store(self.url) as store, pytest.raises(CorruptStore) as found:
            verify(store)
        assert str(found.value).isprintable()
        return str(found.value)


@pytest.fixture
def damaged(url: str) -> Damaged:
    """Return a store that is well, as yet."""
    return Damaged(url)


NAMED = "record 31 has changed since it was recorded: event 9 of game 'lost'"

CHANGED: dict[str, tuple[object, ...]] = {
    "the text": ("event = replace(event, 'X', 'O') || ?", " "),
    "one letter": ("event = event || ?", " "),
    "the hash": ("hash = ?", bytes(32)),
    "the length of the hash": ("hash = ?", b"0"),
    "the key": ("key = ?", "another"),
    "the time": ("at = at + ?", 1),
    "everything": ("event = ?, key = '', at = 0", ""),
}


def change(damaged: Damaged, what: str) -> None:
    """Change something in record 31, and in one that comes later in the same game."""
    changes, value = CHANGED[what]
    damaged.do(f"UPDATE events SET {changes} WHERE position IN (31, 34)", value)  # noqa: S608 - the above


@pytest.mark.parametrize("what", CHANGED)
def test_a_changed_record_is_named(damaged: Damaged, what: str) -> None:
    """Whatever was changed in it; the first, if there are several."""
    change(damaged, what)

    assert NAMED in damaged.verdict()


@pytest.mark.parametrize("what", CHANGED)
def test_a_changed_record_is_not_read(damaged: Damaged, what: str) -> None:
    """It is never taken for the game; other games are read as before, and the list tells what it can."""
    change(damaged, what)
    with open_store(damaged.url) as store:
        with pytest.raises(CorruptStore, match="record 31 has changed"):
            store.read("lost")
        with pytest.raises(CorruptStore, match="record 31 has changed"):
            store.feed()
        assert len(store.feed(limit=30)) == 30
        assert store.read("won") == tuple(record for record in damaged.records if record.game == "won")
        listed = {each.id: each.game is None for each in store.games()}
        assert listed.pop("lost")
        assert listed == dict.fromkeys(["won", "drawn", "unfinished", "given-up", "Empty_1"], False)


def test_a_record_with_all_its_hashes_forged_is_found_by_what_follows(damaged: Damaged) -> None:
    """Whoever changes a record and its hash has to change all that follow in the game."""
    record, before = damaged.records[30], damaged.records[29]
    sealed = f"{record.game}\n{record.version}\n{record.at}\nforged\n{record.text}"
    forged = sha256(before.hash + sealed.encode()).digest()
    damaged.do("UPDATE events SET key = 'forged', hash = ? WHERE position = 31", forged)

    assert "record 32 has changed since it was recorded: event 10 of game 'lost'" in damaged.verdict()


def test_a_record_with_another_version_is_named(damaged: Damaged) -> None:
    """Its place in the game is part of what was recorded."""
    damaged.do("UPDATE events SET version = 900 WHERE position = 31")

    assert "record 31 " in damaged.verdict()


def test_a_record_of_another_game_is_named(damaged: Damaged) -> None:
    """So is its game."""
    damaged.do("UPDATE events SET game = 6, version = 4 WHERE position = 31")

    assert "record 31 " in damaged.verdict()


def test_a_deleted_record_is_named(damaged: Damaged) -> None:
    """Where one is missing in the middle, what follows does not follow."""
    damaged.do("DELETE FROM events WHERE position = 31")

    assert damaged.verdict().startswith("record 31 ")


def test_a_deleted_game_is_missed(damaged: Damaged) -> None:
    """Also if nothing of it is left."""
    damaged.do("DELETE FROM events WHERE game = 2")
    damaged.do("DELETE FROM games WHERE number = 2")
    first = next(record.position for record in damaged.records if record.game == "lost")

    assert f"record {first} is missing" in damaged.verdict()


def test_records_that_changed_places_are_named(damaged: Damaged) -> None:
    """Two records of a game, each with everything that the other had, are not where they were."""
    damaged.do("UPDATE events SET position = 9999 WHERE position = 31")
    damaged.do("UPDATE events SET position = 31 WHERE position = 34")
    damaged.do("UPDATE events SET position = 34 WHERE position = 9999")

    assert "record 31 " in damaged.verdict()


def test_a_record_that_was_moved_to_the_end_is_missed(damaged: Damaged) -> None:
    """Positions have no gaps."""
    damaged.do("UPDATE events SET position = 9999 WHERE position = 31")

    assert "record 31 is missing" in damaged.verdict()


def test_a_record_at_position_0_is_found(damaged: Damaged) -> None:
    """Positions start with 1, and nothing stands before it."""
    damaged.do("UPDATE events SET position = 0 WHERE position = 1")

    assert "record 1 is missing" in damaged.verdict()


def test_an_event_that_none_knows_is_named(damaged: Damaged) -> None:
    """Even if its hash is right."""
    record = damaged.records[-1]
    previous = damaged.records[-2].hash
    text = '{"schema":1,"event":"gameBurnt"}'
    sealed = f"{record.game}\n{record.version}\n{record.at}\n{record.key}\n{text}"
    forged = sha256(previous + sealed.encode()).digest()
    damaged.do("UPDATE events SET event = ?, hash = ? WHERE position = ?", text, forged, record.position)

    assert f"record {record.position} is no event: no event is called 'gameBurnt'" in damaged.verdict()


def test_records_of_no_game_are_named(damaged: Damaged) -> None:
    """A game that was taken off the list leaves its events."""
    damaged.do("DELETE FROM games WHERE id = 'lost'")
    first = next(record.position for record in damaged.records if record.game == "lost")

    assert f"record {first} " in damaged.verdict()


def test_a_game_of_no_records_is_named(damaged: Damaged) -> None:
    """The list says no more than the events."""
    damaged.do("INSERT INTO games (number, id) VALUES (7, 'ghost')")

    assert "the list is wrong about game 7, 'ghost'" in damaged.verdict()


def test_a_game_of_no_records_does_not_hide_the_others(damaged: Damaged) -> None:
    """Whoever lists the games still sees them."""
    damaged.do("INSERT INTO games (number, id) VALUES (7, 'ghost')")
    with open_store(damaged.url) as store:
        listed = {each.id: each.game for each in store.games()}

    assert listed.pop("ghost", None) is None
    assert set(listed) == {"won", "lost", "drawn", "unfinished", "given-up", "Empty_1"}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE games SET x = 'Mallory' WHERE id = 'lost'",
        "UPDATE games SET o = NULL WHERE id = 'lost'",
        "UPDATE games SET result = 'X' WHERE id = 'lost'",
        "UPDATE games SET result = NULL WHERE id = 'lost'",
    ],
)
def test_a_list_that_says_something_else_is_found(damaged: Damaged, statement: str) -> None:
    """Who played, and how it ended: the events say it."""
    damaged.do(statement)

    assert "the list is wrong about game 2, 'lost'" in damaged.verdict()


def test_a_game_that_was_renamed_is_found(damaged: Damaged) -> None:
    """Its events tell what it was called."""
    damaged.do("UPDATE games SET id = 'stolen' WHERE id = 'lost'")

    assert "'stolen'" in damaged.verdict()


def test_a_game_with_another_number_is_found(damaged: Damaged) -> None:
    """Its number is its place in the order of creation."""
    damaged.do("UPDATE games SET number = 999 WHERE id = 'Empty_1'")
    damaged.do("UPDATE events SET game = 999 WHERE game = 6")

    assert "the list is wrong about game 999, 'Empty_1'" in damaged.verdict()


def test_the_first_of_several_bad_records_is_named(damaged: Damaged) -> None:
    """In the order of the feed, over many pages of it."""
    with open_store(damaged.url) as store:
        for number in range(60):
            play(store, f"more{number}", game_of(X_WINS))
        last = feed_of(store)[-1].position
    damaged.do("UPDATE events SET at = at + 1 WHERE position IN (1002, 1003, ?)", last)

    assert last > 1003
    assert "record 1002 " in damaged.verdict()


def test_looking_through_a_store_changes_nothing(damaged: Damaged) -> None:
    """It can be done again and again, beside others who play."""
    with open_store(damaged.url) as store:
        for _ in range(2):
            assert verify(store) == Verified(6, len(damaged.records))
        assert feed_of(store) == damaged.records


@pytest.fixture
def busy(store: EventStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[EventStore]:
    """Return a store in which somebody starts a game whenever it is asked something, a few times."""
    fill(store)
    catalogue, feed = store.catalogue, store.feed
    left = {"list": 3, "feed": 3}

    def play_on(what: str) -> None:
        if left[what]:
            left[what] -= 1
            play(store, f"{what}{left[what]}", game_of(X_WINS, "Ann"))

    def busy_catalogue(wanted: Wanted, limit: int, before: int | None = None) -> list[Listing]:
        play_on("list")
        return catalogue(wanted, limit, before)

    def busy_feed(after: int = 0, limit: int = 50) -> tuple[Recorded, ...]:
        play_on("feed")
        return feed(after, limit)

    monkeypatch.setattr(store, "catalogue", busy_catalogue)
    monkeypatch.setattr(store, "feed", busy_feed)
    yield store
    monkeypatch.undo()


def test_a_store_in_which_somebody_plays_meanwhile_is_sound(busy: EventStore) -> None:
    """What comes while one looks is no damage."""
    assert verify(busy).games >= 6


def test_a_game_that_ends_meanwhile_is_sound(store: EventStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list knows the end a moment before whoever looked at the events."""
    steps = game_of(X_WINS, "Ann")
    version = play(store, "game", steps[:-1])
    catalogue = store.catalogue

    def late_catalogue(wanted: Wanted, limit: int, before: int | None = None) -> list[Listing]:
        if len(store.read("game")) == version:
            play(store, "game", steps[-1:], version)
        return catalogue(wanted, limit, before)

    monkeypatch.setattr(store, "catalogue", late_catalogue)

    assert verify(store).games == 1
