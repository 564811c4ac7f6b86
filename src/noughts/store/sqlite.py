"""The store in one file: SQLite, with nothing but the standard library.

Writers share commits (`group.py`), readers read beside them, and several processes may share the file.
A commit is on the disk before anybody is told of it: write-ahead log, `synchronous=EXTRA`.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import contextmanager
from functools import cache
from itertools import chain
from pathlib import Path
from threading import Event, Lock, Thread

from noughts.core.errors import StoreUnavailable
from noughts.store.base import EventStore
from noughts.store.chain import Recorded
from noughts.store.ledger import Head, Ledger, Listing
from noughts.store.sqlite_file import (
    SCHEMA,
    connect,
    connect_to_read,
    identity,
    in_use,
    is_fixed,
    is_of_the_disk,
    opening,
    prepare,
    translated,
    translation,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from noughts.store.base import Wanted
    from noughts.store.ledger import Append, Verdict
    from noughts.store.notes import Judge
    from noughts.store.notes import Row as NoteRow

GLANCE = 0.02
"""How often to look whether another process has recorded something, in seconds."""

TRUST = 0.05
"""How long the file is taken to be where it was, in seconds: looking takes time."""

MOST_HEADS = 10_000
"""How many ends of games are remembered from one commit to the next."""

MOST_AT_ONCE = 100
"""How many events one statement writes: some builds of SQLite take no more than 999 values."""

_ROWS = (
    "SELECT position, ?1, version, at, key, event, hash FROM events"
    " WHERE game = (SELECT number FROM games WHERE id = ?1) AND version >= ?2 ORDER BY version"
)
_FEED = (
    "SELECT e.position, g.id, e.version, e.at, e.key, e.event, e.hash,"
    " CASE e.version WHEN 1 THEN x'' ELSE before.hash END"
    " FROM events e LEFT JOIN games g ON g.number = e.game"
    " LEFT JOIN events before ON before.game = e.game AND before.version = e.version - 1"
    " WHERE e.position > ? ORDER BY e.position LIMIT ?"
)
_HEAD = (
    "SELECT number, version, hash FROM games JOIN events ON game = number"
    " WHERE id = ? ORDER BY version DESC LIMIT 1"
)
_INSERT = "INSERT INTO events (position, game, version, at, key, event, hash)"
_NOTES = "SELECT name, revision, change, shelf, text, hash FROM notes"
_WRITE_NOTE = (
    "INSERT INTO notes (name, revision, change, shelf, text, hash) VALUES (?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (name) DO UPDATE SET revision = excluded.revision, change = excluded.change,"
    " shelf = excluded.shelf, text = excluded.text, hash = excluded.hash"
)
_LAST_CHANGE = "SELECT coalesce(max(change), 0) FROM notes"
_LAST_POSITION = "SELECT coalesce(max(position), 0) FROM events"


class SQLiteStore(EventStore):
    """A store in the file at `path`; made if it is not there, unless `create` is False."""

    def __init__(
        self,
        path: str,
        *,
        create: bool = True,
        open_file: Callable[[Path], sqlite3.Connection] = connect,
    ) -> None:
        super().__init__()
        self._path = Path(path).absolute()
        self._open_file = connect_to_read if not create and is_fixed(self._path) else open_file
        with opening:
            prepare(self._path, self._open_file, create=create)
            self._file = identity(self._path)
        self._writer: sqlite3.Connection | None = None
        self._ledger: Ledger | None = None
        self._look_again = 0.0
        self._readers: list[sqlite3.Connection] = []
        self._lock = Lock()
        self._closing = Event()
        self._look_out: Thread | None = None

    def _commit(self, batch: Sequence[Append]) -> None:
        try:
            writer = self._ready_writer()
            if not self._append(writer, batch):
                self._take_stock(writer, batch)
        except BaseException as failure:
            self._fail(failure)
            raise

    def _commit_notes(self, names: Iterable[str], judge: Judge) -> None:
        """Write notes; the end of the events, as it is remembered, stays where it is."""
        try:
            writer = self._ready_writer()
            writer.execute("BEGIN IMMEDIATE")
            found = [row for name in names for row in writer.execute(f"{_NOTES} WHERE name = ?", (name,))]
            (end,) = writer.execute(_LAST_CHANGE).fetchone()
            writer.executemany(_WRITE_NOTE, judge(found, end))
            writer.execute("COMMIT")
        except BaseException as failure:
            self._fail(failure)
            raise

    def _ready_writer(self) -> sqlite3.Connection:
        now = time.monotonic()
        if now > self._look_again:
            self._check_place()
            self._look_again = now + TRUST
        if self._writer is None:
            self._writer = self._open()
        return self._writer

    def _fail(self, failure: BaseException) -> None:
        """Undo what was begun, and say in our own words what SQLite complains of."""
        if isinstance(failure, sqlite3.Error | UnicodeDecodeError):
            self._give_up(failed=failure)
            raise translation(self._path, failure) from failure
        self._give_up()

    def _append(self, writer: sqlite3.Connection, batch: Sequence[Append]) -> bool:
        """Write at the end of the store as we remember it, and tell whether that was the end.

        It was, unless another process has written since: then the next position is taken already, and
        nothing is written.
        """
        ledger = self._ledger
        if ledger is None or not ledger.only_grows(batch):
            return False
        self._ledger = None
        verdict = ledger.judge(batch, _never)
        if verdict.refusals:
            return False
        try:
            if verdict.changes or len(verdict.rows) > MOST_AT_ONCE:
                writer.execute("BEGIN IMMEDIATE")
                _write(writer, verdict)
                writer.execute("COMMIT")
            else:  # one statement is a transaction of its own
                writer.execute(_insertion(len(verdict.rows)), tuple(chain.from_iterable(verdict.rows)))
        except sqlite3.IntegrityError:
            if writer.in_transaction:
                writer.execute("ROLLBACK")
            return False
        self._ledger = ledger
        return True

    def _take_stock(self, writer: sqlite3.Connection, batch: Sequence[Append]) -> None:
        """Keep others from writing, look where the store ends, and write there."""
        writer.execute("BEGIN IMMEDIATE")
        (position,) = writer.execute(_LAST_POSITION).fetchone()
        (number,) = writer.execute("SELECT coalesce(max(number), 0) FROM games").fetchone()
        ledger, self._ledger = self._ledger, None
        if ledger is None or not ledger.ends_at(position, number) or len(ledger.heads) > MOST_HEADS:
            ledger = Ledger(position, number)
        for game in ledger.unknown(batch):
            if found := writer.execute(_HEAD, (game,)).fetchone():
                ledger.heads[game] = Head(*found)
        verdict = ledger.judge(batch, lambda append: _stands(writer, append))
        _write(writer, verdict)
        writer.execute("COMMIT")
        self._ledger = ledger

    def _give_up(self, failed: Exception | None = None) -> None:
        """Forget what was not committed; if the disk failed, see to it that it forgets that too.

        If the disk failed at the very end of a commit, the commit may lie in the write-ahead log whole,
        though nobody was told of it, and come back after a crash. Another commit, of nothing, takes its
        place there.
        """
        writer, self._writer, self._ledger = self._writer, None, None
        if writer is None:
            return
        try:
            if writer.in_transaction:
                writer.execute("ROLLBACK")
            if failed and is_of_the_disk(failed):
                writer.execute("BEGIN IMMEDIATE")
                writer.execute(f"PRAGMA user_version = {SCHEMA}")
                writer.execute("COMMIT")
        except sqlite3.Error:  # then the outcome stays unknown, which is what was said anyway
            pass
        finally:
            self._shut(writer)

    def _rows(self, game: str, first: int) -> list[Recorded]:
        with self._reading() as reader:
            return list(map(Recorded._make, reader.execute(_ROWS, (game, first))))

    def _feed(self, after: int, limit: int) -> list[tuple[Recorded, bytes]]:
        with self._reading() as reader:
            return [(Recorded._make(row[:7]), row[7]) for row in reader.execute(_FEED, (after, limit))]

    def _catalogue(self, wanted: Wanted, limit: int, before: int | None) -> list[Listing]:
        conditions, values = _conditions(wanted, before)
        select = f"SELECT number, id, x, o, result FROM games {conditions} ORDER BY number DESC LIMIT ?"  # noqa: S608 - ours
        with self._reading() as reader:
            return list(map(Listing._make, reader.execute(select, (*values, limit))))

    def check(self) -> None:
        """Refuse if the file is not where it was, either."""
        self._look_again = 0.0  # whoever writes next looks for themselves
        self._check_place()
        super().check()

    def _last_position(self) -> int:
        return self._number(_LAST_POSITION)

    def _last_change(self) -> int:
        return self._number(_LAST_CHANGE)

    def _number(self, question: str) -> int:
        with self._reading() as reader:
            (number,) = reader.execute(question).fetchone()
            return int(number)

    def _note(self, name: str) -> NoteRow | None:
        found = self._note_rows("WHERE name = ?", name)
        return found[0] if found else None

    def _notes(self, shelf: str, limit: int) -> list[NoteRow]:
        return self._note_rows(
            "WHERE shelf = ? AND shelf <> '' ORDER BY change DESC LIMIT ?", shelf, limit
        )

    def _changed_notes(self, after: int, limit: int) -> list[NoteRow]:
        return self._note_rows("WHERE change > ? ORDER BY change LIMIT ?", after, limit)

    def _note_rows(self, which: str, *values: object) -> list[NoteRow]:
        with self._reading() as reader:
            return reader.execute(f"{_NOTES} {which}", values).fetchall()

    def complaints(self) -> Iterator[str]:
        """Let SQLite check its own pages and indexes."""
        with self._reading() as reader:
            for (complaint,) in reader.execute("PRAGMA integrity_check(10)"):
                if complaint != "ok":
                    yield complaint

    def _close(self) -> None:
        """Close the file; the last to do so leaves nothing beside it."""
        self._closing.set()
        if self._look_out:
            self._look_out.join()
        with self._lock:
            readers, self._readers = self._readers, []
        writer, self._writer, self._ledger = self._writer, None, None
        with translated(self._path):
            for connection in (*readers, writer):
                if connection:
                    self._shut(connection)

    def _listen(self) -> None:
        with self._lock:
            if self._look_out is None:
                self._look_out = Thread(target=self._look, name="noughts-look-out", daemon=True)
                self._look_out.start()

    def _look(self) -> None:
        """Ring the bell when anybody, in whatever process, has committed."""
        seen: object = None
        connection: sqlite3.Connection | None = None
        while not self._closing.wait(GLANCE):
            try:
                connection = connection or self._open()
                (now,) = connection.execute("PRAGMA data_version").fetchone()
            except (sqlite3.Error, UnicodeDecodeError, StoreUnavailable):
                now = None  # let those who wait read for themselves, and see what is wrong
            if now != seen:
                seen = now
                self._bell.ring()
        if connection:
            self._shut(connection)

    def _open(self) -> sqlite3.Connection:
        self._check_place()
        with opening:
            connection = self._open_file(self._path)
            in_use[self._file] += 1
        connection.execute("PRAGMA synchronous = EXTRA")
        return connection

    def _shut(self, connection: sqlite3.Connection) -> None:
        with opening:
            connection.close()
            in_use[self._file] -= 1

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection for one reading."""
        with translated(self._path):
            try:
                reader = self._readers.pop()
            except IndexError:
                reader = self._open()
            try:
                yield reader
            except BaseException:
                self._shut(reader)
                raise
            if self._is_closed:
                self._shut(reader)
            else:
                self._readers.append(reader)

    def _check_place(self) -> None:
        """Refuse to write into a file that nobody would find again."""
        if identity(self._path) != self._file:
            raise StoreUnavailable(f"the store {self._path} was moved, deleted or replaced")


