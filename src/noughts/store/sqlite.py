"""The store in a SQLite file.

Writers share commits (`group_commit.py`), and several processes may share the file. A commit is on the
disk before it is acknowledged: write-ahead log, `synchronous=EXTRA`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from noughts.core.errors import NoughtsError
from noughts.store import sql, sqlite_schema as schema
from noughts.store.appends import NO_CHANGE, Append, Batch, Head, Outcome, RecordRow, arbitrate, head_of
from noughts.store.base import Table
from noughts.store.checkpoints import CheckpointSlot, FileSlot
from noughts.store.errors import StoreLost
from noughts.store.records import read_sequence
from noughts.store.watch import ANYTHING

POLL_INTERVAL_SECONDS = 0.02
MAX_ROWS_PER_STATEMENT = 100
"""Some builds of SQLite take at most 999 values."""
MAX_NAMED_CHANGES = 10_000
"""If more rows have changed, a wake-up doesn't name them."""

_HEAD = "SELECT version, events, hash FROM noughts_records WHERE game = ? ORDER BY version DESC LIMIT 1"
_INSERT = "INSERT INTO noughts_records (game, version, at, key, events, hash)"
_CATALOGUE = "INSERT INTO noughts_games (id, started, x, o, result)"
_REPLACE = "REPLACE INTO noughts_documents (name, revision, label, text, key, hash)"
_CHANGED = """SELECT game FROM noughts_records WHERE sequence > ? UNION ALL
    SELECT name FROM noughts_documents WHERE sequence > ? LIMIT ?"""
_ENDS = """SELECT (SELECT coalesce(max(sequence), 0) FROM noughts_records),
    (SELECT coalesce(max(sequence), 0) FROM noughts_documents)"""


