"""Damages a store in every way: it is noticed, but for what a hash in each row cannot show."""

# ruff: noqa: S608 - the values are the tests' own

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from noughts.store.base import nothing
from noughts.store.rows import ROW, row_hash
from noughts.store.urls import open_store
from support.damages import COLUMNS, Place, faults_of, play, wrongly_shown
from support.figures import Property, tally
from support.length import short_or_long
from support.played import CREATED, NOW, change_of

TIMES = short_or_long(2, 100)
FLIPS, SHARES = short_or_long(50, 1000), 2
PAGE_BYTES = 4096

FIGURE = "{detected:,} of {flips:,} flipped bits that changed a row were detected, {shown} shown"


def played(url: str, seed: int = 1) -> Place:
    with open_store(url) as store:
        play(store, Random(seed))
    return Place(url)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a store that is to be copied and damaged."""
    return played(f"sqlite:{tmp_path_factory.mktemp('template') / 'games.db'}").path


@pytest.fixture
def files(template: Path, tmp_path: Path) -> Iterator[Place]:
    return (
        Place(f"sqlite:{shutil.copy(template, tmp_path / f'{number}.db')}") for number in range(TIMES)
    )


# What is noticed


@pytest.mark.torture
@pytest.mark.parametrize("share", range(SHARES))
def test_a_flipped_bit_of_the_file_that_changes_a_row_is_noticed(
    share: int, tmp_path: Path, record_property: Property
) -> None:
    """In a column, in the count, or in SQLite's own structures; at worst, the store is refused.

    The effect is found by reading the file with SQLite alone, bypassing all checks of the store.
    """
    chance, place = Random(share), played(f"sqlite:{tmp_path / 'games.db'}", share)
    file, sound, rows, missed = place.path.read_bytes(), place.games(), rows_in(place.path), []
    assert rows
    assert faults_of(place.url) == [], "the store is intact before the flip"
    with tally(record_property, FIGURE) as numbers:
        while numbers["flips"] < FLIPS // SHARES:
            flipped = bytearray(file)
            at, bit = anywhere(len(file), chance), chance.randrange(8)
            flipped[at] ^= 1 << bit
            place.path.write_bytes(flipped)
            has_changed = rows_in(place.path) != rows
            is_noticed = faults_of(place.url) != []
            shown = wrongly_shown(place.url, sound)
            numbers.update(flips=has_changed, detected=has_changed and is_noticed, shown=len(shown))
            if shown or (has_changed and not is_noticed):
                missed.append((at, bit, shown))
            for beside in ("-wal", "-shm"):
                Path(f"{place.path}{beside}").unlink(missing_ok=True)
    assert missed == []


def anywhere(size: int, chance: Random) -> int:
    """Return a random offset in the file; half of them are in SQLite's page headers."""
    if chance.random() < 0.5:
        return chance.randrange(size)
    return chance.randrange(0, size, PAGE_BYTES) + chance.randrange(128)


def rows_in(path: Path) -> list[list[tuple[object, ...]]] | None:
    """Read all rows with SQLite alone; None if they can't be read, which counts as changed."""
    tables = "SELECT * FROM games NOT INDEXED ORDER BY id", "SELECT * FROM counter"
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
        try:
            return [connection.execute(table).fetchall() for table in tables]
        except (sqlite3.Error, UnicodeError):
            return None


@pytest.mark.parametrize("name", [b"games_by_start", b"CREATE TABLE games", b"sqlite_autoindex"])
def test_a_name_that_is_no_longer_text_is_noticed(name: bytes, files: Iterator[Place]) -> None:
    """SQLite quotes names in its errors, and they may not be valid text any more."""
    place = next(files)
    file = place.path.read_bytes()
    assert name in file
    place.path.write_bytes(file.replace(name, bytes([name[0] | 0x80]) + name[1:], 1))
    assert faults_of(place.url)


@pytest.mark.torture
def test_a_file_that_was_cut_short_is_noticed_and_not_changed(files: Iterator[Place]) -> None:
    for number, place in enumerate(files):
        sound, size = place.games(), place.path.stat().st_size
        os.truncate(place.path, Random(number).randrange(1, size))
        left = place.path.read_bytes()
        assert faults_of(place.url)
        assert wrongly_shown(place.url, sound) == []
        assert place.path.read_bytes() == left


# What is not noticed


def put_an_old_row_back(place: Place, chance: Random) -> None:
    game = place.a_game(chance)
    place.rewrite(nothing(game.id).followed_by(game.entries[:-1], room=game.room))


def put_a_foreign_row_in(place: Place, _chance: Random) -> None:
    foreign = change_of(nothing("foreign"), CREATED).after
    values = [getattr(foreign, name) for name in COLUMNS]
    place.do(
        f"INSERT INTO games ({ROW}, started, played) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *values, NOW, NOW
    )


UNNOTICED: dict[str, Callable[[Place, Random], None]] = {
    "a row removed": lambda place, chance: place.do(
        "DELETE FROM games WHERE id = ?", place.a_game(chance).id
    ),
    "all rows removed": lambda place, _: place.do("DELETE FROM games"),
    "an old row put back": put_an_old_row_back,
    "a row of another store put in": put_a_foreign_row_in,
    "an old count put back": lambda place, _: place.do(
        "UPDATE counter SET hours = 0, hash = ?", row_hash("counter", 0, 0, "", "")
    ),
}


@pytest.mark.parametrize("kind", UNNOTICED)
def test_what_a_hash_in_each_row_cannot_show_is_not_noticed(kind: str, url: str) -> None:
    """A whole row that is gone, old or another store's; `docs/store.md` says so."""
    place = played(url)
    before = hashes_of(place)
    UNNOTICED[kind](place, Random(kind))
    assert hashes_of(place) != before
    assert faults_of(place.url) == []


def hashes_of(place: Place) -> list[tuple[object, ...]]:
    return place.rows("SELECT hash FROM games UNION ALL SELECT hash FROM counter ORDER BY 1")


@pytest.mark.parametrize("kind", ["the log removed", "the log cut"])
def test_a_log_that_is_lost_after_a_crash_is_not_noticed(kind: str, tmp_path: Path) -> None:
    """Then the last games are missing; what is shown is as it was at some time."""
    folder, left = tmp_path / "played", tmp_path / "left"
    with open_store(f"sqlite:{folder / 'games.db'}") as store:
        play(store, Random(3))
        shutil.copytree(folder, left)  # as a crash leaves it: everything is in the log alone
    place, log = Place(f"sqlite:{left / 'games.db'}"), left / "games.db-wal"
    if kind == "the log removed":
        log.unlink()
    else:
        os.truncate(log, log.stat().st_size * 2 // 3)
    (left / "games.db-shm").unlink()
    assert faults_of(place.url) == []
    assert place.games().keys() < Place(f"sqlite:{folder / 'games.db'}").games().keys()


def test_another_file_in_the_place_of_a_closed_store_is_not_noticed(files: Iterator[Place]) -> None:
    """An old copy, or another store: nothing outside the file says what must be in it."""
    place, old = next(files), next(files)
    with open_store(place.url) as store:
        store.delete(place.a_game(Random(0)).id)
    assert hashes_of(place) != hashes_of(old)
    shutil.copy(old.path, place.path)
    assert hashes_of(place) == hashes_of(old)
    assert faults_of(place.url) == []
