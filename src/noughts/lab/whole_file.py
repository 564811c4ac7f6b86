"""A file written as a whole: whatever happens, it holds what it held before, or all of the new."""

from __future__ import annotations

from pathlib import Path

from noughts.core.errors import StoreUnavailable
from noughts.players.files import put_in_place


def write_whole(file: str, content: bytes) -> None:
    """Write a file, in the place of one that may be there; what is no plain file is just written to."""
    path = Path(file)
    try:
        if not path.exists() or path.is_file():
            put_in_place(path.resolve(), content)  # what a link points to is replaced, not the link
        else:
            path.write_bytes(content)  # a pipe or a device; and a folder says what it is
    except OSError as error:
        raise StoreUnavailable(f"{file} cannot be written: {error.strerror}") from error
