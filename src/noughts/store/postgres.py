"""The store on a PostgreSQL server, for any number of processes on any number of machines.

A record's primary key is its game and version, so writers compete only within a game: the first insert
wins. If a connection breaks at the commit, with an unknown outcome, the batch is judged again, and what
was recorded is found by its key.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import psycopg
from psycopg_pool import ConnectionPool

from noughts.store import postgres_schema as schema, postgres_sql as sql
from noughts.store.appends import NEW_GAME, Append, Batch, Head, Outcome, arbitrate, head_of
from noughts.store.base import Table
from noughts.store.checkpoints import (
    MISSING_CHECKPOINT,
    Checkpoint,
    CheckpointFile,
    CheckpointSlot,
    FileSlot,
)
from noughts.store.documents import Row as DocumentRow, Write
from noughts.store.errors import CorruptStore
from noughts.store.postgres_schema import ONLY_SHARD, Session, Shard
from noughts.store.records import Record, not_a_cursor
from noughts.store.sql import DELETIONS, DOCUMENTS, IS_RECORDED, MAX_CACHED_HEADS, SQLStore, chunks
from noughts.store.watch import ANYTHING

Answer = TypeVar("Answer")

logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())  # its warnings become our errors

OUTAGE_TIMEOUT_SECONDS = 10.0
"""How long to retry while the server is away."""
POLL_INTERVAL_SECONDS = 2.0
"""How often subscribers are woken anyway, in case a notification was lost."""
LISTENER_CHECK_SECONDS = 1.0
"""How long to remember whether another process listens."""
CHECKPOINT_LOCK = int.from_bytes(b"noug", "big"), 2
LISTENER_LOCK = int.from_bytes(b"noug", "big"), 1
"""The advisory lock that all listening processes share."""
MAX_ROWS_PER_STATEMENT = 5_000
MAX_CONFLICTS = 100
"""How often a batch is judged again because others were faster."""

_NOTHING = Batch(())
_OUTDATED: Head = -1, b"", False
"""A head that must be read again."""

# Dead connections are noticed within seconds.
_CONNECTING: dict[str, Any] = {
    "autocommit": True,
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
# Short timeouts: we retry ourselves, and the pool would wait longer and longer.
_POOL: dict[str, Any] = {
    "open": True,
    "min_size": 1,
    "max_size": 8,
    "timeout": 0.5,
    "reconnect_timeout": 0.5,
}
_BROKEN = (psycopg.OperationalError, psycopg.InterfaceError)


class PostgresStore(SQLStore):
    """A store in the database that `url` names; its tables are created if they are missing."""

    _order: ClassVar = {"records": "generation, xid, game, version", "documents": "generation, xid, name"}
    _is_final = sql.IS_FINAL

    def __init__(
        self, url: str, *, create: bool = True, shard: Shard = ONLY_SHARD, checkpoint_file: str = ""
    ) -> None:
        super().__init__()
        schema.check_url(url)
        self._url = url
        self._checkpoint_file = CheckpointFile(Path(checkpoint_file)) if checkpoint_file else None
        with schema.translated(url):
            with self._connect() as store:
                schema.prepare(store, shard, create=create)
                schema.current_generation(store)
            self._pool = ConnectionPool[Session](url, kwargs=_CONNECTING, configure=_configure, **_POOL)
        self._writer: Session | None = None
        self._writer_pid = 0
        self._generation = 0
        self._known_heads: dict[str, Head] = {}
        self._has_listeners = False
        self._next_listener_check = 0.0
        self._listener_pid = 0
        try:
            if self._checkpoint_file:
                self._begin_copy()
        except BaseException:
            self._pool.close()
            raise

    def _begin_copy(self) -> None:
        """Copy the checkpoint to a file, once: verify reports it if that is removed later."""
        if self._select("SELECT is_copied FROM noughts_checkpoint") != [(False,)]:
            return
        table, copy = self._slots()
        with copy.locked():
            copy.replace(table.read())
        with self._pool.connection() as session:
            session.execute("UPDATE noughts_checkpoint SET is_copied = true")

    def _commit(self, batch: Batch) -> None:
        try:
            with schema.translated(self._url):
                self._write_all(batch)
                self._notify(batch)
        except BaseException:
            self._forget_writer()
            raise

    def _write_all(self, batch: Batch) -> None:
        """Write a batch, in several commits if it has several records of a game."""
        conflicts = 0
        while batch.appends or batch.writes or batch.documents:
            now, later = (batch, _NOTHING) if batch.is_whole else _first_of_each(batch)
            lost = self._with_retries(partial(self._write_once, now))
            conflicts += lost is not _NOTHING
            if conflicts > MAX_CONFLICTS:
                raise CorruptStore("the store on PostgreSQL is damaged: it refuses rows as duplicates")
            batch = lost._replace(
                appends=[*lost.appends, *later.appends], writes=[*lost.writes, *later.writes]
            )

    def _write_once(self, batch: Batch) -> Batch:
        """Judge a batch, commit it, and return what must be judged again because others were faster."""
        try:
            if self._writer is None:
                self._writer = self._connect()
                self._writer_pid = self._writer.info.backend_pid
                self._generation = schema.current_generation(self._writer)
            outcome = self._judge(batch)
            is_simple = not batch.is_whole and not outcome.documents and not outcome.deleted
            if not is_simple or len(outcome.records) > MAX_ROWS_PER_STATEMENT:
                return self._write_in_transaction(self._writer, batch, outcome)
            lost = self._insert(self._writer, outcome)  # one statement is one commit
            return Batch(lost) if lost else _NOTHING
        except _BROKEN:
            self._forget_writer()
            raise

    def _judge(self, batch: Batch) -> Outcome:
        """Judge everything before the first write: this keeps each game in order in the feed."""
        heads = self._known_heads
        if len(heads) > MAX_CACHED_HEADS:
            heads.clear()
        games = {append.game for append in batch.appends}
        if not batch.is_whole:
            games = {a.game for a in batch.appends if heads.get(a.game, NEW_GAME)[0] != a.expected}
        for game in games:
            heads.pop(game, None)
        if games:
            heads.update(self._heads([*games]))
        names = batch.document_names
        documents = self._documents(names) if names else []

        def is_recorded(append: Append) -> bool:
            return bool(self._select(IS_RECORDED, *append.identity))

        return arbitrate(batch, heads, documents, is_recorded)

    def _write_in_transaction(self, writer: Session, batch: Batch, outcome: Outcome) -> Batch:
        with writer.transaction():
            lost = self._insert(writer, outcome)
            if outcome.deleted:
                names = [*outcome.deleted, *(row[0] for row in outcome.documents)]
                writer.execute(sql.LOCK_DOCUMENTS, (names,))
            missing = self._write_documents(writer, outcome, lost, is_whole=batch.is_whole)
            is_split = any(append.document_name in missing for append in outcome.winners)
            is_undone = is_split or (batch.is_whole and bool(lost or missing))
            if is_undone:
                raise psycopg.Rollback
            if deleted := [game for game in outcome.deleted if game not in {one.game for one in lost}]:
                for deletion in DELETIONS:
                    writer.execute(f"{deletion} = ANY(%s)", (deleted,))
        if is_undone:
            self._known_heads.clear()
            return batch
        writes = [write for write in batch.writes if write.document.name in missing]
        return Batch(lost, writes) if lost or writes else _NOTHING

    def _insert(self, writer: Session, outcome: Outcome) -> list[Append]:
        """Insert the records in the order of their keys; return the appends that lost to others."""
        records, catalogue = sorted(outcome.records), sorted(outcome.catalogue)
        written: set[tuple[Any, ...]] = set()
        for some in chunks(records, MAX_ROWS_PER_STATEMENT):
            games = {row[0] for row in some} if catalogue else ()
            rows = [row for row in catalogue if row.game in games]
            statement = sql.INSERT_WITH_CATALOGUE if rows else sql.INSERT
            values = (self._generation, *sql.columns(some), *sql.columns(rows))
            written.update(writer.execute(statement, values, prepare=True))
        self._known_heads.update(outcome.heads)
        if len(written) == len(records):
            return []
        lost = [one for one in outcome.winners if (one.game, one.expected) not in written]
        for append in lost:
            self._known_heads[append.game] = _OUTDATED
        return lost

    def _write_documents(
        self, writer: Session, outcome: Outcome, lost: list[Append], *, is_whole: bool
    ) -> set[str]:
        """Write documents, except those of lost appends; return the names that lost to others."""
        skipped = {append.document_name for append in lost}
        rows = [row for row in outcome.documents if row[0] not in skipped]
        if not rows:
            return set()
        names = [row[0] for row in rows]
        values = names, self._generation, *sql.columns(rows), is_whole, is_whole
        return set(names) - {name for (name,) in writer.execute(sql.WRITE_DOCUMENTS, values)}

    def _notify(self, batch: Batch) -> None:
        """Wake other processes, after the commit: inside it, notifications lock the whole server."""
        names = {*(append.game for append in batch.appends), *batch.document_names}
        try:
            if self._writer and self._are_others_listening(self._writer):
                notify = "SELECT pg_notify('noughts', payload) FROM unnest(%s::text[]) AS payload"
                self._writer.execute(notify, ([*sql.payloads(names)],))
        except _BROKEN:  # what was written is durable, and the others poll
            self._forget_writer()

    def _are_others_listening(self, writer: Session) -> bool:
        now = time.monotonic()
        if now > self._next_listener_check:
            others = *LISTENER_LOCK, self._listener_pid
            (self._has_listeners,) = schema.one(writer.execute(sql.LISTENERS, others))
            self._next_listener_check = now + LISTENER_CHECK_SECONDS
        return self._has_listeners

    def _forget_writer(self) -> None:
        writer, self._writer = self._writer, None
        self._known_heads.clear()
        if writer:
            writer.close()

    def _select(self, statement: str, *values: object) -> list[Any]:
        query = statement.replace("?", "%s").encode()

        def select() -> list[Any]:
            with self._pool.connection() as reader:
                return reader.execute(query, values).fetchall()

        with schema.translated(self._url):
            return self._with_retries(select)

    def _place(self, table: Table, cursor: str) -> Sequence[object]:
        start = "0.0..0" if table == "records" else "0.0."
        if cursor and (not _match_cursor(cursor) or cursor.count(".") != start.count(".")):
            raise not_a_cursor(cursor)
        return (cursor or start).split(".")

    def _records_of_many(self, after: Mapping[str, int]) -> dict[str, list[Record]]:
        found: dict[str, list[Record]] = {}
        for row in self._select(sql.RECORDS_OF_MANY, list(after), list(after.values())):
            found.setdefault(row[0], []).append(Record._make(row))
        return found

    def _heads(self, games: Sequence[str]) -> dict[str, Head]:
        return {game: head_of(*row) for game, *row in self._select(sql.HEADS, list(games))}

    def _documents(self, names: Sequence[str]) -> list[DocumentRow]:
        return self._select(f"{DOCUMENTS} WHERE name = ANY(?)", list(names))

    def integrity_errors(self) -> Iterator[str]:
        with schema.translated(self._url), self._pool.connection() as session:
            yield from schema.differences(session)

    def _slots(self) -> Sequence[CheckpointSlot]:
        table = _TableSlot(self._pool, self._url)
        return [table, FileSlot(self._checkpoint_file, self._id)] if self._checkpoint_file else [table]

    def _close(self) -> None:
        try:
            super()._close()
        finally:
            self._forget_writer()
            self._pool.close()

    def _listen_loop(self) -> None:
        delay = 0.05
        while not self._closing.is_set():
            try:
                with self._connect() as listener:
                    self._listener_pid = listener.info.backend_pid
                    listener.execute("SELECT pg_advisory_lock_shared(%s, %s)", LISTENER_LOCK)
                    listener.execute("LISTEN noughts")
                    listener.execute("SELECT pg_notify('noughts', '')")  # one more process listens
                    delay = 0.05
                    self._pass_on(listener)
            except psycopg.Error:
                self._wakeups.notify(ANYTHING, is_own=False)
                self._closing.wait(delay)
                delay = min(2 * delay, 1)

    def _pass_on(self, listener: Session) -> None:
        """Turn notifications into wake-ups, and send one at regular intervals anyway."""
        next_poll = 0.0
        while not self._closing.is_set():
            if time.monotonic() >= next_poll:
                self._wakeups.notify(ANYTHING, is_own=False)
                next_poll = time.monotonic() + POLL_INTERVAL_SECONDS
            for notification in listener.notifies(timeout=0.2, stop_after=1):
                if not notification.payload:
                    self._next_listener_check = 0.0
                elif notification.pid != self._writer_pid:
                    self._wakeups.notify(notification.payload.split(), is_own=False)

    def _with_retries(self, work: Callable[[], Answer]) -> Answer:
        end, delay = time.monotonic() + OUTAGE_TIMEOUT_SECONDS, 0.02
        while True:
            try:
                return work()
            except _BROKEN:
                if self._is_closed or time.monotonic() + delay > end:
                    raise
                time.sleep(delay)
                delay = min(2 * delay, 1)

    def _connect(self) -> Session:
        store = psycopg.connect(self._url, **_CONNECTING)
        _configure(store)
        return store


class _TableSlot(CheckpointSlot):
    def __init__(self, pool: ConnectionPool[Session], url: str) -> None:
        self._pool = pool
        self._url = url

    @contextmanager
    def locked(self) -> Iterator[None]:
        with schema.translated(self._url), self._pool.connection() as session:
            session.execute("SELECT pg_advisory_lock(%s, %s)", CHECKPOINT_LOCK)
            try:
                yield
            finally:
                session.execute("SELECT pg_advisory_unlock(%s, %s)", CHECKPOINT_LOCK)

    def read(self) -> Checkpoint:
        with schema.translated(self._url), self._pool.connection() as session:
            row = session.execute(sql.CHECKPOINT).fetchone()
        if row is None:
            raise CorruptStore(MISSING_CHECKPOINT)
        cursor, records, hashes, documents_cursor, documents = row
        total = None if documents is None else int(documents, 16)
        return Checkpoint(cursor, records, int(hashes, 16), documents_cursor, total)

    def replace(self, new: Checkpoint) -> None:
        cursor, records, hashes, documents_cursor, documents = new
        total = None if documents is None else f"{documents:x}"
        row = cursor, records, f"{hashes:x}", documents_cursor, total
        with schema.translated(self._url), self._pool.connection() as session:
            session.execute(sql.REPLACE_CHECKPOINT, row)


def _configure(store: Session) -> None:
    """Set what durability and order depend on, whatever the server's defaults are."""
    timeout = round(OUTAGE_TIMEOUT_SECONDS * 1000)  # a hanging process must not block the others
    store.execute(f"""SET default_transaction_isolation TO 'read committed';
        SET client_encoding TO 'UTF8';
        SET lock_timeout TO {timeout}; SET idle_in_transaction_session_timeout TO {timeout};
        SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') = 'off'""")


def _first_of_each(batch: Batch) -> tuple[Batch, Batch]:
    """Split a batch: a second item for a game or document waits for the outcome of the first."""
    now: tuple[list[Append], list[Write]] = [], []
    later: tuple[list[Append], list[Write]] = [], []
    games: set[str] = set()
    names: set[str] = set()
    for append in batch.appends:
        name = append.document_name
        (later if append.game in games or name in names else now)[0].append(append)
        games.add(append.game)
        if name:
            names.add(name)
    for write in batch.writes:
        (later if write.document.name in names else now)[1].append(write)
        names.add(write.document.name)
    return Batch(*now), Batch(*later)


_match_cursor = re.compile(r"\d{1,9}\.\d{1,19}\.[A-Za-z0-9_-]+(\.\d{1,9})?", re.ASCII).fullmatch
