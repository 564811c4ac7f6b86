"""The bots that are asked for on the command line, and the MENACE that is kept for its user."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EACCES
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import BinaryIO

from noughts.bots.errors import NotAMachine, UnknownPolicy
from noughts.bots.menace.file import load_machine, save_machine
from noughts.bots.menace.machine import Menace
from noughts.bots.policy import Policy
from noughts.bots.policy_file import load_policy
from noughts.bots.registry import SAVED, find_policy, policy_names
from noughts.core.errors import quoted
from noughts.files import FileUnavailable
from noughts.store.errors import StoreUnavailable
from noughts.store.urls import data_folder

MENACE, MENACE_FILE = "menace", "menace:file="
SAVED_FILE = f"{SAVED}:file="


def asked_policy(name: str) -> Policy:
    """Return a policy by its name; it can be in a file, and `menace` alone is kept here."""
    if name.startswith(SAVED_FILE):
        return load_policy(_file(name, SAVED_FILE))
    if name.partition(":")[0] == SAVED and SAVED not in policy_names():
        raise UnknownPolicy(f"a policy in a file is asked for as {SAVED_FILE}PATH, not as {quoted(name)}")
    if name.startswith(MENACE_FILE):
        return load_machine(_file(name, MENACE_FILE))
    return kept_machine(kept_file()) if name == MENACE else find_policy(name)


def machine_file(asked: str) -> Path | None:
    """Return where the machine that is asked for is kept, if it has a file."""
    if asked.startswith(MENACE_FILE):
        return _file(asked, MENACE_FILE)
    return kept_file() if asked == MENACE else None


def _file(asked: str, prefix: str) -> Path:
    if not (name := asked.removeprefix(prefix)):
        raise UnknownPolicy(f"{prefix} needs the name of a file")
    return Path(name)


def kept_file() -> Path:
    """Return where the user's machine is kept."""
    try:
        return data_folder(os.environ) / "menace.json"
    except StoreUnavailable:
        raise FileUnavailable(
            "there is no folder to keep a menace in: set HOME, or say menace:file=PATH or --file PATH"
        ) from None


def kept_machine(file: Path) -> Menace:
    """Return the machine in a file, or a new one if there is none."""
    return load_machine(file) if file.exists() else Menace()


@contextmanager
def taught(file: Path) -> Iterator[None]:
    """Keep others from teaching the machine in a file meanwhile: what one of them learns would be lost.

    The file is held, and with it its place: whoever saves the machine puts another file there.
    """
    if file.is_dir():
        raise NotAMachine(f"{file} is a folder, and no file that holds a menace")
    if not file.exists():
        save_machine(Menace(), file)
    try:
        with file.open("rb") as held:
            flock(held, LOCK_EX | LOCK_NB)
            _check_place(held, file)
            yield
    except BlockingIOError:
        raise FileUnavailable(f"{file} is being taught by another noughts") from None
    except OSError as error:
        raise FileUnavailable(f"{file} cannot be written: {error.strerror}") from error


def _check_place(held: BinaryIO, file: Path) -> None:
    """Refuse a file that was replaced while we took hold of it, or that cannot be replaced by us."""
    if not os.path.samestat(os.fstat(held.fileno()), file.stat()):
        raise BlockingIOError
    if not os.access(file.resolve().parent, os.W_OK):
        raise PermissionError(EACCES, os.strerror(EACCES))
