"""Kills a process during a store's upkeep: nothing is lost, and the next attempt succeeds."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeAlias

import pytest

from noughts.store.appends import CatalogueRow
from noughts.store.backups import backup, repair, restore
from noughts.store.base import EventStore, GameFilter
from noughts.store.documents import Document
from noughts.store.errors import NoSuchGame, StoreUnavailable
from noughts.store.files import beside
from noughts.store.records import Record
from noughts.store.sql import SQLStore
from noughts.store.urls import open_store
from noughts.store.verify import examine
from support.command import script
from support.damages import Place
from support.endless_upkeep import has_room, play
from support.figures import Property, tally
from support.length import short_or_long
from support.played import NOW, feed_of
from support.postgres_server import Server
from support.store_changes import all_documents

Life: TypeAlias = list[list[str]]
"""The lines that a process printed, word by word."""
Contents: TypeAlias = tuple[list[Record], dict[str, tuple[int, str, str]]]
"""The feed, and the documents."""

SHARES = 2
KILLS = short_or_long(2, 200) // SHARES
KILLS_ON_A_SERVER = short_or_long(2, 80) // SHARES
KILLS_A_STORE = 20
"""Then a new store is made, so that the check takes no longer from kill to kill."""
MAX_DELAY_SECONDS = 0.003

FIGURE = "{{kills:,}} kills during {what}: {{changes:,}} acknowledged changes, {{lost}} lost"


class Task(NamedTuple):
    """What a process does in a loop."""

    name: str
    steps: int
    """More than it takes to do it once, from the opening of the store on."""
    done: str
    """What it prints when it has done it."""


CHECKPOINT = Task("checkpoint", 70, "checkpoint")
DELETE = Task("delete", 60, "deleted")
EXPIRE = Task("expire", 90, "deleted")
RESTORE = Task("restore", 200, "restored")
FIRST_RESTORE = Task("first restore", 160, "restored")
REPAIR = Task("repair", 130, "repaired")
CHECKPOINT_ON_A_SERVER = CHECKPOINT._replace(steps=140)
DELETE_ON_A_SERVER = DELETE._replace(steps=120)


@contextmanager
def killing(
    task: Task, share: int, kills: int, record_property: Property, engine: str = "SQLite"
) -> Iterator[tuple[Callable[..., Life], Counter[str]]]:
    """Yield a function that runs a task in a process and kills it, each time at a different moment."""
    chosen = moments(task.steps, share, kills)
    with (
        tally(record_property, FIGURE.format(what=f"{task.name} ({engine})")) as numbers,
        subprocess.Popen(
            [*script("endless_upkeep")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as forker,
    ):

        def live(*arguments: str) -> Life:
            assert forker.stdin
            assert forker.stdout
            step, delay = next(chosen)
            print(json.dumps([task.name, arguments, step, delay]), file=forker.stdin, flush=True)
            life = [json.loads(forker.stdout.readline())]
            while life[-1][0] != "ended":
                life.append(json.loads(forker.stdout.readline()))
            assert life.pop() == ["ended", str(-signal.SIGKILL)]
            if step > task.steps - SHARES:
                assert task.done in [what for what, *_ in life], "the task takes more steps than expected"
            numbers.update(kills=1, changes=len(life), lost=0)
            return life

        yield live, numbers


def moments(steps: int, share: int, kills: int) -> Iterator[tuple[int, float | None]]:
    """Choose the step before which a process is killed, or how long after it.

    If there are enough kills, every step gets one; the rest are at random moments.
    """
    chance, every = Random(share), range(1, steps + 1)
    planned = [*every[share::SHARES]]
    if len(planned) > kills:
        planned = chance.sample(every, kills // 2)
    yield from ((step, None) for step in planned)
    for _ in range(kills - len(planned)):
        yield chance.choice(every), chance.uniform(0, MAX_DELAY_SECONDS)


class Found(NamedTuple):
    """What a store has of a game."""

    records: tuple[Record, ...]
    row: CatalogueRow | None
    document: Document | None
    is_deleted: bool


def find(store: EventStore, game: str) -> Found:
    """Read a game until two reads agree: a server may still finish what it was sent."""
    before, found = None, _find(store, game)
    while found != before:
        before, found = found, _find(store, game)
    return found


def _find(store: EventStore, game: str) -> Found:
    rows = store.catalogue(GameFilter(id_prefix=game), 10)
    row = next((row for row in rows if row.game == game), None)
    is_deleted = False
    try:
        store.read(game, 1)
    except NoSuchGame:
        is_deleted = True
    return Found(store.read(game), row, store.document(game), is_deleted)


class Expected:
    """What one store must have, given what was acknowledged."""

    def __init__(self) -> None:
        self.games: dict[str, str] = {}
        """The hash of each game's last record."""
        self.deleting: set[str] = set()
        self.deleted: set[str] = set()
        self.checkpoint = 0
        """How many records the last checkpoint had at least."""

    def add(self, life: Life) -> None:
        covered = 0
        for what, *words in life:
            match what:
                case "played":
                    game, link = words
                    assert game not in self.games
                    self.games[game] = link
                case "checkpoint":
                    covered = len(self.games)
                case "deleting":
                    self.deleting.update(words)
                case "deleted":
                    self.deleted.update(words)
        self.checkpoint = max(self.checkpoint, covered)

    def lost(self, store: EventStore) -> list[str]:
        """Check the whole store; return the games that are not in an expected state."""
        assert examine(store).faults == ()
        lost = []
        for game, link in self.games.items():
            found = find(store, game)
            if found.is_deleted:
                is_right = game in self.deleting and found[:3] == ((), None, None)
            else:
                is_whole = bool(found.records and found.row) and bool(found.document) == has_room(game)
                is_right = is_whole and found.records[-1].hash.hex() == link
            if not is_right or (game in self.deleted and not found.is_deleted):
                lost.append(game)
        return lost


