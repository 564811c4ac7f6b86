"""The room of a game: its seats, invitation, offers and score, and what others see of it.

Secrets are random, kept as hashes, and compared in constant time.
"""

from __future__ import annotations

import hmac
from functools import lru_cache
from hashlib import sha256
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from noughts.core.board import Mark
from noughts.core.game import Game
from noughts.store.base import StoredGame
from noughts.store.errors import CorruptStore
from noughts.web import schemas
from noughts.web.problems import absent
from noughts.web.schemas import MarkName

MARKS: tuple[MarkName, MarkName] = ("X", "O")

MAX_SECRET_BYTES = 64


class Present(NamedTuple):
    """How many streams each seat has, and how many spectators there are."""

    X: int = 0
    O: int = 0
    watching: int = 0

    def plus(self, other: tuple[int, int, int]) -> Present:
        return Present(self.X + other[0], self.O + other[1], self.watching + other[2])


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


class RoomOffer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question to the opponent; it lapses when the game goes on or is answered."""

    kind: Literal["takeBack", "rematch"]
    mark: MarkName
    version: int
    key: str
    """The hash of its key: sent again, it gets the same answer."""
    declined: str | None = None
    """The hash of the key that it was declined with."""


class Room(msgspec.Struct, frozen=True, omit_defaults=True):
    """A room, as it is stored; the store reads `open` and `code` for its lists."""

    X: RoomSeat
    O: RoomSeat
    created: int
    """In milliseconds since 1970."""
    invite: str | None = None
    """The hash of the secret that takes the free seat, once."""
    open: Literal["seat", "play"] | None = None
    """For a game of the lobby: whether its seat is free, or it can be watched."""
    code: str | None = None
    offer: RoomOffer | None = None
    score: tuple[int, int, int] = (0, 0, 0)
    """Wins of X, wins of O and draws before this game."""
    next: str | None = None
    """The rematch, once there is one."""

    def seat(self, mark: MarkName) -> RoomSeat:
        return self.X if mark == "X" else self.O

    def seated(self, mark: MarkName, seat: RoomSeat) -> Room:
        """Return the room with somebody in that seat."""
        taken = replace(self, **{mark: seat})
        return replace(taken, open="play") if self.open and not taken.free else taken

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

    def bot_to_move(self, stored: StoredGame) -> str | None:
        """Return the policy whose turn it is, if it is a bot's."""
        game = stored.game
        if game.is_over or not game.is_ready:
            return None
        return (self.X if game.board.turn is Mark.X else self.O).bot


_decode = msgspec.json.Decoder(Room).decode


def write_room(room: Room) -> str:
    return schemas.encode(room).decode()


@lru_cache(maxsize=8192)  # most changes of a game leave its room as it is
def read_room(text: str) -> Room:
    try:
        return _decode(text)
    except msgspec.MsgspecError as error:
        raise CorruptStore(f"a room cannot be read: {error}") from error


def room_of(stored: StoredGame) -> Room:
    """Return the room of a game; one of the terminal has none, and is not for the web."""
    if not stored.room:
        raise absent()
    return read_room(stored.room)


def offer_of(stored: StoredGame) -> RoomOffer | None:
    """Return the offer that waits for its answer, unless the game has gone on since."""
    room = room_of(stored)
    offer = room.offer
    is_open = offer and offer.version == stored.version and not offer.declined and not room.next
    return offer if is_open else None


def visible_state(game: Game) -> dict[str, Any]:
    """Return what `schemas.Game` and `schemas.Position` both say of a game."""
    return {
        "first": game.board.first.value,
        "moves": game.moves,
        "winner": game.winner and game.winner.value,
        "resigned": game.resigned and game.resigned.value,
        "over": game.is_over,
    }


def visible_room(stored: StoredGame, present: Present) -> schemas.Room:
    """Return what everybody may know of a room."""
    room, offer = room_of(stored), offer_of(stored)
    names = {player.mark: player.name for player in stored.game.players}
    return schemas.Room(
        seats=schemas.Seats(
            X=_seat(names.get(Mark.X), room.X, present.X),
            O=_seat(names.get(Mark.O), room.O, present.O),
        ),
        lobby=room.open is not None,
        watching=present.watching,
        offer=schemas.Offer(kind=offer.kind, mark=offer.mark) if offer else None,
        score=schemas.Score(X=room.score[0], O=room.score[1], draws=room.score[2]),
        next=room.next,
    )


def _seat(name: str | None, seat: RoomSeat, streams: int) -> schemas.Seat:
    present = streams > 0 or seat.bot is not None
    return schemas.Seat(name=name, bot=seat.bot, taken=seat.is_taken, present=present)
