"""Checks a whole store: that no record has changed, and none is missing."""

# ruff: noqa: SLF001 - it reads rows that a store would refuse to return

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

from noughts.core.errors import RecordError, quoted
from noughts.core.game import replay
from noughts.store.appends import CatalogueRow, catalogue_change
from noughts.store.base import (
    PAGE_ROWS,
    EventStore,
    GameFilter,
    Progress,
    all_rows,
    check_progress,
    pages,
)
from noughts.store.documents import check_row
from noughts.store.errors import CorruptStore, InvalidId
from noughts.store.records import GENESIS, Record, check_chain

GAMES_PER_READ = 200


class VerifyReport(NamedTuple):
    games: int
    """The number of sound games."""
    events: int
    faults: tuple[str, ...]


def verify(store: EventStore) -> VerifyReport:
    report = examine(store)
    for fault in report.faults:
        raise CorruptStore(fault)
    return report


def examine(store: EventStore, progress: Progress = lambda _share: None) -> VerifyReport:
    """Check records, games, documents, catalogue, schema and checkpoint; others may play meanwhile."""
    checks = [_Check(part) for part in store.parts()]
    for number, check in enumerate(checks):
        check.run(lambda share, done=number: progress((done + share) / len(checks)))  # type: ignore[misc]  # mypy can't infer it
    return VerifyReport(
        sum(check.games for check in checks),
        sum(check.events for check in checks),
        tuple(fault for check in checks for fault in check.faults),
    )


class _Check:
    def __init__(self, store: EventStore) -> None:
        self._store = store
        self.games = 0
        self.events = 0
        self.faults: list[str] = []
        self._faulty: set[str] = set()
        self._rows: dict[str, CatalogueRow] = {}
        """The catalogue, by game."""

    def run(self, progress: Progress) -> None:
        with self._noting_faults():
            self.faults += self._store.integrity_errors()
        with self._noting_faults():
            self._rows = {row.game: row for row in all_rows(self._store, PAGE_ROWS)}
        games = dict.fromkeys(self._rows)
        with self._noting_faults():
            for record in self._feed():
                games[record.game] = None
        names = [*games]
        for start in range(0, len(names), GAMES_PER_READ):
            progress(start / len(names))
            self._check_games(names[start : start + GAMES_PER_READ])
        with self._noting_faults():
            for documents in pages(partial(self._store._feed, "documents"), PAGE_ROWS):
                for row in documents:
                    with self._noting_faults():
                        check_row(row)
        with self._noting_faults():
            self.faults += self._store.checkpoint_errors()

    @contextmanager
    def _noting_faults(self) -> Iterator[None]:
        try:
            yield
        except CorruptStore as error:
            self.faults.append(str(error))

    def _fault(self, game: str, fault: str) -> None:
        if game not in self._faulty:
            self._faulty.add(game)
            self.faults.append(fault)

    def _feed(self) -> Iterator[Record]:
        ends: dict[str, tuple[int, bytes]] = {}
        for row in self._raw_feed():
            record = Record._make(row[:6])
            yield record
            if record.game in self._faulty:
                continue
            try:
                check_chain((record,), *ends.get(record.game, (0, GENESIS)))
            except CorruptStore as error:
                self._fault(record.game, str(error))
            else:
                ends[record.game] = record.next_version, record.hash

    def _raw_feed(self) -> Iterator[Sequence[object]]:
        """Read rows without checking them; an unreadable page is an error that names the place."""
        cursor, limit, place, seen = "", PAGE_ROWS, "at the start of the feed", set[str]()
        while True:
            try:
                rows, cursor = self._store._feed("records", cursor, limit)
            except CorruptStore as error:
                if limit == 1:
                    raise CorruptStore(f"{error} ({place})") from error
                limit = 1
                continue
            yield from rows
            if len(rows) < limit:  # don't read on for as long as others write
                return
            check_progress(cursor, seen)
            game, version, *_ = rows[-1]
            place = f"in the feed after version {quoted(version)} of game {quoted(game)}"

    def _check_games(self, names: Sequence[str]) -> None:
        try:
            found = self._store._records_of_many(dict.fromkeys(names, 0))
        except CorruptStore as error:
            if len(names) == 1:
                self._fault(names[0], f"game {quoted(names[0])} can't be read: {error}")
            else:
                for name in names:
                    self._check_games((name,))
            return
        for name in names:
            try:
                self._check_game(name, found.get(name, []))
            except CorruptStore as error:
                self._fault(name, str(error))
            except RecordError as error:
                self._fault(name, f"game {quoted(name)} was not played by the rules: {error}")

    def _check_game(self, name: str, records: Sequence[Record]) -> None:
        check_chain(records)
        if records and records[0].is_deletion:  # perhaps just now
            return
        if catalogue_row(records) != self._rows.get(name):
            _check_catalogue(self._store, name)
        if records and name not in self._faulty:
            replay(event for record in records for event in record.events)
            self.games += 1
            self.events += records[-1].next_version


def catalogue_row(records: Iterable[Record]) -> CatalogueRow | None:
    row: CatalogueRow | None = None
    for record in records:
        row = row or CatalogueRow(record.game, record.at)
        try:
            row = row.changed(catalogue_change(record.events))
        except RecordError as error:
            where = f"the record at version {record.version} of game {quoted(record.game)}"
            raise CorruptStore(f"{where} can't be read: {error}") from error
    return row


def _check_catalogue(store: EventStore, name: str) -> None:
    """Compare a game with the catalogue, while others may change or delete it.

    A game's records and its row change in one commit. So a row that is read between two equal reads of
    the records must agree with them.
    """
    try:
        before = None
        while True:
            rows = all_rows(store, PAGE_ROWS, GameFilter(id_prefix=name))
            row = next((row for row in rows if row.game == name), None)
            records = store.read(name)
            if row == catalogue_row(records):
                return
            if records == before:
                break
            before = records
    except InvalidId:
        pass  # the catalogue lists an impossible id
    raise CorruptStore(f"the catalogue is wrong about game {quoted(name)}")
