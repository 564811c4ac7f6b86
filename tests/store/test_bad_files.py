"""Files that aren't stores, and places where none can be: refused with a reason, and left unchanged."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from noughts.store.errors import (
    CorruptStore,
    NotAStore,
    StaleVersion,
    StoreLost,
    StoreMissing,
    StoreUnavailable,
)
from noughts.store.sqlite import SQLiteStore
from noughts.store.verify import verify
from support.other_process import RECORDED, other_process
from support.store_games import Turn, everything, row_of, turns

DAY = 86_400_000
ROUNDS = 50


def played(seed: int = 0, games: int = 3) -> list[Turn]:
    return [turn for game in range(games) for turn in turns(f"game-{seed}-{game}", Random(seed + game))]


def make_store(path: Path, games: int = 3) -> list[Turn]:
    """Make a store with some games, and return what is in it."""
    recorded = played(games=games)
    with SQLiteStore(str(path)) as store:
        for turn in recorded:
            turn.append_to(store)
    return recorded


def assert_good(path: Path, recorded: list[Turn]) -> None:
    """Check that the store holds exactly that, and accepts more."""
    with SQLiteStore(str(path), create=False) as store:
        found = [row_of(record) for record in everything(store)]
        assert found == [turn.row for turn in recorded]
        for turn in played(seed=1000, games=1):
            turn.append_to(store)
        verify(store)


def contents(folder: Path) -> dict[str, bytes | None]:
    """Return everything in a folder, byte by byte; None for what is not a file."""
    return {
        str(place.relative_to(folder)): place.read_bytes() if place.is_file() else None
        for place in folder.rglob("*")
    }


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE recipes (cake TEXT)")
        connection.execute("INSERT INTO recipes VALUES ('carrot')")
        connection.commit()


def foreign_with_a_log(path: Path) -> None:
    """Write another program's database with a write-ahead log, by which it could be changed."""
    foreign(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA user_version = 1")
        connection.execute("INSERT INTO recipes VALUES ('lemon')")
        connection.commit()
        left = path.with_name(f"{path.name}-wal").read_bytes()
    path.with_name(f"{path.name}-wal").write_bytes(left)  # as after a crash


def claimed(path: Path) -> None:
    """Write an empty database with another program's id."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA application_id = 12345")


def newer(path: Path) -> None:
    """Create a store made by a newer version of noughts."""
    make_store(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 999")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def beginning(path: Path) -> None:
    make_store(path)
    path.write_bytes(path.read_bytes()[:60])


ANOTHER_PROGRAM = "is not a store of games: the database belongs to another program"
NO_DATABASE = "is not a store of games: it is not a SQLite database"
NO_STORES: dict[str, tuple[Callable[[Path], object], str]] = {
    "foreign": (foreign, ANOTHER_PROGRAM),
    "foreign with a log": (foreign_with_a_log, ANOTHER_PROGRAM),
    "claimed by another program": (claimed, ANOTHER_PROGRAM),
    "newer": (newer, "was made by a newer noughts: its schema is 999, and this one reads [0-9]+"),
    "text": (lambda path: path.write_text("dear diary\n" * 100), NO_DATABASE),
    "shorter than a header": (lambda path: path.write_text("x"), NO_DATABASE),
    "noise": (lambda path: path.write_bytes(Random(0).randbytes(50)), NO_DATABASE),
    "beginning": (beginning, NO_DATABASE),
    "zeros": (lambda path: path.write_bytes(bytes(5000)), NO_DATABASE),
    "folder": (Path.mkdir, "is not a store of games: it is not a file"),
    "zeros before a text": (lambda path: path.write_bytes(bytes(200) + b"dear diary"), NO_DATABASE),
}


@pytest.mark.parametrize("kind", NO_STORES)
def test_what_is_not_a_store_is_refused_and_left_unchanged(kind: str, tmp_path: Path) -> None:
    make, sentence = NO_STORES[kind]
    path = tmp_path / "games.db"
    make(path)
    before = contents(tmp_path)
    for create in (True, False):
        with pytest.raises(NotAStore) as refusal:
            SQLiteStore(str(path), create=create)
        assert re.fullmatch(f"{re.escape(str(path))} {sentence}", str(refusal.value))
    assert contents(tmp_path) == before


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    """Its creation may have been interrupted, and there is nothing in it to lose."""
    path = tmp_path / "games.db"
    path.touch()
    assert_good(path, make_store(path))


def test_a_store_that_was_cut_short_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "games.db"
    make_store(path, games=20)
    whole, counted = path.read_bytes(), (tmp_path / "games.db-checkpoint").read_bytes()
    for length in (100, 4096, 5000, len(whole) // 2, len(whole) - 4096, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(CorruptStore), SQLiteStore(str(path), create=False) as store:
            verify(store)
        assert contents(tmp_path) == {"games.db": whole[:length], "games.db-checkpoint": counted}
    path.write_bytes(whole)
    assert_good(path, played(games=20))


def test_a_pipe_is_not_a_store(tmp_path: Path) -> None:
    """A path that leads to a pipe is refused, and nothing is read from the pipe, or waited for."""
    path = tmp_path / "games.db"
    os.mkfifo(path)
    letter = b"dear diary\n" * 10
    pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    try:
        os.write(pipe, letter)
        with pytest.raises((NotAStore, StoreUnavailable)):
            SQLiteStore(str(path))
        assert os.read(pipe, 2 * len(letter)) == letter
    finally:
        os.close(pipe)
    assert contents(tmp_path) == {"games.db": None}


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("file/games.db", "Not a directory"),
        ("file/folder/games.db", "Not a directory"),
        ("a" * 256, "File name too long"),
    ],
)
@pytest.mark.parametrize("create", [True, False])
def test_a_place_that_cannot_be_read_is_refused(
    place: str, reason: str, tmp_path: Path, *, create: bool
) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StoreUnavailable) as refusal:
        SQLiteStore(str(tmp_path / place), create=create)
    assert str(refusal.value) == f"the store {tmp_path / place} cannot be read: {reason}"
    assert contents(tmp_path) == {"file": b"mine"}


def test_a_folder_that_cannot_be_created_is_refused() -> None:
    with pytest.raises(StoreUnavailable) as refusal:
        SQLiteStore("/proc/noughts/games.db")
    assert str(refusal.value) == "the folder /proc/noughts cannot be created: No such file or directory"


def test_a_missing_store_is_only_created_on_request(tmp_path: Path) -> None:
    with pytest.raises(StoreMissing, match=r"no store at .*games\.db"):
        SQLiteStore(str(tmp_path / "folder" / "games.db"), create=False)
    assert contents(tmp_path) == {}


def test_a_locked_store_refuses_writes_until_it_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program that keeps the lock is waited for, but not forever; reading goes on meanwhile."""
    monkeypatch.setattr("noughts.store.sqlite_schema.LOCK_TIMEOUT_SECONDS", 0.01)
    path = tmp_path / "games.db"
    recorded = make_store(path)
    (turn, *_) = played(seed=7)
    with closing(sqlite3.connect(path, isolation_level=None)) as other, SQLiteStore(str(path)) as store:
        other.execute("BEGIN EXCLUSIVE")
        for _ in range(2):
            with pytest.raises(
                StoreUnavailable, match=r"another program has kept it locked .*SQLITE_BUSY"
            ):
                turn.append_to(store)
        assert len(everything(store)) == len(recorded)
        other.execute("ROLLBACK")
        turn.append_to(store)
    assert_good(path, [*recorded, turn])


@pytest.mark.parametrize("is_store", [True, False])
def test_a_locked_file_is_opened_when_it_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_store: bool
) -> None:
    """Creating a store waits for the lock, too, and leaves nothing half done."""
    monkeypatch.setattr("noughts.store.sqlite_schema.LOCK_TIMEOUT_SECONDS", 0.01)
    path = tmp_path / "games.db"
    recorded = make_store(path) if is_store else []
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        if is_store:  # its readers need no lock otherwise
            other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreUnavailable, match="another program has kept it locked"):
            SQLiteStore(str(path))
        other.execute("ROLLBACK")
    if not is_store:
        assert contents(tmp_path) == {"games.db": b""}
        recorded = make_store(path)
    assert_good(path, recorded)


