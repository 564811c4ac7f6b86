"""Checkpoints: the number of records up to a cursor of the feed, and the sum of their hashes.

The hashes of a game show that no record has changed. A checkpoint, kept apart from the records, shows
that none is missing. It only moves forward.
"""

from __future__ import annotations

import json
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from noughts.files import put_in_place
from noughts.store.errors import CorruptStore, StoreUnavailable
from noughts.store.files import LOCK_RETRY_DELAY_SECONDS, beside

MISSING_CHECKPOINT = "the checkpoint is missing, so missing records can't be detected"
LOCK_TIMEOUT_SECONDS = 5.0


class Checkpoint(NamedTuple):
    """The content of a store at some moment; a new store starts with an empty one."""

    cursor: str = ""
    """Records are counted up to this cursor of the feed."""
    records: int = 0
    hashes: int = 0
    """The sum of their hashes, deleted records included."""
    documents_cursor: str = ""
    """The cursor of the document that was changed last."""
    documents: int | None = None
    """The sum of all documents' hashes, if the store was closed after the last change."""


class CheckpointSlot(ABC):
    @abstractmethod
    def locked(self) -> AbstractContextManager[None]:
        """Keep other processes and threads from replacing it."""

    @abstractmethod
    def read(self) -> Checkpoint:
        """Return the checkpoint; refuse if it is missing or damaged."""

    @abstractmethod
    def replace(self, new: Checkpoint) -> None:
        """Replace the checkpoint; the caller has it locked."""


class CheckpointFile:
    """A file of checkpoints, a line per store; two lines while one store replaces another."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, Checkpoint]:
        try:
            return dict(map(_read_line, self.path.read_bytes().splitlines()))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise CorruptStore(f"the checkpoint {self.path} can't be read: {error.strerror}") from error
        except (ValueError, TypeError, LookupError):
            raise CorruptStore(f"the checkpoint {self.path} has changed since it was written") from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        end = time.monotonic() + LOCK_TIMEOUT_SECONDS
        try:
            while True:
                with self.path.open("ab") as file:
                    if _lock(file.fileno(), self.path):
                        yield
                        return
                if time.monotonic() > end:
                    raise StoreUnavailable(f"another process keeps the checkpoint {self.path} locked")
                time.sleep(LOCK_RETRY_DELAY_SECONDS)
        except OSError as error:
            reason = f"the checkpoint {self.path} can't be written: {error.strerror}"
            raise StoreUnavailable(reason) from error

    def write(self, checkpoints: Mapping[str, Checkpoint]) -> None:
        content = b"".join(_line(*item) for item in checkpoints.items())
        put_in_place(self.path, content, new=beside(self.path, ".new"))


class FileSlot(CheckpointSlot):
    def __init__(self, file: CheckpointFile, store: str) -> None:
        self._file = file
        self._store = store

    def locked(self) -> AbstractContextManager[None]:
        return self._file.locked()

    def read(self) -> Checkpoint:
        found = self._file.read().get(self._store)
        if found is None:
            raise CorruptStore(f"{MISSING_CHECKPOINT} ({self._file.path})")
        return found

    def replace(self, new: Checkpoint) -> None:
        self._file.write({**self._file.read(), self._store: new})


def _lock(descriptor: int, path: Path) -> bool:
    """Lock a file, unless another process has locked or replaced it."""
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except (BlockingIOError, FileNotFoundError):
        return False


def _line(store: str, checkpoint: Checkpoint) -> bytes:
    fields = json.dumps([store, *checkpoint])
    return f"{sha256(fields.encode()).hexdigest()} {fields}\n".encode()


def _read_line(line: bytes) -> tuple[str, Checkpoint]:
    check, _, fields = line.partition(b" ")
    if sha256(fields).hexdigest().encode() != check:
        raise ValueError
    store, *checkpoint = json.loads(fields)
    if [type(field) for field in (store, *checkpoint[:4])] != [str, str, int, int, str]:
        raise TypeError
    return store, Checkpoint(*checkpoint)
