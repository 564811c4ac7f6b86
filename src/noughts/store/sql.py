"""What the SQLite and PostgreSQL stores share: reading, checkpoints and the listener thread."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from threading import Event, Lock, Thread
from typing import Any, ClassVar, TypeVar

from noughts.core.errors import InvalidArgument, NoughtsError, quoted
from noughts.store.appends import Batch, CatalogueRow
from noughts.store.base import EventStore, GameFilter, Start, Table, check_progress
from noughts.store.checkpoints import Checkpoint, CheckpointSlot
from noughts.store.documents import Row as DocumentRow
from noughts.store.errors import CorruptStore, NotAStore, OldStore, StoreUnavailable
from noughts.store.records import Record, read_tombstone, sum_hashes
from noughts.threads import start_thread

Row = TypeVar("Row")

OLDEST_SCHEMA = 5
"""Stores with an older one can't be migrated."""
CHECKPOINT_INTERVAL_SECONDS = 60.0
COVER_TIMEOUT_SECONDS = 5.0
COVER_DELAY_SECONDS = 0.02
HASHES_PER_PAGE = 5_000
MAX_CACHED_HEADS = 10_000

# A deleted record keeps its row, empty: a writer with an old view of the game must not insert there.
DELETIONS = (
    "UPDATE noughts_records SET at = 0, key = '', events = '' WHERE substr(events, 1, 1) = '{' AND game",
    "DELETE FROM noughts_games WHERE id",
    "DELETE FROM noughts_documents WHERE name",
)
IS_TOMBSTONE = "substr(events, 1, 1) <> '{'"
EXISTS = "NOT (events = '' AND key = '' AND at = 0)"

RECORDS = f"""SELECT game, version, at, key, events, hash FROM noughts_records WHERE game = ?
    AND version >= coalesce((SELECT max(version) FROM noughts_records WHERE game = ? AND version < ?), 0)
    AND {EXISTS} ORDER BY version"""  # noqa: S608 - our own text
PREVIOUS_HASH = """(SELECT hash FROM noughts_records AS previous
    WHERE previous.game = noughts_records.game AND previous.version < noughts_records.version
    ORDER BY previous.version DESC LIMIT 1)"""
FEEDS: dict[Table, tuple[str, str]] = {
    "records": (f"game, version, at, key, events, hash, {PREVIOUS_HASH}", EXISTS),
    "documents": ("name, revision, label, text, key, hash", "true"),
}
"""The columns that are read of each table, and the condition."""
IS_RECORDED = "SELECT 1 FROM noughts_records WHERE game = ? AND version = ? AND key = ? AND events = ?"
DOCUMENTS = "SELECT name, revision, label, text, key, hash FROM noughts_documents"
TOMBSTONES = f"SELECT game, events FROM noughts_records WHERE {IS_TOMBSTONE} AND {EXISTS}"  # noqa: S608 - our own text
ERASED = "SELECT game, hash FROM noughts_records WHERE events = '' AND key = '' AND at = 0"
CATALOGUE = "SELECT id, started, x, o, result FROM noughts_games"
CATALOGUE_INDEXES = """
    CREATE INDEX noughts_games_by_start ON noughts_games (started, id);
    CREATE INDEX noughts_games_by_x ON noughts_games (x, started, id) WHERE x IS NOT NULL;
    CREATE INDEX noughts_games_by_o ON noughts_games (o, started, id) WHERE o IS NOT NULL;
    CREATE INDEX noughts_games_unfinished ON noughts_games (started, id) WHERE result IS NULL"""
UPDATE_CATALOGUE = """ON CONFLICT (id) DO UPDATE SET x = coalesce(excluded.x, noughts_games.x),
    o = coalesce(excluded.o, noughts_games.o), result = coalesce(excluded.result, noughts_games.result)"""


