"""A store from its URL."""

from __future__ import annotations

import os

from noughts.core.errors import UnknownStore, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from noughts.store.base import EventStore

KINDS = "memory:, sqlite:PATH or postgresql://USER@HOST/DATABASE"


def open_store(url: str, *, create: bool = True) -> EventStore:
    """Open a store, made if it is not there, unless `create` is False.

    >>> open_store("sqllite:games.db")
    Traceback (most recent call last):
    noughts.core.errors.UnknownStore: 'sqllite:…' names no store: a store is memory:, sqlite:PATH or ...
    """
    if not isinstance(url, str):
        raise UnknownStore(f"{quoted(url)} names no store: a store is {KINDS}")
    kind, colon, rest = url.partition(":")
    match kind if colon else "":
        case "memory" if not rest:
            from noughts.store.memory import MemoryStore  # noqa: PLC0415 - only what is asked for is loaded

            return MemoryStore()
        case "sqlite" if rest and "\0" not in rest:
            from noughts.store.sqlite import SQLiteStore  # noqa: PLC0415 - the same

            return SQLiteStore(os.path.expanduser(rest), create=create)  # noqa: PTH111 - it never raises
        case "postgresql" | "postgres":
            try:
                from noughts.store.postgres import PostgresStore  # noqa: PLC0415 - the same
            except ImportError as error:
                raise UnknownStore(
                    "a store on PostgreSQL needs its driver: pip install 'noughts[postgres]'"
                ) from error
            return PostgresStore(url, create=create)
        case _:
            # The rest may hold a password, and is not shown.
            shown = quoted(f"{kind}:…") if colon else quoted(url)
            raise UnknownStore(f"{shown} names no store: a store is {KINDS}")
