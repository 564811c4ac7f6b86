"""Checks a whole store for what has changed since it was recorded."""

from __future__ import annotations

from typing import NamedTuple

from noughts.core.errors import CorruptStore, InvalidId, RecordError, quoted
from noughts.store.appends import CatalogueRow, catalogue_change
from noughts.store.base import ALL_GAMES, PAGE_SIZE, GameFilter, all_rows, pages
from noughts.store.records import GENESIS, check_chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from noughts.store.base import EventStore
    from noughts.store.records import Record


class Verified(NamedTuple):
    """How much was checked, and found as it was recorded."""

    games: int
    events: int


def verify(store: EventStore) -> Verified:
    """Check every record and document against its hash, and the catalogue against the records.

    The first bad record is named in a `CorruptStore`. Others may go on playing meanwhile.
    """
    ends: dict[str, tuple[int, bytes]] = {}
    rows: dict[str, CatalogueRow] = {}
    for record in _records(store):
        game = record.game
        check_chain((record,), *ends.get(game, (0, GENESIS)))
        ends[game] = record.next_version, record.hash
        rows[game] = _row_after(record, rows.get(game))
        if record.is_deletion:
            del ends[game], rows[game]
    for game in _doubtful(store, rows):
        _check_game(store, game)
    for _ in pages(store.changed_documents, PAGE_SIZE):
        pass  # each document is checked as it is read
    for error in store.integrity_errors():
        raise CorruptStore(f"all records are as they were, but the store around them is damaged: {error}")
    return Verified(len(ends), sum(version for version, _ in ends.values()))


def _row_after(record: Record, before: CatalogueRow | None) -> CatalogueRow:
    """Return what the catalogue has to say of a game after a record."""
    row = before or CatalogueRow(record.game, record.at)
    try:
        return row.changed(catalogue_change(record.events))
    except RecordError as error:
        where = f"the record at version {record.version} of game {quoted(record.game)}"
        raise CorruptStore(f"{where} can't be read: {error}") from error


def _records(store: EventStore) -> Iterator[Record]:
    """Read the feed; where a page can't be read, find the record that is to blame."""
    cursor, limit, place = "", PAGE_SIZE, "at the start of the feed"
    while True:
        try:
            found, cursor = store.feed(cursor, limit)
        except CorruptStore as error:
            if limit == 1:
                raise CorruptStore(f"{error} ({place})") from error
            limit = 1
            continue
        yield from found
        if len(found) < limit:  # don't read on for as long as others write
            return
        place = f"in the feed after version {found[-1].version} of game {found[-1].game}"


def _doubtful(store: EventStore, expected: dict[str, CatalogueRow]) -> Iterator[str]:
    """Return the games of which the catalogue doesn't say what the records do."""
    for row in all_rows(store, ALL_GAMES, PAGE_SIZE):
        if expected.pop(row.game, None) != row:
            yield row.game
    yield from expected


def _check_game(store: EventStore, name: str) -> None:
    """Compare a game with the catalogue; it may have changed, or been deleted, since it was read.

    A game's records and its row change in one commit. So a row that was read between two equal reads of
    the records has to agree with them.
    """
    try:
        before = None
        while True:
            rows = all_rows(store, GameFilter(id_prefix=name), PAGE_SIZE)
            row = next((row for row in rows if row.game == name), None)
            records = store.read(name)
            expected: CatalogueRow | None = None
            for record in records:
                expected = _row_after(record, expected)
            if row == expected:
                return
            if records == before:
                break
            before = records
    except InvalidId:
        pass  # the catalogue lists a game that can't exist
    raise CorruptStore(f"the catalogue is wrong about game {quoted(name)}")
