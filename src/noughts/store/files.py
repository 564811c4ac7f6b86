"""The files of a store: names and locks."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from fcntl import LOCK_EX, LOCK_NB, lockf
from itertools import chain, count
from pathlib import Path
from typing import BinaryIO

from noughts import files
from noughts.store.errors import StoreUnavailable

LOCK_OUT_TIMEOUT_SECONDS = 2.0
LOCK_RETRY_DELAY_SECONDS = 0.02

_SHARED_FIRST, _SHARED_SIZE = 0x4000_0002, 510
"""The bytes that SQLite locks while it has a file open (https://sqlite.org/fileformat.html)."""


def beside(path: Path, ending: str) -> Path:
    return path.parent / f"{path.name}{ending}"


def sync_folder(folder: Path) -> None:
    try:
        files.sync_folder(folder)
    except OSError as error:
        raise StoreUnavailable(f"the folder {folder} cannot be written: {error.strerror}") from error


def lock_out(file: BinaryIO, path: Path) -> bool:
    """Lock SQLite out of an open file until it is closed; return whether it is still at its path.

    This process must not open the file a second time: closing it would release the lock.
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
    """Return the first unused name, such as games-old.sqlite for games.sqlite."""
    numbers = chain([""], (f"-{number}" for number in count(2)))
    names = (path.parent / f"{path.stem}-{word}{number}{path.suffix}" for number in numbers)
    return next(name for name in names if not any(beside(name, ending).exists() for ending in endings))