class SQLiteStore(sql.SQLStore):
    """A store in the file at `path`, created if it is missing, unless `create` is False."""

    _order: ClassVar = {"records": "sequence", "documents": "sequence"}

    def __init__(
        self, path: str, *, create: bool = True, open_file: schema.Opener = schema.connect
    ) -> None:
        super().__init__()
        self._path = Path(os.path.realpath(path))  # as SQLite names its log
        self._name, self._log_name = str(self._path), f"{self._path}-wal"
        is_fixed = not create and schema.is_fixed(self._path)
        self._open_file = schema.connect_to_read if is_fixed else open_file
        with schema.opening:
            schema.prepare(self._path, self._open_file, create=create)
            found = schema.look(self._name)
        self._file = found and found[0]
        self._size = found[1] if found else 0
        self._writer: sqlite3.Connection | None = None
        self._known_heads: dict[str, Head] = {}
        self._data_version: object = None
        """SQLite's data version that the heads belong to: it changes when another process commits."""
        self._polled: tuple[object, list[int]] = None, [0, 0]
        """The last data version and sequences that the poll has seen."""
        self._written = [0, 0]
        """The last sequences of records and documents that this process wrote."""
        self._connections = 0
        self._log: tuple[tuple[int, int], int] | None = None
        """The identity and size of the write-ahead log, while a connection is open."""
        self._loss = ""
        """Why the store can't go on, if its file was changed."""
        self._checkpoint_file = schema.checkpoint_file(self._path)
        self._readers: list[sqlite3.Connection] = []
        self._select("SELECT 1")  # locks the file against being replaced

    def __repr__(self) -> str:
        return f"SQLiteStore({self._name!r})"

    def _commit(self, batch: Batch) -> None:
        try:
            writer = self._ready_writer()
            if not self._insert_at_known_heads(writer, batch):
                self._commit_under_lock(writer, batch)
            self._check_files()
        except BaseException as failure:
            self._give_up(failure)
            raise

    def _ready_writer(self) -> sqlite3.Connection:
        if self._writer is None:
            self._writer = self._open()
        self._check_files()  # the next commit would make a file long again that was cut
        return self._writer

    def _insert_at_known_heads(self, writer: sqlite3.Connection, batch: Batch) -> bool:
        """Write moves in one statement, unless others have written to their games: then write nothing."""
        heads, appends = self._known_heads, batch.appends
        if batch.writes or batch.is_whole or not 0 < len(appends) <= MAX_ROWS_PER_STATEMENT:
            return False
        for append in appends:
            is_move = append.count and append.change is NO_CHANGE and not append.document
            if not is_move or append.game not in heads:
                return False
        outcome = arbitrate(batch, heads, (), lambda _append: False)
        if len(outcome.records) < len(appends):
            return False
        try:
            self._insert(writer, outcome.records)
        except sqlite3.IntegrityError:
            return False
        heads.update(outcome.heads)
        return True

    def _commit_under_lock(self, writer: sqlite3.Connection, batch: Batch) -> None:
        writer.execute("BEGIN IMMEDIATE")
        heads, version = self._known_heads, _data_version(writer)
        if version != self._data_version or len(heads) > sql.MAX_CACHED_HEADS:
            heads.clear()
            self._data_version = version
        for game in {append.game for append in batch.appends if append.game not in heads}:
            if found := writer.execute(_HEAD, (game,)).fetchone():
                heads[game] = head_of(*found)
        documents = [
            row
            for name in batch.document_names
            for row in writer.execute(f"{sql.DOCUMENTS} WHERE name = ?", (name,))
        ]

        def is_recorded(append: Append) -> bool:
            return writer.execute(sql.IS_RECORDED, append.identity).fetchone() is not None

        outcome = arbitrate(batch, heads, documents, is_recorded)
        self._write_rows(writer, outcome)
        writer.execute("COMMIT")
        heads.update(outcome.heads)

    def _write_rows(self, writer: sqlite3.Connection, outcome: Outcome) -> None:
        # Many rows per statement: Python switches threads at each statement.
        for records in sql.chunks(outcome.records, MAX_ROWS_PER_STATEMENT):
            self._insert(writer, records)
        for rows in sql.chunks(outcome.catalogue, MAX_ROWS_PER_STATEMENT):
            values = tuple(chain.from_iterable(rows))
            writer.execute(f"{_insertion(_CATALOGUE, len(rows))} {sql.UPDATE_CATALOGUE}", values)
        for document in outcome.documents:
            self._written[1] = writer.execute(_insertion(_REPLACE, 1), document).lastrowid or 0
        for game in outcome.deleted:
            for deletion in sql.DELETIONS:
                writer.execute(f"{deletion} = ?", (game,))

    def _insert(self, writer: sqlite3.Connection, records: Sequence[RecordRow]) -> None:
        values = tuple(chain.from_iterable(records))
        self._written[0] = writer.execute(_insertion(_INSERT, len(records)), values).lastrowid or 0

    def _give_up(self, failure: BaseException) -> None:
        """Roll back, and translate SQLite's error.

        If the disk failed at the very end of a commit, all of it may be in the write-ahead log although
        it was never acknowledged, and reappear after a crash. An empty commit overwrites it.
        """
        writer, self._writer = self._writer, None
        self._known_heads.clear()
        self._data_version, self._polled = None, (None, [0, 0])
        self._written = [0, 0]  # what was rolled back was not written
        try:
            if isinstance(failure, sqlite3.Error):
                self._check_files()
            if writer and writer.in_transaction:
                writer.execute("ROLLBACK")
            if writer and schema.is_disk_failure(failure):
                writer.execute("BEGIN IMMEDIATE")
                writer.execute(f"PRAGMA user_version = {schema.SCHEMA}")
                writer.execute("COMMIT")
        except sqlite3.Error:  # the outcome stays unknown, as the error says anyway
            pass
        finally:
            if writer:
                self._shut(writer)
        if isinstance(failure, sqlite3.Error | UnicodeDecodeError):
            raise schema.translation(self._path, failure) from failure

    def _select(self, statement: str, *values: object) -> list[Any]:
        reader: sqlite3.Connection | None = None
        try:
            reader = self._readers.pop() if self._readers else self._open()
            found = _fetch(reader, statement, values)
        except IndexError:  # another thread took the last one
            return self._select(statement, *values)
        except BaseException as failure:
            try:
                if isinstance(failure, sqlite3.Error):
                    self._check_files()
            finally:
                if reader:
                    self._shut(reader)
            if isinstance(failure, sqlite3.Error | UnicodeDecodeError):
                raise schema.translation(self._path, failure) from failure
            raise
        self._readers.append(reader)
        if self._is_closed:  # perhaps too late for `_close`
            self._shut_readers()
        return found

    def _shut_readers(self) -> None:
        with suppress(IndexError):
            while True:
                self._shut(self._readers.pop())

    def _place(self, table: Table, cursor: str) -> Sequence[object]:  # noqa: ARG002 - both are numbers
        return [read_sequence(cursor)]

    def _heads(self, games: Sequence[str]) -> dict[str, Head]:
        found = ((game, self._select(_HEAD, game)) for game in games)
        return {game: head_of(*rows[0]) for game, rows in found if rows}

    def check(self) -> None:
        with schema.opening:  # closing the last connection would remove the log
            self._check_files()
        super().check()

    def integrity_errors(self) -> Iterator[str]:
        yield from schema.differences(self._select(schema.OBJECTS))
        for (complaint,) in self._select("PRAGMA integrity_check(10)"):
            if complaint != "ok":
                yield f"SQLite finds: {complaint}"

    def _slots(self) -> Sequence[CheckpointSlot]:
        self._check_place()
        return [FileSlot(self._checkpoint_file, self._id)]

    def _close(self) -> None:
        """Close the file; the last process removes the log."""
        try:
            super()._close()
        finally:
            writer, self._writer = self._writer, None
            with schema.translated(self._path):
                self._shut_readers()
                if writer:
                    self._shut(writer)

    def _listen_loop(self) -> None:
        while not self._closing.wait(POLL_INTERVAL_SECONDS):
            try:
                self._group.record((), alone=self._look_for_others)
            except NoughtsError:  # let the watchers read, and get the error
                self._wakeups.notify(ANYTHING, is_own=False)

    def _look_for_others(self, _items: Sequence[object]) -> None:
        try:
            writer = self._ready_writer()
            (before, seen), version = self._polled, _data_version(writer)
            if version == before:
                self._polled = version, [*map(max, seen, self._written)]
                return
            self._polled = version, list(writer.execute(_ENDS).fetchone())
            changed = [name for (name,) in writer.execute(_CHANGED, (*seen, MAX_NAMED_CHANGES)) if before]
        except BaseException as failure:
            self._give_up(failure)
            raise
        is_named = before and len(changed) < MAX_NAMED_CHANGES
        self._wakeups.notify(changed if is_named else ANYTHING, is_own=False)

    def _open(self) -> sqlite3.Connection:
        self._check_place()
        with schema.opening:
            connection = self._open_file(self._path)
            schema.in_use[self._file] += 1
            self._connections += 1
            try:
                connection.execute("PRAGMA synchronous = EXTRA")
                connection.execute("PRAGMA journal_size_limit = -1")  # the log is never cut
                connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # opens the log
                self._log = self._log or schema.look(self._log_name)
            except BaseException:
                self._shut(connection)
                raise
        return connection

    def _shut(self, connection: sqlite3.Connection) -> None:
        with schema.opening:
            connection.close()
            schema.in_use[self._file] -= 1
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
        found = schema.look(self._name)
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
            log = schema.look(self._log_name)
            if log is None or log[0] != before[0] or log[1] < before[1]:
                self._lose(f"the log {self._log_name} was removed, replaced or cut short while in use")
            self._log = log

    def _lose(self, what: str) -> NoReturn:
        self._loss = f"{what}: nothing more is recorded in it, and the last moves may be lost"
        raise StoreLost(self._loss)


def _fetch(reader: sqlite3.Connection, statement: str, values: Sequence[object]) -> list[Any]:
    try:
        return reader.execute(statement, values).fetchall()
    except (sqlite3.OperationalError, UnicodeDecodeError) as error:
        if "decode" not in str(error):
            raise
        reader.text_factory = schema.decode_damaged
        try:
            return reader.execute(statement, values).fetchall()
        finally:
            reader.text_factory = str


@cache
def _insertion(into: str, rows: int) -> str:
    row = f"({', '.join('?' * len(into.split(',')))})"
    return f"{into} VALUES {', '.join([row] * rows)}"


def _data_version(writer: sqlite3.Connection) -> object:
    (version,) = writer.execute("PRAGMA data_version").fetchone()
    return version
