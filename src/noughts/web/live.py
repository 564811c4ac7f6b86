"""A game that somebody plays or watches, as this process knows it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from noughts.core.board import Mark
from noughts.core.game import Game, fold
from noughts.web import schemas
from noughts.web.streaming import BEGINNING, chunk, event_frame, room_frame
from noughts.words.describe import describe

if TYPE_CHECKING:
    from asyncio import Future, TimerHandle
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    from noughts.core.events import Event
    from noughts.core.player import Player
    from noughts.web.rooms import Chair, MarkName, Offered, Room
    from noughts.web.streaming import Stream

    Seen: TypeAlias = tuple[Room, bool, bool, int, Offered | None, tuple[Player, ...]]
    """All that is told of a room: the room, whether X and O are there, how many watch, offer, names."""

_encode = msgspec.json.Encoder().encode


class Kept(msgspec.Struct, frozen=True, gc=False):  # there are many, and none is part of a circle
    """An event of the game, with the key of the command that led to it."""

    key: str
    text: str
    event: Event


class Present(msgspec.Struct, frozen=True):
    """Who has a line open: how many at each seat, and how many who watch."""

    X: int = 0
    O: int = 0
    watching: int = 0

    def __add__(self, other: Present) -> Present:
        return Present(self.X + other.X, self.O + other.O, self.watching + other.watching)


NOBODY = Present()


class Live:
    """The state of a game, and those who follow it."""

    __slots__ = (
        "__weakref__",
        "changes",
        "elsewhere",
        "game",
        "history",
        "id",
        "is_busy",
        "is_stale",
        "keys",
        "last_played",
        "revision",
        "room",
        "streams",
        "timer",
        "waiting",
        "written_room",
    )

    def __init__(
        self, game: str, room: Room, revision: int, history: Iterable[Kept], last_played: int = 0
    ) -> None:
        self.id = game
        self.room = room
        self.revision = revision
        """Of the room's document."""
        self.history = list(history)
        self.last_played = last_played
        """When its last record was made, in milliseconds since 1970."""
        self.keys = {told.key for told in self.history}
        found = fold(kept.event for kept in self.history)
        if found is None:
            raise ValueError("a game has one event at least")
        self.game: Game = found
        self.streams: set[Stream] = set()
        self.elsewhere: dict[str, Present] = {}
        """Who has a line to another process, by process."""
        self.is_busy = False
        """Whether a command is being recorded: the next waits for it."""
        self.waiting: list[Future[None]] = []
        self.is_stale = False
        """True if the store may have more: another process has written, or a write here failed."""
        self.changes = 0
        """How often it became stale, so that a read notices a change that came during it."""
        self.timer: TimerHandle | None = None
        self.written_room: tuple[Seen, bytes] | None = None
        """What was seen of the room last, and how that is sent."""

    @property
    def version(self) -> int:
        """The number of events."""
        return len(self.history)

    def outdate(self) -> None:
        """Note that the store may have more than is known here."""
        self.is_stale = True
        self.changes += 1

    def rest(self) -> Future[None]:
        """Return a future that is done when the command that is being recorded is recorded, or failed."""
        woken: Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append(woken)
        return woken

    def wake(self) -> None:
        """Let those go on who wait."""
        waiting, self.waiting = self.waiting, []
        for woken in waiting:
            if not woken.done():
                woken.set_result(None)

    def extend(self, new: Sequence[Kept], game: Game | None = None, frame: bytes = b"") -> None:
        """Take up what was recorded, and tell all who follow.

        `game` is what it adds up to, and `frame` what they are told, if that is known already.
        """
        before = len(self.history)
        self.game = game or fold((kept.event for kept in new), self.game)
        self.history.extend(new)
        self.keys.update([told.key for told in new])
        if self.streams:
            self.tell(frame or b"".join(_frames(new, before)))
        if self.room.offer:  # it has lapsed, for it was made before this
            self.tell_room()

    def tell(self, frame: bytes) -> None:
        """Tell all who follow; it is put on the wire in one form for all."""
        piece = chunk(frame)
        for stream in tuple(self.streams):
            stream.push(piece)

    def tell_room(self) -> None:
        """Tell what stands around the game to those who follow and have heard something else."""
        if not self.streams:
            return
        frame = self.room_frame()
        for stream in [one for one in self.streams if one.room != frame]:
            stream.room = frame
            stream.push(chunk(frame))

    def room_frame(self) -> bytes:
        """Return what stands around the game as it is sent; most often it has not changed."""
        present = self.present
        seen = self.room, present.X > 0, present.O > 0, present.watching, self.offer, self.game.players
        written = self.written_room
        if written is None or written[0] != seen:
            written = self.written_room = seen, room_frame(_encode(self.view()))
        return written[1]

    def beginning(self, after: int) -> bytes:
        """Return what a new reader is told at once, who knows the game up to that version."""
        return b"".join((BEGINNING, self.room_frame(), *_frames(self.history[after:], after)))

    def seat(
        self, held: Sequence[MarkName], asked: MarkName | None = None, *, is_to_move: bool = True
    ) -> MarkName | None:
        """Return the seat that a command of somebody is for who holds these; None if it is not theirs.

        Who has both acts for the mark to move, or for the other one, as the command has it.
        """
        if asked is not None:
            return asked if asked in held else None
        active = self.game.active
        if len(held) < 2 or active is None:
            return held[0] if held else None
        return active.value if is_to_move else active.other.value

    @property
    def here(self) -> Present:
        """Who has a line to this process."""
        x = o = watching = 0
        for stream in self.streams:
            marks = stream.marks
            x += "X" in marks
            o += "O" in marks
            watching += not marks
        return Present(x, o, watching)

    @property
    def present(self) -> Present:
        """Who has a line to any process."""
        return sum(self.elsewhere.values(), self.here) if self.elsewhere else self.here

    @property
    def offer(self) -> Offered | None:
        """What one has asked the other, unless the game has gone on since."""
        offer = self.room.offer
        return offer if offer and offer.version == self.version else None

    def view(self) -> schemas.Room:
        """Return the room as everybody may see it."""
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
        """Return the game as it was at a version, the first at least."""
        told = self.history[:version]
        game = self.game if version == self.version else fold(kept.event for kept in told)
        if game is None:
            raise ValueError("a game has one event at least")
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
            events=[msgspec.Raw(one.text) for one in told],  # type: ignore[misc] # as they are written down
            you=list(you),
            room=self.view(),
        )


def _seat(name: str | None, chair: Chair, lines: int) -> schemas.Seat:
    present = lines > 0 or chair.bot is not None
    return schemas.Seat(name=name, bot=chair.bot, taken=chair.is_taken, present=present)


def _frames(new: Iterable[Kept], before: int) -> Iterable[bytes]:
    return (event_frame(version, told.text) for version, told in enumerate(new, before + 1))


def kept(key: str, text: str, events: Iterable[Event]) -> list[Kept]:
    """Return the events of a record as a live game keeps them."""
    return [Kept(key, line, event) for line, event in zip(text.split("\n"), events, strict=True)]


def _name(mark: Mark | None) -> MarkName | None:
    return None if mark is None else mark.value
