"""A game that somebody plays or watches, as this process knows it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Protocol

import msgspec

from noughts.core.board import Mark
from noughts.core.events import Event
from noughts.core.game import Game, fold
from noughts.store.records import Record, fold_records, read_events
from noughts.text.describe import describe
from noughts.web import schemas
from noughts.web.room import MarkName, Room, RoomOffer, RoomSeat


class StoredCommand(msgspec.Struct, frozen=True, gc=False):  # there are many, and none is in a cycle
    """The part of a record that a game needs."""

    next_version: int
    """The game's version after it."""
    key: str
    text: str
    """Its events as JSON, one a line."""

    @property
    def events(self) -> tuple[Event, ...]:
        return read_events(self.text)

    def frames(self, after: int = 0) -> bytes:
        """Return its events as server-sent events, from that version on."""
        pattern, count = _frames(self.text)
        first = self.next_version - count
        if first >= after:
            return pattern % (*range(first + 1, self.next_version + 1),)
        lines = enumerate(self.text.split("\n"), first + 1)
        return b"".join([_frame(line) % at for at, line in lines if at > after])


@lru_cache(maxsize=4096)  # few different commands exist, apart from names
def _frames(text: str) -> tuple[bytes, int]:
    """Return a template of the frames of a record, with placeholders for versions, and their number."""
    lines = text.split("\n")
    return b"".join(map(_frame, lines)), len(lines)


def _frame(line: str) -> bytes:
    return b"id: %%d\ndata: %b\n\n" % line.replace("%", "%%").encode()


class Present(msgspec.Struct, frozen=True):
    """How many streams each seat has, and how many spectators there are."""

    X: int = 0
    O: int = 0
    watching: int = 0

    def __add__(self, other: Present) -> Present:
        return Present(self.X + other.X, self.O + other.O, self.watching + other.watching)


class Subscriber(Protocol):
    """What a game needs of a stream."""

    marks: tuple[MarkName, ...]
    room: bytes
    """The room as it was sent last."""

    def send(self, frame: bytes) -> None: ...
    def end(self) -> None: ...


