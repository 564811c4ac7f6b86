"""A file written as a whole: whatever happens, it holds what it held before, or all of the new."""

from __future__ import annotations

import os
from errno import EISDIR
from pathlib import Path
from stat import S_ISREG

from noughts.core.errors import StoreUnavailable
from noughts.files import put_in_place


def write_whole(file: str, content: bytes) -> None:
    """Write a file, in the place of one that may be there; what is no plain file is just written to."""
    path = Path(file)
    try:
        if file.endswith(os.sep):  # which a path does not keep
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        if _is_plain(path):
            put_in_place(path.resolve(), content)  # what a link points to is replaced, not the link
        else:
            path.write_bytes(content)  # a pipe or a device; and a folder says what it is
    except BrokenPipeError:  # whoever was reading has gone, and needs no words
        raise
    except OSError as error:
        raise StoreUnavailable(f"{file} cannot be written: {error.strerror}") from error


def _is_plain(path: Path) -> bool:
    """Say whether a file is there, or nothing; a link to itself says what it is."""
    try:
        return S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return True
