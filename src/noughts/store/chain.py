"""What is recorded of an event, and the hash that ties it to everything recorded before it."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from noughts.core.codec import loads
from noughts.core.errors import CorruptStore, InvalidId, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from noughts.core.events import Event

LONGEST_ID = 64
LATEST = 253_402_300_799_999
"""In milliseconds, the end of the year 9999: no time is later, and no number of anything larger."""

HASH_SIZE = 32
GENESIS = b""
"""What stands in the place of a hash before a game's first event."""

_MATCH_ID = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST_ID}}}").fullmatch

# There are few different events, names apart, and they never change: each is read once.
_read_event = lru_cache(maxsize=4096)(loads)


class Recorded(NamedTuple):
    """An event as it stands in a store."""

    position: int
    """Its place among all events of the store, from 1 on, without gaps."""
    game: str
    version: int
    """Its place among the events of its game, from 1 on: the game's version with it."""
    at: int
    """When it was recorded, in milliseconds since 1970, by the clock of whoever recorded it."""
    key: str
    """What the command was called that led to it; the service sees to it that it is called so alone."""
    text: str
    """The event as it was written down."""
    hash: bytes
    """The hash over all of this, and over the hash of the game's event before it."""

    @property
    def event(self) -> Event:
        """The event itself."""
        return _read_event(self.text)


def seal(previous: bytes, game: str, version: int, at: int, key: str, text: str) -> bytes:
    """Return the hash of a record that follows one with the hash `previous`."""
    return sha256(previous + f"{game}\n{version}\n{at}\n{key}\n{text}".encode()).digest()


def check_linked(records: Iterable[Recorded], version: int, previous: bytes) -> None:
    """Refuse records of one game that are not what was recorded after that version and hash."""
    for record in records:
        version += 1
        _, game, found, at, key, text, link = record
        if type(link) is not bytes:  # damage may change the kind of a value as well
            raise CorruptStore(changed(record))
        if found != version or seal(previous, game, version, at, key, text) != link:
            raise CorruptStore(changed(record))
        previous = link


def changed(record: Recorded) -> str:
    """Name a record that is not what was recorded there."""
    return (
        f"record {quoted(record.position)} has changed since it was recorded: "
        f"event {quoted(record.version)} of game {quoted(record.game)}"
    )


def place(number: int) -> int:
    """Return a place that every engine has a number for; nothing stands further out."""
    return min(max(number, 0), LATEST)


def check_id(name: str, what: str = "game") -> str:
    """Return the id of a game, of a command or of whatever it is, or refuse it."""
    if name.__class__ is str and _MATCH_ID(name):
        return name
    raise InvalidId(
        f"the id of a {what} has 1 to {LONGEST_ID} letters, digits, - and _, unlike {quoted(name)}"
    )


def check_game(name: str) -> str:
    """Return the id of a game, or refuse it; the same few games come again and again."""
    try:
        return _known_game(name)
    except TypeError:  # what cannot be remembered is no text
        return check_id(name)


_known_game = lru_cache(maxsize=4096)(check_id)
