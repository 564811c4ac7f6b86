"""One bit of a store's file is flipped, anywhere: if that changes an event, it is noticed.

What a flip did is seen by reading the file with SQLite alone, past all checks of the store. What cannot
be read any more has changed, too.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from random import Random
from typing import TYPE_CHECKING

import pytest

from noughts.core.errors import CorruptStore, NotAStore, StoreUnavailable
from noughts.store.sqlite import SQLiteStore
from noughts.store.verifying import verify
from store_games import turns
from tally import tally

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import TypeAlias

    Record: TypeAlias = Callable[[str, object], None]

FLIPS = 1000 if os.environ.get("NOUGHTS_TORTURE") else 50
SHARES = 2
GAMES = 40
PAGE = 4096

FIGURE = "{detected:,} of {flips:,} flipped bits that changed an event were detected"

ALL_EVENTS = (
    "SELECT position, (SELECT id FROM games WHERE number = events.game), version, at, key, event, hash"
    " FROM events NOT INDEXED ORDER BY position"
)


def make_store(path: Path, seed: int) -> bytes:
    """Make a store with a few dozen games, and return its file."""
    with SQLiteStore(str(path)) as store:
        for number in range(GAMES):
            for turn in turns(f"game-{number}", Random(seed * GAMES + number)):
                turn.append_to(store)
    assert [place.name for place in path.parent.iterdir()] == [path.name]
    return path.read_bytes()


def anywhere(size: int, chance: Random) -> int:
    """Return a place in the file; every other one is where SQLite says what lies on a page."""
    if chance.random() < 0.5:
        return chance.randrange(size)
    return chance.randrange(0, size, PAGE) + chance.randrange(128)


def events_in(path: Path) -> list[tuple[object, ...]] | None:
    """Read all events with SQLite alone; None if they cannot be read."""
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
        try:
            return connection.execute(ALL_EVENTS).fetchall()
        except (sqlite3.Error, UnicodeError):
            return None


def is_noticed(path: Path) -> bool:
    """Tell whether a store on that file is refused, or found to be bad by looking through it."""
    try:
        with SQLiteStore(str(path), create=False) as store:
            verify(store)
    except (CorruptStore, NotAStore, StoreUnavailable) as refusal:
        assert str(refusal)
        return True
    return False


@pytest.mark.torture
@pytest.mark.parametrize("share", range(SHARES))
def test_a_flipped_bit_that_changes_an_event_is_noticed(
    share: int, tmp_path: Path, record_property: Record
) -> None:
    """Wherever in the file it is: in an event, in an id, in a place, or in what SQLite keeps of them."""
    chance = Random(share)
    path = tmp_path / "games.db"
    sound = make_store(path, share)
    events = events_in(path)
    assert events
    assert not is_noticed(path), "a store nobody touched is sound"
    missed = []
    with tally(record_property, FIGURE) as numbers:
        while numbers["flips"] < FLIPS // SHARES:
            flipped = bytearray(sound)
            place, bit = anywhere(len(sound), chance), chance.randrange(8)
            flipped[place] ^= 1 << bit
            path.write_bytes(flipped)
            has_changed = events_in(path) != events
            noticed = is_noticed(path)  # whatever has changed, nothing but a refusal comes of it
            numbers.update(flips=has_changed, detected=has_changed and noticed)
            if has_changed and not noticed:
                missed.append((place, bit))
            for beside in tmp_path.glob("games.db-*"):
                beside.unlink()
    assert missed == []


@pytest.mark.parametrize("name", [b"games_going_on", b"CREATE TABLE events", b"sqlite_autoindex"])
def test_a_name_that_is_no_text_any_more_is_noticed(name: bytes, tmp_path: Path) -> None:
    """SQLite shows what it complains of, and there may be bytes in it that are no text."""
    path = tmp_path / "games.db"
    sound = make_store(path, 0)
    assert name in sound
    path.write_bytes(sound.replace(name, bytes([name[0] | 0x80]) + name[1:], 1))
    assert is_noticed(path)
