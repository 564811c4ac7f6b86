"""A store is a file: what is no store, who may write, what becomes of the file, and its backup."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from noughts.store import sqlite_file
from noughts.store.base import nothing
from noughts.store.errors import NotAStore, StoreLost, StoreMissing, StoreUnavailable
from noughts.store.memory import MemoryStore
from noughts.store.sqlite import SQLiteStore
from noughts.store.verify import verify
from support.at_once import run_code
from support.played import CREATED, DRAW, PLACED, ROOM, X_WINS, change_of, commit, found, game_of, play
from support.store_games import hashes


def make_store(path: Path, games: int = 3) -> dict[str, bytes]:
    """Make a store with some games, and return their hashes."""
    with SQLiteStore(str(path)) as store:
        for number in range(games):
            play(store, f"game-{number}", game_of(X_WINS), room=ROOM if number % 2 else None)
        return hashes(store)


def assert_good(path: Path, recorded: dict[str, bytes]) -> None:
    """Check that the store holds exactly that, and accepts more."""
    with SQLiteStore(str(path), create=False) as store:
        assert hashes(store) == recorded
        play(store, "after", game_of(DRAW))
        verify(store)


def contents(folder: Path) -> dict[str, bytes | None]:
    """Return everything in a folder, byte by byte; None for what is not a file."""
    return {
        str(place.relative_to(folder)): place.read_bytes() if place.is_file() else None
        for place in folder.rglob("*")
    }


def beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def watched(watcher: Callable[[str, bool], None]) -> sqlite_file.Opener:
    """Return how a store opens its file; the watcher is called before each statement.

    It gets the statement, and whether it is within a transaction.
    """

    class Watched(sqlite3.Connection):
        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:  # noqa: ANN401 - as in Python
            watcher(statement, self.in_transaction)
            return super().execute(statement, *values)

    return lambda path: sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, factory=Watched
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games.db"


# What is no store


def foreign(path: Path) -> None:
    """Write another program's database with a write-ahead log, by which it could be changed."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE recipes (cake TEXT)")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA user_version = 1")
        connection.execute("INSERT INTO recipes VALUES ('lemon')")
        left = beside(path, "-wal").read_bytes()
    beside(path, "-wal").write_bytes(left)  # as after a crash


