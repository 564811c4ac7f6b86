"""The store in a SQLite file.

A commit is on the disk before it is acknowledged: write-ahead log, `synchronous=EXTRA`. Terminals may
share a file; a server owns its own.
"""

# ruff: noqa: S608 - all SQL is our own text

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any, NoReturn

from noughts.store import sqlite_file as files
from noughts.store.base import Progress, refusal
from noughts.store.errors import CorruptStore, StoreLost, StoreUnavailable
from noughts.store.rows import LISTED, ROW, Change, Row
from noughts.store.sql import SQLStore
from noughts.store.writer import Executor
from noughts.system import FileLock, sync_folder

MAX_UNKNOWN_ROWS = 10_000
"""How many rows are looked for in a file so damaged that it doesn't say how many it has."""

_FIND = f"SELECT {ROW} FROM games WHERE id = ?"
_COLUMNS = f"{ROW}, {LISTED}".split(", ")
_INSERT = (
    f"INSERT INTO games ({ROW}, {LISTED}) VALUES ({', '.join('?' * 13)}) ON CONFLICT (id) DO NOTHING"
)


class SQLiteStore(SQLStore):
    """A store in the file at `path`, created if it is missing, unless `create` is False."""

    def __init__(
        self,
        path: str,
        *,
        create: bool = True,
        open_file: files.Opener = files.connect,
        executor: Executor | None = None,
    ) -> None:
        super().__init__(executor)
        self._path = Path(os.path.realpath(path))  # as SQLite names its log
        self._name, self._log_name = str(self._path), f"{self._path}-wal"
        is_read_only = not create and files.is_fixed(self._path)
        self._open_file = files.connect_to_read if is_read_only else open_file
        with files.opening:
            files.prepare(self._path, self._open_file, create=create)
            found = files.look(self._name)
        self._file = found and found[0]
        self._size = found[1] if found else 0
        self._lock = FileLock(files.beside(self._path, "-lock"))
        self._is_held = False
        self._writer: sqlite3.Connection | None = None
        self._connections = 0
        self._log: tuple[tuple[int, int], int] | None = None
        """The identity and size of the write-ahead log, while a connection is open."""
        self._loss = ""
        """Why the store can't go on, if its file was changed."""
        self._reader: sqlite3.Connection | None = None
        self._reading = RLock()
        self._select("SELECT 1")  # locks the file against being replaced

    def __repr__(self) -> str:
        return f"SQLiteStore({self._name!r})"

    def hold(self) -> None:
        self._take_lock(
            f"another process writes to the store {self._path}: a server needs it alone", is_shared=False
        )
        self._is_held = True

    def check_writable(self) -> None:
        if not self._is_held:
            held = f"a server has the store {self._path}: end it first, or play on its page"
            self._take_lock(held, is_shared=True)

    def _take_lock(self, sentence: str, *, is_shared: bool) -> None:
        self._check_place()
        with files.opening, files.translated(self._path):
            if not self._lock.take(is_shared=is_shared):
                raise StoreUnavailable(sentence)

    def _commit(self, batch: Sequence[Change]) -> None:
        try:
            writer = self._ready_writer()
            writer.execute("BEGIN IMMEDIATE")
            for change in batch:
                _write(writer, change)
            writer.execute("COMMIT")
            self._check_files()
        except BaseException as failure:  # noqa: BLE001 - raised again
            for change in batch:
                change.failure = None  # a retry may win
            found, self._writer = self._writer, None
            self._give_up(found, failure, is_writer=True)

    def _ready_writer(self) -> sqlite3.Connection:
        if self._writer is None:
            self.check_writable()
            self._writer = self._open()
        self._check_files()  # the next commit would make a file long again that was cut
        return self._writer

    def _select(self, statement: str, *values: object) -> list[Any]:
        with self._reading:
            self._check_open()
            try:
                self._reader = self._reader or self._open()
                return _fetch(self._reader, statement, values)
            except BaseException as failure:  # noqa: BLE001 - raised again
                found, self._reader = self._reader, None
                self._give_up(found, failure, is_writer=False)

    def _give_up(
        self, connection: sqlite3.Connection | None, failure: BaseException, *, is_writer: bool
    ) -> NoReturn:
        """Roll back, close the connection, and translate SQLite's error.

        If the disk failed at the very end of a commit, all of it may be in the write-ahead log although
        it was never acknowledged, and reappear after a crash. An empty commit overwrites it.
        """
        try:
            if isinstance(failure, sqlite3.Error):
                self._check_files()
            if connection and connection.in_transaction:
                connection.execute("ROLLBACK")
            if connection and is_writer and files.is_disk_failure(failure):
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(f"PRAGMA user_version = {files.SCHEMA}")
                connection.execute("COMMIT")
        except sqlite3.Error:  # the outcome stays unknown, as the error says anyway
            pass
        finally:
            if connection:
                self._shut(connection)
        if isinstance(failure, sqlite3.Error | UnicodeDecodeError):
            raise files.translation(self._path, failure) from failure
        raise failure

    def _rows(self, games: Sequence[str]) -> list[Row]:
        return [row for game in games for row in self._select(_FIND, game)]

    def salvage(self) -> Iterator[Row]:
        """Read the table without an index, in its own order, and go on after what can't be read."""
        statement = f"SELECT rowid, {ROW}, {LISTED} FROM games WHERE rowid > ? ORDER BY rowid LIMIT 1"
        try:
            end = self._count()  # no row is ever removed
        except CorruptStore:
            end = MAX_UNKNOWN_ROWS
        last = lost = 0
        while True:
            try:
                found = self._select(statement, last)
            except CorruptStore:
                if last >= end:
                    break
                last, lost = last + 1, lost + 1
            else:
                if not found:
                    break
                last = max(last + 1, found[0][0])  # damage may repeat a row
                yield found[0][1:]
        if lost:
            raise CorruptStore(f"the store {self._path} is damaged: {lost:,} of its games can't be read")

    def _set_counter(self, seen: int, hours: int, new_hash: bytes) -> None:
        with files.translated(self._path):
            self.check_writable()
        self._select(
            "UPDATE counter SET hours = ?, hash = ? WHERE hours = ? RETURNING hours",
            *(hours, new_hash, seen),
        )

    def check(self) -> None:
        with files.opening:  # closing the last connection would remove the log
            self._check_files()
        super().check()

    def integrity_errors(self) -> Iterator[str]:
        yield from files.differences(self._select(files.OBJECTS))
        for (complaint,) in self._select("PRAGMA integrity_check(10)"):
            if complaint != "ok":
                yield from (f"SQLite finds: {line}" for line in complaint.splitlines())

    def backup(self, target: str, progress: Progress = lambda _share: None) -> None:
        """Copy the store as it is at one moment into a new file, while others may play."""
        self._check_open()
        new = Path(target).absolute()
        partial = files.beside(new, ".partial")
        with files.translated(new):
            if new.exists():
                raise StoreUnavailable(f"{new} exists: a backup never overwrites a file")
            if (log := files.beside(new, "-wal")).exists():
                raise StoreUnavailable(f"{log} is left from another store: remove it first")
            partial.unlink(missing_ok=True)
            try:
                self._copy(partial, progress)
                _rename(partial, new)
                sync_folder(new.parent)
            finally:
                partial.unlink(missing_ok=True)

    def _copy(self, partial: Path, progress: Progress) -> None:
        with closing(files.connect(partial)) as copy:
            source = self._open()
            try:
                copy.execute("PRAGMA synchronous = EXTRA")
                source.execute("BEGIN")  # one snapshot: otherwise each commit makes it begin again
                source.execute("SELECT count(*) FROM sqlite_schema").fetchone()
                source.backup(copy, pages=256, progress=_shares(progress))
                copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a log of its own
            finally:
                self._shut(source)

    def _close(self) -> None:
        """Close the file; the last process removes the log."""
        with self._reading:
            connections = self._writer, self._reader
            self._writer = self._reader = None
        try:
            with files.translated(self._path):
                for connection in filter(None, connections):
                    self._shut(connection)
        finally:
            self._lock.release()

    def _open(self) -> sqlite3.Connection:
        self._check_place()
        with files.opening:
            connection = self._open_file(self._path)
            files.in_use[self._file] += 1
            self._connections += 1
            try:
                connection.execute("PRAGMA synchronous = EXTRA")
                connection.execute("PRAGMA journal_size_limit = -1")  # the log is never cut
                connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # opens the log
                self._log = self._log or files.look(self._log_name)
            except BaseException:
                self._shut(connection)
                raise
        return connection

    def _shut(self, connection: sqlite3.Connection) -> None:
        with files.opening:
            connection.close()
            files.in_use[self._file] -= 1
            self._connections -= 1
            if not self._connections:  # SQLite removes the log with the last one
                self._log = None

    def _check_open(self) -> None:
        super()._check_open()
        if self._loss:
            raise StoreLost(self._loss)

    def _check_place(self) -> None:
        """Refuse to go on if the file was moved, replaced or cut short."""
        before = self._size  # first: another thread may see the file grow
        found = files.look(self._name)
        if found is None or found[0] != self._file:
            self._lose(f"the store {self._path} was moved, deleted or replaced while it was open")
        elif found[1] < before:
            self._lose(f"the store {self._path} was cut short while it was open")
        else:
            self._size = max(before, found[1])

    def _check_files(self) -> None:
        self._check_place()
        before = self._log
        if before:
            log = files.look(self._log_name)
            if log is None or log[0] != before[0] or log[1] < before[1]:
                self._lose(f"the log {self._log_name} was removed, replaced or cut short while in use")
            self._log = log

    def _lose(self, what: str) -> NoReturn:
        self._loss = f"{what}: nothing more is recorded in it, and the last moves may be lost"
        raise StoreLost(self._loss)


