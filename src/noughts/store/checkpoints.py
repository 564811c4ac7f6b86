"""Checkpoints: how many records a store has up to a place in its feed, and the sum of their hashes.

The hashes of a game show that no record of it has changed. A checkpoint, kept apart from the records,
shows that none is missing. It grows with the feed and never moves backwards.
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
    """What a store had when it was made; a new store begins with an empty one."""

    cursor: str = ""
    """The place in the feed up to which records are counted."""
    records: int = 0
    hashes: int = 0
    """The sum of their hashes, deleted records included."""
    documents_cursor: str = ""
    """The place of the document that was changed last."""
    documents: int | None = None
    """The sum of the hashes of all documents, if the store was closed after the last change."""


class CheckpointSlot(ABC):
    """A place where the checkpoint of a store is kept."""

    @abstractmethod
    def locked(self) -> AbstractContextManager[None]:
        """Keep other processes and threads from replacing it."""

    @abstractmethod
    def read(self) -> Checkpoint:
        """Return the checkpoint; refuse if it is missing or damaged."""

    @abstractmethod
    def replace(self, new: Checkpoint) -> None:
        """Put a new one in its place; the caller has it locked."""


class CheckpointFile:
    """The checkpoints of stores, a line each, by the store's id.

    Beside a store there is one line. There are two while another store takes its place.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, Checkpoint]:
        """Return the checkpoints by store; none if the file is missing."""
        try:
            lines = self.path.read_bytes().splitlines()
            return dict(map(_read_line, lines))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise CorruptStore(f"the checkpoint {self.path} can't be read: {error.strerror}") from error
        except (ValueError, TypeError, LookupError):
            raise CorruptStore(f"the checkpoint {self.path} has changed since it was written") from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes and threads from writing the file."""
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
            raise StoreUnavailable(
                f"the checkpoint {self.path} can't be written: {error.strerror}"
            ) from error

    def write(self, checkpoints: Mapping[str, Checkpoint]) -> None:
        """Replace the file; the caller has it locked."""
        content = b"".join(_line(*item) for item in checkpoints.items())
        put_in_place(self.path, content, new=beside(self.path, ".new"))


class FileSlot(CheckpointSlot):
    """The line of a store in a file."""

    def __init__(self, file: CheckpointFile, store: str) -> None:
        self._file = file
        self._store = store

    def locked(self) -> AbstractContextManager[None]:
        """Lock the file."""
        return self._file.locked()

    def read(self) -> Checkpoint:
        """Return the line of the store."""
        found = self._file.read().get(self._store)
        if found is None:
            raise CorruptStore(f"{MISSING_CHECKPOINT} ({self._file.path})")
        return found

    def replace(self, new: Checkpoint) -> None:
        """Replace the line, and keep those of other stores."""
        self._file.write({**self._file.read(), self._store: new})


def _lock(descriptor: int, path: Path) -> bool:
    """Lock a file, unless another process has it, or has replaced it meanwhile."""
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
