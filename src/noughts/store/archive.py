"""Exports games as JSON lines, and imports them.

A line is a record, with everything that its hash covers:

    {"game":"…","version":0,"at":1700000000000,"key":"…","events":[{…},…],"hash":"…"}

A game's lines are together, in order. An import checks all hashes and the rules before it records
anything. It also reads the old format: a line per event, with versions from 1 and hashes of its own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import BinaryIO, NamedTuple

from noughts.core import errors
from noughts.core.codec import decode, read_json
from noughts.core.errors import MalformedRecord, NoughtsError, RecordError, quoted
from noughts.core.game import replay
from noughts.store.appends import Append, serialize
from noughts.store.base import PAGE_ROWS, EventStore, Progress, all_rows
from noughts.store.errors import CorruptStore, NoSuchGame
from noughts.store.records import (
    GENESIS,
    HASH_BYTES,
    MAX_NUMBER,
    Record,
    check_id,
    describe_change,
    record_hash,
)

MAX_LINE_BYTES = 1 << 20
"""A command has a few events, of less than 1,000 bytes each; users of the library may append more."""

_FIELDS = ("game", "version", "at", "key", "events", "hash")
_OLD_FIELDS = ("game", "version", "at", "key", "event", "hash")


def export_game(store: EventStore, game: str) -> Iterator[str]:
    return map(_line, store.read(game))


def export_all(store: EventStore, progress: Progress = lambda _share: None) -> Iterator[str]:
    rows = [*all_rows(store, PAGE_ROWS)]
    for number, row in enumerate(reversed(rows)):
        progress(number / len(rows))
        yield from export_game(store, row.game)


class Imported(NamedTuple):
    games: int
    events: int
    known: int
    """Events that were in the store already."""


def import_lines(
    store: EventStore, source: BinaryIO, progress: Progress = lambda _share: None
) -> Imported:
    """Record all games of a file, or none; records that are in the store already are skipped."""
    games = total = 0
    missing: list[Append] = []
    size = _bytes_in(source)
    for records in _games(source):
        if size:
            progress(min(1, source.tell() / size))
        missing += _missing(store, records)
        games, total = games + 1, total + records[-1].next_version
    try:
        if missing:
            store.restore(missing)
    except NoSuchGame as deleted:
        raise NoSuchGame(f"{deleted} from this store, and can't be imported again") from deleted
    recorded = sum(append.count for append in missing)
    return Imported(games, recorded, total - recorded)


def _bytes_in(source: BinaryIO) -> int:
    """Return the size of a file; 0 for a pipe, whose end is not known."""
    try:
        return os.fstat(source.fileno()).st_size if source.seekable() else 0
    except OSError:  # it is not a file of the system
        return 0


def _line(record: Record) -> str:
    events = record.text.replace("\n", ",")
    return (
        f'{{"game":"{record.game}","version":{record.version},"at":{record.at},"key":"{record.key}",'
        f'"events":[{events}],"hash":"{record.hash.hex()}"}}\n'
    )


def append_again(record: Record) -> Append:
    """Return the append that makes the same record in another store."""
    game, version, at, key, text, _ = record
    _, change = serialize(record.events)
    try:
        return Append(game, version, text, key=key, at=at, change=change)
    except ValueError as error:
        raise CorruptStore(f"{describe_change(record)}: {error}") from error


class _Line(NamedTuple):
    number: int
    record: Record
    is_old: bool
    """In the old format."""


def _games(source: BinaryIO) -> Iterator[list[Record]]:
    """Read games, and refuse the first line that isn't part of one."""
    seen: set[str] = set()
    for game, lines in groupby(_lines(source), key=lambda line: line.record.game):
        yield _game(game, lines, is_second=game in seen)
        seen.add(game)


