"""The store on a PostgreSQL server, for any number of processes on any number of machines.

Positions have no gaps, and are a primary key: whoever writes at the next position writes at the end, or
not at all. So an event at a position is committed only after all events before it, and whoever reads
the feed in order misses none, however many write. Nothing has to be locked for that.

A connection may break when nobody knows whether a commit was done. Then the same append is tried again;
its key tells whether it stands already.
"""

from __future__ import annotations

import logging
import re
import time
from contextlib import contextmanager, nullcontext
from threading import Event, Lock, Thread
from urllib.parse import unquote

import psycopg
from psycopg import errors, sql
from psycopg_pool import ConnectionPool

from noughts.core.errors import (
    CorruptStore,
    StoreError,
    StoreUnavailable,
    UnknownStore,
)
from noughts.store.base import EventStore
from noughts.store.chain import Recorded
from noughts.store.ledger import Head, Ledger, Listing
from noughts.store.postgres_tables import LOCK, bring_up_to_date, change, one

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, LiteralString, TypeVar

    from noughts.store.base import Wanted
    from noughts.store.ledger import Append, Verdict
    from noughts.store.notes import Judge
    from noughts.store.notes import Row as NoteRow
    from noughts.store.postgres_tables import Session

    Answer = TypeVar("Answer")

# What the pool has to say, our own errors say too, and not into somebody's terminal.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())

PATIENCE = 10.0
"""How long to try again while the server is away, in seconds."""

GLANCE = 2.0
"""How often those who watch look for themselves, should the bell not have reached them, in seconds."""

MOST_HEADS = 10_000
"""How many ends of games are remembered from one commit to the next."""

MOST_AT_ONCE = 5_000
"""How many events one statement writes."""

MOST_READERS = 8