def kill_and_check(
    urls: Iterator[str], task: Task, share: int, kills: int, record_property: Property, engine: str
) -> None:
    """Repeatedly kill a process that plays and maintains its store, and check the store."""
    with killing(task, share, kills, record_property, engine) as (live, numbers):
        for first in range(0, kills, KILLS_A_STORE):
            url, expected, checkpoint = next(urls), Expected(), 0
            with open_store(url) as store:
                expected.add([["played", "first", play(store, "first")]])
            for number in range(first, min(first + KILLS_A_STORE, kills)):
                expected.add(live(url, str(number)))
                with open_store(url, create=False) as store:
                    assert isinstance(store, SQLStore)
                    lost = expected.lost(store)
                    numbers.update(lost=len(lost))
                    assert not lost
                    (kept,) = store.last_checkpoints()
                    per_game = len(store.read("first"))
                    assert kept.records >= max(checkpoint, expected.checkpoint * per_game)
                    checkpoint = kept.records
                    store.checkpoint()  # the next attempt
                    for game in expected.deleting - expected.deleted:
                        if not find(store, game).is_deleted and store.read(game):
                            store.delete(game, at=NOW)
                            expected.deleted.add(game)
                    assert expected.lost(store) == []


def files(folder: Path) -> Iterator[str]:
    for number in range(1 + KILLS // KILLS_A_STORE):
        yield f"sqlite:{folder / f'{number}.db'}"


ENDINGS = ("", "-wal", "-checkpoint")
"""Of the files that a store consists of; what is in the others is made again."""


def make_backup(path: Path, *games: str) -> Path:
    copy = path.with_suffix(".backup")
    with open_store(f"sqlite:{path}") as store:
        for game in games:
            play(store, game)
        backup(store, str(copy))
    return copy


def make_crashed(path: Path, *games: str) -> None:
    """Create or continue a store, and leave it as a killed process does: with its log."""
    running = beside(path, "-running")
    if path.exists():
        copy_files(path, running)
    with open_store(f"sqlite:{running}") as store:
        for game in games:
            play(store, game)
        copy_files(running, path)


def copy_files(path: Path, target: Path) -> None:
    for ending in ENDINGS:
        if beside(path, ending).exists():
            shutil.copyfile(beside(path, ending), beside(target, ending))


def contents(path: Path) -> Contents:
    """Check a copy of a store; return its contents."""
    copy = path.parent / "examined" / path.name
    shutil.rmtree(copy.parent, ignore_errors=True)
    copy.parent.mkdir()
    copy_files(path, copy)
    with open_store(f"sqlite:{copy}", create=False) as store:
        assert examine(store).faults == ()
        return feed_of(store), all_documents(store)


def after_partial(attempt: Callable[[], object], partial: Path) -> None:
    """Retry a task; remove the leftovers of the last attempt if an error asks for it."""
    try:
        attempt()
    except StoreUnavailable as error:
        assert str(error) == f"{partial} is left from an interrupted copy: remove it first"
        partial.unlink()
        attempt()


shares = pytest.mark.parametrize("share", range(SHARES))


@pytest.mark.torture
@shares
@pytest.mark.parametrize("task", [CHECKPOINT, DELETE, EXPIRE], ids=attrgetter("name"))
def test_a_killed_process_leaves_every_game_complete_or_deleted_in_a_file(
    task: Task, share: int, tmp_path: Path, record_property: Property
) -> None:
    """SIGKILL at any step leaves what was acknowledged, a valid checkpoint, and no incomplete game."""
    kill_and_check(files(tmp_path), task, share, KILLS, record_property, "SQLite")


@pytest.mark.torture
@shares
@pytest.mark.parametrize("task", [CHECKPOINT_ON_A_SERVER, DELETE_ON_A_SERVER], ids=attrgetter("name"))
def test_a_killed_process_leaves_every_game_complete_or_deleted_on_a_server(
    task: Task, share: int, postgres: Server, record_property: Property
) -> None:
    """The server finishes or undoes what it was sent, and its checkpoint is valid."""
    places = iter(postgres.place, "")
    kill_and_check(places, task, share, KILLS_ON_A_SERVER, record_property, "PostgreSQL")


@pytest.mark.torture
@shares
def test_a_killed_restore_leaves_one_store_or_the_other(
    share: int, tmp_path: Path, record_property: Property
) -> None:
    """The result is the old store or the backup, with its checkpoint; the old one is never lost."""
    backups = [make_backup(tmp_path / name, f"kept{name}", f"web{name}") for name in "ab"]
    make_crashed(tmp_path / "old.db", "old", "web")
    old, *new = map(contents, (tmp_path / "old.db", *backups))
    with killing(RESTORE, share, KILLS, record_property) as (live, numbers):
        for number in range(KILLS):
            path = tmp_path / str(number) / "games.db"
            path.parent.mkdir()
            copy_files(tmp_path / "old.db", path)
            replaced = [Path(kept) for _, kept in live(f"sqlite:{path}", *map(str, backups))]
            in_turn = [old, *(new[turn % 2] for turn in range(len(replaced) + 1))]
            lost = [one for one, kept in zip(in_turn, replaced, strict=False) if contents(kept) != one]
            numbers.update(lost=len(lost))
            assert not lost
            before, after = in_turn[-2:]
            found = contents(path)
            assert found in (before, after)
            if found == after:
                (kept,) = {*path.parent.glob("games-replaced*.db")} - {*replaced}
                assert contents(kept) == before
            again = backups[found == new[0]]
            last = restore(str(again), f"sqlite:{path}").replaced
            assert last
            assert contents(last) == found
            assert contents(path) == contents(again)
            shutil.rmtree(path.parent)


@pytest.mark.torture
@shares
def test_a_killed_restore_to_a_new_place_leaves_all_or_nothing(
    share: int, tmp_path: Path, record_property: Property
) -> None:
    copy = make_backup(tmp_path / "games", "kept", "web")
    expected = contents(copy)
    with killing(FIRST_RESTORE, share, KILLS, record_property) as (live, numbers):
        for number in range(KILLS):
            path = tmp_path / str(number) / "games.db"
            path.parent.mkdir()
            done = len(live(f"sqlite:{path}", str(copy)))
            last = check_done(path, done, expected, numbers)
            assert not last.exists() or contents(last) == expected
            restore(str(copy), f"sqlite:{last}")
            assert contents(last) == expected
            shutil.rmtree(path.parent)


@pytest.mark.torture
@shares
def test_a_killed_repair_leaves_the_damaged_store_alone(
    share: int, tmp_path: Path, record_property: Property
) -> None:
    damaged = tmp_path / "damaged.db"
    make_crashed(damaged, "sound", "damaged", "web")
    change = "UPDATE noughts_records SET at = at + 1 WHERE game = 'damaged' AND version = 0"
    Place(f"sqlite:{damaged}").do(change)
    make_crashed(damaged, "web2")
    before = read_files(damaged)
    assert len(before) == len(ENDINGS)
    repaired = repair(f"sqlite:{damaged}", str(tmp_path / "repaired.db"))
    assert (repaired.copied.games, len(repaired.left_behind)) == (3, 1)
    expected = contents(tmp_path / "repaired.db")
    with killing(REPAIR, share, KILLS, record_property) as (live, numbers):
        for number in range(KILLS):
            path = tmp_path / str(number) / "repaired.db"
            path.parent.mkdir()
            done = len(live(f"sqlite:{damaged}", str(path)))
            assert read_files(damaged) == before
            last = check_done(path, done, expected, numbers)
            if not last.exists():
                after_partial(lambda: repair(f"sqlite:{damaged}", str(last)), beside(last, ".partial"))  # noqa: B023 - called at once
            assert contents(last) == expected
            assert read_files(damaged) == before
            shutil.rmtree(path.parent)


def check_done(path: Path, done: int, expected: Contents, numbers: Counter[str]) -> Path:
    """Check the stores that were finished; return the path of the next one."""
    lost = [one for one in range(done) if contents(beside(path, f"-{one}")) != expected]
    numbers.update(lost=len(lost))
    assert not lost
    return beside(path, f"-{done}")


def read_files(path: Path) -> dict[str, bytes]:
    """Return the bytes of all files of a store."""
    return {ending: beside(path, ending).read_bytes() for ending in ENDINGS}
