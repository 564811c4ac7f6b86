"""A SQLite file that is a store: made, brought up to date, or refused untouched.

What a file is stands in its first hundred bytes (https://sqlite.org/fileformat.html), and is looked at
before SQLite is let near it: opening somebody else's database could change it.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections import Counter
from contextlib import contextmanager
from threading import RLock

from noughts.core.errors import CorruptStore, NotAStore, StoreError, StoreMissing, StoreUnavailable
from noughts.store.chain import Recorded
from noughts.store.ledger import catalogued

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

APPLICATION = int.from_bytes(b"noug", "big")
PATIENCE = 5.0
"""How long to wait for another program's lock, in seconds."""

opening = RLock()
in_use: Counter[tuple[int, int] | None] = Counter()
"""How often this process has each file open; to be changed while `opening` is held.

Whoever closes a file gives away all locks that the process has on it, however they were come by
(https://sqlite.org/howtocorrupt.html). So a file that SQLite has open here is not opened beside it.
"""

_MAGIC = b"SQLite format 3\0"
_HEADER = 100


def _create(store: sqlite3.Connection) -> None:
    """Version 1: games have numbers, in the order of their creation, and events have positions."""
    store.execute("CREATE TABLE games (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE)")
    store.execute(
        "CREATE TABLE events (position INTEGER PRIMARY KEY,"
        " game INTEGER NOT NULL, version INTEGER NOT NULL, at INTEGER NOT NULL,"
        " key TEXT NOT NULL, event TEXT NOT NULL, hash BLOB NOT NULL,"
        " UNIQUE (game, version))"
    )


def _add_catalogue(store: sqlite3.Connection) -> None:
    """Version 2: games can be found by who played, and by how they ended."""
    for column in ("x", "o", "result"):
        store.execute(f"ALTER TABLE games ADD COLUMN {column} TEXT")
    for number, text in store.execute("SELECT game, event FROM events ORDER BY position").fetchall():
        if change := catalogued(Recorded(0, "", 0, 0, "", text, b"").event):
            column, value = change
            store.execute(f"UPDATE games SET {column} = ? WHERE number = ?", (value, number))  # noqa: S608 - ours
    store.execute("CREATE INDEX games_by_x ON games (x, number) WHERE x IS NOT NULL")
    store.execute("CREATE INDEX games_by_o ON games (o, number) WHERE o IS NOT NULL")
    store.execute("CREATE INDEX games_going_on ON games (number) WHERE result IS NULL")


def _add_notes(store: sqlite3.Connection) -> None:
    """Version 3: notes stand beside the games, each at the place of its last change."""
    store.execute(
        "CREATE TABLE notes (change INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
        " revision INTEGER NOT NULL, shelf TEXT NOT NULL, text TEXT NOT NULL, hash BLOB NOT NULL)"
    )
    store.execute("CREATE INDEX notes_by_shelf ON notes (shelf, change) WHERE shelf <> ''")


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_create, _add_catalogue, _add_notes)
"""Each leads from one version of the schema to the next; a new store goes through all of them."""

SCHEMA = len(MIGRATIONS)

_NOT_PLAIN = (
    "SELECT lower(tbl_name) FROM sqlite_schema WHERE NOT coalesce(rootpage, 0)"
    " AND lower(tbl_name) IN ('games', 'events', 'notes') LIMIT 1"
)
"""What has no page of its own in the file: a view or a virtual table by that name, or a trigger on it."""


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Say in our own words what SQLite complains of; nothing of SQLite's gets past."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise translation(path, error) from error


def connect(path: Path) -> sqlite3.Connection:
    """Open a file; threads may hand the connection on, and every transaction is begun by hand."""
    return sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a file that can only be read: as it changes, or, where SQLite cannot follow, as it is now."""
    store = _connect_by(path, "mode=ro")
    try:
        store.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError:
        store.close()
        return _connect_by(path, "immutable=1")
    return store


def _connect_by(path: Path, way: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.as_uri()}?{way}",
        uri=True,
        timeout=PATIENCE,
        isolation_level=None,
        check_same_thread=False,
    )


def is_fixed(path: Path) -> bool:
    """Tell whether a file can only be read, and has nothing beside it that must be read with it."""
    try:
        log = _beside(path, "-wal")
        if not path.is_file() or (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
            return False
        return not log.exists() or log.stat().st_size == 0
    except (OSError, ValueError):  # there is no such file, and there cannot be one
        return False


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def identity(path: Path) -> tuple[int, int] | None:
    """Return what a file is known by, whatever its name; None if there is none."""
    try:
        place = os.stat(path)  # noqa: PTH116 - it is asked for before every commit, and pathlib is slower
    except OSError:
        return None
    return place.st_dev, place.st_ino


def prepare(path: Path, open_file: Callable[[Path], sqlite3.Connection], *, create: bool) -> None:
    """Make a store of what is there: nothing, an older store, or a store. Anything else is refused."""
    if not in_use[identity(path)]:
        check_header(path)
    if create:
        _make_room(path.parent)
    elif not path.exists() or path.stat().st_size == 0:
        raise StoreMissing(f"there is no store at {path}")
    with translated(path):
        store = open_file(path)
        try:
            if open_file is not connect_to_read:
                _bring_up_to_date(path, store)
            elif _version(path, store) < SCHEMA:
                raise StoreUnavailable(f"the store {path} is an older one, and cannot be written")
        finally:
            store.close()


def check_header(path: Path) -> None:
    """Refuse a file that is somebody else's, without touching it."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise NotAStore(f"{path} is no store of games: it is not a file")
        with path.open("rb") as file:
            header = file.read(_HEADER)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreUnavailable(f"the store {path} cannot be read: {error.strerror}") from error
    if not header or (not header.strip(b"\0") and _beside(path, "-journal").exists()):
        return  # nothing was written yet, or not to the end: SQLite will see to that
    if not header.startswith(_MAGIC) or len(header) < _HEADER:
        raise NotAStore(f"{path} is no store of games: it is not a database of SQLite's")
    version, application = (int.from_bytes(header[at : at + 4], "big") for at in (60, 68))
    _check_ours(path, application, version)