# A line that is dead without a word is given up, too.
_CONNECTING: dict[str, Any] = {
    "autocommit": True,
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
_BROKEN = (psycopg.OperationalError, psycopg.InterfaceError)

_ROWS = (
    "SELECT e.position, g.id, e.version, e.at, e.key, e.event, e.hash"
    " FROM noughts_games g JOIN noughts_events e ON e.game = g.number"
    " WHERE g.id = %s AND e.version >= %s ORDER BY e.version"
)
_FEED = (
    "SELECT e.position, g.id, e.version, e.at, e.key, e.event, e.hash,"
    " CASE e.version WHEN 1 THEN '\\x'::bytea ELSE before.hash END"
    " FROM noughts_events e LEFT JOIN noughts_games g ON g.number = e.game"
    " LEFT JOIN noughts_events before ON before.game = e.game AND before.version = e.version - 1"
    " WHERE e.position > %s ORDER BY e.position LIMIT %s"
)
_HEADS = (
    "SELECT g.id, g.number, e.version, e.hash FROM noughts_games g, LATERAL"
    " (SELECT version, hash FROM noughts_events WHERE game = g.number ORDER BY version DESC LIMIT 1) e"
    " WHERE g.id = ANY(%s)"
)
_END = (
    "SELECT coalesce((SELECT max(position) FROM noughts_events), 0),"
    " coalesce((SELECT max(number) FROM noughts_games), 0)"
)
# One statement, one journey, one commit: the events, and the bell.
_INSERT = (
    "WITH written AS (INSERT INTO noughts_events (position, game, version, at, key, event, hash)"
    " SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::int[], %s::bigint[], %s::text[], %s::text[],"
    " %s::bytea[]) RETURNING position)"
    " SELECT pg_notify('noughts', '') FROM (SELECT count(*) FROM written) AS all_of_them"
)
_NOTES = "SELECT name, revision, change, shelf, text, hash FROM noughts_notes"
_LAST_CHANGE = "SELECT coalesce(max(change), 0) FROM noughts_notes"
_WRITE_NOTES = (
    "WITH written AS (INSERT INTO noughts_notes (name, revision, change, shelf, text, hash)"
    " SELECT * FROM unnest(%s::text[], %s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::bytea[])"
    " ON CONFLICT (name) DO UPDATE SET revision = excluded.revision, change = excluded.change,"
    " shelf = excluded.shelf, text = excluded.text, hash = excluded.hash RETURNING change)"
    " SELECT pg_notify('noughts', '') FROM (SELECT count(*) FROM written) AS all_of_them"
)


class PostgresStore(EventStore):
    """A store in the database that `url` names; its tables are made if they are not there."""

    def __init__(self, url: str, *, create: bool = True) -> None:
        super().__init__()
        self._url = url
        with _translated(self._url):
            with self._connect() as store:
                bring_up_to_date(store, create=create)
            self._pool = ConnectionPool(
                url,
                kwargs=_CONNECTING,
                configure=_configure,
                min_size=1,
                max_size=MOST_READERS,
                # We try again ourselves; left to itself, the pool would wait longer and longer.
                timeout=0.5,
                reconnect_timeout=0.5,
                open=True,
            )
        self._writer: Session | None = None
        self._ledger: Ledger | None = None
        self._lock = Lock()
        self._closing = Event()
        self._listener: Thread | None = None

    def _commit(self, batch: Sequence[Append]) -> None:
        self._write_by(lambda writer: self._record_by(writer, batch))

    def _commit_notes(self, names: Iterable[str], judge: Judge) -> None:
        """Write notes; where a commit's outcome is unknown, they are judged again, and tell their own."""
        self._write_by(lambda writer: _note_down(writer, list(names), judge))

    def _write_by(self, write: Callable[[Session], None]) -> None:
        """Do it with the one connection that writes; if that breaks, again with another."""
        try:
            with _translated(self._url):
                self._patiently(lambda: self._try(write))
        except BaseException:
            self._forget_writer()
            raise

    def _try(self, write: Callable[[Session], None]) -> None:
        try:
            if self._writer is None:
                self._writer = self._connect()
            write(self._writer)
        except _BROKEN:
            self._forget_writer()
            raise

    def _record_by(self, writer: Session, batch: Sequence[Append]) -> None:
        if not (
            self._append(writer, batch)
            or self._take_stock(writer, batch)
            or self._take_stock(writer, batch, keeping_others_out=True)
        ):
            raise CorruptStore("the store on PostgreSQL is damaged: it has no end to write at")

    def _append(self, writer: Session, batch: Sequence[Append]) -> bool:
        """Write at the end of the store as we remember it, and tell whether that was the end."""
        ledger = self._ledger
        if ledger is None or not ledger.only_grows(batch):
            return False
        self._ledger = None
        verdict = ledger.judge(batch, lambda _append: False)
        if verdict.refusals:
            return False
        try:
            is_one_statement = len(verdict.rows) <= MOST_AT_ONCE and not verdict.changes
            with nullcontext() if is_one_statement else writer.transaction():
                _write(writer, verdict)
        except errors.UniqueViolation:
            return False
        self._ledger = ledger
        return True

    def _take_stock(
        self, writer: Session, batch: Sequence[Append], *, keeping_others_out: bool = False
    ) -> bool:
        """Look where the store ends, write there, and tell whether that was still the end."""
        try:
            with writer.transaction():
                writer.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))  # one after the other
                if keeping_others_out:  # for somebody is always faster than we are
                    writer.execute("LOCK noughts_events IN SHARE ROW EXCLUSIVE MODE")
                position, number = one(writer.execute(_END))
                ledger, self._ledger = self._ledger, None
                if (
                    ledger is None
                    or not ledger.ends_at(position, number)
                    or len(ledger.heads) > MOST_HEADS
                ):
                    ledger = Ledger(position, number)
                if unknown := ledger.unknown(batch):
                    for game, *head in writer.execute(_HEADS, (list(unknown),)):
                        ledger.heads[game] = Head(*head)
                _write(writer, ledger.judge(batch, lambda append: _stands(writer, append)))
        except errors.UniqueViolation as error:
            if error.diag.constraint_name != "noughts_events_pkey":
                raise CorruptStore(
                    "the store on PostgreSQL is damaged: games and events disagree"
                ) from error
            return False
        self._ledger = ledger
        return True

    def _forget_writer(self) -> None:
        writer, self._writer, self._ledger = self._writer, None, None
        if writer:
            writer.close()

    def _rows(self, game: str, first: int) -> list[Recorded]:
        return self._read(lambda reader: list(map(Recorded._make, reader.execute(_ROWS, (game, first)))))

    def _feed(self, after: int, limit: int) -> list[tuple[Recorded, bytes]]:
        return self._read(
            lambda reader: [
                (Recorded._make(row[:7]), row[7]) for row in reader.execute(_FEED, (after, limit))
            ]
        )

    def _catalogue(self, wanted: Wanted, limit: int, before: int | None) -> list[Listing]:
        conditions, values = _conditions(wanted, before)
        select = sql.SQL(
            "SELECT number, id, x, o, result FROM noughts_games WHERE {} ORDER BY number DESC LIMIT {}"
        ).format(sql.SQL(" AND ").join(map(sql.SQL, conditions)), limit)
        return self._read(lambda reader: list(map(Listing._make, reader.execute(select, values))))

    def _last_position(self) -> int:
        return self._read(lambda reader: int(one(reader.execute(_END))[0]))

    def _last_change(self) -> int:
        return self._read(lambda reader: int(one(reader.execute(_LAST_CHANGE))[0]))

    def _note(self, name: str) -> NoteRow | None:
        found = self._note_rows("WHERE name = %s", name)
        return found[0] if found else None

    def _notes(self, shelf: str, limit: int) -> list[NoteRow]:
        return self._note_rows(
            "WHERE shelf = %s AND shelf <> '' ORDER BY change DESC LIMIT %s", shelf, limit
        )

    def _changed_notes(self, after: int, limit: int) -> list[NoteRow]:
        return self._note_rows("WHERE change > %s ORDER BY change LIMIT %s", after, limit)

    def _note_rows(self, which: LiteralString, *values: object) -> list[NoteRow]:
        return self._read(
            lambda reader: list(map(_note_row, reader.execute(f"{_NOTES} {which}", values)))
        )

    def complaints(self) -> Iterator[str]:
        """Leave that to the server, which checks its own pages where it is told to."""
        return iter(())

    def _close(self) -> None:
        """Close all connections."""
        self._closing.set()
        if self._listener:
            self._listener.join()
        self._forget_writer()
        self._pool.close()

    def _listen(self) -> None:
        with self._lock:
            if self._listener is None:
                self._listener = Thread(target=self._hear, name="noughts-listener", daemon=True)
                self._listener.start()

    def _hear(self) -> None:
        """Ring the bell when anybody has committed, and after every silence that may have hidden it."""
        delay = 0.05
        while not self._closing.is_set():
            try:
                with self._connect() as listener:
                    listener.execute("LISTEN noughts")
                    delay = 0.05
                    while not self._closing.is_set():
                        self._bell.ring()
                        self._await_call(listener)
            except psycopg.Error:
                self._bell.ring()
                self._closing.wait(delay)
                delay = min(2 * delay, 1)

    def _await_call(self, listener: Session) -> None:
        """Wait for a call, or for so long that it is better to look."""
        end = time.monotonic() + GLANCE
        while time.monotonic() < end and not self._closing.is_set():
            if any(listener.notifies(timeout=0.2, stop_after=1)):
                return

    def _read(self, read: Callable[[Session], Answer]) -> Answer:
        def read_once() -> Answer:
            with self._pool.connection() as reader:
                return read(reader)

        with _translated(self._url):
            return self._patiently(read_once)

    def _patiently(self, work: Callable[[], Answer]) -> Answer:
        """Do something again, after longer and longer waits, while the server is away."""
        end, delay = time.monotonic() + PATIENCE, 0.02
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


