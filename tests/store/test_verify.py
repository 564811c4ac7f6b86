"""Any change behind the store's back is found, and the first bad record is named."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

import pytest

from noughts.store import verify as verifying
from noughts.store.base import EventStore
from noughts.store.errors import CorruptStore
from noughts.store.records import record_hash
from noughts.store.urls import open_store
from noughts.store.verify import VerifyReport, examine, verify
from support.damages import Place
from support.played import NOW, X_WINS, events_of, feed_of, fill, game_of, play


class Damaged(Place):
    """A store that was sound, and that is changed with the tools of the database."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        with open_store(url) as store:
            fill(store)
            store.write_document("seats", "text", expected=0)
            self.records = feed_of(store)
            self.lost = store.read("lost")

    def forge(self, place: int, key: str, text: str) -> None:
        """Change a record of the game `lost`, and compute its hash again."""
        version, at = self.lost[place].version, self.lost[place].at
        link = record_hash(self.lost[place - 1].hash, "lost", version, at, key, text)
        changes = "UPDATE noughts_records SET key = ?, events = ?, hash = ?"
        self.do((f"{changes} WHERE game = 'lost' AND version = ?", key, text, link, version))

    def verdict(self) -> str:
        with open_store(self.url) as store, pytest.raises(CorruptStore) as found:
            verify(store)
        assert str(found.value).isprintable()
        return str(found.value)


@pytest.fixture
def damaged(url: str) -> Damaged:
    return Damaged(url)


def change(damaged: Damaged, what: str) -> None:
    """Change something in a record of the game `lost`, and in the one after it."""
    changes, *values = CHANGED[what]
    where = "game = 'lost' AND version IN (8, 11)"
    damaged.do((f"UPDATE noughts_records SET {changes} WHERE {where}", *values))  # noqa: S608 - those below


CHANGED: dict[str, tuple[str, *tuple[object, ...]]] = {
    "the events": ("events = replace(events, 'X', 'O') || ?", " "),
    "one letter": ("events = events || ?", " "),
    "the hash": ("hash = ?", bytes(32)),
    "the length of the hash": ("hash = ?", b"0"),
    "the key": ("key = ?", "another"),
    "the time": ("at = at + ?", 1),
    "everything": ("events = '{}', key = '', at = 0",),
}


@pytest.mark.parametrize("what", CHANGED)
def test_a_changed_record_is_named_and_never_read(damaged: Damaged, what: str) -> None:
    """The first bad record is named; other games are read as before, and the list shows what it can."""
    change(damaged, what)
    named = "the record at version 8 of game 'lost' has changed since it was recorded"

    assert damaged.verdict().startswith(named)
    with open_store(damaged.url) as store:
        for read in (lambda: store.read("lost"), store.feed):
            with pytest.raises(CorruptStore, match=named):
                read()
        assert store.read("won") == tuple(record for record in damaged.records if record.game == "won")
        faulty = [summary.id for summary in store.games() if summary.game is None]
        assert faulty == ["lost"]


REMOVE = "DELETE FROM noughts_records WHERE game = 'lost'"
RECORD = "UPDATE noughts_records SET {} WHERE game = 'lost' AND version = 8"
WRONG = "the catalogue is wrong about game 'lost'"
FOUND: dict[str, tuple[str, str]] = {
    "a record with another version": (RECORD.format("version = 900"), "game 'lost' has changed"),
    "a record of another game": (
        RECORD.format("game = 'Empty_1'"),
        "version 8 of game 'Empty_1' has changed",
    ),
    "a record that says that its game was deleted": (
        RECORD.format("events = ''"),
        "version 8 of game 'lost' has changed",
    ),
    "a record deleted": (f"{REMOVE} AND version = 8", "version 11 of game 'lost' has changed"),
    "a first record deleted": (f"{REMOVE} AND version = 0", "version 3 of game 'lost' has changed"),
    "a last record deleted": (f"{REMOVE} AND version = 20", WRONG),
    "all records of a game deleted": (REMOVE, WRONG),
    "a game that the catalogue lacks": ("DELETE FROM noughts_games WHERE id = 'lost'", WRONG),
    "a game without records": (
        "INSERT INTO noughts_games (id, started) VALUES ('ghost', 7)",
        "the catalogue is wrong about game 'ghost'",
    ),
    "a game that was renamed": ("UPDATE noughts_games SET id = 'stolen' WHERE id = 'lost'", "'stolen'"),
    "a game that can't exist": ("UPDATE noughts_games SET id = '!' WHERE id = 'won'", "game '!'"),
    **{
        f"a catalogue with {change}": (f"UPDATE noughts_games SET {change} WHERE id = 'lost'", WRONG)  # noqa: S608 - those below
        for change in ("x = 'Mallory'", "o = NULL", "result = 'X'", "result = NULL", "started = 7")
    },
    "a document": ("UPDATE noughts_documents SET text = 'other'", "document 'seats' has changed"),
}


@pytest.mark.parametrize("what", FOUND)
def test_damage_is_found_and_named(damaged: Damaged, what: str) -> None:
    statement, named = FOUND[what]
    damaged.do(statement)

    assert named in damaged.verdict()