def _lines(source: BinaryIO) -> Iterator[_Line]:
    for number, text in enumerate(iter(lambda: source.readline(MAX_LINE_BYTES + 1), b""), start=1):
        try:
            yield _Line(number, *_read(text))
        except NoughtsError as error:
            kind = type(error) if isinstance(error, RecordError) else MalformedRecord
            raise kind(f"line {number}: {error}") from error


def _game(game: str, lines: Iterable[_Line], *, is_second: bool) -> list[Record]:
    records: list[Record] = []
    version, previous, was_old = 0, GENESIS, False
    for number, record, is_old in lines:
        line, first = f"line {number}:", 1 if is_old else 0  # the version that counting starts from
        if is_second:
            raise MalformedRecord(f"{line} the lines of game {game} are not together")
        if records and is_old != was_old:
            raise MalformedRecord(f"{line} game {game} mixes the old format and the new one")
        if record.version != version:
            due, found = version + first, record.version + first
            raise MalformedRecord(f"{line} expected version {due} of game {game}, not {found}")
        if record_hash(previous, game, version + first, *record[2:5]) != record.hash:
            raise errors.BrokenChain(
                f"{line} the hash doesn't follow from the lines of game {game} before it"
            )
        records.append(record)
        version, previous, was_old = record.next_version, record.hash, is_old
    try:
        replay(event for record in records for event in record.events)
    except errors.ImpossibleHistory as error:
        raise errors.ImpossibleHistory(f"game {game}: {error}") from error
    return [*_merged(records)] if was_old else records


def _merged(lines: Iterable[Record]) -> Iterator[Record]:
    previous = GENESIS
    for _, command in groupby(lines, key=lambda line: line.key):
        events = [*command]
        first, text = events[0], "\n".join(event.text for event in events)
        previous = record_hash(previous, first.game, first.version, first.at, first.key, text)
        yield first._replace(text=text, hash=previous)


def _read(line: bytes) -> tuple[Record, bool]:
    if len(line) > MAX_LINE_BYTES:
        raise MalformedRecord(f"a line has at most {MAX_LINE_BYTES} bytes, and this one has more")
    try:
        written = read_json(line.decode("utf-8").rstrip("\r\n"))
    except UnicodeDecodeError:
        raise MalformedRecord("the line is not UTF-8") from None
    is_old = isinstance(written, dict) and written.keys() == set(_OLD_FIELDS)
    if not isinstance(written, dict) or not (is_old or written.keys() == set(_FIELDS)):
        raise MalformedRecord(f"a line is an object of {', '.join(_FIELDS)}, unlike {quoted(written)}")
    version = _number("version", written["version"], least=int(is_old)) - is_old
    at = _number("at", written["at"])
    game, key = check_id(written["game"]), check_id(written["key"], "command")
    events = [written["event"]] if is_old else written["events"]
    if not isinstance(events, list) or not events:
        raise MalformedRecord(f"events is a list of at least one event, not {quoted(events)}")
    text, _ = serialize(map(decode, events))
    return Record(game, version, at, key, text, _hash(written["hash"])), is_old


def _number(name: str, value: object, least: int = 0) -> int:
    if type(value) is not int or not least <= value <= MAX_NUMBER:
        raise MalformedRecord(
            f"{name} must be a number from {least} to {MAX_NUMBER}, not {quoted(value)}"
        )
    return value


def _hash(value: object) -> bytes:
    if not isinstance(value, str) or not re.fullmatch(f"[0-9a-f]{{{2 * HASH_BYTES}}}", value):
        raise MalformedRecord(f"hash must be {2 * HASH_BYTES} hexadecimal digits, not {quoted(value)}")
    return bytes.fromhex(value)


def _missing(store: EventStore, records: list[Record]) -> list[Append]:
    """Return the records that the store lacks; refuse a game that differs from the store's."""
    stored = store.read(records[0].game)
    for there, record in zip(stored, records, strict=False):
        if there.hash != record.hash:
            raise errors.BrokenChain(
                f"game {record.game} differs in the store from version {record.version} on"
            )
    return [*map(append_again, records[len(stored) :])]
