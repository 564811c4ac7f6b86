"""Damages a store in every way: damage is detected, and repaired as far as possible.

A closed store is opened and verified after the damage; an open store is damaged while it is used. Damage
that cannot be detected is tested too.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from noughts.store.backups import repair
from noughts.store.base import EventStore
from noughts.store.documents import MAX_TEXT_BYTES
from noughts.store.errors import CorruptStore, StoreLost
from noughts.store.records import Record
from noughts.store.urls import open_store
from noughts.store.verify import verify
from support import damages
from support.command import script
from support.damages import DAMAGES, FILE_DAMAGES, Place, Sound, faults_of, sound
from support.figures import Property, tally
from support.length import short_or_long
from support.played import game_of, play
from support.postgres_server import Server

TIMES = short_or_long(1, 100)
TIMES_ON_A_SERVER = short_or_long(1, 10)

FIGURE = (
    "{noticed:,} of {times:,} times noticed: KIND; by opening {opening}, hashes {hashes}, rules {rules}, "
    "catalogue {catalogue}, tombstones {tombstones}, checkpoint {checkpoint}, schema {schema}, "
    "SQLite {SQLite}"
)
FRAMES, FRAME_BYTES = 1000, 4096 + 24
"""SQLite copies its log into the file at this length, in pages; and the size of a page in the log."""

LOST = "{lost:,} of {times:,} times StoreLost, {acknowledged} acknowledged: KIND in play"

DETECTED_BY = {
    "checkpoint": "checkpoint",
    "has changed since it was": "hashes",
    "by the rules": "rules",
    "the catalogue is wrong": "catalogue",
    "are empty, but it was not deleted": "tombstones",
    "the tombstone of": "tombstones",
    "records too many": "checkpoint",
    "records are missing": "checkpoint",
    "that were made": "checkpoint",
    "a document is missing": "checkpoint",
    "written last is missing": "checkpoint",
    "is not part of a store": "schema",
    "the store was made with": "schema",
    "the index": "schema",
    "the table": "schema",
    "SQLite finds": "SQLite",
    "is damaged": "SQLite",
}


class Template(NamedTuple):
    """A cleanly closed store, to be copied and damaged."""

    path: Path
    sound: Sound
    deleted: dict[str, tuple[Record, ...]]
    """Deleted games, as they were before."""
    older: list[Path]
    other: Path


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """Create a store with games, documents and deletions, earlier copies of it, and another store."""
    folder = tmp_path_factory.mktemp("template")
    path, other = folder / "sound" / "games.db", folder / "other.db"
    older = []
    earlier: dict[str, tuple[Record, ...]] = {}
    with open_store(f"sqlite:{path}") as store:
        for step in damages.play(store, Random(1)):
            earlier |= sound(store).games
            if step in (2, 5, 8):
                older.append(folder / f"older{step}.db")
                with closing(sqlite3.connect(path)) as now, closing(sqlite3.connect(older[-1])) as copy:
                    now.backup(copy)
        kept = sound(store)
    deleted = {game: records for game, records in earlier.items() if game not in kept.games}
    with open_store(f"sqlite:{other}") as store:
        for _ in damages.play(store, Random(2)):
            pass
    return Template(path, kept, deleted, older, other)


def detected_by(fault: str) -> str:
    if fault.startswith("opening: "):
        return "opening"
    found = [by for words, by in DETECTED_BY.items() if words in fault]
    assert found, fault
    return found[0]


def check_repaired(place: Place, template: Template, touched: set[str], kind: str) -> None:
    """Repair a store into a new file; check that it is intact and has every unaffected game unchanged.

    A game that lost its last records, or was forged by the rules, is valid as it is.
    """
    before, deleted = template.sound, template.deleted
    target = place.path.with_name("repaired.db")
    try:
        repair(place.url, str(target))
    except CorruptStore as error:
        assert str(error).startswith("nothing can be repaired")
        assert touched >= {*before.games}
        return
    with open_store(f"sqlite:{target}", create=False) as store:
        verify(store)
        after = sound(store)
    for game, records in before.games.items():
        found = after.games.pop(game, ())
        assert found == records or game in touched
        assert found == records[: len(found)] or "forged" in kind
    if kind == "an older copy put back":
        after = after._replace(games={k: v for k, v in after.games.items() if v != deleted[k][: len(v)]})
    assert not after.games
    for name, document in before.documents.items():
        found_one = after.documents.get(name)
        assert found_one == document or not touched.isdisjoint({name, f"document {name}"})


def damage_and_verify(
    kind: str, place: Place, chance: Random, numbers: dict[str, int]
) -> tuple[set[str], list[str]]:
    """Damage a store; return the affected games and the errors found."""
    numbers["times"] += 1
    touched = {**DAMAGES, **FILE_DAMAGES}[kind](place, chance) or set()
    faults = faults_of(place.url)
    numbers["noticed"] += bool(faults)
    for by in {detected_by(fault) for fault in faults}:
        numbers[by] += 1
    return touched, faults


@pytest.mark.torture
@pytest.mark.parametrize("kind", [*DAMAGES, *FILE_DAMAGES])
def test_damage_to_a_closed_store_is_detected_and_repaired(
    kind: str, template: Template, tmp_path: Path, record_property: Property
) -> None:
    missed = []
    with tally(record_property, FIGURE.replace("KIND", f"{kind} (SQLite)")) as numbers:
        for number in range(TIMES):
            folder = tmp_path / str(number)
            shutil.copytree(template.path.parent, folder)
            place = Place(f"sqlite:{folder / template.path.name}", template.older, template.other)
            assert faults_of(place.url) == []
            touched, faults = damage_and_verify(kind, place, Random(number), numbers)
            if not faults:
                missed.append(number)
            if kind != "another store put in place":
                check_repaired(place, template, touched, kind)
            shutil.rmtree(folder)
    assert missed == []


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Let a process play, make a checkpoint, and die, with everything in its log only."""
    path = tmp_path_factory.mktemp("killed") / "games.db"
    ended = subprocess.run([*script("damages"), f"sqlite:{path}", "3"], check=False)
    assert ended.returncode == -signal.SIGKILL
    path.with_name("games.db-shm").unlink()
    return path


