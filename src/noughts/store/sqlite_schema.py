"""A SQLite file that is a store: created, checked, or refused untouched.

The first hundred bytes of a file (https://sqlite.org/fileformat.html) are checked before SQLite opens
it: opening another program's database could change it.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import RLock
from typing import TypeAlias

from noughts.core.errors import quoted
from noughts.store.checkpoints import Checkpoint, CheckpointFile
from noughts.store.errors import CorruptStore, NotAStore, StoreError, StoreMissing, StoreUnavailable
from noughts.store.files import beside, sync_folder
from noughts.store.sql import CATALOGUE_INDEXES, OLDEST_SCHEMA, check_schema

Opener: TypeAlias = Callable[[Path], sqlite3.Connection]

APPLICATION = int.from_bytes(b"noug", "big")
LOCK_TIMEOUT_SECONDS = 5.0

opening = RLock()
in_use: Counter[tuple[int, int] | None] = Counter()
"""How often this process has each file open; guarded by `opening`.

Closing a file releases all locks that the process has on it (https://sqlite.org/howtocorrupt.html).
So a file that SQLite has open in this process is never opened a second time.
"""

MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100


def _create(store: sqlite3.Connection) -> None:
    tables = f"""
        CREATE TABLE noughts_records (sequence INTEGER PRIMARY KEY AUTOINCREMENT, game TEXT NOT NULL,
            version INTEGER NOT NULL, at INTEGER NOT NULL, key TEXT NOT NULL, events TEXT NOT NULL,
            hash BLOB NOT NULL, UNIQUE (game, version));
        CREATE TABLE noughts_games (id TEXT NOT NULL PRIMARY KEY, started INTEGER NOT NULL,
            x TEXT, o TEXT, result TEXT) WITHOUT ROWID;
        {CATALOGUE_INDEXES};
        CREATE TABLE noughts_documents (sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE, revision INTEGER NOT NULL, label TEXT NOT NULL,
            text TEXT NOT NULL, key TEXT NOT NULL, hash BLOB NOT NULL);
        CREATE INDEX noughts_documents_by_label ON noughts_documents (label, sequence)
            WHERE label <> '';
        CREATE TABLE noughts_store (id TEXT NOT NULL)"""
    for statement in tables.split(";"):  # executescript would commit first
        store.execute(statement)
    store.execute("INSERT INTO noughts_store VALUES (lower(hex(randomblob(16))))")


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_create,)
"""The first creates a store with the oldest schema; each of the others leads to the next schema."""
SCHEMA = OLDEST_SCHEMA + len(MIGRATIONS) - 1

OBJECTS = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite@_%' ESCAPE '@'"
"""The schema, without SQLite's own tables."""

_NOT_PLAIN = """SELECT type, name, tbl_name FROM sqlite_schema WHERE NOT coalesce(rootpage, 0)
    AND lower(tbl_name) IN ('noughts_records', 'noughts_games', 'noughts_documents', 'noughts_store')
    LIMIT 1"""
"""Finds a view or virtual table of that name, or a trigger on it: these have no page of their own."""


@contextmanager
def translated(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise translation(path, error) from error


def connect(path: Path | str) -> sqlite3.Connection:
    """Open a path or a URI, for any thread, without implicit transactions."""
    wait, is_uri = LOCK_TIMEOUT_SECONDS, isinstance(path, str)
    return sqlite3.connect(path, wait, isolation_level=None, check_same_thread=False, uri=is_uri)


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a read-only file: live, or if SQLite can't do that, as it is now."""
    store = connect(f"{path.as_uri()}?mode=ro")
    try:
        store.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError:
        store.close()
        return connect(f"{path.as_uri()}?immutable=1")
    return store


def is_fixed(path: Path) -> bool:
    """Return whether a file is read-only, without a write-ahead log that must be read too."""
    try:
        log = beside(path, "-wal")
        if not path.is_file() or (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
            return False
        return not log.exists() or log.stat().st_size == 0
    except (OSError, ValueError):  # no such file can exist
        return False


def identity(path: Path) -> tuple[int, int] | None:
    return (seen := look(str(path))) and seen[0]


def look(path: str) -> tuple[tuple[int, int], int] | None:
    """Return the identity of a file and its size; None if it is missing."""
    try:
        found = os.stat(path)  # noqa: PTH116 - called often, and pathlib is slower
    except OSError:
        return None
    return (found.st_dev, found.st_ino), found.st_size


def prepare(path: Path, open_file: Opener, *, create: bool) -> None:
    if not in_use[identity(path)]:
        check_header(path)
    _check_not_gone(path)
    if create:
        _create_folder(path.parent)
    elif not has_content(path):
        raise StoreMissing(f"no store at {path}")
    with translated(path), closing(open_file(path)) as store:
        if open_file is not connect_to_read:
            _bring_up_to_date(path, store)
        elif _version(path, store) < SCHEMA:
            raise StoreUnavailable(f"the store {path} has an older schema, and cannot be written")


def _check_not_gone(path: Path) -> None:
    """Refuse to create a store where a checkpoint shows that there was one."""
    if has_content(path):
        return
    file = checkpoint_file(path)
    records = sum(lost.records for lost in file.read().values())
    if records and not has_content(path):  # another process may just have created it
        raise CorruptStore(
            f"the store {path} is gone: its checkpoint counts {records} records. Restore a backup with "
            f"noughts store restore, or remove {file.path} to begin a new store"
        )


def has_content(path: Path) -> bool:
    return bool((seen := look(str(path))) and seen[1])


def check_header(path: Path) -> None:
    """Refuse a file that isn't a store, without touching it."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise NotAStore(f"{path} is not a store of games: it is not a file")
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreUnavailable(f"the store {path} cannot be read: {error.strerror}") from error
    if not header or (not header.strip(b"\0") and beside(path, "-journal").exists()):
        return  # nothing was written yet, or not all of it: SQLite will roll it back
    if not header.startswith(MAGIC) or len(header) < _HEADER_BYTES:
        raise NotAStore(f"{path} is not a store of games: it is not a SQLite database")
    version, application = (int.from_bytes(header[at : at + 4], "big") for at in (60, 68))
    _check_ours(path, application, version)


def _check_ours(path: Path, application: int, version: int) -> None:
    if application != APPLICATION:
        raise NotAStore(f"{path} is not a store of games: the database belongs to another program")
    check_schema(version, SCHEMA, path)


def _bring_up_to_date(path: Path, store: sqlite3.Connection) -> None:
    # EXTRA before WAL: the journal of the switch must be gone for good before anything relies on it.
    store.execute("PRAGMA synchronous = EXTRA")
    store.execute("BEGIN")  # one snapshot for everything that is read
    version = _version(path, store)
    store.execute("COMMIT")
    if version < SCHEMA:
        store.execute("BEGIN EXCLUSIVE")
        try:
            version = _version(path, store)  # another process may have been faster
            for migrate in MIGRATIONS[version and version - OLDEST_SCHEMA + 1 :]:
                migrate(store)
            store.execute(f"PRAGMA application_id = {APPLICATION}")
            store.execute(f"PRAGMA user_version = {SCHEMA}")
            if not version:  # before the commit: no store is ever without a checkpoint
                _begin_checkpoints(path, store)
            store.execute("COMMIT")
        except BaseException:
            if store.in_transaction:
                store.execute("ROLLBACK")
            raise
        # Writes the version to the header; the log is never cut while others may have it open.
        store.execute("PRAGMA wal_checkpoint(FULL)")
    _write_ahead(store)
    sync_folder(path.parent)


def differences(found: Iterable[tuple[object, ...]]) -> Iterator[str]:
    with closing(connect(":memory:")) as new:
        for migrate in MIGRATIONS:
            migrate(new)
        expected = {row[1]: row for row in new.execute(OBJECTS)}
    for row in found:
        kind, name, table, _ = row
        if name not in expected:
            yield _misplaced(kind, name, table)
        elif expected.pop(name) != row:
            yield f"the {kind} {quoted(name)} is not the one that the store was made with"
    for kind, name, *_ in expected.values():
        yield f"the {kind} {name} is missing"


def _misplaced(kind: object, name: object, table: object) -> str:
    return f"the {kind} {quoted(name)} on {quoted(table)} is not part of a store"


def _begin_checkpoints(path: Path, store: sqlite3.Connection) -> None:
    file = checkpoint_file(path)
    (store_id,) = store.execute("SELECT id FROM noughts_store").fetchone()
    with file.locked():
        file.write({store_id: Checkpoint()})


def checkpoint_file(path: Path) -> CheckpointFile:
    return CheckpointFile(beside(path, "-checkpoint"))


def _version(path: Path, store: sqlite3.Connection) -> int:
    """Return the version of the schema, 0 for an empty database."""
    (application,) = store.execute("PRAGMA application_id").fetchone()
    (version,) = store.execute("PRAGMA user_version").fetchone()
    (tables,) = store.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if (application, version, tables) == (0, 0, 0):
        return 0
    _check_ours(path, application, version)
    for kind, name, table in store.execute(_NOT_PLAIN):  # a view or a trigger may never end
        raise CorruptStore(f"the store {path} is damaged: {_misplaced(kind, name, table)}")
    return int(version)


def _write_ahead(store: sqlite3.Connection) -> None:
    """Switch to write-ahead logging; SQLite itself doesn't wait for locks here."""
    end = time.monotonic() + LOCK_TIMEOUT_SECONDS
    while True:
        try:
            store.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return


def _create_folder(folder: Path) -> None:
    """Create the folder durably: an entry is durable once its folder is synced."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for place in missing:
            sync_folder(place.parent)
    except OSError as error:
        raise StoreUnavailable(f"the folder {folder} cannot be created: {error.strerror}") from error


_WORDS = {
    "SQLITE_FULL": "the disk is full",
    "SQLITE_BUSY": f"another program has kept it locked for {LOCK_TIMEOUT_SECONDS:.0f} seconds",
    "SQLITE_LOCKED": "another program keeps it locked",
    "SQLITE_READONLY": "it cannot be written",
    "SQLITE_CANTOPEN": "it cannot be opened",
    "SQLITE_PERM": "it must not be opened",
    "SQLITE_AUTH": "it must not be opened",
    "SQLITE_NOMEM": "not enough memory",
    "SQLITE_IOERR": "the disk failed",
}


def is_disk_failure(error: BaseException) -> bool:
    return (getattr(error, "sqlite_errorname", None) or "").startswith(("SQLITE_IOERR", "SQLITE_FULL"))


def decode_damaged(text: bytes) -> str:
    """Return text that may be damaged; its hash shows that it is."""
    return text.decode(errors="replace")


def translation(path: Path, error: sqlite3.Error | UnicodeDecodeError) -> StoreError:
    """Return our error for SQLite's; the message may contain damaged text."""
    name, message = getattr(error, "sqlite_errorname", None) or "", ascii(str(error))[1:-1]
    kind = "_".join(name.split("_")[:2])
    is_missing = kind == "SQLITE_ERROR" and message.startswith("no such ")  # a table, a column
    if kind in ("SQLITE_CORRUPT", "SQLITE_NOTADB") or is_missing or "decode" in message:
        return CorruptStore(f"the store {path} is damaged: {message}")
    words = _WORDS.get(kind, message)
    return StoreUnavailable(f"the store {path} is unavailable: {words} ({name or message})")
