"""One bit of a store's file is flipped, anywhere: if that changes a row, it is noticed.

What a flip did is found by reading the file with SQLite alone, past all checks of the store. What can't
be read any more has changed, too.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeAlias

import pytest

from noughts import Game, fold
from noughts.store.documents import Document
from noughts.store.errors import CorruptStore, NotAStore, StoreError, StoreUnavailable
from noughts.store.records import Record
from noughts.store.sqlite import SQLiteStore
from noughts.store.verify import verify
from support.figures import Property, tally
from support.played import events_of, feed_of
from support.store_changes import changes

Rows: TypeAlias = list[list[tuple[object, ...]]]

FLIPS = 1000 if os.environ.get("NOUGHTS_TORTURE") else 50
SHARES = 2
GAMES = 40
PAGE = 4096

FIGURE = "{detected:,} of {flips:,} flipped bits that changed a row were detected, {shown} shown"

# An erased record keeps a hash that means nothing.
RECORDS = (
    "SELECT sequence, game, version, at, key, events, CASE WHEN key <> '' THEN hash END"
    " FROM noughts_records NOT INDEXED ORDER BY sequence"
)
TABLES = (
    RECORDS,
    "SELECT * FROM noughts_games ORDER BY id",
    "SELECT * FROM noughts_documents NOT INDEXED ORDER BY sequence",
)


class Sound(NamedTuple):
    """What a store holds before a bit is flipped."""

    records: dict[str, tuple[Record, ...]]
    documents: dict[str, Document]
    games: dict[str, list[Game | None]]
    """Each game after every one of its records."""


def make_store(path: Path, seed: int) -> tuple[bytes, Sound]:
    """Make a store with a few dozen games; return its file and what is in it."""
    names = [f"{'dg'[number % 2]}-{number}" for number in range(GAMES)]
    with SQLiteStore(str(path)) as store:
        for number, name in enumerate(names):
            for change in changes(name, Random(seed * GAMES + number)):
                change.apply_to(store)
        records = {name: store.read(name) for name in names}
        documents = {document.name: document for document in store.documents_named(names)}
        assert any(record.is_deletion for record in feed_of(store))
    assert {place.name for place in path.parent.iterdir()} == {path.name, f"{path.name}-checkpoint"}
    games = {
        name: [fold(events_of(found[:end])) for end in range(len(found) + 1)]
        for name, found in records.items()
    }
    return path.read_bytes(), Sound(records, documents, games)


def anywhere(size: int, chance: Random) -> int:
    """Return a place in the file; every other one is where SQLite describes what is on a page."""
    if chance.random() < 0.5:
        return chance.randrange(size)
    return chance.randrange(0, size, PAGE) + chance.randrange(128)


def rows_in(path: Path) -> Rows | None:
    """Read all rows with SQLite alone; None if they can't be read."""
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
        try:
            return [connection.execute(table).fetchall() for table in TABLES]
        except (sqlite3.Error, UnicodeError):
            return None


def is_noticed(path: Path) -> bool:
    """Return whether a store in that file is refused, or found to be damaged when it is verified."""
    try:
        with SQLiteStore(str(path), create=False) as store:
            verify(store)
    except (CorruptStore, NotAStore, StoreUnavailable) as refusal:
        assert str(refusal)
        return True
    return False


def false_shows(path: Path, sound: Sound) -> list[str]:
    """Return the games and documents that a store in that file shows otherwise than they were.

    A damaged index may hide the end of a game, or all of it, but never add to it or change it.
    """
    shown = []
    with suppress(StoreError), SQLiteStore(str(path), create=False) as store:
        for name, records in sound.records.items():
            with suppress(StoreError):
                found = store.read(name)
                if found != records[: len(found)]:
                    shown.append(name)
            with suppress(StoreError):
                document = store.document(name)
                if document not in (None, sound.documents.get(name)):
                    shown.append(f"document {name}")
        shown += [
            each.id
            for each in store.games(limit=2 * GAMES)
            if each.game and each.game not in sound.games.get(each.id, [])
        ]
    return shown


@pytest.mark.torture
@pytest.mark.parametrize("share", range(SHARES))
def test_a_flipped_bit_that_changes_a_row_is_noticed(
    share: int, tmp_path: Path, record_property: Property
) -> None:
    """Wherever it is: in a record, in the catalogue, in a document, or in what SQLite keeps of them."""
    chance = Random(share)
    path = tmp_path / "games.db"
    file, sound = make_store(path, share)
    rows = rows_in(path)
    assert rows
    assert all(rows)
    assert not is_noticed(path), "a store without damage is sound"
    checkpoint = tmp_path / "games.db-checkpoint"
    counted = checkpoint.read_bytes()
    missed = []
    with tally(record_property, FIGURE) as numbers:
        while numbers["flips"] < FLIPS // SHARES:
            flipped = bytearray(file)
            place, bit = anywhere(len(file), chance), chance.randrange(8)
            flipped[place] ^= 1 << bit
            path.write_bytes(flipped)
            has_changed = rows_in(path) != rows
            noticed = is_noticed(path)  # whatever has changed, the worst result is a refusal
            shown = false_shows(path, sound)
            numbers.update(flips=has_changed, detected=has_changed and noticed, shown=len(shown))
            if shown or (has_changed and not noticed):
                missed.append((place, bit, shown))
            for beside in (tmp_path / "games.db-wal", tmp_path / "games.db-shm"):
                beside.unlink(missing_ok=True)
            checkpoint.write_bytes(counted)
    assert missed == []


@pytest.mark.parametrize(
    "name", [b"noughts_games_unfinished", b"CREATE TABLE noughts_records", b"sqlite_autoindex"]
)
def test_a_name_that_is_not_text_any_more_is_noticed(name: bytes, tmp_path: Path) -> None:
    """SQLite quotes what it complains about, and some bytes of that may not be text."""
    path = tmp_path / "games.db"
    file, _ = make_store(path, 0)
    assert name in file
    path.write_bytes(file.replace(name, bytes([name[0] | 0x80]) + name[1:], 1))
    assert is_noticed(path)