class SQLStore(EventStore):
    """An engine with SQL; parameters are written as question marks."""

    _order: ClassVar[Mapping[Table, str]]
    """The columns that order each feed; their values are a cursor."""
    _is_final = "true"
    """The condition, as SQL, that no row will appear before this one any more."""

    def __init__(self) -> None:
        super().__init__()
        self._closing = Event()
        self._threads: list[Thread] = []
        self._lock = Lock()
        self._has_written = self._has_changed = False
        """Whether this process has written anything: ever, and since its last checkpoint."""
        self._checkpointing = Lock()
        self._covered = ""
        """The cursor of this process's last checkpoint."""

    @abstractmethod
    def _select(self, statement: str, *values: object) -> list[Any]: ...

    @abstractmethod
    def _place(self, table: Table, cursor: str) -> Sequence[object]: ...

    @abstractmethod
    def _listen_loop(self) -> None:
        """Send wake-ups when another process writes, until `_closing` is set."""

    @abstractmethod
    def _slots(self) -> Sequence[CheckpointSlot]:
        """Return where this store's checkpoints are kept; deletions depend on the first."""

    def _listen(self) -> None:
        self._start_once("noughts-listener", self._listen_loop)

    def _start_once(self, name: str, loop: Callable[[], None]) -> None:
        with self._lock:
            if name not in [thread.name for thread in self._threads]:
                self._threads.append(Thread(target=loop, name=name, daemon=True))
                start_thread(self._threads[-1])

    def _write(self, batch: Batch) -> None:
        super()._write(batch)
        if not self._has_changed:
            self._has_written = self._has_changed = True
            self._start_once("noughts-checkpoints", self._checkpoint_loop)

    def _checkpoint_loop(self) -> None:
        while not self._closing.wait(CHECKPOINT_INTERVAL_SECONDS):
            if self._has_changed:
                with suppress(NoughtsError):  # the next one catches up
                    self._make_checkpoint()

    def _close(self) -> None:
        self._closing.set()
        for thread in self._threads:
            if thread.ident is not None:  # a signal may have come just before its start
                thread.join()
        if self._has_written:
            with suppress(NoughtsError):  # the next process catches up
                self._make_checkpoint(is_closing=True)

    def checkpoint(self) -> None:
        self._check_open()
        self._make_checkpoint()

    def _make_checkpoint(self, *, is_closing: bool = False) -> None:
        with self._checkpointing:
            self._has_changed = False
            try:
                made = [self._carry_on(slot, is_closing=is_closing) for slot in self._slots()]
            except BaseException:
                self._has_changed = True
                raise
            self._covered = made[0].cursor

    def _carry_on(self, slot: CheckpointSlot, *, is_closing: bool) -> Checkpoint:
        with slot.locked():
            before = self._read_checkpoint(slot)
            records = self._count("records", None, *before[:3])
            new = Checkpoint(*records, *self._documents_checkpoint(before, is_closing=is_closing))
            if new != before:
                slot.replace(new)
            return new

    @cached_property
    def _id(self) -> str:
        """The store's id, by which its checkpoint is found."""
        found = self._select("SELECT id FROM noughts_store")
        return str(found[0][0]) if found else ""

    def _documents_checkpoint(self, before: Checkpoint, *, is_closing: bool) -> tuple[str, int | None]:
        cursor, documents = before[3:]
        end = self._feed_end("documents")
        if self._has_deletions(before.cursor) or (end != cursor and self._has_document_at(cursor)):
            cursor, documents = end, None
        if is_closing and documents is None and cursor == end:
            documents = self._sum_documents()
        return cursor, documents

    def _sum_documents(self) -> int:
        return self._count("documents")[2]

    def _count(
        self, table: Table, until: str | None = None, after: str = "", count: int = 0, hashes: int = 0
    ) -> tuple[str, int, int]:
        """Count rows between two cursors, also deleted ones; return the end, the count and the hashes."""
        up_to, end = ("true", ()) if until is None else self._compared(table, "<=", until)
        rows: list[Any] | None = None
        seen: set[str] = set()
        while rows is None or len(rows) == HASHES_PER_PAGE:
            check_progress(after, seen)
            rows = self._rows_after(table, after, "hash", up_to, *end, limit=HASHES_PER_PAGE)
            after = _cursor(rows[-1][1:]) if rows else after
            count, hashes = count + len(rows), sum_hashes((row[0] for row in rows), hashes)
        return after, count, hashes

    def _compared(self, table: Table, operator: str, cursor: str) -> tuple[str, Sequence[object]]:
        """Return the condition that a row's place compares like this with a cursor, and its values."""
        place = self._place(table, cursor)
        return f"({self._order[table]}) {operator} ({', '.join('?' * len(place))})", place

    def _rows_after(
        self, table: Table, cursor: str, columns: str, condition: str, *values: object, limit: int
    ) -> list[Any]:
        """Read rows after a cursor; each ends with its own place."""
        order, (is_after, place) = self._order[table], self._compared(table, ">", cursor)
        return self._select(
            f"""SELECT {columns}, {order} FROM noughts_{table}
            WHERE {is_after} AND {self._is_final} AND {condition}
            ORDER BY {order} LIMIT ?""",  # noqa: S608 - our own text
            *(*place, *values, limit),
        )

    def _has_row(self, table: Table, compared: str, cursor: str, where: str, *values: object) -> bool:
        """Return whether a row exists whose place compares like this with a cursor."""
        condition, place = self._compared(table, compared, cursor)
        statement = f"SELECT 1 FROM noughts_{table} WHERE {condition} AND {where} LIMIT 1"  # noqa: S608 - our own text
        return bool(self._select(statement, *place, *values))

    def _has_deletions(self, after: str) -> bool:
        return self._has_row("records", ">", after, IS_TOMBSTONE)

    def _has_document_at(self, cursor: str) -> bool:
        """Return whether the document at a cursor still exists, or a later change does."""
        return not cursor or self._has_row("documents", ">=", cursor, "true")

    def last_checkpoints(self) -> Iterator[Checkpoint]:
        """Return this store's checkpoints; refuse if one is missing or damaged."""
        return map(self._read_checkpoint, self._slots())

    def _read_checkpoint(self, slot: CheckpointSlot) -> Checkpoint:
        checkpoint = slot.read()
        try:
            self._place("records", checkpoint.cursor)
            self._place("documents", checkpoint.documents_cursor)
        except InvalidArgument as error:
            raise CorruptStore(f"the checkpoint is wrong: {error}") from error
        return checkpoint

    def checkpoint_errors(self) -> Iterator[str]:
        """Compare the records with the checkpoints, and with what tombstones say was removed."""
        yield from self._tombstone_errors()
        for checkpoint in self.last_checkpoints():
            _, counted, hashes = self._count("records", checkpoint.cursor)
            missing = checkpoint.records - counted
            if missing > 0:
                yield f"{missing} of the first {checkpoint.records} records are missing"
            elif missing < 0:
                yield f"{-missing} records too many: the checkpoint counts {checkpoint.records}"
            elif hashes != checkpoint.hashes:
                yield f"not all of the first {checkpoint.records} records are those that were made"
            errors = [*self._document_errors(checkpoint)]
            if not self._has_deletions(checkpoint.cursor):  # they delete documents, too
                yield from errors

    def _tombstone_errors(self) -> Iterator[str]:
        removed: dict[str, list[bytes]] = {}
        for game, link in self._select(ERASED):
            removed.setdefault(game, []).append(link)
        tombstones = dict(self._select(TOMBSTONES))
        for game, hashes in removed.items():
            if game not in tombstones:
                yield f"records of game {quoted(game)} are empty, but it was not deleted"
                continue
            text = tombstones[game]
            if text and read_tombstone(text) != (len(hashes), sum_hashes(hashes)):
                yield f"the tombstone of game {quoted(game)} doesn't agree with what it has removed"

    def _document_errors(self, checkpoint: Checkpoint) -> Iterator[str]:
        cursor, documents = checkpoint.documents_cursor, checkpoint.documents
        if not self._has_document_at(cursor):
            yield "the document that was written last is missing"
        elif documents is not None and self._feed_end("documents") == cursor:
            found = self._sum_documents()
            if found != documents and self._feed_end("documents") == cursor:
                yield "a document is missing, or is not the one that was written"

    def _cover(self, game: str) -> None:
        end = time.monotonic() + COVER_TIMEOUT_SECONDS
        while self._has_row("records", ">", self._covered, "game = ?", game):
            before = self._covered
            self._make_checkpoint()
            if self._covered == before:  # on a server, while an older transaction is running
                if time.monotonic() > end:
                    raise StoreUnavailable(f"game {game} was played a moment ago: try again later")
                self._closing.wait(COVER_DELAY_SECONDS)

    def _records(self, game: str, after: int) -> list[Record]:
        return list(map(Record._make, self._select(RECORDS, game, game, after)))

    def _feed(self, table: Table, after: str, limit: int) -> tuple[list[Any], str]:
        rows = self._rows_after(table, after, *FEEDS[table], limit=limit)
        end = -self._order[table].count(",") - 1
        return [row[:end] for row in rows], _cursor(rows[-1][end:]) if rows else after

    def _feed_end(self, table: Table) -> str:
        last = self._select(
            f"""SELECT {self._order[table]} FROM noughts_{table} WHERE {self._is_final}
            ORDER BY {self._newest_first(table)} LIMIT 1"""  # noqa: S608 - our own text
        )
        return _cursor(last[0]) if last else ""

    def _newest_first(self, table: Table) -> str:
        return self._order[table].replace(",", " DESC,") + " DESC"

    def _catalogue(self, wanted: GameFilter, limit: int, before: Start | None) -> list[CatalogueRow]:
        conditions, values = ["true"], list[object]()
        if wanted.player is not None:
            conditions.append("(x = ? OR o = ?)")
            values += [wanted.player, wanted.player]
        if wanted.is_over is not None:
            conditions.append(f"result IS {'NOT ' if wanted.is_over else ''}NULL")
        if wanted.result is not None:
            conditions.append("result = ?")
            values.append(wanted.result)
        if wanted.id_prefix:
            conditions.append("id >= ? AND id < ?")
            values += [wanted.id_prefix, wanted.id_prefix + "\x7f"]
        if before is not None:
            conditions.append("(started, id) < (?, ?)")
            values += before
        where = f"WHERE {' AND '.join(conditions)} ORDER BY started DESC, id DESC LIMIT ?"
        return list(map(CatalogueRow._make, self._select(f"{CATALOGUE} {where}", *values, limit)))

    def _documents(self, names: Sequence[str]) -> list[DocumentRow]:
        return [row for name in names for row in self._select(f"{DOCUMENTS} WHERE name = ?", name)]

    def _labelled(self, label: str, limit: int) -> list[DocumentRow]:
        where = f"WHERE label = ? AND label <> '' ORDER BY {self._newest_first('documents')} LIMIT ?"
        return self._select(f"{DOCUMENTS} {where}", label, limit)


def check_schema(version: int, newest: int, store: object) -> None:
    if version < OLDEST_SCHEMA:
        raise OldStore(
            f"{store} was made by an older noughts: export its games with that version, "
            "and bring them into a new store with noughts store import"
        )
    if version > newest:
        raise NotAStore(
            f"{store} was made by a newer noughts: its schema is {version}, and this one reads {newest}"
        )


def chunks(rows: Sequence[Row], size: int) -> Iterator[Sequence[Row]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def _cursor(place: tuple[object, ...]) -> str:
    return ".".join(map(str, place))
