"""A game is one row: its record, its room, a hash over all of it, and columns for lists.

The record is text. Each command has a line with its key and time, then its events as JSON, one per line:

    k3x… 1700000000000
    {"schema":1,"event":"playerPlacedToken","row":1,"column":1,"mark":"X"}
    {"schema":1,"event":"gamePlacedCount","count":1}
    {"schema":1,"event":"playerActive","mark":"O"}

The room is what belongs to a game on the web but not to its record: JSON that only the server reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from struct import Struct
from typing import Any, NamedTuple, TypeAlias

from noughts.core.board import Mark
from noughts.core.codec import can_be_recorded, dumps, loads
from noughts.core.errors import ImpossibleHistory, InvalidArgument, MalformedRecord, RecordError, quoted
from noughts.core.events import Event, PlayerJoined, PlayerNotifyIllegalMove
from noughts.core.game import Game, fold
from noughts.store.errors import CorruptStore, InvalidId, NoSuchGame, StoreUnavailable

MAX_ID_CHARACTERS = 64
MAX_RECORD_BYTES = 128 * 1024
MAX_ROOM_BYTES = 16 * 1024
MAX_NAME_BYTES = 2_000
"""PostgreSQL's indexes take about 2,700 bytes per row."""
MAX_NUMBER = 253_402_300_799_999
"""The last millisecond of the year 9999: the largest time, revision, hour and page size."""

DRAW = "draw"
"""The result of a drawn game; any other finished game's is the winner's mark."""

Row: TypeAlias = tuple[Any, ...]
"""The columns of `ROW`, as an engine reads them: damage may change their types, too."""
ROW = "id, revision, hour, record, room, hash"
LISTED = "started, played, x, o, result, open, code"

_match_id = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_ID_CHARACTERS}}}").fullmatch
_find_entries = re.compile(r"([A-Za-z0-9_-]{1,64}) (0|[1-9][0-9]{0,14})\n((?:\{.*\n)+)").findall


class Entry(NamedTuple):
    """The events of one command in a game's record."""

    version: int
    """The number of the game's events before them."""
    key: str
    """The key of the command."""
    at: int
    """Milliseconds since 1970, by the writer's clock."""
    text: str
    """The events as JSON, one per line."""

    @property
    def events(self) -> tuple[Event, ...]:
        return read_events(self.text)

    @property
    def next_version(self) -> int:
        return self.version + self.text.count("\n") + 1

    @property
    def piece(self) -> str:
        """What the entry adds to the record."""
        return f"{self.key} {self.at}\n{self.text}\n"


class Columns(NamedTuple):
    """The columns for lists, which follow from record and room; all are None once a game is deleted."""

    started: int | None = None
    played: int | None = None
    x: str | None = None
    o: str | None = None
    result: str | None = None
    open: str | None = None
    """`seat` if anybody may join, `play` if anybody may watch."""
    code: str | None = None
    """What finds the game for somebody who joins, hashed."""