@cache
def _insertion(count: int) -> str:
    return f"{_INSERT} VALUES {', '.join(['(?, ?, ?, ?, ?, ?, ?)'] * count)}"


@cache
def _change(column: str, count: int) -> str:
    cases, numbers = " WHEN ? THEN ?" * count, ", ".join("?" * count)
    return f"UPDATE games SET {column} = CASE number{cases} END WHERE number IN ({numbers})"  # noqa: S608 - ours


def _never(_append: Append) -> bool:
    return False


def _write(writer: sqlite3.Connection, verdict: Verdict) -> None:
    if verdict.games:
        writer.executemany(
            "INSERT INTO games (number, id) VALUES (?, ?)", [listing[:2] for listing in verdict.games]
        )
    # Many rows at once: for each statement that is carried out, other threads are let in between.
    for start in range(0, len(verdict.rows), MOST_AT_ONCE):
        rows = verdict.rows[start : start + MOST_AT_ONCE]
        writer.execute(_insertion(len(rows)), tuple(chain.from_iterable(rows)))
    for column in {column for column, _, _ in verdict.changes}:
        changes = {number: value for changed, value, number in verdict.changes if changed == column}
        pairs = [*changes.items()]
        for start in range(0, len(pairs), MOST_AT_ONCE):
            some = pairs[start : start + MOST_AT_ONCE]
            numbers = [number for number, _ in some]
            writer.execute(_change(column, len(some)), (*chain.from_iterable(some), *numbers))


def _stands(writer: sqlite3.Connection, append: Append) -> bool:
    rows = writer.execute(_ROWS, (append.game, append.expected + 1))
    return append.is_recorded_in([(key, text) for _, _, _, _, key, text, _ in rows])


def _conditions(wanted: Wanted, before: int | None) -> tuple[str, list[object]]:
    conditions, values = ["number > 0"], list[object]()  # `before` is never less, so that pages end
    if wanted.player is not None:
        conditions.append("(x = ? OR o = ?)")
        values += [wanted.player, wanted.player]
    if wanted.is_over is not None:
        conditions.append(f"result IS {'NOT ' if wanted.is_over else ''}NULL")
    if wanted.result is not None:
        conditions.append("result = ?")
        values.append(wanted.result)
    if wanted.beginning:
        conditions.append("id >= ? AND id < ?")
        values += [wanted.beginning, wanted.beginning + "\x7f"]
    if before is not None:
        conditions.append("number < ?")
        values.append(before)
    return f"WHERE {' AND '.join(conditions)}", values
