"""The room of a game: its seats, invitation, offers and score, stored as a document.

Secrets are random, kept as hashes, and compared in constant time.
"""

from __future__ import annotations

import hmac
from functools import lru_cache
from hashlib import sha256
from typing import Literal, TypeAlias

import msgspec

from noughts.store.documents import decode_text

OPEN, PLAYING, PRIVATE = "open", "playing", ""
"""The labels of rooms in the store: with a free seat for anybody, with a game to watch, all others."""

MarkName: TypeAlias = Literal["X", "O"]
MARKS: tuple[MarkName, MarkName] = ("X", "O")

MAX_SECRET_BYTES = 64


@lru_cache(maxsize=4096)  # a player's secret comes with every move
def hash_secret(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def is_same(digest: str, other: str | None) -> bool:
    return other is not None and hmac.compare_digest(digest, other)


class RoomSeat(msgspec.Struct, frozen=True, omit_defaults=True):
    """A seat, and what gives access to it."""

    secret: str | None = None
    """The hash of its player's secret."""
    bot: str | None = None
    """The policy that plays there."""
    key: str | None = None
    """The hash of the key that it was taken with: sent again, it gets the same seat."""

    @property
    def is_taken(self) -> bool:
        return self.secret is not None or self.bot is not None


class RoomOffer(msgspec.Struct, frozen=True):
    """A question to the opponent; it lapses when the game goes on."""

    kind: Literal["takeBack", "rematch"]
    mark: MarkName
    version: int


class Room(msgspec.Struct, frozen=True, omit_defaults=True):
    """A room, as it is stored."""

    X: RoomSeat
    O: RoomSeat
    created: int
    invite: str | None = None
    """The hash of the code that takes the free seat, once."""
    lobby: bool = False
    offer: RoomOffer | None = None
    score: tuple[int, int, int] = (0, 0, 0)
    """Wins of X, wins of O and draws before this game."""
    next: str | None = None
    """The rematch, once there is one."""
    names: tuple[str | None, str | None] = (None, None)
    """The players, for lists of rooms: the game's record has them, too."""
    declined: str | None = None
    """The hash of the key that the last offer was declined with."""
    first: MarkName = "X"
    """Who starts, for the same lists."""
    closed: bool = False
    """True once the game is over."""
    seen: int = 0
    """When it was last written after its creation, in milliseconds since 1970."""

    def seat(self, mark: MarkName) -> RoomSeat:
        return self.X if mark == "X" else self.O

    def seated(self, mark: MarkName, seat: RoomSeat, name: str) -> Room:
        """Return the room with somebody in that seat."""
        x, o = self.names
        names = (name, o) if mark == "X" else (x, name)
        return msgspec.structs.replace(self, **{mark: seat, "names": names})

    @property
    def last_seen(self) -> int:
        """When somebody was last there, apart from moves; readers are noted once a day."""
        return max(self.created, self.seen)

    @property
    def free(self) -> MarkName | None:
        """The free seat."""
        return next((mark for mark in MARKS if not self.seat(mark).is_taken), None)

    @property
    def has_bot(self) -> bool:
        return bool(self.X.bot or self.O.bot)

    @property
    def needs_consent(self) -> bool:
        """False if one person has both seats, or the opponent is a bot."""
        return not (self.has_bot or (self.X.key and self.X.key == self.O.key))

    def held(self, secrets: tuple[str, ...]) -> tuple[MarkName, ...]:
        """Return the seats that these secrets give access to."""
        x = o = False
        for digest in map(hash_secret, secrets):
            x |= is_same(digest, self.X.secret)
            o |= is_same(digest, self.O.secret)
        return MARKS if x and o else ("X",) if x else ("O",) if o else ()

    @property
    def label(self) -> str:
        if not self.lobby or self.closed:
            return PRIVATE
        return OPEN if self.free else PLAYING


_decode = msgspec.json.Decoder(Room).decode


def write_room(room: Room) -> str:
    return msgspec.json.encode(room).decode()


def read_room(text: str) -> Room:
    return decode_text(text, _decode)