class StoredGame:
    """A game as a store has it: a value that can be old, but never wrong."""

    __slots__ = (
        "_columns", "_digest", "_game", "entries", "hash", "hour", "id", "record", "revision", "room",
        "version",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913, PLR0917 - a row has that many columns
        self,
        game: str,
        revision: int,
        hour: int,
        record: str,
        room: str,
        entries: tuple[Entry, ...],
        digest: Digest | None = None,
    ) -> None:
        self.id = game
        self.revision = revision
        """Grows with each change, also of the room."""
        self.hour = hour
        """When it was last used, in hours that servers have run."""
        self.record = record
        self.room = room
        """JSON of the server; empty for a game of the terminal."""
        self.entries = entries
        self.version = entries[-1].next_version if entries else 0
        """The number of its events."""
        self._digest = digest or _digest_of(record)
        """The hash of the record alone, which grows with it."""
        self.hash = _row_hash(self._digest, game, revision, hour, room)
        self._game: Game | None = None
        self._columns: Columns | None = None

    def __repr__(self) -> str:
        return f"<StoredGame {self.id} at version {self.version}>"

    @property
    def is_deleted(self) -> bool:
        return not self.record

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(event for entry in self.entries for event in entry.events)

    @property
    def game(self) -> Game:
        """The game that the events lead to."""
        if self._game is None:
            try:
                self._game = fold(event for entry in self.entries for event in entry.events)
            except RecordError as error:
                raise CorruptStore(
                    f"the record of game {quoted(self.id)} doesn't make a game: {error}"
                ) from error
            if self._game is None:
                raise CorruptStore(f"the record of game {quoted(self.id)} is empty")
        return self._game

    @property
    def columns(self) -> Columns:
        if self._columns is None:
            self._columns = self._find_columns()
        return self._columns

    def _find_columns(self) -> Columns:
        if self.is_deleted:
            return Columns()
        game, first, last = self.game, self.entries[0], self.entries[-1]
        names = {player.mark: player.name for player in game.players}
        is_open, code = room_columns(self.room)
        result = None
        if game.is_over:
            result, is_open = game.winner.value if game.winner else DRAW, None
        return Columns(first.at, last.at, names.get(Mark.X), names.get(Mark.O), result, is_open, code)

    @property
    def row(self) -> Row:
        """The columns as an engine stores them."""
        return self.id, self.revision, self.hour, self.record, self.room, self.hash, *self.columns

    def followed_by(
        self,
        entries: Iterable[Entry] = (),
        *,
        game: Game | None = None,
        room: str | None = None,
        hour: int | None = None,
    ) -> StoredGame:
        """Return the game after a change; `game` is the state after the entries, if it is known."""
        added, digest = tuple(entries), self._digest
        if piece := "".join([entry.piece for entry in added]):
            digest = digest.plus(piece)
        after = StoredGame(
            self.id,
            self.revision + 1,
            self.hour if hour is None else hour,
            self.record + piece,
            self.room if room is None else room,
            self.entries + added,
            digest,
        )
        before = self._game
        if game is None and before:  # not from the beginning
            with suppress(RecordError):  # `game` will say so
                game = fold((event for entry in added for event in entry.events), before)
        after._game = game
        is_played_on = (
            before and game and before.players is game.players and before.is_over is game.is_over
        )
        if is_played_on and self._columns and added and room is None:  # as for most moves
            after._columns = self._columns._replace(played=added[-1].at)
        return after

    def deleted(self) -> StoredGame:
        return StoredGame(self.id, self.revision + 1, self.hour, "", "", ())


def nothing(game: str) -> StoredGame:
    """Return what a store has before a game is created: revision 0 is never stored."""
    return StoredGame(check_id(game), 0, 0, "", "", ())


class Change:
    """One compare-and-set on a game's row: `after` takes the place of `before`, or nothing happens.

    What no store could record is refused here, before it is in one commit with others.
    """

    __slots__ = (
        "after",
        "before",
        "columns",
        "failure",
        "is_settled",
        "limit_seconds",
        "settled",
        "since",
    )

    def __init__(self, before: StoredGame, after: StoredGame) -> None:
        if before.is_deleted and before.revision:
            raise NoSuchGame(f"game {before.id} was deleted: its id is never used again")
        if len(after.record) > MAX_RECORD_BYTES or len(after.room) > MAX_ROOM_BYTES:
            raise MalformedRecord(f"game {before.id} becomes too long: nothing was recorded")
        if after.room is not before.room and not can_be_recorded(after.room):
            raise MalformedRecord(f"no store can record the room {quoted(after.room)}")
        self.before = before
        self.after = after
        self.columns = after.columns
        self.failure: Exception | None = None
        self.is_settled = False
        self.settled: Any = None
        """What the writer wakes: a condition for threads, a future for an event loop."""
        self.since = 0.0
        self.limit_seconds: float | None = None

    @property
    def id(self) -> str:
        return self.after.id

    @property
    def piece(self) -> str:
        """What is added to the record."""
        return self.after.record[len(self.before.record) :]

    @property
    def room(self) -> str | None:
        """The room, if it changes."""
        return None if self.after.room == self.before.room else self.after.room

    def result(self) -> StoredGame:
        """Wait until the change is durable, and return the game; raise an error if it was refused."""
        with self.settled:
            if not self.settled.wait_for(lambda: self.is_settled, self.limit_seconds):
                raise StoreUnavailable("the store has not answered for seconds: it may yet be recorded")
        if self.failure:
            raise self.failure
        return self.after


def entries_of(
    commands: Iterable[tuple[str, int, Iterable[Event]]], version: int = 0
) -> tuple[Entry, ...]:
    """Return the entries of commands after a version: each is its key, its time and its events."""
    found = []
    for key, at, events in commands:
        if type(at) is not int or not 0 <= at <= MAX_NUMBER:
            raise InvalidArgument(
                f"a time is 0 to {MAX_NUMBER} milliseconds after 1970, not {quoted(at)}"
            )
        entry = Entry(version, check_id(key, "command"), at, format_events(tuple(events)))
        found.append(entry)
        version = entry.next_version
    return tuple(found)


