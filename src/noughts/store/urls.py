"""Opens a store from its URL."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from noughts.core.errors import quoted
from noughts.store.base import Store
from noughts.store.errors import StoreUnavailable, UnknownStore

KINDS = "memory:, sqlite:PATH or postgresql://USER@HOST/DATABASE"
NEEDS_DRIVER = "a store on PostgreSQL needs its driver: pip install 'noughts[postgres]'"
SAVED, SERVED = "saved.sqlite", "server.sqlite"
"""The default files: a web game is the server's, so the terminal has a file of its own."""


def open_store(url: str, *, create: bool = True) -> Store:
    """Open a store; create it if it is missing, unless `create` is False.

    >>> open_store("sqllite:games.db")
    Traceback (most recent call last):
    noughts.store.errors.UnknownStore: 'sqllite:…' is not a store: a store is memory:, sqlite:PATH or ...
    """
    if not isinstance(url, str):
        raise UnknownStore(f"{quoted(url)} is not a store: a store is {KINDS}")
    kind, colon, rest = url.partition(":")
    match kind if colon else "":
        case "memory" if not rest:
            from noughts.store.memory import MemoryStore  # noqa: PLC0415 - loads only what is used

            return MemoryStore()
        case "sqlite" if rest and "\0" not in rest:
            from noughts.store.sqlite import SQLiteStore  # noqa: PLC0415 - loads only what is used

            return SQLiteStore(_expanded(rest), create=create)
        case "postgresql" | "postgres":
            try:
                from noughts.store.postgres import PostgresStore  # noqa: PLC0415 - loads only what is used
            except ImportError as error:
                raise UnknownStore(NEEDS_DRIVER) from error
            return PostgresStore(url, create=create)
        case _:
            # The rest isn't shown: it may contain a password.
            shown = quoted(f"{kind}:…") if colon else quoted(url)
            raise UnknownStore(f"{shown} is not a store: a store is {KINDS}")


def default_store(environment: Mapping[str, str], file: str = SAVED) -> str:
    """Return the URL of the user's own store: of the terminal, or of the server.

    >>> default_store({"HOME": "/home/bob"})
    'sqlite:/home/bob/.local/share/noughts/saved.sqlite'
    """
    return environment.get("NOUGHTS_STORE") or f"sqlite:{data_folder(environment) / file}"


def data_folder(environment: Mapping[str, str]) -> Path:
    """Return the user's data folder, by the XDG base directory specification."""
    data, home = (Path(environment.get(name, "")) for name in ("XDG_DATA_HOME", "HOME"))
    for folder in (data, home / ".local" / "share"):
        if folder.is_absolute():
            return folder / "noughts"
    raise StoreUnavailable("no folder to save games in: set HOME, or use --store")


def sqlite_path(url: str) -> Path | None:
    kind, _, rest = url.partition(":")
    if kind != "sqlite" or not rest or "\0" in rest:
        return None
    return Path(os.path.realpath(_expanded(rest)))


def _expanded(path: str) -> str:
    return os.path.expanduser(path)  # noqa: PTH111 - it never raises