def _check_ours(path: Path, application: int, version: int) -> None:
    if application != APPLICATION:
        raise NotAStore(f"{path} is no store of games: the database belongs to another program")
    if version > SCHEMA:
        raise NotAStore(
            f"{path} was made by a newer noughts: its schema is {version}, and this one reads {SCHEMA}"
        )


def _bring_up_to_date(path: Path, store: sqlite3.Connection) -> None:
    # EXTRA before WAL: the journal that says so must be gone for good before anything relies on it.
    store.execute("PRAGMA synchronous = EXTRA")
    store.execute("BEGIN")  # so that all that is looked at is of one moment
    version = _version(path, store)
    store.execute("COMMIT")
    if version < SCHEMA:
        store.execute("BEGIN EXCLUSIVE")
        try:
            for migrate in MIGRATIONS[_version(path, store) :]:  # somebody else may have been faster
                migrate(store)
            store.execute(f"PRAGMA application_id = {APPLICATION}")
            store.execute(f"PRAGMA user_version = {SCHEMA}")
            store.execute("COMMIT")
        except BaseException:
            if store.in_transaction:
                store.execute("ROLLBACK")
            raise
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # so that the header tells the new version
    _write_ahead(store)
    sync_folder(path.parent)


def _version(path: Path, store: sqlite3.Connection) -> int:
    """Return the version of the schema, 0 for a database in which there is nothing at all."""
    (application,) = store.execute("PRAGMA application_id").fetchone()
    (version,) = store.execute("PRAGMA user_version").fetchone()
    (tables,) = store.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if (application, version, tables) == (0, 0, 0):
        return 0
    _check_ours(path, application, version)
    for (name,) in store.execute(_NOT_PLAIN):  # to read a view, or to set off a trigger, may never end
        raise NotAStore(f"{path} is not a store of games: {name} is not a plain table")
    return int(version)


def _write_ahead(store: sqlite3.Connection) -> None:
    """Let readers read while somebody writes; SQLite itself does not wait for others at this point."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            store.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return


def _make_room(folder: Path) -> None:
    """Make the folder, so that it stays: an entry is durable when the folder it stands in is."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for place in missing:
            sync_folder(place.parent)
    except OSError as error:
        raise StoreUnavailable(f"the folder {folder} cannot be made: {error.strerror}") from error


def sync_folder(folder: Path) -> None:
    """Make the entries of a folder durable."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise StoreUnavailable(f"the folder {folder} cannot be written: {error.strerror}") from error


_WORDS = {
    "SQLITE_FULL": "the disk is full",
    "SQLITE_BUSY": f"another program has kept it locked for {PATIENCE:.0f} seconds",
    "SQLITE_LOCKED": "another program keeps it locked",
    "SQLITE_READONLY": "it cannot be written",
    "SQLITE_CANTOPEN": "it cannot be opened",
    "SQLITE_PERM": "it must not be opened",
    "SQLITE_AUTH": "it must not be opened",
    "SQLITE_NOMEM": "there is not enough memory",
    "SQLITE_IOERR": "the disk failed",
}


def is_of_the_disk(error: Exception) -> bool:
    """Tell whether the disk failed, or had no room."""
    return (getattr(error, "sqlite_errorname", None) or "").startswith(("SQLITE_IOERR", "SQLITE_FULL"))


def translation(path: Path, error: sqlite3.Error | UnicodeDecodeError) -> StoreError:
    """Say in our own words what SQLite complains of; damaged names it cannot even say."""
    name, message = getattr(error, "sqlite_errorname", None) or "", ascii(str(error))[1:-1]
    kind = "_".join(name.split("_")[:2])
    if kind in ("SQLITE_CORRUPT", "SQLITE_NOTADB") or "decode" in message:
        return CorruptStore(f"the store {path} is damaged: {message}")
    words = _WORDS.get(kind, message)
    return StoreUnavailable(f"the store {path} is unavailable: {words} ({name or message})")
