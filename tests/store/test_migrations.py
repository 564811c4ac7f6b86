"""A store of an older noughts is brought up to date, and one of a newer is left alone."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from at_once import DEADLINE
from noughts.core.errors import NotAStore
from noughts.store import postgres_tables, sqlite_file
from noughts.store.base import Wanted
from noughts.store.memory import MemoryStore
from noughts.store.opening import open_store
from noughts.store.verifying import verify
from played import O_WINS, check_whole, feed_of, fill, game_of, play

if TYPE_CHECKING:
    from collections.abc import Iterator

    from noughts.store.chain import Recorded

HERE = Path(__file__).parent

# Another process, which opens a store as soon as it is told to.
OPENER = f"""
import sys
sys.path[:0] = {sys.path!r}
from noughts.store.opening import open_store
from noughts.store.verifying import verify

print("ready", flush=True)
sys.stdin.readline()
with open_store(sys.argv[1]) as store:
    print(verify(store).games)
"""


class Place:
    """Somewhere to put a store of another version, and to look at it from outside."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.is_sqlite = url.startswith("sqlite:")
        self.path = Path(url.removeprefix("sqlite:"))
        self.engine = sqlite_file if self.is_sqlite else postgres_tables

    def put_oldest(self) -> None:
        """Put there what the first noughts with a store would have left."""
        if self.is_sqlite:
            database = sqlite3.connect(self.path)
            database.executescript((HERE / "oldest_sqlite.sql").read_text())
            database.close()
        else:
            with psycopg.connect(self.url) as connection:
                connection.execute((HERE / "oldest_postgres.sql").read_bytes())

    def make_newer(self) -> None:
        """Turn the store there into one of a later version."""
        if self.is_sqlite:
            database = sqlite3.connect(self.path)
            database.execute(f"PRAGMA user_version = {sqlite_file.SCHEMA + 1}")
            database.close()
        else:
            with psycopg.connect(self.url) as connection:
                connection.execute(
                    "INSERT INTO noughts_schema SELECT max(version) + 1 FROM noughts_schema"
                )

    def clear(self) -> None:
        """Take everything away."""
        if self.is_sqlite:
            self.path.unlink()
        else:
            with psycopg.connect(self.url) as connection:
                connection.execute(
                    "DROP TABLE noughts_schema, noughts_games, noughts_events, noughts_notes"
                )

    def content(self) -> tuple[object, ...]:
        """Return everything that is there, tables and rows; for a file, its very bytes and neighbours."""
        if self.is_sqlite:
            return tuple((each.name, each.read_bytes()) for each in sorted(self.path.parent.iterdir()))
        with psycopg.connect(self.url) as connection:
            columns = connection.execute(
                "SELECT table_name, column_name, data_type FROM information_schema.columns"
                " WHERE table_schema = current_schema() ORDER BY 1, 2"
            ).fetchall()
            indexes = connection.execute(
                "SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1"
            ).fetchall()
            rows = [
                connection.execute(
                    SQL("SELECT * FROM {} ORDER BY 1").format(Identifier(table))
                ).fetchall()
                for table in sorted({str(name) for name, *_ in columns})
            ]
            return columns, indexes, rows


@pytest.fixture
def place(url: str) -> Place:
    """Name a place of each kind that outlives a process."""
    return Place(url)


@pytest.fixture
def as_recorded() -> Iterator[list[Recorded]]:
    """Return what the oldest stores hold, worked out anew."""
    with MemoryStore() as store:
        fill(store)
        yield feed_of(store)


def check_brought_up_to_date(url: str, as_recorded: list[Recorded]) -> None:
    """See that everything is there as it was recorded, and that the list of games is right."""
    with open_store(url) as store:
        assert feed_of(store) == as_recorded
        assert verify(store) == (6, len(as_recorded))
        assert [tuple(listing) for listing in store.catalogue(Wanted(), 9)] == [
            (6, "Empty_1", None, None, None),
            (5, "given-up", None, None, "O"),
            (4, "unfinished", "Ann", None, None),
            (3, "drawn", "Bob", "名前", "draw"),
            (2, "lost", "Ann", "Zoë", "O"),
            (1, "won", "Ann", "Bob", "X"),
        ]
        assert [listed.id for listed in store.games(Wanted(player="Ann", is_over=False))] == [
            "unfinished"
        ]
        play(store, "new", game_of(O_WINS, "Ann"))
        assert [listed.id for listed in store.games(Wanted(player="Ann"), limit=1)] == ["new"]
        check_whole(feed_of(store))
        assert store.changed_notes() == ()
        assert store.write_note("note", "text", expected=0, shelf="new") == store.note("note")
        assert verify(store).games == 7


