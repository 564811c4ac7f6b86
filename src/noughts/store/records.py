"""Records: the events of one command as a store keeps them, with a chain of hashes per game."""

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

MAX_ID_CHARACTERS = 64
MAX_NUMBER = 253_402_300_799_999
"""The last millisecond of the year 9999: the largest time, version and page size."""

HASH_BYTES = 32
GENESIS = b""
"""The previous hash in a game's first record."""

_new_sha256 = sha256().copy
_match_id = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_ID_CHARACTERS}}}").fullmatch


class Record(NamedTuple):
    """The events of one command."""

    game: str
    version: int
    """The number of the game's events before it."""
    at: int
    """Milliseconds since 1970, by the writer's clock."""
    key: str
    """The key of the command."""
    text: str
    """The events as JSON, one per line; or a tombstone, if it deletes its game."""
    hash: bytes
    """The hash of these fields and of the game's previous hash."""

    @property
    def events(self) -> tuple[Event, ...]:
        return read_events(self.text)

    @property
    def next_version(self) -> int:
        return self.version + count_events(self.text)

    @property
    def is_deletion(self) -> bool:
        """True if the game was deleted, and this is its tombstone."""
        return is_tombstone(self.text)


@lru_cache(maxsize=16_384)  # few different commands exist, apart from names
def read_events(text: str) -> tuple[Event, ...]:
    return () if is_tombstone(text) else tuple(map(loads, text.split("\n")))


class HasEvents(Protocol):
    """The part of a record that folding needs."""

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
    return 0 if is_tombstone(text) else text.count("\n") + 1


def is_tombstone(text: str) -> bool:
    return text.__class__ is str and not text.startswith("{")


def tombstone_of(records: Sequence[Record]) -> str:
    """Describe a deletion: how many records it removes, and the sum of their hashes."""
    return f"deleted {len(records)} {sum_hashes(record.hash for record in records):064x}"


def read_tombstone(text: str) -> tuple[int, int]:
    try:
        _, count, hashes = text.split(" ")
        return int(count), int(hashes, 16)
    except (ValueError, TypeError, AttributeError):  # damage may change its type, too
        raise CorruptStore(f"a record has changed to {quoted(text)}") from None


def sum_hashes(hashes: Iterable[bytes], start: int = 0) -> int:
    numbers = (int.from_bytes(one, "big") for one in hashes if type(one) is bytes)  # damage may change it
    return sum(numbers, start) % (1 << 8 * HASH_BYTES)


def record_hash(previous: bytes, game: str, version: int, at: int, key: str, text: str) -> bytes:
    digest = _new_sha256()  # a copy: looking up the algorithm takes longer than hashing
    digest.update(previous + f"{game}\n{version}\n{at}\n{key}\n{text}".encode())
    return digest.digest()


def check_chain(records: Iterable[Record], version: int = 0, previous: bytes = GENESIS) -> None:
    """Refuse records of a game that don't follow from a version and a hash."""
    for record in records:
        game, found, at, key, text, link = record
        # Damage may change the type of a value, too.
        if type(link) is not bytes or type(text) is not str:
            raise CorruptStore(describe_change(record))
        if not text.startswith("{"):  # is_tombstone, without the call
            version, previous = found, GENESIS
        # Like record_hash, without the call: every game that is loaded comes through here.
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
    where = f"version {quoted(record.version)} of game {quoted(record.game)}"
    return f"the record at {where} has changed since it was recorded"


def clamp(number: int) -> int:
    """Limit a number to the range that every engine can store."""
    if type(number) is not int:
        raise InvalidArgument(f"{quoted(number)} is not a whole number")
    return min(max(number, 0), MAX_NUMBER)


def read_sequence(cursor: str) -> int:
    if cursor and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 19):
        raise not_a_cursor(cursor)
    return int(cursor or 0)


def not_a_cursor(cursor: object) -> InvalidArgument:
    return InvalidArgument(f"{quoted(cursor)} is not a cursor of this store")


def check_id(name: str, what: str = "game") -> str:
    if name.__class__ is str and (
        (name.isalnum() and name.isascii() and len(name) <= MAX_ID_CHARACTERS)  # quicker than the pattern
        or _match_id(name)
    ):
        return name
    raise InvalidId(
        f"the id of a {what} has 1 to {MAX_ID_CHARACTERS} letters, digits, - and _, unlike {quoted(name)}"
    )
