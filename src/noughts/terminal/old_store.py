"""Sets aside a store in a format that is no longer read."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, lockf
from itertools import count

from noughts.core.errors import StoreUnavailable
from noughts.store.sql import OLDEST_SCHEMA
from noughts.store.sqlite_schema import sync_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

OLD_LOCK_TIMEOUT_SECONDS = 2.0
LOCK_RETRY_DELAY_SECONDS = 0.02

_SHARED_FIRST, _SHARED_SIZE = 0x4000_0002, 510
"""The bytes that SQLite locks while it has a file open (https://sqlite.org/fileformat.html)."""


def set_aside(path: Path) -> Path | None:
    """Move an old store to a free name, and return it; None if another process was faster.

    The file itself goes last. So a move that was interrupted is completed by the next one, under the
    same name, and a store is never without its write-ahead log.
    """
    try:
        with path.open("r+b") as file:
            # No other file descriptor may be opened: closing it would release the lock.
            is_old = 0 < int.from_bytes(file.read(64)[60:], "big") < OLDEST_SCHEMA
            if not is_old or not _lock(file, path):
                return None
            target = _free_name(path)
            for ending in ("-wal", "-shm", "-journal"):
                with suppress(FileNotFoundError):
                    _beside(path, ending).rename(_beside(target, ending))
            sync_folder(path.parent)
            path.rename(target)
            sync_folder(path.parent)
            return target
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreUnavailable(f"the old store {path} can't be set aside: {error.strerror}") from error


def _lock(file: BinaryIO, path: Path) -> bool:
    """Keep SQLite out while its files are moved; return whether the file is still there."""
    end = time.monotonic() + OLD_LOCK_TIMEOUT_SECONDS
    while True:
        try:
            lockf(file, LOCK_EX | LOCK_NB, _SHARED_SIZE, _SHARED_FIRST)
            return os.path.samestat(os.fstat(file.fileno()), path.stat())
        except BlockingIOError:
            if time.monotonic() > end:
                raise StoreUnavailable(
                    f"an older noughts has the store {path} open: end it first"
                ) from None
            time.sleep(LOCK_RETRY_DELAY_SECONDS)


def _free_name(path: Path) -> Path:
    """Return the first name that overwrites nothing; its log may have been moved there already."""
    names = (path.with_name(f"{path.stem}-old{ending}{path.suffix}") for ending in _endings())
    return next(
        name
        for name in names
        if not name.exists() and not (_beside(name, "-wal").exists() and _beside(path, "-wal").exists())
    )


def _endings() -> Iterator[str]:
    yield ""
    yield from (f"-{number}" for number in count(2))


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)
