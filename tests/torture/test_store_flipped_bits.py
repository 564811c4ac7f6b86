"""Flips one bit anywhere in a store's file: if that changes a row, it is noticed.

The effect of a flip is found by reading the file with SQLite alone, bypassing all checks of the store.
Rows that can't be read any more count as changed.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from noughts.store.base import StoredGame, nothing
from noughts.store.sqlite import SQLiteStore
from support.damages import Place, faults_of, wrongly_shown
from support.figures import Property, tally
from support.length import short_or_long
from support.played import commit
from support.store_games import changes

FLIPS = short_or_long(50, 1000)
SHARES = 2
GAMES = 40
PAGE = 4096

FIGURE = "{detected:,} of {flips:,} flipped bits that changed a row were detected, {shown} shown"

TABLES = ("SELECT * FROM games NOT INDEXED ORDER BY id", "SELECT * FROM counter")


def make_store(path: Path, seed: int) -> tuple[bytes, dict[str, StoredGame]]:
    """Create a store with a few dozen games; return its file and the games."""
    with SQLiteStore(str(path)) as store:
        for number in range(GAMES):
            for change in changes(nothing(f"{'tw'[number % 2]}-{number}"), Random(seed * GAMES + number)):
                commit(store, change)
        store.count_hour(0)
    sound = Place(f"sqlite:{path}").games()
    assert {game.is_deleted for game in sound.values()} == {True, False}
    return path.read_bytes(), sound


def anywhere(size: int, chance: Random) -> int:
    """Return a random offset in the file; half of them are in SQLite's page headers."""
    if chance.random() < 0.5:
        return chance.randrange(size)
    return chance.randrange(0, size, PAGE) + chance.randrange(128)


def rows_in(path: Path) -> list[list[tuple[object, ...]]] | None:
    """Read all rows with SQLite alone; None if they can't be read."""
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
        try:
            return [connection.execute(table).fetchall() for table in TABLES]
        except (sqlite3.Error, UnicodeError):
            return None


@pytest.mark.torture
@pytest.mark.parametrize("share", range(SHARES))
def test_a_flipped_bit_that_changes_a_row_is_noticed(
    share: int, tmp_path: Path, record_property: Property
) -> None:
    """In a column, in the count, or in SQLite's own structures; at worst, the store is refused."""
    chance = Random(share)
    path = tmp_path / "games.db"
    file, sound = make_store(path, share)
    url, rows = f"sqlite:{path}", rows_in(path)
    assert rows
    assert faults_of(url) == [], "the store is intact before the flip"
    missed = []
    with tally(record_property, FIGURE) as numbers:
        while numbers["flips"] < FLIPS // SHARES:
            flipped = bytearray(file)
            place, bit = anywhere(len(file), chance), chance.randrange(8)
            flipped[place] ^= 1 << bit
            path.write_bytes(flipped)
            has_changed = rows_in(path) != rows
            is_noticed = faults_of(url) != []
            shown = wrongly_shown(url, sound)
            numbers.update(flips=has_changed, detected=has_changed and is_noticed, shown=len(shown))
            if shown or (has_changed and not is_noticed):
                missed.append((place, bit, shown))
            for beside in (tmp_path / "games.db-wal", tmp_path / "games.db-shm"):
                beside.unlink(missing_ok=True)
    assert missed == []


@pytest.mark.parametrize("name", [b"games_by_start", b"CREATE TABLE games", b"sqlite_autoindex"])
def test_a_name_that_is_no_longer_text_is_noticed(name: bytes, tmp_path: Path) -> None:
    """SQLite quotes names in its errors, and they may not be valid text any more."""
    path = tmp_path / "games.db"
    file, _ = make_store(path, 0)
    assert name in file
    path.write_bytes(file.replace(name, bytes([name[0] | 0x80]) + name[1:], 1))
    assert faults_of(f"sqlite:{path}")
