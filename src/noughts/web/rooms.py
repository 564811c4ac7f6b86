"""What belongs to a game and isn't part of its record: who may sit where, and what was offered.

It is stored as a document beside the game's records, with hashes in place of secrets.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from noughts.core.errors import CorruptStore
from noughts.web.secrets import is_same, sealed

OPEN, PLAYING, PRIVATE = "open", "playing", ""
"""The labels of rooms: with a free seat for anybody, with a game to watch, and all others."""

MarkName: TypeAlias = Literal["X", "O"]
MARKS: tuple[MarkName, MarkName] = ("X", "O")


class Chair(msgspec.Struct, frozen=True, omit_defaults=True):
    """A seat, and what opens it."""

    secret: str | None = None
    """The hash of the secret that whoever sits there has."""
    bot: str | None = None
    """The policy that plays there."""
    key: str | None = None
    """The hash of the key that it was taken with: who has it may ask for the seat again."""

    @property
    def is_taken(self) -> bool:
        """Whether anybody sits there."""
        return self.secret is not None or self.bot is not None


class Offered(msgspec.Struct, frozen=True):
    """Something that one asks the other; it lapses when the game goes on."""

    kind: Literal["takeBack", "rematch"]
    mark: MarkName
    version: int


class Room(msgspec.Struct, frozen=True, omit_defaults=True):
    """A room, as it is kept."""

    X: Chair
    O: Chair
    created: int
    invite: str | None = None
    """The hash of the code that takes the free seat, once."""
    lobby: bool = False
    offer: Offered | None = None
    score: tuple[int, int, int] = (0, 0, 0)
    """How often X won, O won and nobody, before this game."""
    next: str | None = None
    """The game that was played after this one."""
    names: tuple[str | None, str | None] = (None, None)
    """Who sits at X and at O, for lists of rooms: the game's record says it, too."""
    declined: str | None = None
    """The hash of the key that the last offer was declined with."""
    first: MarkName = "X"
    """Who starts, for the same lists."""
    closed: bool = False
    """Whether the game is over."""
    seen: int = 0
    """When it was last written after its creation, in milliseconds since 1970."""

    def chair(self, mark: MarkName) -> Chair:
        """Return the seat of a mark."""
        return self.X if mark == "X" else self.O

    def seated(self, mark: MarkName, chair: Chair, name: str) -> Room:
        """Return the room with somebody in that seat."""
        x, o = self.names
        names = (name, o) if mark == "X" else (x, name)
        return msgspec.structs.replace(self, **{mark: chair, "names": names})

    def declining(self, key: str) -> Room:
        """Return the room with its offer declined."""
        return msgspec.structs.replace(self, offer=None, declined=key)

    def with_offer(self, offer: Offered | None) -> Room:
        """Return the room with another offer in it."""
        return msgspec.structs.replace(self, offer=offer)

    @property
    def last_seen(self) -> int:
        """When somebody was last there, moves aside; readers are noted once a day."""
        return max(self.created, self.seen)

    @property
    def free(self) -> MarkName | None:
        """The seat that nobody has."""
        return next((mark for mark in MARKS if not self.chair(mark).is_taken), None)

    def is_held_by_one(self) -> bool:
        """Tell whether nobody is to be asked: the other is a bot, or the same person."""
        return bool(self.X.bot or self.O.bot or (self.X.key and self.X.key == self.O.key))

    def held(self, secrets: tuple[str, ...]) -> tuple[MarkName, ...]:
        """Return the seats that these secrets open."""
        x = o = False
        for seal in map(sealed, secrets):
            x |= is_same(seal, self.X.secret)
            o |= is_same(seal, self.O.secret)
        return MARKS if x and o else ("X",) if x else ("O",) if o else ()

    @property
    def label(self) -> str:
        """What the room's document is listed under."""
        if not self.lobby or self.closed:
            return PRIVATE
        return OPEN if self.free else PLAYING


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Room)


def write_room(room: Room) -> str:
    """Write a room as it is kept."""
    return _encoder.encode(room).decode()


def read_room(text: str) -> Room:
    """Read a room as it was kept."""
    try:
        return _decoder.decode(text)
    except msgspec.MsgspecError as error:
        raise CorruptStore(f"a room cannot be read: {error}") from error