def _configure(store: Session) -> None:
    """Ask for what durability and order rest on, whatever the server's defaults are."""
    store.execute("SET default_transaction_isolation TO 'read committed'")
    store.execute("SET client_encoding TO 'UTF8'")
    # Nobody who has stopped in the middle keeps the others waiting for ever.
    store.execute(f"SET lock_timeout TO {PATIENCE * 1000:.0f}")
    store.execute(f"SET idle_in_transaction_session_timeout TO {PATIENCE * 1000:.0f}")
    store.execute(
        "SELECT set_config('synchronous_commit', 'on', false)"
        " WHERE current_setting('synchronous_commit') = 'off'"
    )


def _write(writer: Session, verdict: Verdict) -> None:
    for listing in verdict.games:
        writer.execute("INSERT INTO noughts_games (number, id) VALUES (%s, %s)", listing[:2])
    for start in range(0, len(verdict.rows), MOST_AT_ONCE):
        rows = verdict.rows[start : start + MOST_AT_ONCE]
        writer.execute(_INSERT, [list(column) for column in zip(*rows, strict=True)], prepare=True)
    for column, value, number in verdict.changes:
        change(writer, column, value, number)


def _note_down(writer: Session, names: list[str], judge: Judge) -> None:
    """Write notes while nobody else does: changes are committed in their order, and none is missed."""
    with writer.transaction():
        writer.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        there = list(map(_note_row, writer.execute(f"{_NOTES} WHERE name = ANY(%s)", (names,))))
        (end,) = one(writer.execute(_LAST_CHANGE))
        if new := judge(there, end):
            writer.execute(_WRITE_NOTES, [list(column) for column in zip(*new, strict=True)])


