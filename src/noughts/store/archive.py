"""Games as JSON lines, out of a store and into one; and a copy of a whole store.

A line is a recorded event with all that its hash covers, so that whoever reads it can check it:

    {"game":"…","version":1,"at":1700000000000,"key":"…","event":{…},"hash":"…"}

The lines of a game stand together, in order. What is brought in is held against its hashes and against
the rules before anything is recorded.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from noughts.core.codec import decode, read_json
from noughts.core.errors import (
    BrokenChain,
    ImpossibleHistory,
    MalformedRecord,
    NoughtsError,
    RecordError,
    StoreUnavailable,
    quoted,
)
from noughts.core.game import replay
from noughts.store.base import ALL, PAGE
from noughts.store.chain import GENESIS, HASH_SIZE, LATEST, check_id, seal
from noughts.store.ledger import Append, written_down
from noughts.store.notes import NOTES_PAGE
from noughts.store.sqlite_file import sync_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from noughts.core.events import Event
    from noughts.store.base import EventStore
    from noughts.store.chain import Recorded
    from noughts.store.ledger import Entry, Listing

LONGEST_LINE = 10_000
"""In bytes; the longest name makes a line of less than a thousand."""

_FIELDS = ("game", "version", "at", "key", "event", "hash")


def export_game(store: EventStore, game: str) -> Iterator[str]:
    """Write a game as lines."""
    return map(_line, store.read(game))


def export_all(store: EventStore) -> Iterator[str]:
    """Write all games as lines, in the order of their creation."""
    numbered: list[Listing] = []
    while page := store.catalogue(ALL, PAGE, numbered[-1].number if numbered else None):
        numbered += page
    for listing in reversed(numbered):
        yield from export_game(store, listing.game)


class Imported(NamedTuple):
    """What an import came to."""

    games: int
    events: int
    known: int
    """How many of the events stood in the store already."""


def import_lines(store: EventStore, source: BinaryIO) -> Imported:
    """Record all games of a file; if anything is wrong with it, or with the disk, none.

    Events that stand in the store already, just so, are passed over: an import that was interrupted can
    be run again.
    """
    games = events = known = 0
    missing = []
    for lines in _games(source):
        append = _missing(store, lines)
        if append:
            missing.append(append)
        recorded = len(append.entries) if append else 0
        games, events, known = games + 1, events + recorded, known + len(lines) - recorded
    if missing:
        store.restore(missing)
    return Imported(games, events, known)


def backup(store: EventStore, target: str) -> int:
    """Copy a store, as it stands at some moment, into a new SQLite file; return the number of events.

    Its notes are copied as well, as they stand a moment later.
    The file has its name when it is whole, and not before.
    """
    from noughts.store.sqlite import SQLiteStore  # noqa: PLC0415 - the copy is one, whatever the store is

    path = Path(target).absolute()
    partial = path.with_name(f"{path.name}.partial")
    if path.exists():
        raise StoreUnavailable(f"{path} is there already, and a backup replaces nothing")
    if partial.exists():
        raise StoreUnavailable(f"{partial} is left of a backup that was ended halfway: remove it first")
    try:
        with SQLiteStore(str(partial)) as copy:
            copied = _copy(store, copy)
            _copy_notes(store, copy)
        _give_name(partial, path)
        sync_folder(path.parent)
    except OSError as error:
        raise StoreUnavailable(f"the backup {target} cannot be written: {error.strerror}") from error
    finally:
        for ending in ("", "-wal", "-shm", "-journal"):
            with suppress(OSError):
                partial.with_name(partial.name + ending).unlink()
    return copied


def _give_name(partial: Path, path: Path) -> None:
    """Let a file have its name, without replacing one that has come meanwhile, where that can be had."""
    try:
        path.hardlink_to(partial)
    except FileExistsError:
        raise
    except OSError:  # some disks know no links
        partial.rename(path)


class _Line(NamedTuple):
    """One event of a game, as it is brought in."""

    game: str
    version: int
    hash: bytes
    event: Event
    entry: Entry


def _line(record: Recorded) -> str:
    return (
        f'{{"game":"{record.game}","version":{record.version},"at":{record.at},"key":"{record.key}",'
        f'"event":{record.text},"hash":"{record.hash.hex()}"}}\n'
    )


def _games(source: BinaryIO) -> Iterator[list[_Line]]:
    """Read games, each whole, and refuse the first line that is no part of one."""
    seen: set[str] = set()
    game: list[_Line] = []
    for number, text in enumerate(iter(lambda: source.readline(LONGEST_LINE + 1), b""), start=1):
        try:
            line = _read(text)
        except NoughtsError as error:
            raise _in_line(number, error) from error
        if game and line.game != game[0].game:
            yield _checked(game)
            game = []
        try:
            if not game and line.game in seen:
                raise MalformedRecord(f"game {line.game} has lines further up already")
            seen.add(line.game)
            _check_follows(game, line)
        except RecordError as error:
            raise _in_line(number, error) from error
        game.append(line)
    if game:
        yield _checked(game)


def _in_line(number: int, error: NoughtsError) -> RecordError:
    kind = type(error) if isinstance(error, RecordError) else MalformedRecord
    return kind(f"line {number}: {error}")


def _read(text: bytes) -> _Line:
    if len(text) > LONGEST_LINE:
        raise MalformedRecord(f"a line has at most {LONGEST_LINE} bytes, and this one has more")
    try:
        written = read_json(text.decode("utf-8").rstrip("\r\n"))
    except UnicodeDecodeError:
        raise MalformedRecord("that is no text: it is not UTF-8") from None
    if not isinstance(written, dict) or set(written) != set(_FIELDS):
        raise MalformedRecord(f"a line is an object of {', '.join(_FIELDS)}, unlike {quoted(written)}")
    version = _number("version", written["version"], 1, LATEST)
    at = _number("at", written["at"], 0, LATEST)
    game, key = check_id(written["game"]), check_id(written["key"], "command")
    event = decode(written["event"])
    return _Line(game, version, _hash(written["hash"]), event, (at, key, *written_down(event)))


def _number(name: str, value: object, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise MalformedRecord(f"{name} is a whole number from {least} to {most}, not {quoted(value)}")
    return value


def _hash(value: object) -> bytes:
    try:
        link = bytes.fromhex(value) if isinstance(value, str) else b""
    except ValueError:
        link = b""
    if len(link) != HASH_SIZE or link.hex() != value:
        raise MalformedRecord(f"hash is {2 * HASH_SIZE} hexadecimal digits, not {quoted(value)}")
    return link


def _check_follows(game: list[_Line], line: _Line) -> None:
    if line.version != len(game) + 1:
        raise MalformedRecord(
            f"version {len(game) + 1} of game {line.game} belongs here, not {line.version}"
        )
    previous = game[-1].hash if game else GENESIS
    at, key, text, _ = line.entry
    if seal(previous, line.game, line.version, at, key, text) != line.hash:
        raise BrokenChain(f"the hash does not follow from what was recorded of game {line.game}")


def _checked(game: list[_Line]) -> list[_Line]:
    """Return a game that can have been played, or refuse it."""
    try:
        replay(line.event for line in game)
    except ImpossibleHistory as error:
        raise ImpossibleHistory(f"game {game[0].game}: {error}") from error
    return game


def _missing(store: EventStore, game: list[_Line]) -> Append | None:
    """Return what the store lacks of a game, or refuse a game of which it knows another course."""
    name = game[0].game
    stored = store.read(name)
    for record, line in zip(stored, game, strict=False):
        if record.hash != line.hash:
            raise BrokenChain(f"game {name} went another way in the store, from event {line.version} on")
    entries = [line.entry for line in game[len(stored) :]]
    return Append(name, len(stored), entries) if entries else None


def _copy_notes(store: EventStore, copy: EventStore) -> None:
    """Write all notes again, as they stand at the moment in which the last page is read.

    What changes before that moment comes again on a later page. So there is no need to read on until
    nobody writes any more: a page that is not full was the last.
    """
    change = 0
    while found := store.changed_notes(change, NOTES_PAGE):
        copy.restore_notes(found)
        change = found[-1].change
        if len(found) < NOTES_PAGE:
            return


def _copy(store: EventStore, copy: EventStore) -> int:
    """Record everything again, in the same order, so that positions stay the same as well."""
    position = 0
    while found := store.feed(position):
        appends = []
        for game, run in groupby(found, key=lambda record: record.game):
            records = list(run)
            entries = [(record.at, record.key, *written_down(record.event)) for record in records]
            appends.append(Append(game, records[0].version - 1, entries))
        copy.restore(appends)
        position = found[-1].position
    return position
