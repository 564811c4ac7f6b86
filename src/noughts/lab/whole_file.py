"""A file written as a whole: whatever happens, it holds what it held before, or all of the new."""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_IMODE, S_ISREG

from noughts.core.errors import StoreUnavailable


def write_whole(file: str, content: bytes) -> None:
    """Write a file, in the place of one that may be there; what is no plain file is just written to."""
    path = Path(file)
    try:
        mode = _mode(path)
        if mode is None or S_ISREG(mode):
            _replace(path.resolve(), content, mode)  # what a link points to is replaced, not the link
        else:
            path.write_bytes(content)  # a pipe or a device; and a folder says what it is
    except OSError as error:
        raise StoreUnavailable(f"{file} cannot be written: {error.strerror}") from error


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _replace(path: Path, content: bytes, mode: int | None) -> None:
    beside = path.with_name(f".noughts-{os.urandom(8).hex()}")
    try:
        with beside.open("xb") as written:
            if mode is not None:
                os.fchmod(written.fileno(), S_IMODE(mode))
            written.write(content)
            written.flush()
            os.fsync(written.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
