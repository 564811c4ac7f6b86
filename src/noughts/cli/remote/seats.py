"""The seats that this user holds on servers: one private file each.

Anyone with the secret of a seat can play it. The key of the request for a seat is saved before it is
sent: if the answer is lost, asking again with that key returns the same seat.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from noughts.cli.remote.address import Address
from noughts.core.codec import read_json
from noughts.core.errors import RecordError
from noughts.core.value import Value
from noughts.files import FileUnavailable, replace_private
from noughts.store.errors import StoreUnavailable
from noughts.store.urls import data_folder

SCHEMA = 1
MAX_FILE_BYTES = 4096


class SavedSeat(Value):
    """The key of the request for a seat, and the secret once the server has answered."""

    key: str
    secret: str | None = None


class SeatFiles(Value):
    environment: Mapping[str, str]

    def find(self, address: Address) -> SavedSeat | None:
        path = self._path(address)
        try:
            with path.open("rb") as file:
                return _parse(file.read(MAX_FILE_BYTES + 1), address)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileUnavailable(f"{path} cannot be read: {error.strerror}") from error
        except (RecordError, UnicodeDecodeError) as error:
            raise FileUnavailable(f"{path} is not a seat of this game; remove it to go on") from error

    def save(self, address: Address, seat: SavedSeat) -> None:
        """Save a seat durably, readable by its owner only."""
        content = {"seat": SCHEMA, "game": str(address), "key": seat.key, "secret": seat.secret}
        replace_private(self._path(address), f"{json.dumps(content)}\n")

    def remove(self, address: Address) -> None:
        path = self._path(address)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise FileUnavailable(f"{path} cannot be removed: {error.strerror}") from error

    def _path(self, address: Address) -> Path:
        """Return the file of a seat; the hash keeps servers from choosing another server's file."""
        try:
            folder = data_folder(self.environment)
        except StoreUnavailable:
            raise FileUnavailable("no folder to save a seat in: set HOME") from None
        return folder / "seats" / f"{sha256(str(address).encode()).hexdigest()[:32]}.json"


def _parse(text: bytes, address: Address) -> SavedSeat:
    match read_json(text.decode()):
        case {"seat": 1, "game": game, "key": str(key), "secret": None | str() as secret}:
            if game == str(address):
                return SavedSeat(key, secret)
    raise RecordError("not a seat of this game")
