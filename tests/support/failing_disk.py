"""A fake disk: logs every operation, fails on demand, and simulates power cuts.

The store runs on it with the real SQLite, through a custom file system ("VFS"). The log of SQLite's file
operations determines what a power cut can leave at any moment: everything that was synced, and any part
of the rest.

The rules are those of SQLite's own file system for Unix. Syncing a journal or write-ahead log that was
opened with the flag to create it also syncs its folder; syncing the database does not. A deletion may ask
to sync the folder. The store itself syncs the folder after it has created a file.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections import ChainMap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count, pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, TypeAlias, cast
from unittest.mock import patch

import apsw

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

SECTOR = 512
"""The least that a disk writes at once."""
NO_TEAR = sys.maxsize

CHECKPOINT = 1000
"""How many pages SQLite lets the write-ahead log grow to by default."""

BUSY_TIMEOUT_MS = 5000
"""How long to wait for a lock."""

_LOGS = apsw.SQLITE_OPEN_SUPER_JOURNAL | apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_WAL
_NAMES = ChainMap(apsw.mapping_extended_result_codes, apsw.mapping_result_codes)
_numbers = count()

_Piece: TypeAlias = tuple[int, bytes | None]
"""An offset and what was written there; None if the file was made that long."""

Opener: TypeAlias = Callable[[Path], sqlite3.Connection]


class Disk:
    """A folder, a log of what SQLite does in it, and the faults to simulate.

    `files` are in it from the start, and synced.
    """

    def __init__(self, folder: Path, files: dict[str, bytes] | None = None) -> None:
        self.folder = folder
        self.files = files or {}
        self.log: list[Callable[[Outage], object]] = []
        """What happened, to be replayed."""
        self.room: Callable[[int], int] = lambda length: length
        """Says how many of so many bytes can still be written."""
        self.works: Callable[[], bool] = lambda: True
        """Says whether a sync succeeds."""
        self._numbers = {name: number for number, name in enumerate(self.files)}
        self._next = count(len(self.files))
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
        self._vfs = _Watched(self)

    def mark(self, what: object) -> None:
        self.log.append(lambda outage: outage.marks.append(what))

    def opener(self, checkpoint: int = CHECKPOINT, synchronous: str = "EXTRA") -> Opener:
        """Return the function with which a store opens its files.

        `synchronous` overrides what the store asks for.
        """

        def open_file(path: Path) -> sqlite3.Connection:
            connection = Connection(path, self._vfs.name, checkpoint, synchronous)
            return cast("sqlite3.Connection", connection)  # the part that a store needs

        return open_file

    @contextmanager
    def watching_folder(self) -> Iterator[None]:
        """Log when Python syncs the folder, without really syncing."""
        place = self.folder.stat()

        def watched(descriptor: int) -> None:
            if os.path.samestat(os.fstat(descriptor), place):
                self.log.append(Outage.sync_folder)

        with patch("os.fsync", watched):
            yield

    def left(self) -> dict[str, bytes]:
        """Return the files as a crash of the program leaves them."""
        places = ((name, self.folder / name) for name in self._numbers)
        return {name: place.read_bytes() for name, place in places if place.exists()}

    def number(self, name: str, *, is_new: bool) -> int:
        """Return the number of the file with this name; a new file gets a new number."""
        if is_new:
            self._numbers[name] = next(self._next)
            self.log.append(partial(Outage.create, name=name, file=self._numbers[name]))
        return self._numbers[name]

    def close(self) -> None:
        self._vfs.unregister()


class _Watched(apsw.VFS):
    """SQLite's own file system, with every operation logged."""

    def __init__(self, disk: Disk) -> None:
        self.name = f"watched-{next(_numbers)}"
        self._disk = disk
        super().__init__(self.name, "unix")

    def xOpen(  # noqa: N802 - named by SQLite
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> apsw.VFSFile:
        if name is None:
            return apsw.VFSFile("unix", name, flags)  # temporary files of SQLite
        path = Path(name.filename() if isinstance(name, apsw.URIFilename) else name)
        is_new = not path.exists()
        opened = _WatchedFile(name, flags, self._disk)
        opened.number = self._disk.number(path.name, is_new=is_new)
        return opened

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: FBT001, N802 - named by SQLite
        super().xDelete(filename, False)  # noqa: FBT003 - as apsw defines it
        self._disk.log.append(partial(Outage.delete, name=Path(filename).name))
        if syncdir:
            self._disk.log.append(Outage.sync_folder)


class _WatchedFile(apsw.VFSFile):
    """A file of SQLite's, with every change logged."""

    number: int

    def __init__(self, name: str | apsw.URIFilename, flags: list[int], disk: Disk) -> None:
        self._disk = disk
        self._syncs_folder = bool(flags[0] & apsw.SQLITE_OPEN_CREATE and flags[0] & _LOGS)
        super().__init__("unix", name, flags)

    def xWrite(self, data: ReadableBuffer, offset: int) -> None:  # noqa: N802 - named by SQLite
        data = bytes(data)
        landed = self._disk.room(len(data))
        if landed:
            self._log(Outage.write, offset, data[:landed])
            super().xWrite(data[:landed], offset)
        if landed < len(data):
            raise apsw.exception_for(apsw.SQLITE_FULL)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - as apsw defines it
        self._log(Outage.write, newsize, None)
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: ARG002, N802 - as apsw defines it
        if not self._disk.works():
            raise apsw.exception_for(apsw.SQLITE_IOERR_FSYNC)
        self._log(Outage.sync)
        if self._syncs_folder:
            self._disk.log.append(Outage.sync_folder)
            self._syncs_folder = False

    def _log(self, what: Callable[..., object], *values: object) -> None:
        self._disk.log.append(lambda outage: what(outage, self.number, *values))


class Rows(list[tuple[object, ...]]):
    """The result of a statement."""

    rowcount = -1

    def fetchone(self) -> tuple[object, ...] | None:
        return self.pop(0) if self else None

    def fetchall(self) -> list[tuple[object, ...]]:
        return self


class Connection:
    """The part of `sqlite3.Connection` that a store needs, on our own file system."""

    def __init__(self, path: Path, file_system: str, checkpoint: int, synchronous: str) -> None:
        self._synchronous = synchronous
        self._checkpoint = checkpoint
        self._pages = 0
        with _translated():
            self._connection = apsw.Connection(str(path), vfs=file_system)
        self._connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        self._connection.set_wal_hook(self._grown)

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def execute(self, statement: str, values: Sequence[apsw.SQLiteValue] = ()) -> Rows:
        if statement.startswith("PRAGMA synchronous"):
            statement = f"PRAGMA synchronous = {self._synchronous}"
        with _translated():
            rows = Rows(self._connection.execute(statement, tuple(values)))
        rows.rowcount = self._connection.changes()
        self._make_room()
        return rows

    def close(self) -> None:
        """Close the file; like SQLite, report no error of the clean-up."""
        try:
            self._connection.close()
        except (apsw.IOError, apsw.FullError):
            self._connection.close()

    def _grown(self, _connection: object, _database: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK

    def _make_room(self) -> None:
        """Checkpoint the write-ahead log after a commit and report no failure, as SQLite does.

        SQLite would do it by itself, but then errors of our file system would surface.
        """
        if self._pages >= self._checkpoint:
            self._pages = 0
            try:
                self._connection.wal_checkpoint()
            except apsw.Error:
                return


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except apsw.Error as error:
        kind: type[sqlite3.Error] = sqlite3.OperationalError
        if isinstance(error, apsw.ConstraintError):
            kind = sqlite3.IntegrityError
        elif isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
            kind = sqlite3.DatabaseError
        translation = kind(str(error) or "the disk failed, as the test wanted")
        code = getattr(error, "extendedresult", apsw.SQLITE_ERROR)
        translation.sqlite_errorcode = code
        translation.sqlite_errorname = str(_NAMES[code])
        raise translation from error


class _File:
    """A file on the disk: its synced content, and what was written since."""

    def __init__(self, content: bytes = b"") -> None:
        self.content = bytearray(content)
        self.waiting: list[_Piece] = []


class Outage:
    """Replays the log of a disk, and returns what a power cut would leave."""

    def __init__(self, disk: Disk) -> None:
        self.marks: list[object] = []
        """The notes of the test on the way."""
        self._log = disk.log
        self._done = 0
        self._files = {number: _File(content) for number, content in enumerate(disk.files.values())}
        self._names: dict[str, list[int | None]] = {
            name: [number] for number, name in enumerate(disk.files)
        }
        """For each name the file it stands for, and what was done to it since the folder was synced."""

    def go_on(self, until: int) -> list[object]:
        """Replay the log up to that place; return the marks on the way."""
        self.marks = []
        for operation in self._log[self._done : until]:
            operation(self)
        self._done = until
        return self.marks

    def create(self, name: str, file: int) -> None:
        self._files[file] = _File()
        self._names.setdefault(name, [None]).append(file)

    def delete(self, name: str) -> None:
        self._names[name].append(None)

    def write(self, file: int, offset: int, data: bytes | None) -> None:
        """Write bytes into a file; without any, change its length."""
        self._files[file].waiting.append((offset, data))

    def sync(self, file: int) -> None:
        for piece in self._files[file].waiting:
            _do(self._files[file].content, *piece)
        self._files[file].waiting = []

    def sync_folder(self) -> None:
        self._names = {name: known[-1:] for name, known in self._names.items()}

    def left(self, chance: Random, share: float | None = None) -> dict[str, bytes]:
        """Return the files that a power cut at this moment may leave, chosen at random.

        `share` is the part of the unsynced data that survives: from 0 for none to 1 for all.
        """
        names_share = chance.choice((0.0, 1.0, 0.5)) if share is None else share
        if share is None:
            share = chance.choice((0.0, 1.0, chance.random()))
        piece = chance.choice((NO_TEAR, SECTOR))
        files = {}
        for name, known in self._names.items():
            number = _one_of(known, names_share, chance)
            if number is not None:
                # New blocks of a log may contain anything; modern file systems clear other new blocks.
                junk = chance if name.endswith(("-wal", "-journal")) and chance.random() < 0.3 else None
                files[name] = _content(self._files[number], share, piece, chance, junk)
        return files


def _one_of(known: list[int | None], share: float, chance: Random) -> int | None:
    if share in (0.0, 1.0):
        return known[-1] if share else known[0]
    return chance.choice(known)


def _content(file: _File, share: float, piece: int, chance: Random, junk: Random | None) -> bytes:
    content = bytearray(file.content)
    for operation in file.waiting:
        for offset, data in _parts(*operation, piece):
            if chance.random() < share:
                _do(content, offset, data)
            elif data and chance.random() < share:
                _lengthen(content, offset + len(data), junk)  # only its length was written
    return bytes(content)


def _parts(offset: int, data: bytes | None, piece: int) -> Iterator[_Piece]:
    """Split what was written at the disk's sectors."""
    if data is None:
        yield offset, data
        return
    starts = 0, *range(piece - offset % piece, len(data), piece)
    for start, end in pairwise((*starts, len(data))):
        yield offset + start, data[start:end]


def _do(content: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        del content[offset:]
    _lengthen(content, offset)
    if data:
        content[offset : offset + len(data)] = data


def _lengthen(content: bytearray, size: int, junk: Random | None = None) -> None:
    missing = max(0, size - len(content))
    content += junk.randbytes(missing) if junk else bytes(missing)
