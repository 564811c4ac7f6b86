"""Looking through a whole store for what has changed since it was recorded."""

from __future__ import annotations

from typing import NamedTuple

from noughts.core.errors import CorruptStore, RecordError, quoted
from noughts.store.base import ALL, PAGE
from noughts.store.chain import GENESIS, check_linked
from noughts.store.ledger import Listing, catalogued

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from noughts.store.base import EventStore
    from noughts.store.chain import Recorded


class Verified(NamedTuple):
    """How much was looked at, and found as it was recorded."""

    games: int
    events: int


def verify(store: EventStore) -> Verified:
    """Hold every event against its hash and its place, and the list of games against the events.

    Notes are held against their hashes, too.
    The first bad record is named in a `CorruptStore`. Others may go on playing meanwhile.
    """
    walk = _Walk()
    walk.go_on(store)
    doubtful = _doubtful(store, walk.listings)
    meanwhile = walk.go_on(store)
    for game, number in doubtful.items():
        if game not in meanwhile:
            raise CorruptStore(f"the list is wrong about game {quoted(number)}, {quoted(game)}")
    _check_notes(store)
    for complaint in store.complaints():
        raise CorruptStore(f"the records are as they were, but not what helps to find them: {complaint}")
    return Verified(len(walk.ends), walk.position)


class _Walk:
    """A walk along all records, and what it has shown so far."""

    def __init__(self) -> None:
        self.position = 0
        self.ends: dict[str, tuple[int, bytes]] = {}
        self.listings: dict[str, Listing] = {}

    def go_on(self, store: EventStore) -> set[str]:
        """Walk to the end, and return the games that were met."""
        met = set()
        for record in _all_records(store, self.position):
            if record.position != self.position + 1:
                raise CorruptStore(f"record {self.position + 1} is missing")
            version, link = self.ends.get(record.game, (0, GENESIS))
            check_linked((record,), version, link)
            self.position = record.position
            self.ends[record.game] = record.version, record.hash
            listing = self.listings.setdefault(record.game, Listing(len(self.listings) + 1, record.game))
            if change := _change(record):
                self.listings[record.game] = listing.with_change(*change)
            met.add(record.game)
        return met


def _all_records(store: EventStore, position: int) -> Iterator[Recorded]:
    """Read on from a position; where a page cannot be read, find the record that is to blame."""
    limit = PAGE
    while True:
        try:
            found = store.feed(position, limit)
        except CorruptStore as error:
            if limit == 1:
                raise CorruptStore(f"record {position + 1} cannot be read: {error}") from error
            limit = 1
            continue
        if not found:
            return
        yield from found
        position = found[-1].position


def _check_notes(store: EventStore) -> None:
    """Read all notes; where a page cannot be read, find the note that is to blame."""
    change, limit = 0, PAGE
    while True:
        try:
            found = store.changed_notes(change, limit)
        except CorruptStore as error:
            if limit == 1:
                raise CorruptStore(f"the first note after change {change}: {error}") from error
            limit = 1
            continue
        if len(found) < limit:  # it was the last page, whoever may write meanwhile
            return
        change = found[-1].change


def _change(record: Recorded) -> tuple[str, str] | None:
    try:
        return catalogued(record.event)
    except RecordError as error:
        raise CorruptStore(f"record {record.position} is no event: {error}") from error


def _doubtful(store: EventStore, told: dict[str, Listing]) -> dict[str, int]:
    """Return the games, and their numbers, of which the list does not say what the events tell."""
    missing = dict(told)
    doubtful = {}
    before = None
    while page := store.catalogue(ALL, PAGE, before):
        for listing in page:
            if missing.pop(listing.game, None) != listing:
                doubtful[listing.game] = listing.number
        before = page[-1].number
    return doubtful | {listing.game: listing.number for listing in missing.values()}
