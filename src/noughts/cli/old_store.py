"""Sets aside a store in a format that is no longer read."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from noughts.files import FileUnavailable
from noughts.store.files import beside, free_name, lock_out, sync_folder
from noughts.store.sql import OLDEST_SCHEMA


def set_aside(path: Path) -> Path | None:
    """Move an old store to a free name, and return it; None if another process was faster.

    The file itself goes last. So a move that was interrupted is completed by the next one, under the
    same name, and a store is never without its write-ahead log.
    """
    try:
        with path.open("r+b") as file:
            # No other file descriptor may be opened: closing it would release the lock.
            is_old = 0 < int.from_bytes(file.read(64)[60:], "big") < OLDEST_SCHEMA
            if not is_old or not lock_out(file, path):
                return None
            # The log may have been moved by an attempt that was interrupted.
            target = free_name(path, "old", ("", "-wal") if beside(path, "-wal").exists() else ("",))
            for ending in ("-wal", "-shm", "-journal"):
                with suppress(FileNotFoundError):
                    beside(path, ending).rename(beside(target, ending))
            sync_folder(path.parent)
            path.rename(target)
            sync_folder(path.parent)
            return target
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileUnavailable(f"the old store {path} can't be set aside: {error.strerror}") from error
