"""A store that lasts as long as the process."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, takewhile
from operator import attrgetter
from threading import RLock
from typing import Any

from noughts.store.appends import Append, Batch, CatalogueRow, Head, arbitrate
from noughts.store.base import EventStore, GameFilter, Start, Table
from noughts.store.documents import Row as DocumentRow
from noughts.store.records import GENESIS, Record, read_sequence


class MemoryStore(EventStore):
    def __init__(self) -> None:
        super().__init__()
        self._lock = RLock()
        self._last = 0
        """The number of the last row of a feed."""
        self._feeds: dict[Table, dict[Any, tuple[int, Any]]] = {"records": {}, "documents": {}}
        """Numbered rows by game and version, or by name, in the order of their numbers."""
        self._games: dict[str, list[Record]] = {}
        self._rows: dict[str, CatalogueRow] = {}

    def _commit(self, batch: Batch) -> None:
        with self._lock:
            heads = self._heads([append.game for append in batch.appends])
            outcome = arbitrate(batch, heads, self._documents(batch.document_names), self._is_recorded)
            records = [*map(Record._make, outcome.records)]
            rows = [self._rows.get(row.game, row).changed(row[2:]) for row in outcome.catalogue]
            first, interrupted = self._last + 1, None
            while True:
                try:
                    self._apply(first, records, rows, outcome.documents)
                    break
                except RecursionError:  # a retry would not help; nothing was written
                    raise
                except BaseException as error:  # noqa: BLE001 - Ctrl-C: finish, then raise it
                    interrupted = error
            if interrupted:
                raise interrupted

    def _apply(
        self, first: int, records: list[Record], rows: list[CatalogueRow], documents: list[DocumentRow]
    ) -> None:
        """Write everything. It can be repeated, and calls none of our functions."""
        feed, changes = self._feeds["records"], self._feeds["documents"]
        for number, record in enumerate(records, first):
            game = self._games.setdefault(record.game, [])
            if not record.text.startswith("{") and record not in game:
                for erased in game:
                    feed.pop(erased[:2], None)
                game.clear()
            if not game or game[-1].version < record.version:
                feed[record[:2]] = number, (*record, game[-1].hash if game else GENESIS)
                game.append(record)
        for row in rows:
            self._rows[row.game] = row
        for number, document in enumerate(documents, first + len(records)):
            changes.pop(document[0], None)
            changes[document[0]] = number, document
        for record in records:
            if not record.text.startswith("{"):  # a deletion
                self._rows.pop(record.game, None)
                changes.pop(record.game, None)
        self._last = first - 1 + len(records) + len(documents)

    def _is_recorded(self, append: Append) -> bool:
        records = self._games.get(append.game, ())
        return append.identity in [(one.game, one.version, one.key, one.text) for one in records]

    def _records(self, game: str, after: int) -> list[Record]:
        with self._lock:
            records = self._games.get(game, [])
            first = sum(1 for _ in takewhile(lambda record: record.version < after, records))
            return records[max(0, first - 1) :]

    def _heads(self, games: Sequence[str]) -> dict[str, Head]:
        with self._lock:
            ends = {game: self._games[game][-1] for game in games if game in self._games}
        return {game: (one.next_version, one.hash, one.is_deletion) for game, one in ends.items()}

    def _feed(self, table: Table, after: str, limit: int) -> tuple[list[Any], str]:
        first = read_sequence(after)
        with self._lock:
            new = [*takewhile(lambda row: row[0] > first, reversed(self._feeds[table].values()))]
        page = new[::-1][:limit]
        return [row for _, row in page], str(page[-1][0]) if page else after

    def _feed_end(self, table: Table) -> str:
        with self._lock:
            return str(next(reversed(self._feeds[table].values()), (0,))[0])

    def _catalogue(self, wanted: GameFilter, limit: int, before: Start | None) -> list[CatalogueRow]:
        with self._lock:
            rows = sorted(self._rows.values(), key=attrgetter("start"), reverse=True)
        found = (row for row in rows if before is None or row.start < before)
        return [*islice((row for row in found if _is_wanted(row, wanted)), limit)]

    def _documents(self, names: Sequence[str]) -> list[DocumentRow]:
        documents = self._feeds["documents"]
        with self._lock:
            return [documents[name][1] for name in names if name in documents]

    def _labelled(self, label: str, limit: int) -> list[DocumentRow]:
        with self._lock:
            newest_first = (row for _, row in reversed(self._feeds["documents"].values()))
            return [*islice((row for row in newest_first if row[2] == label), limit)]

    def checkpoint(self) -> None:
        """Nothing outlives the process."""

    def _cover(self, game: str) -> None:
        """Every game can be deleted."""

    def _listen(self) -> None:
        """No other process can write."""

    def _close(self) -> None:
        """Nothing to release."""


def _is_wanted(row: CatalogueRow, wanted: GameFilter) -> bool:
    return (
        (wanted.player is None or wanted.player in (row.x, row.o))
        and (wanted.is_over is None or wanted.is_over == (row.result is not None))
        and (wanted.result is None or wanted.result == row.result)
        and row.game.startswith(wanted.id_prefix)
    )