def test_a_forged_record_is_found_by_the_next_one(damaged: Damaged) -> None:
    """To change a record and its hash isn't enough: the hash of the next one covers it."""
    damaged.forge(4, "forged", damaged.lost[4].text)

    assert "version 11 of game 'lost' has changed" in damaged.verdict()


def test_an_unknown_event_is_named(damaged: Damaged) -> None:
    damaged.forge(len(damaged.lost) - 1, "key", '{"schema":1,"event":"gameBurnt"}')

    found = damaged.verdict()
    assert "version 20 of game 'lost' can't be read: no event is called 'gameBurnt'" in found


def test_a_game_without_records_does_not_hide_the_others(damaged: Damaged) -> None:
    damaged.do(FOUND["a game without records"][0])
    with open_store(damaged.url) as store:
        found = {summary.id: summary.game is None for summary in store.games()}

    assert found == {**dict.fromkeys((record.game for record in damaged.records), False), "ghost": True}


def test_the_first_of_several_bad_records_is_named(
    damaged: Damaged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifying, "PAGE_ROWS", 10)
    damaged.do("UPDATE noughts_records SET at = at + 1 WHERE version = 3 AND game IN ('drawn', 'lost')")

    assert "version 3 of game 'lost' has changed" in damaged.verdict()


def test_records_that_changed_places_are_found(sqlite_url: str) -> None:
    damaged = Damaged(sqlite_url)
    moved = "UPDATE noughts_records SET sequence = {} - sequence WHERE game = 'lost' AND version = 8"
    damaged.do(moved.replace("{}", "1000"))

    assert "version 11 of game 'lost' has changed" in damaged.verdict()


def test_verifying_changes_nothing(store: EventStore, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store)
    play(store, "deleted", game_of(""))
    store.delete("deleted", at=NOW)
    before = feed_of(store)
    for page in (1000, 3):
        monkeypatch.setattr(verifying, "PAGE_ROWS", page)
        assert verify(store) == VerifyReport(6, len(events_of(before)), ())
    assert feed_of(store) == before


# While others play


@pytest.mark.parametrize("moment", ["_feed", "catalogue", "_records_of_many", "read"])
@pytest.mark.parametrize(
    "event", ["a game starts", "a game ends", "a game is deleted", "one thing after the other"]
)
def test_a_store_in_which_others_play_meanwhile_is_sound(
    store: EventStore, monkeypatch: pytest.MonkeyPatch, moment: str, event: str
) -> None:
    fill(store)
    steps = game_of(X_WINS, "Ann")
    version = play(store, "unsteady", steps[:-1], at=NOW + 1)
    names = iter(range(1000))

    def end() -> None:
        if store.versions(["unsteady"]) == {"unsteady": version}:
            play(store, "unsteady", steps[-1:], version)

    def delete() -> None:
        if store.versions(["unsteady"]):
            store.delete("unsteady", at=NOW)

    happenings: dict[str, tuple[Callable[[], object], ...]] = {
        "a game starts": (lambda: play(store, f"new{next(names)}", steps),),
        "a game ends": (end,),
        "a game is deleted": (delete,),
        "one thing after the other": (lambda: None, end, delete),
    }
    happen = cycle(happenings[event])
    real = getattr(store, moment)

    def interrupted(*arguments: object) -> object:
        next(happen)()
        return real(*arguments)

    monkeypatch.setattr(verifying, "PAGE_ROWS", 10)
    monkeypatch.setattr(store, moment, interrupted)

    assert verify(store).games >= 6
    monkeypatch.undo()
    assert verify(store).games >= 6


def test_a_game_that_the_feed_does_not_have_yet_is_sound(
    store: EventStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The feed may be late: then the catalogue lists the game, and the game itself is read."""
    fill(store)
    late = store._feed("records", "", 7)  # noqa: SLF001 - what verify reads
    monkeypatch.setattr(store, "_feed", lambda table, *_: late if table == "records" else ([], ""))

    assert verify(store).games == 6


@pytest.mark.parametrize("table", ["documents", "records"])
def test_what_is_not_text_any_more_is_named(sqlite_url: str, table: str) -> None:
    damaged = Damaged(sqlite_url)
    with open_store(sqlite_url) as store:
        for name in ("room1", "room2"):
            store.write_document(name, "text", expected=0)
    if table == "documents":
        damaged.do("UPDATE noughts_documents SET text = CAST(x'ff' AS TEXT) WHERE name LIKE 'room%'")
        names = ["room1", "room2"]
    else:
        for game in ("lost", "drawn"):
            damaged.do(("UPDATE noughts_records SET events = CAST(x'ff' AS TEXT) WHERE game = ?", game))
        names = ["lost", "drawn"]

    with open_store(sqlite_url) as store:
        faults = examine(store).faults

    assert all(any(f"'{name}'" in fault for fault in faults) for name in names)


@pytest.mark.parametrize("value", [b"deleted 1 1", 7])
def test_a_tombstone_that_is_not_text_any_more_is_noticed(sqlite_url: str, value: object) -> None:
    damaged = Damaged(sqlite_url)
    with open_store(sqlite_url) as store:
        store.delete("lost", at=NOW)
    damaged.do(("UPDATE noughts_records SET events = ? WHERE events LIKE 'deleted%'", value))
    assert "has changed" in damaged.verdict()