def _note_row(row: tuple[Any, ...]) -> NoteRow:
    name, revision, change, shelf, text, link = row
    return name, revision, change, shelf, text, link


def _stands(writer: Session, append: Append) -> bool:
    rows = writer.execute(_ROWS, (append.game, append.expected + 1))
    return append.is_recorded_in([(key, text) for _, _, _, _, key, text, _ in rows])


def _conditions(wanted: Wanted, before: int | None) -> tuple[list[LiteralString], list[object]]:
    conditions: list[LiteralString] = ["TRUE"]
    values: list[object] = []
    if wanted.player is not None:
        conditions.append("(x = %s OR o = %s)")
        values += [wanted.player, wanted.player]
    if wanted.is_over is not None:
        conditions.append("result IS NOT NULL" if wanted.is_over else "result IS NULL")
    if wanted.result is not None:
        conditions.append("result = %s")
        values.append(wanted.result)
    if wanted.beginning:
        conditions.append("starts_with(id, %s)")
        values.append(wanted.beginning)
    if before is not None:
        conditions.append("number < %s")
        values.append(before)
    return conditions, values


@contextmanager
def _translated(url: str) -> Iterator[None]:
    """Say in our own words what PostgreSQL complains of; nothing of psycopg's gets past."""
    try:
        yield
    except psycopg.Error as error:
        raise _translation(error, url) from error


def _translation(error: psycopg.Error, url: str) -> StoreError:
    words = (str(error).strip().splitlines() or [type(error).__name__])[0]
    if isinstance(error, errors.DataCorrupted | errors.IndexCorrupted):
        return CorruptStore(f"the store on PostgreSQL is damaged: {words}")
    if isinstance(error, psycopg.ProgrammingError) and not error.sqlstate:
        # Its own words would show the URL, and a password in it.
        return UnknownStore("that is no URL of a database: one is like postgresql://USER@HOST/DATABASE")
    if any(secret in words for secret in _secrets(url)):
        words = f"the server cannot be reached ({type(error).__name__})"
    return StoreUnavailable(f"the store on PostgreSQL is unavailable: {words}")


def _secrets(url: str) -> list[str]:
    """Return what may be a password in a URL, or a piece of one: an @ in it must be written %40."""
    before_host = url.rpartition("@")[0].partition("://")[2]
    password = before_host.partition(":")[2]
    return [piece for piece in (*re.split("[@:/?#]", password), unquote(password)) if len(piece) > 2]