@pytest.mark.torture
@pytest.mark.parametrize("kind", ["the log removed", "the log cut"])
def test_damage_to_the_log_of_a_killed_process_is_detected(
    kind: str, killed: Path, tmp_path: Path, record_property: Property
) -> None:
    """Records that a checkpoint covers may still be only in the log."""
    missed = []
    with tally(record_property, FIGURE.replace("KIND", f"{kind} after a kill (SQLite)")) as numbers:
        for number in range(TIMES):
            folder = tmp_path / str(number)
            shutil.copytree(killed.parent, folder)
            log = folder / "games.db-wal"
            if kind == "the log removed":
                log.unlink()
            else:
                os.truncate(log, Random(number).randrange(log.stat().st_size))
            faults = faults_of(f"sqlite:{folder / 'games.db'}")
            numbers.update(times=1, noticed=bool(faults), **dict.fromkeys(map(detected_by, faults), 1))
            if not faults:
                missed.append(number)
            shutil.rmtree(folder)
    assert missed == []
    shutil.copytree(killed.parent, tmp_path / "sound")
    assert faults_of(f"sqlite:{tmp_path / 'sound' / 'games.db'}") == [], "intact with its log"


# While it is open


def _log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _halve(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _replace(path: Path) -> None:
    copy = path.with_name("copy")
    shutil.copy(path, copy)
    copy.replace(path)


OPEN_DAMAGES: dict[str, Callable[[Path], object]] = {
    "the file removed": lambda path: path.unlink(),
    "the file renamed": lambda path: path.rename(path.with_name("renamed")),
    "the file replaced by a copy": _replace,
    "the file cut to nothing": lambda path: os.truncate(path, 0),
    "the file cut to a half": _halve,
    "the file cut by a page": lambda path: os.truncate(path, path.stat().st_size - 4096),
    "the log removed": lambda path: _log(path).unlink(),
    "the log replaced by a copy": lambda path: _replace(_log(path)),
    "the log cut to nothing": lambda path: os.truncate(_log(path), 0),
    "the log cut to a half": lambda path: _halve(_log(path)),
    "the folder renamed": lambda path: path.parent.rename(path.parent.with_name("renamed")),
}

WITHOUT_A_FILE = ("the file removed", "the file renamed", "the folder renamed")
"""Damage after which there is no file in that place."""


def is_acknowledged(store: EventStore, game: str) -> bool:
    """Try to play; return whether it was acknowledged. Any refusal must be StoreLost."""
    with suppress(StoreLost):
        play(store, game, game_of("1"))
        return True
    return False


def is_lost(store: EventStore) -> bool:
    calls: list[Callable[[], object]] = [
        *(store.check, store.games, store.feed, store.checkpoint),
        *(lambda: store.read("before"), lambda: store.document("before")),
        lambda: store.write_document("after", "text", expected=0),
    ]
    refused = 0
    for call in calls:
        with suppress(StoreLost):
            call()
            continue
        refused += 1
    return refused == len(calls)


@pytest.mark.torture
@pytest.mark.parametrize("kind", OPEN_DAMAGES)
def test_damage_to_an_open_store_stops_it(kind: str, tmp_path: Path, record_property: Property) -> None:
    """No store object of the process acknowledges or reads anything more.

    A store object that was never used has no file open, so it accepts any file in that place.
    """
    wrong = []
    with tally(record_property, LOST.replace("KIND", kind)) as numbers:
        for number in range(TIMES):
            chance = Random(number)
            path = tmp_path / str(number) / "games.db"
            with open_store(f"sqlite:{path}") as store, open_store(f"sqlite:{path}") as second:
                for name in range(chance.randrange(1, 4)):
                    play(store, f"before{name}", game_of("15263"[: chance.randrange(6)]))
                match chance.randrange(3 if kind in WITHOUT_A_FILE else 2):
                    case 0:
                        play(second, "before", game_of("1"))
                    case 1:
                        second.check()
                store.check()  # so that it sees what the other one has written
                stores = [store, second]
                chance.shuffle(stores)
                OPEN_DAMAGES[kind](path)
                acknowledged = sum(
                    is_acknowledged(one, f"after{turn}") for turn in "12" for one in stores
                )
                lost = all(map(is_lost, stores))
            numbers.update(times=1, acknowledged=acknowledged, lost=lost)
            if acknowledged or not lost:
                wrong.append(number)
            shutil.rmtree(tmp_path / "renamed", ignore_errors=True)
    assert wrong == []


def test_truncation_is_detected_before_the_file_grows_again(tmp_path: Path) -> None:
    """A commit may copy the log into the file and make it longer again, so the check comes first."""
    path = tmp_path / "games.db"
    with open_store(f"sqlite:{path}") as store:
        play(store, "before", game_of("1"))
        revision, step, text = 0, 0, "x" * MAX_TEXT_BYTES
        while (size := _log(path).stat().st_size) + step < FRAMES * FRAME_BYTES:
            revision = store.write_document("long", text, expected=revision).revision
            step = _log(path).stat().st_size - size
        os.truncate(path, path.stat().st_size - 4096)
        with pytest.raises(StoreLost):
            store.write_document("long", text, expected=revision)


# On a server


@pytest.mark.torture
@pytest.mark.parametrize("kind", DAMAGES)
def test_damage_on_a_server_is_detected(kind: str, postgres: Server, record_property: Property) -> None:
    missed = []
    with tally(record_property, FIGURE.replace("KIND", f"{kind} (PostgreSQL)")) as numbers:
        for number in range(TIMES_ON_A_SERVER):
            place = Place(postgres.place())
            with open_store(place.url) as store:
                for _ in damages.play(store, Random(number)):
                    pass
            assert faults_of(place.url) == []
            _, faults = damage_and_verify(kind, place, Random(number), numbers)
            if not faults:
                missed.append(number)
    assert missed == []


# What can't be detected


def test_an_old_copy_with_its_own_checkpoint_is_not_detected(tmp_path: Path) -> None:
    path, old = tmp_path / "now" / "games.db", tmp_path / "old"
    with open_store(f"sqlite:{path}") as store:
        play(store, "first", game_of("15263"))
    shutil.copytree(path.parent, old)
    with open_store(f"sqlite:{path}") as store:
        play(store, "second", game_of("15263"))
    shutil.rmtree(path.parent)
    old.rename(path.parent)

    assert faults_of(f"sqlite:{path}") == []


def test_loss_of_records_since_the_last_checkpoint_is_not_detected(tmp_path: Path) -> None:
    """They are not counted yet; earlier games are covered."""
    path = tmp_path / "games.db"
    place = Place(f"sqlite:{path}")
    with open_store(place.url) as store:
        play(store, "first", game_of("15263"))
        store.checkpoint()
        counted = place.beside("-checkpoint").read_bytes()
        play(store, "second", game_of("15263"))
    place.beside("-checkpoint").write_bytes(counted)  # as if killed
    place.remove_games(["second"])
    assert faults_of(place.url) == []

    place.remove_games(["first"])
    assert faults_of(place.url) != []


def test_the_order_of_different_games_in_the_feed_is_not_checked(tmp_path: Path) -> None:
    """It does not affect the sum of the hashes, nor the order within each game."""
    place = Place(f"sqlite:{tmp_path / 'games.db'}")
    with open_store(place.url) as store:
        play(store, "one", game_of(""))
        play(store, "other", game_of(""))
    damages.swap_two_places(place, *place.feed())

    assert [record.game for record in place.feed()] == ["other", "one"]
    assert faults_of(place.url) == []