def _write(writer: sqlite3.Connection, change: Change) -> None:
    """Write a change within the transaction, or note why it lost."""
    before, after = change.before, change.after
    if not before.revision:
        written = writer.execute(_INSERT, after.row)
    else:
        pairs = zip(_COLUMNS, after.row, before.row, strict=True)
        changed = {name: new for name, new, old in pairs if new != old}
        if not after.is_deleted:
            changed["record"] = change.piece
        statement = _update(tuple(changed), is_deletion=after.is_deleted)
        written = writer.execute(statement, (*changed.values(), after.id, before.hash))
    if written.rowcount != 1:
        found = writer.execute(_FIND, (after.id,)).fetchone()
        if not found or found[5] != after.hash:  # the same: its first attempt was recorded after all
            change.failure = refusal(change, found)


@cache
def _update(names: tuple[str, ...], *, is_deletion: bool) -> str:
    """Return the statement that changes these columns: an index costs time for each that is named."""
    changes = [f"{name} = ?" for name in names]
    if not is_deletion:
        changes = [change.replace("record = ?", "record = record || ?") for change in changes]
    return f"UPDATE games SET {', '.join(changes)} WHERE id = ? AND hash = ?"


def _rename(partial: Path, new: Path) -> None:
    """Rename a file without overwriting another one, if the disk has hard links."""
    try:
        new.hardlink_to(partial)
    except FileExistsError:
        raise
    except OSError:
        partial.rename(new)


def _shares(progress: Progress) -> Callable[[int, int, int], None]:
    return lambda _status, left, total: progress(1 - left / total if total else 1)


def _fetch(reader: sqlite3.Connection, statement: str, values: Sequence[object]) -> list[Any]:
    try:
        return reader.execute(statement, values).fetchall()
    except (sqlite3.OperationalError, UnicodeDecodeError) as error:
        if "decode" not in str(error):
            raise
        reader.text_factory = _decode_damaged
        try:
            return reader.execute(statement, values).fetchall()
        finally:
            reader.text_factory = str


def _decode_damaged(text: bytes) -> str:
    """Return text that may be damaged; the hash shows that it is."""
    return text.decode(errors="replace")
