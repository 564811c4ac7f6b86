"""Flips one bit anywhere in a store's file: if that changes a row, it is detected.

The effect of a flip is found by reading the file with SQLite alone, bypassing all checks of the store.
Rows that can't be read any more count as changed.
"""

from __future__ import annotations

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
from support.length import short_or_long
from support.played import events_of, feed_of
from support.store_changes import changes

Rows: TypeAlias = list[list[tuple[object, ...]]]

FLIPS = short_or_long(50, 1000)
SHARES = 2
GAMES = 40
PAGE = 4096

FIGURE = "{detected:,} of {flips:,} flipped bits that changed a row were detected, {shown} shown"

# The hash of an erased record is not used.
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
    """The contents of a store before a bit is flipped."""

    records: dict[str, tuple[Record, ...]]
    documents: dict[str, Document]
    games: dict[str, list[Game | None]]
    """Each game after every one of its records."""


def make_store(path: Path, seed: int) -> tuple[bytes, Sound]:
    """Create a store with a few dozen games; return its file and contents."""
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
    """Return a random offset in the file; half of them are in SQLite's page headers."""
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


def is_detected(path: Path) -> bool:
    """Return whether opening or verifying the store fails."""
    try:
        with SQLiteStore(str(path), create=False) as store:
            verify(store)
    except (CorruptStore, NotAStore, StoreUnavailable) as refusal:
        assert str(refusal)
        return True
    return False


def wrong_contents(path: Path, sound: Sound) -> list[str]:
    """Return the games and documents that the store shows differently.

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
def test_a_flipped_bit_that_changes_a_row_is_detected(
    share: int, tmp_path: Path, record_property: Property
) -> None:
    """In a record, in the catalogue, in a document, or in SQLite's own structures."""
    chance = Random(share)
    path = tmp_path / "games.db"
    file, sound = make_store(path, share)
    rows = rows_in(path)
    assert rows
    assert all(rows)
    assert not is_detected(path), "the store is intact before the flip"
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
            noticed = is_detected(path)  # at worst the store refuses
            shown = wrong_contents(path, sound)
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
def test_a_name_that_is_no_longer_text_is_detected(name: bytes, tmp_path: Path) -> None:
    """SQLite quotes names in its errors, and they may not be valid text any more."""
    path = tmp_path / "games.db"
    file, _ = make_store(path, 0)
    assert name in file
    path.write_bytes(file.replace(name, bytes([name[0] | 0x80]) + name[1:], 1))
    assert is_detected(path)
