"""Opens a store from its URL."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from noughts.core.errors import quoted
from noughts.store.base import EventStore
from noughts.store.errors import StoreUnavailable, UnknownStore

KINDS = "memory:, sqlite:PATH or postgresql://USER@HOST/DATABASE"
NEEDS_DRIVER = "a store on PostgreSQL needs its driver: pip install 'noughts[postgres]'"
_POSTGRES = ("postgresql", "postgres")


def open_store(url: str, *, create: bool = True, checkpoint_file: str = "") -> EventStore:
    """Open a store; create it if it is missing, unless `create` is False.

    Several PostgreSQL URLs, separated by spaces, are one store of several databases. `checkpoint_file`
    is for a copy of their checkpoints; a store in a file has its own.

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
            return _open_postgres(url, create=create, checkpoint_file=checkpoint_file)
        case _:
            # The rest isn't shown: it may contain a password.
            shown = quoted(f"{kind}:…") if colon else quoted(url)
            raise UnknownStore(f"{shown} is not a store: a store is {KINDS}")


def default_store(environment: Mapping[str, str]) -> str:
    """Return the URL of the user's own store.

    >>> default_store({"HOME": "/home/bob"})
    'sqlite:/home/bob/.local/share/noughts/games.sqlite'
    """
    return environment.get("NOUGHTS_STORE") or f"sqlite:{data_folder(environment) / 'games.sqlite'}"


def data_folder(environment: Mapping[str, str]) -> Path:
    """Return the user's data folder, by the XDG base directory specification."""
    data, home = (Path(environment.get(name, "")) for name in ("XDG_DATA_HOME", "HOME"))
    for folder in (data, home / ".local" / "share"):
        if folder.is_absolute():
            return folder / "noughts"
    raise StoreUnavailable("no folder to save games in: set HOME, or use --store")


def is_on_server(url: str) -> bool:
    """Check whether the store is in a database server, which other machines may use too."""
    return url.partition(":")[0] in _POSTGRES


def sqlite_path(url: str) -> Path | None:
    kind, _, rest = url.partition(":")
    if kind != "sqlite" or not rest or "\0" in rest:
        return None
    return Path(os.path.realpath(_expanded(rest)))


def _expanded(path: str) -> str:
    return os.path.expanduser(path)  # noqa: PTH111 - it never raises


def _open_postgres(url: str, *, create: bool, checkpoint_file: str) -> EventStore:
    try:
        from noughts.store.postgres import PostgresStore  # noqa: PLC0415 - loads only what is used
    except ImportError as error:
        raise UnknownStore(NEEDS_DRIVER) from error
    urls = url.split()
    if len(urls) > 1 and all(one.partition("://")[0] in _POSTGRES for one in urls):
        from noughts.store.sharded import ShardedStore  # noqa: PLC0415 - loads only what is used

        return ShardedStore(urls, create=create, checkpoint_file=checkpoint_file)
    return PostgresStore(url, create=create, checkpoint_file=checkpoint_file)