def replace(path: Path) -> None:
    make_store(path.with_name("other.db"), games=1)
    path.with_name("other.db").replace(path)


@pytest.mark.parametrize(
    "lose", [Path.unlink, replace, lambda path: path.rename(path.with_name("elsewhere.db"))]
)
def test_nothing_is_recorded_in_a_file_that_is_not_there_any_more(
    lose: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / "games.db"
    first, second, *_ = played()
    with SQLiteStore(str(path)) as store:
        first.append_to(store)
        lose(path)
        before = contents(tmp_path)
        with pytest.raises(StoreLost, match="was moved, deleted or replaced"):
            second.append_to(store)
        assert contents(tmp_path) == before


@pytest.fixture
def open_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for place in (folder, *folder.rglob("*")):
        place.chmod(0o755)
    shutil.rmtree(folder)


def test_a_folder_that_cannot_be_written_holds_no_new_store(open_folder: Path) -> None:
    open_folder.chmod(0o555)
    with other_process("guest", "nobody") as guest:
        guest.send(f"sqlite:{open_folder / 'games.db'}")
        assert guest.receive() == (
            f"StoreUnavailable: the store {open_folder / 'games.db'} is unavailable: "
            "it cannot be opened (SQLITE_CANTOPEN)"
        )
        guest.send(f"sqlite:{open_folder / 'folder' / 'games.db'}")
        assert guest.receive() == (
            f"StoreUnavailable: the folder {open_folder / 'folder'} cannot be created: Permission denied"
        )
    assert contents(open_folder) == {}


UNWRITABLE = r"is unavailable: it cannot be (opened|written) \(\w+\)"


@pytest.mark.parametrize(
    ("folder_mode", "mode", "reason"),
    [
        pytest.param(0o555, 0o666, UNWRITABLE, id="read-only folder"),
        pytest.param(0o777, 0o444, UNWRITABLE, id="read-only file"),
        pytest.param(0o755, 0, "cannot be read: Permission denied", id="unreadable file"),
    ],
)
def test_a_store_without_permissions_is_refused(
    open_folder: Path, folder_mode: int, mode: int, reason: str
) -> None:
    path = open_folder / "games.db"
    recorded = make_store(path)
    before = contents(open_folder)
    path.chmod(mode)
    open_folder.chmod(folder_mode)
    with other_process("guest", "nobody") as guest:
        guest.send(f"sqlite:{path}")
        assert re.fullmatch(rf"StoreUnavailable: the store \S+ {reason}", guest.receive())
    path.chmod(0o644)
    open_folder.chmod(0o755)
    after = contents(open_folder)
    assert after == before or (folder_mode == 0o777 and before.items() <= after.items())
    assert_good(path, recorded)


def test_two_processes_that_create_the_same_store_share_it(tmp_path: Path) -> None:
    with other_process("ann") as ann, other_process("bob") as bob:
        for number in range(ROUNDS):
            path = tmp_path / f"folder-{number}" / "games.db"
            for each in (ann, bob):
                each.send(f"sqlite:{path}")
            assert [each.receive() for each in (ann, bob)] == [RECORDED, RECORDED]
            with SQLiteStore(str(path), create=False) as store:
                assert {record.game for record in everything(store)} == {f"ann-{number}", f"bob-{number}"}
                verify(store)


@pytest.mark.parametrize("moment", range(8))
def test_a_store_that_is_created_meanwhile_is_found(moment: int, tmp_path: Path) -> None:
    """Between any two statements on a new file, another process may make it a store."""
    path = tmp_path / "games.db"
    statements = 0

    class Watched(sqlite3.Connection):
        """A connection beside which another opens the file."""

        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:  # noqa: ANN401 - as in Python
            """Let another create the store at that moment, unless it is locked."""
            nonlocal statements
            if statements == moment and not self.in_transaction:
                SQLiteStore(str(path)).close()
            statements += 1
            return super().execute(statement, *values)

    def open_file(place: Path) -> sqlite3.Connection:
        return sqlite3.connect(place, isolation_level=None, check_same_thread=False, factory=Watched)

    recorded = played()
    with SQLiteStore(str(path), open_file=open_file) as store:
        for turn in recorded:
            turn.append_to(store)
    assert statements > moment
    assert_good(path, recorded)


def test_a_clock_that_goes_back_a_day_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "games.db"
    recorded = []
    with SQLiteStore(str(path)) as store:
        for number, turn in enumerate(played(games=5)):
            recorded.append(turn._replace(at=20_000 * DAY - number * DAY))
            recorded[-1].append_to(store)
        with pytest.raises(StaleVersion):
            recorded[0]._replace(key="again").append_to(store)
    assert_good(path, recorded)
