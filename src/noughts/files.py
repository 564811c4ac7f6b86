"""Atomic writes, bounded reads, and JSON files that say what they contain.

After a crash, a file has its old content or its new content.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from errno import EINVAL, EISDIR, ENOENT
from pathlib import Path
from stat import S_IMODE, S_ISREG
from typing import Any, TypeAlias, TypeVar

from noughts.core.codec import read_json
from noughts.core.errors import InvalidArgument, NoughtsError, quoted
from noughts.core.value import Value

Thing = TypeVar("Thing")
JsonObject: TypeAlias = dict[str, Any]

MAX_FILE_BYTES = 1_000_000
"""More than twice what any of these files needs."""


class FileUnavailable(NoughtsError):
    """A file that cannot be read or written."""

    exit_code = 1


class JsonFormat(Value):
    """How a file says what it is: `{"menace": 1, …}` is a menace of schema 1, with its parts."""

    thing: str
    schema: int
    parts: tuple[str, ...]
    refusal: type[NoughtsError]
    """Raised for any other content."""

    def load(self, path: Path | str, read: Callable[[JsonObject], Thing]) -> Thing:
        """Read a file and convert it; raise `refusal` if that fails."""
        path = _path(path)
        try:
            _check_plain(path)
            with path.open("rb") as file:
                text = file.read(MAX_FILE_BYTES + 1)
        except (OSError, ValueError) as error:
            raise self.refusal(f"{path} cannot be read: {_why(error)}") from error
        try:
            return read(self._checked(text))
        except NoughtsError as error:
            raise self.refusal(f"{path} is not a {self.thing}: {error}") from error

    def _checked(self, text: bytes) -> JsonObject:
        if len(text) > MAX_FILE_BYTES:
            raise self.refusal("it is too long")
        try:
            written = read_json(text.decode())
        except UnicodeDecodeError:
            raise self.refusal("it is not text") from None
        schema = written.get(self.thing) if isinstance(written, dict) else None
        if not isinstance(written, dict) or type(schema) is not int or schema != self.schema:
            raise self.refusal(f"it does not say that it is a {self.thing} of schema {self.schema}")
        if {*written} - {self.thing, *self.parts}:
            raise self.refusal("it has unknown parts")
        return written


def replace_file(path: Path | str, text: str, *, in_new_folder: bool = False) -> None:
    """Write a file and sync it to the disk; create a missing folder only if asked to."""
    path = _path(path)
    try:
        path = path.resolve()  # replace the target of a link, not the link
        _check_plain(path)
        if in_new_folder:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        elif not path.parent.exists():
            raise FileNotFoundError(ENOENT, f"the folder {path.parent} is missing")
        put_in_place(path, text.encode())
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a link to itself, until 3.13
        raise FileUnavailable(f"{path} cannot be written: {_why(error)}") from error


def replace_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, and sync it to the disk; create missing folders."""
    new = path.with_name(f".noughts-{os.urandom(8).hex()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # the new file gets the mode of the old one
            path.chmod(0o600)
        os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        put_in_place(path, text.encode(), new=new)
    except OSError as error:
        raise FileUnavailable(f"{path} cannot be written: {error.strerror}") from error


def write_output(file: str, content: bytes) -> None:
    """Replace a regular file atomically; write directly to a pipe or a device."""
    path = Path(file)
    try:
        if file.endswith(os.sep):  # Path drops it
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        if _is_plain_or_missing(path):
            put_in_place(path.resolve(), content)
        else:
            path.write_bytes(content)
    except BrokenPipeError:  # the reader has gone: no message
        raise
    except OSError as error:
        raise FileUnavailable(f"{file} cannot be written: {error.strerror}") from error


def check_replaceable(file: str) -> None:
    """Refuse a file that is not a regular one, or whose folder takes no new files."""
    from tempfile import TemporaryFile  # noqa: PLC0415 - slow, and rarely needed

    try:
        path = Path(file).resolve()
        _check_plain(path)
        if path.is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        with TemporaryFile(dir=path.parent):
            pass
    except (OSError, RuntimeError) as error:
        raise FileUnavailable(f"{file} cannot be written: {_why(error)}") from error


def put_in_place(path: Path, content: bytes, *, new: Path | None = None) -> None:
    """Replace a file atomically; keep its mode and owner.

    `new` is the temporary file; only one process at a time may use a given one.
    """
    new = new or path.with_name(f".noughts-{os.urandom(8).hex()}")
    try:
        with new.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            copy_owner(path, new)
        new.replace(path)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise
    from noughts.system import sync_folder  # noqa: PLC0415 - loads threads, which reading does not need

    sync_folder(path.parent)


def copy_owner(model: Path, path: Path) -> None:
    """Copy the mode of a file and, if permitted, its owner and group."""
    found = model.stat()
    for owner, group in ((-1, found.st_gid), (found.st_uid, -1)):
        with suppress(PermissionError):
            os.chown(path, owner, group)
    path.chmod(S_IMODE(found.st_mode))


def _path(path: Path | str) -> Path:
    try:
        return Path(path)
    except TypeError:
        raise InvalidArgument(f"a path is text or a Path, not {quoted(path)}") from None


def _check_plain(path: Path) -> None:
    """Refuse a pipe or a device: reading it may never end, and it must not be replaced."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(EINVAL, "it is not a regular file")


def _why(error: Exception) -> str:
    if isinstance(error, OSError):
        return str(error.strerror)
    return "it is not a valid file name" if isinstance(error, ValueError) else "it is a link to itself"


def _is_plain_or_missing(path: Path) -> bool:
    try:
        return S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return True
