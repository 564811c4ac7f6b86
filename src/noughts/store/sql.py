"""What the stores on SQLite and on PostgreSQL share: reading, and a thread that listens."""

from __future__ import annotations

from abc import abstractmethod
from threading import Event, Lock, Thread

from noughts.core.errors import NotAStore, OldStore
from noughts.store.appends import CatalogueRow
from noughts.store.base import EventStore
from noughts.store.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, ClassVar

    from noughts.store.base import GameFilter, Start, Table
    from noughts.store.documents import Row as DocumentRow

OLDEST_SCHEMA = 4
"""Older ones kept one row an event; they are left alone."""

MAX_CACHED_HEADS = 10_000
"""How many games' heads are remembered from one commit to the next."""

# A deleted record keeps its place, empty: a writer with an old view of the game must not get it.
ERASE = "UPDATE noughts_records SET at = 0, key = '', events = '' WHERE events <> '' AND game = "
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
"""What is read of each table, and on which condition."""
IS_RECORDED = "SELECT 1 FROM noughts_records WHERE game = ? AND version = ? AND key = ? AND events = ?"
DOCUMENTS = "SELECT name, revision, label, text, key, hash FROM noughts_documents"
CATALOGUE = "SELECT id, started, x, o, result FROM noughts_games"
CATALOGUE_INDEXES = """
    CREATE INDEX noughts_games_by_start ON noughts_games (started, id);
    CREATE INDEX noughts_games_by_x ON noughts_games (x, started, id) WHERE x IS NOT NULL;
    CREATE INDEX noughts_games_by_o ON noughts_games (o, started, id) WHERE o IS NOT NULL;
    CREATE INDEX noughts_games_unfinished ON noughts_games (started, id) WHERE result IS NULL"""
UPDATE_CATALOGUE = """ON CONFLICT (id) DO UPDATE SET x = coalesce(excluded.x, noughts_games.x),
    o = coalesce(excluded.o, noughts_games.o), result = coalesce(excluded.result, noughts_games.result)"""


class SQLStore(EventStore):
    """Reads records, games and documents with SQL; parameters are written as question marks."""

    _order: ClassVar[Mapping[Table, str]]
    """The columns that order each feed: their values are a place in it."""
    _is_final = "true"
    """The condition that no row will come before this one any more, as SQL."""

    def __init__(self) -> None:
        super().__init__()
        self._closing = Event()
        self._listener: Thread | None = None
        self._lock = Lock()

    @abstractmethod
    def _select(self, statement: str, *values: object) -> list[Any]:
        """Return the rows that a statement selects."""

    @abstractmethod
    def _place(self, table: Table, cursor: str) -> Sequence[object]:
        """Return the place that a cursor names."""

    @abstractmethod
    def _listen_loop(self) -> None:
        """Send wake-ups when another process writes, until `_closing` is set."""

    def _listen(self) -> None:
        with self._lock:
            if self._listener is None:
                self._listener = Thread(target=self._listen_loop, name="noughts-listener", daemon=True)
                self._listener.start()

    def _close(self) -> None:
        self._closing.set()
        if self._listener:
            self._listener.join()

    def _records(self, game: str, after: int) -> list[Record]:
        return list(map(Record._make, self._select(RECORDS, game, game, after)))

    def _feed(self, table: Table, after: str, limit: int) -> tuple[list[Any], str]:
        columns, condition = FEEDS[table]
        order, place = self._order[table], self._place(table, after)
        rows = self._select(
            f"""SELECT {columns}, {order} FROM noughts_{table}
            WHERE ({order}) > ({", ".join("?" * len(place))}) AND {self._is_final} AND {condition}
            ORDER BY {order} LIMIT ?""",  # noqa: S608 - our own text
            *place,
            limit,
        )
        end = -len(place)
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
    """Refuse a store of another version of noughts, unless it can be migrated."""
    if version < OLDEST_SCHEMA:
        raise OldStore(
            f"{store} was made by an older noughts: export its games with that version, "
            "and bring them into a new store with noughts store import"
        )
    if version > newest:
        raise NotAStore(
            f"{store} was made by a newer noughts: its schema is {version}, and this one reads {newest}"
        )


def _cursor(place: tuple[object, ...]) -> str:
    return ".".join(map(str, place))