def with_pragma(pragma: str, path: Path) -> None:
    """Write a store that says something else in its header."""
    make_store(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA {pragma}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


ANOTHER_PROGRAM = "is not a store of games: the database belongs to another program"
NO_DATABASE = "is not a store of games: it is not a SQLite database"
NO_STORES: dict[str, tuple[Callable[[Path], object], str]] = {
    "another program's database": (foreign, ANOTHER_PROGRAM),
    "another program's id": (partial(with_pragma, "application_id = 12345"), ANOTHER_PROGRAM),
    "newer": (
        partial(with_pragma, "user_version = 21"),
        "was made by a newer noughts: its schema is 21, not 20",
    ),
    "older": (
        partial(with_pragma, "user_version = 9"),
        "was made by an older noughts: its schema is 9, not 20",
    ),
    "text": (lambda path: path.write_text("dear diary\n" * 100), NO_DATABASE),
    "shorter than a header": (lambda path: path.write_text("x"), NO_DATABASE),
    "noise": (lambda path: path.write_bytes(Random(0).randbytes(50)), NO_DATABASE),
    "beginning": (lambda path: path.write_bytes(b"SQLite format 3\0" + bytes(44)), NO_DATABASE),
    "zeros": (lambda path: path.write_bytes(bytes(5000)), NO_DATABASE),
    "zeros before a text": (lambda path: path.write_bytes(bytes(200) + b"dear diary"), NO_DATABASE),
    "folder": (Path.mkdir, "is not a store of games: it is not a file"),
    "pipe": (os.mkfifo, "is not a store of games: it is not a file"),
}


@pytest.mark.parametrize("kind", NO_STORES)
def test_what_is_not_a_store_is_refused_and_left_unchanged(kind: str, path: Path) -> None:
    make, sentence = NO_STORES[kind]
    make(path)
    before = contents(path.parent)
    for create in (True, False):
        with pytest.raises(NotAStore) as refusal:
            SQLiteStore(str(path), create=create)
        assert str(refusal.value) == f"{path} {sentence}"
    assert contents(path.parent) == before


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    """Its creation may have been interrupted, and there is nothing in it to lose."""
    path.touch()
    with pytest.raises(StoreMissing):
        SQLiteStore(str(path), create=False)
    assert_good(path, make_store(path))


def test_a_missing_store_is_created_only_on_request(tmp_path: Path) -> None:
    """With all folders on the way; nobody else may read the last. Not every place can be one."""
    path = tmp_path / "one" / "two" / "games.db"
    with pytest.raises(StoreMissing, match=r"no store at .*games\.db"):
        SQLiteStore(str(path), create=False)
    assert contents(tmp_path) == {}
    make_store(path)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    with pytest.raises(
        StoreUnavailable, match="the folder /proc/noughts cannot be created: No such file"
    ):
        SQLiteStore("/proc/noughts/games.db")
    for place, reason in ((path / "games.db", "Not a directory"), (tmp_path / ("a" * 256), "too long")):
        for create in (True, False):
            with pytest.raises(StoreUnavailable, match=f"the store {place} cannot be read: .*{reason}"):
                SQLiteStore(str(place), create=create)


# Who may read and write


ELSEWHERE = """
import os, sys
import noughts.store.sqlite  # `nobody` may not be allowed to read it later
from noughts import CreateGame, NoughtsError, Service
from noughts.store.urls import open_store
user, what, url = sys.argv[1:]
if user == "nobody" and os.getuid() == 0:
    os.setgroups([])
    os.setuid(65534)
try:
    with open_store(url, create=what != "read") as store:
        match what:
            case "read":
                print(len(store.games()), "games")
            case "hold":
                store.hold()
                print("done", flush=True)
                os.kill(os.getpid(), 9)
            case _:
                Service(store).handle(what, CreateGame())
                print("done")
except NoughtsError as refusal:
    print(f"{type(refusal).__name__}: {refusal}")
"""


def elsewhere(what: str, path: Path, user: str = "") -> str:
    """Let another process `read` a store, `hold` it and die, or create a game; return what it says."""
    return run_code(ELSEWHERE, user, what, f"sqlite:{path}").stdout.rstrip()


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
    path, nested = open_folder / "games.db", open_folder / "folder" / "games.db"
    assert elsewhere("new", path, "nobody") == (
        f"StoreUnavailable: the store {path} is unavailable: it cannot be opened (SQLITE_CANTOPEN)"
    )
    assert elsewhere("new", nested, "nobody") == (
        f"StoreUnavailable: the folder {nested.parent} cannot be created: Permission denied"
    )
    assert contents(open_folder) == {}


@pytest.mark.parametrize(
    ("folder_mode", "mode", "reading", "reason"),
    [
        pytest.param(0o555, 0o666, True, r"is unavailable: .*", id="read-only folder"),
        pytest.param(0o777, 0o444, True, r"is unavailable: .*", id="read-only file"),
        pytest.param(0o555, 0o444, True, r"is unavailable: .*", id="read-only folder and file"),
        pytest.param(0o755, 0, False, "cannot be read: Permission denied", id="unreadable file"),
    ],
)
def test_a_store_without_permissions_is_at_most_read(
    open_folder: Path, folder_mode: int, mode: int, reason: str, *, reading: bool
) -> None:
    path = open_folder / "games.db"
    recorded = make_store(path)
    beside(path, "-lock").unlink()
    before = contents(open_folder)
    path.chmod(mode)
    open_folder.chmod(folder_mode)
    refusal = elsewhere("new", path, "nobody")
    assert re.fullmatch(rf"StoreUnavailable: the store \S+ {reason}", refusal)
    assert elsewhere("read", path, "nobody") == ("3 games" if reading else refusal)
    path.chmod(0o644)
    open_folder.chmod(0o755)
    assert contents(open_folder).items() >= before.items()
    assert folder_mode == 0o777 or contents(open_folder) == before
    assert_good(path, recorded)


def test_a_locked_store_refuses_writes_until_it_is_free(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program that keeps the lock is waited for, but not forever; reading goes on meanwhile."""
    monkeypatch.setattr(sqlite_file, "LOCK_TIMEOUT_SECONDS", 0.01)
    recorded = make_store(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other, SQLiteStore(str(path)) as store:
        other.execute("BEGIN EXCLUSIVE")
        for attempt in (partial(play, store, "new", [CREATED]), partial(store.count_hour, 0)) * 2:
            with pytest.raises(
                StoreUnavailable, match=r"another program has kept it locked .*SQLITE_BUSY"
            ):
                attempt()
        assert hashes(store) == recorded
        other.execute("ROLLBACK")
        new = play(store, "new", [CREATED])
    assert_good(path, recorded | {"new": new.hash})


@pytest.mark.parametrize("is_store", [True, False])
def test_a_locked_file_is_opened_when_it_is_free(
    path: Path, monkeypatch: pytest.MonkeyPatch, *, is_store: bool
) -> None:
    """Creating a store waits for the lock, too, and leaves nothing half done."""
    monkeypatch.setattr(sqlite_file, "LOCK_TIMEOUT_SECONDS", 0.01)
    recorded = make_store(path) if is_store else {}
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        if is_store:  # its readers need no lock otherwise
            other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreUnavailable, match="another program has kept it locked"):
            SQLiteStore(str(path))
        other.execute("ROLLBACK")
    assert is_store or contents(path.parent) == {"games.db": b""}
    assert_good(path, recorded or make_store(path))


@pytest.mark.parametrize("moment", range(8))
def test_a_store_that_is_created_meanwhile_is_found(moment: int, path: Path) -> None:
    """Between any two statements on a new file, another process may make it a store."""
    statements = 0

    def create(_statement: str, in_transaction: bool) -> None:  # noqa: FBT001 - it is a watcher
        """Create the store at that moment, unless it is locked."""
        nonlocal statements
        if statements == moment and not in_transaction:
            SQLiteStore(str(path)).close()
        statements += 1

    with SQLiteStore(str(path), open_file=watched(create)) as store:
        game = play(store, "game", game_of(X_WINS))
    assert statements > moment
    assert_good(path, {"game": game.hash})


# A server owns its file


def test_a_file_that_a_server_owns_is_read_and_copied_but_not_written(path: Path) -> None:
    """A second server and a terminal are refused, in other processes and in this one, until it ends."""
    copy = path.with_name("copy.db")
    held = f"StoreUnavailable: a server has the store {path}: end it first, or play on its page"
    in_use = f"StoreUnavailable: another process writes to the store {path}: a server needs it alone"
    with SQLiteStore(str(path)) as server:
        server.hold()
        server.hold()
        play(server, "game", [CREATED])
        with SQLiteStore(str(path)) as guest:
            attempts: list[Callable[[], object]] = [
                *(guest.check_writable, partial(guest.count_hour, 0), partial(guest.delete, "game")),
                partial(play, guest, "new", [CREATED]),
            ]
            for attempt in attempts:
                with pytest.raises(StoreUnavailable, match="a server has the store"):
                    attempt()
            with pytest.raises(StoreUnavailable, match="a server needs it alone"):
                guest.hold()
            copied = hashes(guest)
            guest.backup(str(copy))
        assert [elsewhere(what, path) for what in ("new", "read", "hold")] == [held, "1 games", in_use]
        server.check_writable()
        server.count_hour(0)
        play(server, "game", [PLACED])
    assert [elsewhere(what, path) for what in ("hold", "new")] == ["done", "done"]
    with SQLiteStore(str(path)) as store:
        assert store.hours() == 1
        assert {*hashes(store)} == {"game", "new"}
    assert_good(copy, copied)


def test_a_server_does_not_take_a_file_to_which_a_terminal_writes(path: Path) -> None:
    """Terminals share a file, and a server waits for none of them."""
    with SQLiteStore(str(path)) as one, SQLiteStore(str(path)) as other, SQLiteStore(str(path)) as server:
        play(one, "one", [CREATED])
        other.check_writable()
        for store in (one, other):
            with pytest.raises(StoreUnavailable, match="another process writes to the store"):
                server.hold()
            store.close()
        server.hold()
        play(server, "served", [CREATED])


# The file changes while it is open


def log_of(path: Path) -> Path:
    return beside(path, "-wal")


def cut(size: Callable[[int], int], path: Path) -> None:
    os.truncate(path, size(path.stat().st_size))


def replace(path: Path) -> None:
    shutil.copy(path, path.with_name("copy"))
    path.with_name("copy").replace(path)


def rename(path: Path) -> None:
    path.rename(path.with_name("renamed"))


OPEN_DAMAGES: dict[str, Callable[[Path], object]] = {
    "the file removed": Path.unlink,
    "the file renamed": rename,
    "the file replaced by a copy": replace,
    "the file cut to nothing": partial(cut, lambda _size: 0),
    "the file cut to a half": partial(cut, lambda size: size // 2),
    "the file cut by a page": partial(cut, lambda size: size - 4096),
    "the log removed": lambda path: log_of(path).unlink(),
    "the log replaced by a copy": lambda path: replace(log_of(path)),
    "the log cut to nothing": lambda path: cut(lambda _size: 0, log_of(path)),
    "the log cut to a half": lambda path: cut(lambda size: size // 2, log_of(path)),
    "the folder renamed": lambda path: rename(path.parent),
}


@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("kind", OPEN_DAMAGES)
def test_a_file_that_changed_while_it_was_open_is_noticed_before_anything_is_acknowledged(
    kind: str, tmp_path: Path, *, is_turned: bool
) -> None:
    """No store object of the process acknowledges, reads or copies anything more."""
    path = tmp_path / "folder" / "games.db"
    with SQLiteStore(str(path)) as one, SQLiteStore(str(path)) as other:
        play(one, "before", game_of(X_WINS))
        if is_turned:
            play(other, "second", [CREATED])
        for store in (one, other):
            store.check()  # so that it sees what the other one has written
        OPEN_DAMAGES[kind](path)
        for store in (other, one) if is_turned else (one, other):
            calls: list[Callable[[], object]] = [
                *(partial(play, store, "after", [CREATED]),) * 2,
                *(store.check, store.games, store.hours, store.count, partial(store.look, "before")),
                *(partial(store.count_hour, 0), partial(store.delete, "before")),
                *(partial(next, store.rows()), partial(store.backup, str(tmp_path / "backup"))),
            ]
            for call in calls:
                with pytest.raises(StoreLost, match="nothing more is recorded in it"):
                    call()
    assert not (tmp_path / "backup").exists()


@pytest.mark.parametrize("kind", [kind for kind in OPEN_DAMAGES if "log cut" not in kind])
def test_a_file_that_changes_during_a_commit_is_noticed_before_that_is_acknowledged(
    kind: str, tmp_path: Path
) -> None:
    """But not a log that is cut in that moment: the commit itself makes it long again."""
    path = tmp_path / "folder" / "games.db"
    damages: list[Callable[[Path], object]] = []

    def damage(statement: str, *_: object) -> None:
        if statement == "COMMIT" and damages:
            damages.pop()(path)

    with SQLiteStore(str(path), open_file=watched(damage)) as store:
        play(store, "before", game_of(X_WINS))
        damages.append(OPEN_DAMAGES[kind])
        with pytest.raises(StoreLost, match="the last moves may be lost"):
            play(store, "meanwhile", [CREATED])
    assert not damages


def test_truncation_is_noticed_before_the_file_grows_again(path: Path) -> None:
    """A commit may copy the log into the file and make it longer again, so the check comes first."""

    def open_file(path: Path) -> sqlite3.Connection:
        connection = sqlite_file.connect(path)
        connection.execute("PRAGMA wal_autocheckpoint = 1")
        return connection

    with SQLiteStore(str(path), open_file=open_file) as store:
        game = play(store, "game", [CREATED])
        for number in range(3):
            game = commit(store, change_of(game, room=json.dumps({"n": number, "x": "x" * 16_000})))
        cut(lambda size: size - 4096, path)
        with pytest.raises(StoreLost):
            commit(store, change_of(game, room=json.dumps({"x": "y" * 16_000})))


# Closing


def test_a_closed_store_leaves_its_file_and_the_lock_beside_it(path: Path) -> None:
    store = SQLiteStore(str(path))
    play(store, "game", [CREATED])
    store.close()
    assert {place.name for place in path.parent.iterdir()} == {"games.db", "games.db-lock"}


def test_closing_a_second_store_object_keeps_the_locks_of_the_first(path: Path) -> None:
    """Nothing is lost although file locks belong to the process, and closing any descriptor drops them.

    Without them, the next process to close the store would think that it is the last, and remove the
    write-ahead log to which the first one still writes.
    """
    first, *more = game_of(DRAW)
    with SQLiteStore(str(path)) as store:
        play(store, "game", [first])
        SQLiteStore(str(path)).close()
        assert elsewhere("guest", path) == "done"
        game = play(store, "game", more)
    with SQLiteStore(str(path)) as store:
        assert found(store, "game").hash == game.hash
        assert hashes(store).keys() == {"game", "guest"}


# Backup


@pytest.fixture
def large(path: Path) -> Iterator[SQLiteStore]:
    """Open a store that is copied in many steps."""
    with SQLiteStore(str(path)) as store:
        for number in range(200):
            room = json.dumps({"n": "x" * 15_000})
            store.submit(change_of(nothing(f"game-{number}"), *game_of(X_WINS), room=room))
        play(store, "last", [CREATED])
        store.count_hour(0)
        yield store


def test_a_backup_is_the_store_as_it_was_at_one_moment(large: SQLiteStore, path: Path) -> None:
    """Whatever is written meanwhile, and however often: it ends, and is one file without a log."""
    before, shares, copy = hashes(large), list[float](), path.with_name("copy.db")

    def write_on(share: float) -> None:
        shares.append(share)
        assert len(shares) < 100, "it never ends"
        play(large, f"meanwhile-{len(shares)}", [CREATED])

    large.backup(str(copy), write_on)
    assert shares == sorted(shares)
    assert (len(shares) > 2, shares[-1]) == (True, 1)
    assert not [place for place in path.parent.iterdir() if place.name.startswith("copy.db")][1:]
    assert len(hashes(large)) == len(before) + len(shares)
    with SQLiteStore(str(copy), create=False) as store:
        assert store.hours() == 1
    assert_good(copy, before)


@pytest.mark.parametrize("taken", ["copy.db", "copy.db-wal"])
def test_a_backup_overwrites_nothing(taken: str, path: Path) -> None:
    """Neither a file that is there, nor one that appears meanwhile."""
    copy, mine = path.with_name("copy.db"), path.with_name(taken)
    with SQLiteStore(str(path)) as store:
        if taken == copy.name:
            with pytest.raises(StoreUnavailable, match="File exists"):
                store.backup(str(copy), lambda _share: mine.touch())
        mine.write_text("mine")
        with pytest.raises(StoreUnavailable, match=r"never overwrites a file|is left from another store"):
            store.backup(str(copy))
    assert mine.read_text() == "mine"
    assert not beside(copy, ".partial").exists()


def test_a_backup_that_does_not_end_leaves_no_file_of_that_name(large: SQLiteStore, path: Path) -> None:
    """The next one begins again, also after a crash."""
    copy, recorded = path.with_name("copy.db"), hashes(large)

    def interrupt(_share: float) -> None:
        assert not copy.exists()
        raise KeyboardInterrupt

    before = contents(path.parent).keys()
    with pytest.raises(KeyboardInterrupt):
        large.backup(str(copy), interrupt)
    assert contents(path.parent).keys() == before
    beside(copy, ".partial").write_text("left by a crash")
    large.backup(str(copy))
    assert contents(path.parent).keys() == before | {"copy.db"}
    assert_good(copy, recorded)


def test_a_backup_that_has_no_place_is_refused(tmp_path: Path) -> None:
    with SQLiteStore(str(tmp_path / "games.db")) as store, MemoryStore() as memory:
        with pytest.raises(StoreUnavailable, match="it cannot be opened"):
            store.backup(str(tmp_path / "nowhere" / "copy.db"))
        with pytest.raises(StoreUnavailable, match="only a store in a file has such a backup"):
            memory.backup(str(tmp_path / "copy.db"))
        store.close()
        with pytest.raises(StoreUnavailable, match="the store is closed"):
            store.backup(str(tmp_path / "copy.db"))
