"""Records: what one command led to, as a store keeps it, chained by hashes over each game."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple, Protocol

from noughts.core.codec import loads
from noughts.core.errors import InvalidArgument, RecordError, quoted
from noughts.core.events import Event
from noughts.core.game import Game, fold
from noughts.store.errors import CorruptStore, InvalidId

MAX_ID_LENGTH = 64
MAX_NUMBER = 253_402_300_799_999
"""The last millisecond of the year 9999: the largest time, version or page size that is taken."""

HASH_SIZE = 32
GENESIS = b""
"""The previous hash in a game's first record."""

_new_sha256 = sha256().copy
_match_id = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_ID_LENGTH}}}").fullmatch


class Record(NamedTuple):
    """What one command led to."""

    game: str
    version: int
    """The game's version before it: the number of events that precede it."""
    at: int
    """When it was recorded, in milliseconds since 1970, by the writer's clock."""
    key: str
    """The command's own key."""
    text: str
    """The events as JSON, one a line; or a tombstone, in the record that deletes its game."""
    hash: bytes
    """The hash of all of this and of the hash of the game's record before it."""

    @property
    def events(self) -> tuple[Event, ...]:
        """The events."""
        return read_events(self.text)

    @property
    def next_version(self) -> int:
        """The game's version after it."""
        return self.version + count_events(self.text)

    @property
    def is_deletion(self) -> bool:
        """True if the game was deleted, and this is all that is left of it."""
        return is_tombstone(self.text)


@lru_cache(maxsize=16_384)  # few different commands exist, apart from names
def read_events(text: str) -> tuple[Event, ...]:
    """Decode the events of a record."""
    return () if is_tombstone(text) else tuple(map(loads, text.split("\n")))


class HasEvents(Protocol):
    """A record, as far as folding needs it."""

    @property
    def events(self) -> tuple[Event, ...]:
        """The events."""


def fold_records(records: Sequence[HasEvents], game: Game | None = None) -> Game | None:
    """Return the game that records add up to, from the start or from a game before them."""
    try:
        return fold((event for record in records for event in record.events), game)
    except RecordError as error:
        name = f" of game {records[0].game}" if isinstance(records[0], Record) else ""
        raise CorruptStore(f"the records{name} don't make a game: {error}") from error


def count_events(text: str) -> int:
    """Count the events of a record without decoding them."""
    return 0 if is_tombstone(text) else text.count("\n") + 1


def is_tombstone(text: str) -> bool:
    """Return whether a text deletes its game: events begin with a brace."""
    return text.__class__ is str and not text.startswith("{")


def tombstone_of(records: Sequence[Record]) -> str:
    """Write what a deletion removes: how many records, and the sum of their hashes."""
    return f"deleted {len(records)} {sum_hashes(record.hash for record in records):064x}"


def read_tombstone(text: str) -> tuple[int, int]:
    """Return how many records a deletion removed, and the sum of their hashes."""
    try:
        _, count, hashes = text.split(" ")
        return int(count), int(hashes, 16)
    except (ValueError, TypeError, AttributeError):  # damage may change its type, too
        raise CorruptStore(f"a record has changed to {quoted(text)}") from None


def sum_hashes(hashes: Iterable[bytes], start: int = 0) -> int:
    """Add up hashes, in any order."""
    numbers = (int.from_bytes(one, "big") for one in hashes if type(one) is bytes)  # damage may change it
    return sum(numbers, start) % (1 << 8 * HASH_SIZE)


def record_hash(previous: bytes, game: str, version: int, at: int, key: str, text: str) -> bytes:
    """Return the hash of a record that follows one with the hash `previous`."""
    digest = _new_sha256()  # a copy: to look the algorithm up takes longer than to hash
    digest.update(previous + f"{game}\n{version}\n{at}\n{key}\n{text}".encode())
    return digest.digest()


def check_chain(records: Iterable[Record], version: int = 0, previous: bytes = GENESIS) -> None:
    """Refuse records of one game that don't follow from that version and hash."""
    for record in records:
        game, found, at, key, text, link = record
        # Damage may change the type of a value, too.
        if type(link) is not bytes or type(text) is not str:
            raise CorruptStore(describe_change(record))
        if not text.startswith("{"):  # is_tombstone, without the call
            version, previous = found, GENESIS
        # The same as record_hash, without the call: every game that is loaded comes through here.
        content = f"{game}\n{version}\n{at}\n{key}\n{text}"
        if found != version or sha256(previous + content.encode()).digest() != link:
            raise CorruptStore(describe_change(record))
        previous = link
        version += text.count("\n") + 1


def check_linked(row: tuple[Any, ...]) -> Record:
    """Check a row of the feed, whose last column is the hash of the record before it."""
    *fields, previous = row
    record, link = Record._make(fields), previous or GENESIS
    if type(record.version) is not int or type(link) is not bytes:
        raise CorruptStore(describe_change(record))
    check_chain((record,), record.version, link)
    return record


def describe_change(record: Record) -> str:
    """Name a record that isn't what was recorded."""
    return (
        f"the record at version {quoted(record.version)} of game {quoted(record.game)} "
        "has changed since it was recorded"
    )


def clamp(number: int) -> int:
    """Bring a number into the range that every engine can store."""
    if type(number) is not int:
        raise InvalidArgument(f"{quoted(number)} is not a whole number")
    return min(max(number, 0), MAX_NUMBER)


def read_sequence(cursor: str) -> int:
    """Return the number in a cursor of a feed with numbered rows."""
    if cursor and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 19):
        raise not_a_cursor(cursor)
    return int(cursor or 0)


def not_a_cursor(cursor: object) -> InvalidArgument:
    """Return the error for a cursor that doesn't come from this store."""
    return InvalidArgument(f"{quoted(cursor)} is not a cursor of this store")


def check_id(name: str, what: str = "game") -> str:
    """Return a valid id, or refuse it."""
    if name.__class__ is str and (
        (name.isalnum() and name.isascii() and len(name) <= MAX_ID_LENGTH)  # quicker than the pattern
        or _match_id(name)
    ):
        return name
    raise InvalidId(
        f"the id of a {what} has 1 to {MAX_ID_LENGTH} letters, digits, - and _, unlike {quoted(name)}"
    )
