"""The seats that this terminal holds at games of servers, each in a file that only its owner reads.

A seat is its secret: whoever has it, plays. Before a seat is asked for, the key of that request is kept,
so that a seat that was given while the line broke is found by asking again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from noughts.cli.remote.address import Address
from noughts.core.codec import read_json
from noughts.core.errors import RecordError
from noughts.core.value import Value
from noughts.files import FileUnavailable
from noughts.store.errors import StoreUnavailable
from noughts.store.urls import data_folder

SCHEMA = 1
LARGEST = 4096
"""In bytes: no seat takes more to write down."""


class Seat(Value):
    """A place at a game: the key that it was asked for with, and the secret once it was given."""

    key: str
    secret: str | None = None


class Seats:
    """The folder that seats are kept in."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def find(self, address: Address) -> Seat | None:
        """Return the seat at a game, if there is one."""
        path = self._path(address)
        try:
            with path.open("rb") as file:
                return _read(file.read(LARGEST + 1), address)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileUnavailable(f"{path} cannot be read: {error.strerror}") from error
        except (RecordError, UnicodeDecodeError) as error:
            raise FileUnavailable(f"{path} holds no seat; remove it to do without") from error

    def keep(self, address: Address, seat: Seat) -> None:
        """Keep a seat; on return it is on the disk, and nobody else can read it."""
        path = self._path(address)
        beside = path.with_name(f".seat-{os.urandom(8).hex()}")
        written = {"seat": SCHEMA, "game": str(address), "key": seat.key, "secret": seat.secret}
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                number = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(number, "w", encoding="utf-8") as file:
                    file.write(json.dumps(written) + "\n")
                    file.flush()
                    os.fsync(number)
                beside.replace(path)
                _sync(path.parent)
            except BaseException:
                beside.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise FileUnavailable(
                f"the seat cannot be kept in {path.parent}: {error.strerror}"
            ) from error

    def forget(self, address: Address) -> None:
        """Throw away a seat that is of no use any more."""
        path = self._path(address)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise FileUnavailable(f"{path} cannot be removed: {error.strerror}") from error

    def _path(self, address: Address) -> Path:
        """Return the file of a game's seat: a server cannot choose a name that is another server's."""
        try:
            folder = data_folder(self._environment)
        except StoreUnavailable:
            raise FileUnavailable("there is no folder to keep a seat in: set HOME") from None
        return folder / "seats" / f"{sha256(str(address).encode()).hexdigest()[:32]}.json"


def _read(text: bytes, address: Address) -> Seat:
    written = read_json(text.decode())
    match written:
        case {"seat": 1, "game": game, "key": str(key), "secret": None | str() as secret}:
            if game == str(address):
                return Seat(key, secret)
    raise RecordError("it is no seat at that game")


def _sync(folder: Path) -> None:
    """See to it that the name of a file in it is on the disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
