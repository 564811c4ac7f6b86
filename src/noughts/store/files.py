"""Files of a store: their names, keeping others out, and replacing one durably and as a whole."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, lockf
from itertools import chain, count
from stat import S_IMODE

from noughts.core.errors import StoreUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import BinaryIO

LOCK_OUT_TIMEOUT_SECONDS = 2.0
LOCK_RETRY_DELAY_SECONDS = 0.02

_SHARED_FIRST, _SHARED_SIZE = 0x4000_0002, 510
"""The bytes that SQLite locks while it has a file open (https://sqlite.org/fileformat.html)."""


def beside(path: Path, ending: str) -> Path:
    """Return the file that belongs to another one, such as its write-ahead log."""
    return path.parent / f"{path.name}{ending}"


def copy_owner(model: Path, path: Path) -> None:
    """Give a file the mode of another one and, as far as we may, its owner and its group."""
    found = model.stat()
    for owner, group in ((-1, found.st_gid), (found.st_uid, -1)):
        with suppress(PermissionError):
            os.chown(path, owner, group)
    path.chmod(S_IMODE(found.st_mode))


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file: after a crash it is the old one or the new one."""
    new = beside(path, ".new")
    try:
        with new.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            copy_owner(path, new)
        new.replace(path)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Sync a folder's entries to the disk."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise StoreUnavailable(f"the folder {folder} cannot be written: {error.strerror}") from error


def lock_out(file: BinaryIO, path: Path) -> bool:
    """Keep SQLite out of an open file until that is closed; return whether it is still at its path.

    Nothing else may open the file meanwhile in this process: closing it would release the lock.
    """
    end = time.monotonic() + LOCK_OUT_TIMEOUT_SECONDS
    while True:
        try:
            lockf(file, LOCK_EX | LOCK_NB, _SHARED_SIZE, _SHARED_FIRST)
            return os.path.samestat(os.fstat(file.fileno()), path.stat())
        except BlockingIOError:
            if time.monotonic() > end:
                raise StoreUnavailable(
                    f"another process has the store {path} open: end it first"
                ) from None
            time.sleep(LOCK_RETRY_DELAY_SECONDS)


def free_name(path: Path, word: str, endings: Sequence[str] = ("", "-wal", "-checkpoint")) -> Path:
    """Return the first name that overwrites nothing, such as games-old.sqlite for games.sqlite."""
    numbers = chain([""], (f"-{number}" for number in count(2)))
    names = (path.parent / f"{path.stem}-{word}{number}{path.suffix}" for number in numbers)
    return next(name for name in names if not any(beside(name, ending).exists() for ending in endings))
