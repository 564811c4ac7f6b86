"""The bots that are asked for on the command line, and the MENACE that is kept for its user."""

from __future__ import annotations

import os
from pathlib import Path

from noughts.core.errors import StoreUnavailable
from noughts.players.menace import Menace
from noughts.players.menace_file import load_machine
from noughts.players.policies import find_policy
from noughts.terminal.saving import data_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from noughts.players.policies import Policy

BOT, MENACE, FILE = "bot:", "menace", "menace:file="


def asked_policy(asked: str) -> Policy:
    """Return a policy by its name; `menace` alone is the machine that is kept here."""
    name = asked.removeprefix(BOT)  # who is used to seats writes it so
    return kept_machine(kept_file()) if name == MENACE else find_policy(name)


def asked_machine(asked: str) -> tuple[Menace, Path | None] | None:
    """Return the machine that is asked for and its file, if it has one; None if it is another bot."""
    policy = asked_policy(asked)
    if not isinstance(policy, Menace):
        return None
    if asked.startswith(FILE):
        return policy, Path(asked.removeprefix(FILE))
    return policy, kept_file() if asked == MENACE else None


def kept_file() -> Path:
    """Return where the user's machine is kept."""
    try:
        return data_folder(os.environ) / "menace.json"
    except StoreUnavailable:
        raise StoreUnavailable(
            "there is no folder to keep a menace in: set HOME, or say menace:file=PATH or --file PATH"
        ) from None


def kept_machine(file: Path) -> Menace:
    """Return the machine in a file, or a new one if there is none."""
    return load_machine(file) if file.exists() else Menace()