def test_the_oldest_store_is_brought_up_to_date(place: Place, as_recorded: list[Recorded]) -> None:
    """No event and no hash has changed; the list of games is made from the events."""
    place.put_oldest()

    check_brought_up_to_date(place.url, as_recorded)


def test_a_store_without_notes_is_brought_up_to_date(
    place: Place, as_recorded: list[Recorded], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The version before there were any had everything else."""
    monkeypatch.setattr(place.engine, "MIGRATIONS", place.engine.MIGRATIONS[:2])
    if place.is_sqlite:
        monkeypatch.setattr(sqlite_file, "SCHEMA", 2)
    with open_store(place.url) as store:
        fill(store)
    monkeypatch.undo()

    check_brought_up_to_date(place.url, as_recorded)


def test_a_store_is_brought_up_to_date_also_when_none_is_to_be_made(place: Place) -> None:
    """It is there, so nothing is missing."""
    place.put_oldest()
    with open_store(place.url, create=False) as store:
        assert len(store.games()) == 6


def test_an_old_store_is_brought_up_to_date_once(place: Place) -> None:
    """Opening it again changes nothing."""
    place.put_oldest()
    open_store(place.url).close()
    before = place.content()
    open_store(place.url).close()

    assert place.content() == before


def test_a_new_store_and_an_old_one_end_up_the_same(place: Place) -> None:
    """A new store goes through all versions, so there is one schema, not two."""
    place.put_oldest()
    open_store(place.url).close()
    old = schema(place)
    place.clear()
    open_store(place.url).close()

    assert schema(place) == old


def schema(place: Place) -> object:
    """Return the tables and indexes, without what is in them."""
    if place.is_sqlite:
        database = sqlite3.connect(place.path)
        found = sorted(database.execute("SELECT type, name, sql FROM sqlite_schema").fetchall())
        database.close()
        return found
    return place.content()[:2]


def test_a_newer_store_is_refused_and_left_untouched(place: Place) -> None:
    """Whoever made it knows more; not a byte is changed, and no file appears beside it."""
    with open_store(place.url) as store:
        fill(store)
    place.make_newer()
    before = place.content()
    for create in (True, False):
        with pytest.raises(
            NotAStore, match=r"was made by a newer noughts: its schema is 4, and .* reads 3"
        ):
            open_store(place.url, create=create)

    assert place.content() == before


class Interrupted(BaseException):
    """Something that no store expects."""


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("failure", [Interrupted, RuntimeError])
def test_an_interrupted_change_leaves_the_old_version_whole(
    place: Place,
    as_recorded: list[Recorded],
    monkeypatch: pytest.MonkeyPatch,
    failure: type[BaseException],
    moment: str,
    number: int,
) -> None:
    """Whatever was done by then is undone; and the next attempt finds all as it was."""
    place.put_oldest()
    before = versions_and_rows(place)
    migrations = place.engine.MIGRATIONS

    def interrupted(store: Any) -> None:  # noqa: ANN401 - each engine passes its own connection
        if moment == "after":
            migrations[number](store)
        raise failure("in the middle")

    monkeypatch.setattr(place.engine, "MIGRATIONS", (*migrations[:number], interrupted))
    with pytest.raises(failure, match="in the middle"):
        open_store(place.url)
    monkeypatch.undo()

    assert versions_and_rows(place) == before
    check_brought_up_to_date(place.url, as_recorded)


def versions_and_rows(place: Place) -> object:
    """Return the version, the tables and the rows."""
    if not place.is_sqlite:
        return place.content()
    database = sqlite3.connect(place.path)
    found = [
        database.execute("PRAGMA user_version").fetchone(),
        sorted(database.execute("SELECT type, name, sql FROM sqlite_schema").fetchall()),
        database.execute("SELECT * FROM games ORDER BY number").fetchall(),
        database.execute("SELECT * FROM events ORDER BY position").fetchall(),
    ]
    database.close()
    return found


@pytest.mark.parametrize("age", ["old", "new"])
def test_several_processes_open_a_store_at_once(
    place: Place, as_recorded: list[Recorded], age: str
) -> None:
    """One of them brings it up to date or makes it, and the others find it done."""
    if age == "old":
        place.put_oldest()
    openers = [
        subprocess.Popen(
            [sys.executable, "-c", OPENER, place.url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for opener in openers:
        assert opener.stdout
        assert opener.stdout.readline() == "ready\n"
    for opener in openers:
        assert opener.stdin
        opener.stdin.write("go\n")
        opener.stdin.flush()
    said = [opener.communicate(timeout=DEADLINE) for opener in openers]

    assert said == [("6\n" if age == "old" else "0\n", "")] * 4
    if age == "old":
        check_brought_up_to_date(place.url, as_recorded)