class LiveGame:
    """The state of a game, and its subscribers."""

    __slots__ = (
        "__weakref__", "_room_frame", "_waiting", "changes", "commands", "elsewhere", "game", "id",
        "is_busy", "is_elsewhere_known", "is_stale", "played_at", "presence_revision", "revision",
        "room", "streams", "timer", "version",
    )  # fmt: skip

    def __init__(
        self, game: str, room: Room, revision: int, commands: list[StoredCommand], played_at: int
    ) -> None:
        self.id = game
        self.room = room
        self.revision = revision
        """Of the room's document."""
        self.commands = commands
        self.version = commands[-1].next_version
        self.game = _fold(commands)
        self.played_at = played_at
        """When its last record was made, in milliseconds since 1970."""
        self.streams: dict[Subscriber, None] = {}
        self.elsewhere: dict[str, Present] = {}
        """Who has a stream from another process, by process."""
        self.is_elsewhere_known = False
        """True once that was read; from then on it is kept up to date."""
        self.presence_revision = 0
        """Of the document that says who has a stream from this process."""
        self.is_busy = False
        """True while a command is being written: the next waits for it."""
        self._waiting: list[asyncio.Future[None]] = []
        self.is_stale = False
        """True if the store may have more: another process has written, or a write here failed."""
        self.changes = 0
        """How often it became stale, so that a read notices a change that came during it."""
        self.timer: asyncio.TimerHandle | None = None
        """Set while a change of who is present waits to be sent."""
        self._room_frame: tuple[schemas.Room, bytes] | None = None

    def mark_stale(self) -> None:
        self.is_stale = True
        self.changes += 1

    def wait_idle(self) -> asyncio.Future[None]:
        """Return a future that is done when the command being written is settled."""
        idle: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(idle)
        return idle

    def release(self) -> None:
        """Let the next command go on."""
        self.is_busy = False
        waiting, self._waiting = self._waiting, []
        for idle in waiting:
            if not idle.done():
                idle.set_result(None)

    def extend(self, new: Sequence[StoredCommand], game: Game | None = None) -> None:
        """Apply what was recorded, and send it to all subscribers; `game` is the result, if known."""
        self.game = game or _fold(new, self.game)
        self.commands.extend(new)
        self.version = new[-1].next_version
        if self.streams:
            frames = b"".join([command.frames() for command in new])
            for stream in tuple(self.streams):
                stream.send(frames)
        if self.room.offer:  # it has lapsed
            self.broadcast_room()

    def broadcast_room(self) -> None:
        """Send the room to the subscribers that have seen another one."""
        if self.streams:
            frame = self.room_frame()
            for stream in [one for one in self.streams if one.room != frame]:
                stream.room = frame
                stream.send(frame)

    def room_frame(self) -> bytes:
        room = self.visible_room()
        if self._room_frame is None or self._room_frame[0] != room:
            self._room_frame = room, b"event: room\ndata: %b\n\n" % schemas.encode(room)
        return self._room_frame[1]

    def missed_frames(self, after: int) -> bytes:
        """Return what a subscriber has missed who has seen the game up to that version."""
        return b"".join([one.frames(after) for one in self.commands if one.next_version > after])

    def seat(
        self, held: Sequence[MarkName], asked: MarkName | None = None, *, is_to_move: bool = True
    ) -> MarkName | None:
        """Return the seat that a command is for, None if it belongs to somebody else.

        With both seats, that is the mark to move, or the other one.
        """
        if asked is not None:
            return asked if asked in held else None
        active = self.game.active
        if len(held) < 2 or active is None:
            return held[0] if held else None
        return active.value if is_to_move else active.other.value

    @property
    def here(self) -> Present:
        """Who has a stream from this process."""
        x = o = watching = 0
        for stream in self.streams:
            marks = stream.marks
            x += "X" in marks
            o += "O" in marks
            watching += not marks
        return Present(x, o, watching)

    @property
    def present(self) -> Present:
        """Who has a stream from any process."""
        return sum(self.elsewhere.values(), self.here) if self.elsewhere else self.here

    @property
    def offer(self) -> RoomOffer | None:
        """The open offer, unless the game has gone on since."""
        offer = self.room.offer
        return offer if offer and offer.version == self.version else None

    @property
    def bot_to_move(self) -> str | None:
        """The policy whose turn it is, if it is a bot's."""
        game = self.game
        if game.is_over or not game.is_ready:
            return None
        return (self.room.X if game.board.turn is Mark.X else self.room.O).bot

    def visible_room(self) -> schemas.Room:
        room, present, offer = self.room, self.present, self.offer
        names = {player.mark: player.name for player in self.game.players}
        return schemas.Room(
            seats=schemas.Seats(
                X=_seat(names.get(Mark.X), room.X, present.X),
                O=_seat(names.get(Mark.O), room.O, present.O),
            ),
            lobby=room.lobby,
            watching=present.watching,
            offer=schemas.Offer(kind=offer.kind, mark=offer.mark) if offer else None,
            score=schemas.Score(X=room.score[0], O=room.score[1], draws=room.score[2]),
            next=room.next,
        )

    def snapshot(self, version: int, you: Sequence[MarkName]) -> schemas.Game:
        """Return the game as it was at a version, at least 1."""
        lines = [line for command in self.commands for line in command.text.split("\n")][:version]
        game = self.game
        if version != self.version:
            events = [event for command in self.commands for event in command.events]
            game = fold(events[:version]) or game
        return schemas.Game(
            id=self.id,
            version=version,
            first=game.board.first.value,
            board=str(game.board),
            moves=list(game.moves),  # type: ignore[arg-type]  # a cell is 0 to 8
            active=_name(game.active),
            winner=_name(game.winner),
            resigned=_name(game.resigned),
            over=game.is_over,
            ready=game.is_ready,
            description=describe(game),
            events=[msgspec.Raw(line.encode()) for line in lines],  # type: ignore[misc]  # as they are stored
            you=list(you),
            room=self.visible_room(),
        )


def stored_commands(records: Iterable[Record]) -> list[StoredCommand]:
    return [StoredCommand(record.next_version, record.key, record.text) for record in records]


def _fold(commands: Sequence[StoredCommand], start: Game | None = None) -> Game:
    game = fold_records(commands, start)
    if game is None:
        raise ValueError("a game has at least one event")
    return game


def _seat(name: str | None, seat: RoomSeat, streams: int) -> schemas.Seat:
    present = streams > 0 or seat.bot is not None
    return schemas.Seat(name=name, bot=seat.bot, taken=seat.is_taken, present=present)


def _name(mark: Mark | None) -> MarkName | None:
    return None if mark is None else mark.value