@lru_cache(maxsize=4096)  # apart from names, few different commands exist
def format_events(events: tuple[Event, ...]) -> str:
    """Write a command's events as JSON, one per line."""
    if not events:
        raise InvalidArgument("a command that is recorded has at least one event")
    return "\n".join(map(_format_event, events))


@lru_cache(maxsize=4096)
def _format_event(event: Event) -> str:
    if isinstance(event, PlayerNotifyIllegalMove):
        raise ImpossibleHistory(f"{event.kind()} is not part of a game's record")
    text = dumps(event)
    if loads(text) != event:
        raise MalformedRecord(f"{quoted(event)} would not read back the same")
    if isinstance(event, PlayerJoined) and len(event.name.encode()) > MAX_NAME_BYTES:
        raise MalformedRecord(f"{quoted(event.name)} is longer than {MAX_NAME_BYTES} bytes")
    return text


@lru_cache(maxsize=4096)
def read_events(text: str) -> tuple[Event, ...]:
    return tuple(map(loads, text.split("\n")))


class Digest:
    """The hash of a record, to which more can be added."""

    __slots__ = ("_sha256", "size")

    def __init__(self, digest: Any, size: int) -> None:  # noqa: ANN401 - hashlib names no type
        self._sha256 = digest
        self.size = size

    def plus(self, text: str) -> Digest:
        """Return the hash of the record with a text after it."""
        content = text.encode("utf-8", "surrogatepass")
        # Looking up the algorithm takes longer than hashing, and 2 kB at once would let other threads in.
        longer = self._sha256.copy()
        longer.update(content)
        return Digest(longer, self.size + len(content))

    def end(self, content: bytes) -> bytes:
        last = self._sha256.copy()
        last.update(content)
        found: bytes = last.digest()
        return found


_EMPTY = Digest(sha256(), 0)


def _digest_of(record: str) -> Digest:
    return _EMPTY.plus(record)


def row_hash(game: str, revision: int, hour: int, record: str, room: str) -> bytes:
    """Return the hash of everything that a row says, with the length of each text."""
    return _row_hash(_digest_of(record), game, revision, hour, room)


def _row_hash(record: Digest, game: str, revision: int, hour: int, room: str) -> bytes:
    texts = room.encode("utf-8", "surrogatepass"), game.encode("utf-8", "surrogatepass")
    return record.end(
        b"%b%b%b" % (*texts, _pack(record.size, len(texts[0]), len(texts[1]), revision, hour))
    )


_pack = Struct(">5q").pack


def parse_record(record: str, version: int = 0) -> tuple[Entry, ...]:
    """Read a record, or the piece of one after a version; raise `MalformedRecord` if it is not one."""
    if len(record) > MAX_RECORD_BYTES:
        raise MalformedRecord("the record is too long")
    entries, size = [], 0
    for key, at, lines in _find_entries(record):
        entries.append(Entry(version, key, int(at), lines[:-1]))
        version += lines.count("\n")
        size += len(key) + len(at) + len(lines) + 2
    if size != len(record):
        raise MalformedRecord("the record is not a list of commands and their events")
    return tuple(entries)


def game_of(row: Row) -> StoredGame:
    """Return the game of a row, or raise `CorruptStore` if anything was changed in it."""
    game, revision, hour, record, room, found = row[:6]
    if [*map(type, row[:6])] == [str, int, int, str, str, bytes]:
        try:
            stored = StoredGame(game, revision, hour, record, room, parse_record(record))
        except MalformedRecord:
            pass
        else:
            if stored.hash == found:
                return stored
    raise CorruptStore(f"game {quoted(game)} has changed since it was recorded")


@lru_cache(maxsize=4096)
def room_columns(room: str) -> tuple[str | None, str | None]:
    """Return what a room says for lists: whether it is open, and its code."""
    if not room:
        return None, None
    try:
        found = json.loads(room)
        columns = found.get("open"), found.get("code")
    except (ValueError, AttributeError, RecursionError) as error:
        raise CorruptStore(f"a room is not an object in JSON: {quoted(room)}") from error
    if not all(text is None or can_be_recorded(text) for text in columns):
        raise CorruptStore(f"a room has an `open` or a `code` that is not text: {quoted(room)}")
    return columns


def check_id(name: str, what: str = "game") -> str:
    if name.__class__ is str and _match_id(name):
        return name
    raise InvalidId(
        f"the id of a {what} has 1 to {MAX_ID_CHARACTERS} letters, digits, - and _, unlike {quoted(name)}"
    )


def clamp(number: int) -> int:
    """Limit a number to the range that every engine can store."""
    if type(number) is not int:
        raise InvalidArgument(f"{quoted(number)} is not a whole number")
    return min(max(number, 0), MAX_NUMBER)
