"""Exports games as JSON lines, and imports them.

A line is a game: the commands of its record with their events, and its room on the web if that is wanted.

    {"game":"k3x…","record":[{"key":"p7q…","at":1700000000000,"events":[{…},…]},…],"room":{…}}

Only a few games are in memory at a time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple, TypeAlias

from noughts.core.codec import can_be_recorded, decode, read_json
from noughts.core.errors import MalformedRecord, NoughtsError, quoted
from noughts.core.events import Event
from noughts.store.base import Progress, Store
from noughts.store.errors import CorruptStore, NoSuchGame, StaleVersion
from noughts.store.rows import Change, Entry, StoredGame, entries_of, nothing
from noughts.store.verify import checked_game, readable_rows, sound_game

MAX_LINE_BYTES = 1 << 20
"""Several times the longest record and room."""

MAX_WAITING_GAMES = 300
"""While one commit is written, the next is read."""

Note: TypeAlias = Callable[[str], None]
"""Called with a sentence on each game that is left out, and why."""


def export_game(stored: StoredGame, *, with_room: bool = False) -> str:
    """Return the line of a game."""
    line = f'{{"game":"{stored.id}","record":[{",".join(map(_command, stored.entries))}]'
    if with_room and stored.room:
        try:
            line += f',"room":{_room(read_json(stored.room))}'
        except MalformedRecord as error:
            raise CorruptStore(f"the room of game {quoted(stored.id)} can't be read: {error}") from error
    return f"{line}}}\n"


def export_all(
    store: Store, note: Note, progress: Progress = lambda _share: None, *, with_rooms: bool = False
) -> Iterator[str]:
    """Return the lines of all sound games; note why others are left out, and any other damage."""
    for row in readable_rows(store, note, progress):
        try:
            stored = sound_game(row)
            if not stored.is_deleted:
                yield export_game(stored, with_room=with_rooms)
        except CorruptStore as error:
            note(str(error))


class Imported(NamedTuple):
    games: int
    """Those that were recorded."""
    events: int
    """Of these games."""
    known: int
    """Games that were there already, with the same record."""
    skipped: int
    """All other lines: each was noted."""


def import_lines(
    store: Store, source: BinaryIO, note: Note, progress: Progress = lambda _share: None
) -> Imported:
    """Record the games of a file; leave out what is there, what was deleted and what is unsound.

    They are committed while the file is read. After a failure what was recorded stays, and the import can
    be repeated.
    """
    importing, size = _Import(store, note), _bytes_in(source)
    for number, line in enumerate(_lines(source), start=1):
        if size:
            progress(min(1, source.tell() / size))
        importing.add(f"line {number}", line)
    return importing.end()


class _Import:
    def __init__(self, store: Store, note: Note) -> None:
        self._store = store
        self._note = note
        self._hour = store.hours()
        self._waiting: dict[str, tuple[str, Change]] = {}
        """The line and the change of each game that is not committed yet."""
        self._games = self._events = self._known = self._skipped = 0

    def add(self, where: str, line: bytes) -> None:
        try:
            change = _change(line, self._hour)
        except NoughtsError as error:
            self._skip(where, str(error))
            return
        while change.id in self._waiting or len(self._waiting) >= MAX_WAITING_GAMES:
            self._settle_first()
        if not self._is_there(where, change):
            self._waiting[change.id] = where, self._store.submit(change)

    def end(self) -> Imported:
        while self._waiting:
            self._settle_first()
        return Imported(self._games, self._events, self._known, self._skipped)

    def _settle_first(self) -> None:
        where, change = self._waiting.pop(next(iter(self._waiting)))
        try:
            recorded = change.result()
        except (StaleVersion, NoSuchGame):  # another process was faster
            self._is_there(where, change)
        else:
            self._games += 1
            self._events += recorded.version

    def _is_there(self, where: str, change: Change) -> bool:
        """Return whether the store has the game, or had it; if so, count the line."""
        try:
            found = self._store.look(change.id)
            if found and found.record == change.after.record:
                found = self._store.confirm(change.id)
        except CorruptStore as error:
            self._skip(where, str(error))
            return True
        if found and found.record == change.after.record:
            self._known += 1
        elif found:
            what = "was deleted" if found.is_deleted else "is there already, with another record"
            self._skip(where, f"game {change.id} {what}")
        return found is not None

    def _skip(self, where: str, why: str) -> None:
        self._skipped += 1
        self._note(f"{where}: {why}")


def _bytes_in(source: BinaryIO) -> int:
    """Return the size of a file; 0 for a pipe, whose end is not known."""
    try:
        return os.fstat(source.fileno()).st_size if source.seekable() else 0
    except OSError:  # it is not a file of the system
        return 0


def _lines(source: BinaryIO) -> Iterator[bytes]:
    """Read lines; of one that is too long, only the beginning is returned."""
    while line := source.readline(MAX_LINE_BYTES + 1):
        yield line
        while len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
            line = source.readline(MAX_LINE_BYTES + 1)


def _change(line: bytes, hour: int) -> Change:
    """Return the change that creates the game of a line, or refuse the line."""
    if len(line) > MAX_LINE_BYTES:
        raise MalformedRecord(f"a line has at most {MAX_LINE_BYTES} bytes")
    try:
        written = read_json(line.decode().rstrip("\r\n"))
    except UnicodeDecodeError:
        raise MalformedRecord("the line is not UTF-8") from None
    match written:
        case {"game": game, "record": [*record], **rest} if not rest.keys() - {"room"}:
            before, entries = nothing(game), entries_of(map(_read_command, record))
            state, room = checked_game(entries), _room(rest["room"]) if rest else ""
            return Change(before, before.followed_by(entries, game=state, room=room, hour=hour))
    raise MalformedRecord("not a game: that is an object of game, record (a list) and perhaps room")


def _command(entry: Entry) -> str:
    events = entry.text.replace("\n", ",")
    return f'{{"key":"{entry.key}","at":{entry.at},"events":[{events}]}}'


def _read_command(written: object) -> tuple[str, int, tuple[Event, ...]]:
    match written:
        case {"key": key, "at": at, "events": [*events], **rest} if not rest:
            return key, at, tuple(map(decode, events))
    raise MalformedRecord("not a command: that is an object of key, at and events (a list)")


def _room(room: object) -> str:
    """Return a room as a store keeps it, on one line."""
    if not isinstance(room, dict):
        raise MalformedRecord(f"a room is an object, not {quoted(room)}")
    if not all(isinstance(room.get(name), str | None) for name in ("open", "code")):
        raise MalformedRecord("open and code of a room are text")
    try:
        text = json.dumps(room, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        text = "\0"
    if not can_be_recorded(text):
        raise MalformedRecord("the room has a value that can't be recorded")
    return text
