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
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import RLock
from typing import TypeAlias

from noughts.core.errors import quoted
from noughts.store.errors import CorruptStore, NotAStore, StoreError, StoreMissing, StoreUnavailable
from noughts.store.rows import row_hash
from noughts.system import sync_folder

Opener: TypeAlias = Callable[[Path], sqlite3.Connection]

APPLICATION = int.from_bytes(b"noug", "big")
SCHEMA = 20
"""Those below belonged to versions that were never released."""
LOCK_TIMEOUT_SECONDS = 5.0

opening = RLock()
in_use: Counter[tuple[int, int] | None] = Counter()
"""How often this process has each file open; guarded by `opening`.

Closing a file releases all locks that the process has on it (https://sqlite.org/howtocorrupt.html).
So a file that SQLite has open in this process is never opened a second time.
"""

OBJECTS = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite@_%' ESCAPE '@'"
"""The schema, without SQLite's own tables."""

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_TABLES = (
    """CREATE TABLE games (id TEXT NOT NULL PRIMARY KEY, revision INTEGER NOT NULL,
        hour INTEGER NOT NULL, record TEXT NOT NULL, room TEXT NOT NULL, hash BLOB NOT NULL,
        started INTEGER, played INTEGER, x TEXT, o TEXT, result TEXT, open TEXT, code TEXT)""",
    # Nothing that a move changes is in an index.
    "CREATE INDEX games_by_start ON games (started, id) WHERE started IS NOT NULL",
    "CREATE INDEX games_by_x ON games (x, started, id) WHERE x IS NOT NULL",
    "CREATE INDEX games_by_o ON games (o, started, id) WHERE o IS NOT NULL",
    "CREATE INDEX games_by_hour ON games (hour) WHERE started IS NOT NULL AND room <> ''",
    "CREATE TABLE counter (hours INTEGER NOT NULL, hash BLOB NOT NULL)",
)
_NOT_PLAIN = """SELECT type, name, tbl_name FROM sqlite_schema WHERE NOT coalesce(rootpage, 0)
    AND lower(tbl_name) IN ('games', 'counter') LIMIT 1"""
"""Finds a view or virtual table of that name, or a trigger on it: these have no page of their own."""


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


def beside(path: Path, ending: str) -> Path:
    return path.parent / f"{path.name}{ending}"


def is_fixed(path: Path) -> bool:
    """Return whether a file is read-only, without a write-ahead log that must be read too."""
    try:
        log = beside(path, "-wal")
        if not path.is_file() or (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
            return False
        return not log.exists() or log.stat().st_size == 0
    except (OSError, ValueError):  # no such file can exist
        return False


def look(path: str) -> tuple[tuple[int, int], int] | None:
    """Return the identity of a file and its size; None if it is missing."""
    try:
        found = os.stat(path)  # noqa: PTH116 - called often, and pathlib is slower
    except OSError:
        return None
    return (found.st_dev, found.st_ino), found.st_size


def prepare(path: Path, open_file: Opener, *, create: bool) -> None:
    seen = look(str(path))
    if not (seen and in_use[seen[0]]):
        _check_header(path)
    if create:
        _create_folder(path.parent)
    elif not (seen and seen[1]):
        raise StoreMissing(f"no store at {path}")
    with translated(path), closing(open_file(path)) as store:
        if open_file is connect_to_read:
            _check_version(path, store)
        else:
            _create_tables(path, store)


def _check_header(path: Path) -> None:
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
    if not header.startswith(_MAGIC) or len(header) < _HEADER_BYTES:
        raise NotAStore(f"{path} is not a store of games: it is not a SQLite database")
    version, application = (int.from_bytes(header[at : at + 4], "big") for at in (60, 68))
    _check_ours(path, application, version)


def _check_ours(path: Path, application: int, version: int) -> None:
    if application != APPLICATION:
        raise NotAStore(f"{path} is not a store of games: the database belongs to another program")
    if version != SCHEMA:
        age = "an older" if version < SCHEMA else "a newer"
        raise NotAStore(f"{path} was made by {age} noughts: its schema is {version}, not {SCHEMA}")


def _create_tables(path: Path, store: sqlite3.Connection) -> None:
    # EXTRA before WAL: the journal of the switch must be gone for good before anything relies on it.
    store.execute("PRAGMA synchronous = EXTRA")
    store.execute("BEGIN")  # one snapshot for everything that is read
    exists = _check_version(path, store)
    store.execute("COMMIT")
    if not exists:
        store.execute("BEGIN EXCLUSIVE")
        try:
            if not _check_version(path, store):  # another process may have been faster
                create_schema(store)
            store.execute("COMMIT")
        except BaseException:
            if store.in_transaction:
                store.execute("ROLLBACK")
            raise
        # Writes the version to the header; the log is never cut while others may have it open.
        store.execute("PRAGMA wal_checkpoint(FULL)")
    _write_ahead(store)
    sync_folder(path.parent)


def create_schema(store: sqlite3.Connection) -> None:
    for statement in _TABLES:
        store.execute(statement)
    store.execute("INSERT INTO counter VALUES (0, ?)", (row_hash("counter", 0, 0, "", ""),))
    store.execute(f"PRAGMA application_id = {APPLICATION}")
    store.execute(f"PRAGMA user_version = {SCHEMA}")


def differences(found: list[tuple[object, ...]]) -> Iterator[str]:
    """Compare a schema with that of a new store."""
    with closing(connect(":memory:")) as new:
        create_schema(new)
        expected = {row[1]: row for row in new.execute(OBJECTS)}
    for row in found:
        kind, name, table, _ = row
        if name not in expected:
            yield f"the {kind} {quoted(name)} on {quoted(table)} is not part of a store"
        elif expected.pop(name) != row:
            yield f"the {kind} {quoted(name)} is not the one that the store was made with"
    for kind, name, *_ in expected.values():
        yield f"the {kind} {name} is missing"


def _check_version(path: Path, store: sqlite3.Connection) -> bool:
    """Return whether the tables are there; refuse those of anything else."""
    (application,) = store.execute("PRAGMA application_id").fetchone()
    (version,) = store.execute("PRAGMA user_version").fetchone()
    (tables,) = store.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    strange = store.execute(_NOT_PLAIN).fetchone()
    if (application, version, tables) == (0, 0, 0):
        return False
    _check_ours(path, application, version)
    if strange:  # reading from a view may never end
        kind, name, table = strange
        raise CorruptStore(
            f"the store {path} is damaged: the {kind} {quoted(name)} on {quoted(table)} is not part of it"
        )
    return True


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


@contextmanager
def translated(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise translation(path, error) from error
    except OSError as error:
        raise StoreUnavailable(f"the store {path} is unavailable: {error.strerror}") from error


def translation(path: Path, error: sqlite3.Error | UnicodeDecodeError) -> StoreError:
    """Return our error for SQLite's; the message may contain damaged text."""
    name, message = getattr(error, "sqlite_errorname", None) or "", ascii(str(error))[1:-1]
    kind = "_".join(name.split("_")[:2])
    is_missing = kind == "SQLITE_ERROR" and message.startswith("no such ")  # a table, a column
    if kind in ("SQLITE_CORRUPT", "SQLITE_NOTADB") or is_missing or "decode" in message:
        return CorruptStore(f"the store {path} is damaged: {message}")
    words = _WORDS.get(kind, message)
    return StoreUnavailable(f"the store {path} is unavailable: {words} ({name or message})")
