"""The tables of a store on PostgreSQL: made, brought up to date, or refused untouched."""

from __future__ import annotations

from psycopg import Connection, Cursor, errors, sql

from noughts.core.errors import CorruptStore, NotAStore, StoreMissing
from noughts.store.chain import Recorded
from noughts.store.ledger import catalogued

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Session: TypeAlias = Connection[tuple[Any, ...]]

LOCK = int.from_bytes(b"noughts", "big")
"""Held while the tables change, while a writer looks where they end, and while notes are written."""


def _create(store: Session) -> None:
    """Version 1: games have numbers, in the order of their creation, and events have positions."""
    store.execute("CREATE TABLE noughts_games (number bigint PRIMARY KEY, id text NOT NULL UNIQUE)")
    store.execute(
        "CREATE TABLE noughts_events (position bigint PRIMARY KEY, game bigint NOT NULL,"
        " version int NOT NULL, at bigint NOT NULL, key text NOT NULL, event text NOT NULL,"
        " hash bytea NOT NULL, UNIQUE (game, version))"
    )


def _add_catalogue(store: Session) -> None:
    """Version 2: games can be found by who played, and by how they ended."""
    store.execute(
        "ALTER TABLE noughts_games ADD COLUMN x text, ADD COLUMN o text, ADD COLUMN result text"
    )
    for number, text in store.execute("SELECT game, event FROM noughts_events ORDER BY position"):
        if found := catalogued(Recorded(0, "", 0, 0, "", text, b"").event):
            change(store, *found, number)
    store.execute("CREATE INDEX noughts_games_by_x ON noughts_games (x, number) WHERE x IS NOT NULL")
    store.execute("CREATE INDEX noughts_games_by_o ON noughts_games (o, number) WHERE o IS NOT NULL")
    store.execute("CREATE INDEX noughts_games_going_on ON noughts_games (number) WHERE result IS NULL")


def _add_notes(store: Session) -> None:
    """Version 3: notes stand beside the games, each at the place of its last change."""
    store.execute(
        "CREATE TABLE noughts_notes (name text PRIMARY KEY, revision bigint NOT NULL,"
        " change bigint NOT NULL UNIQUE, shelf text NOT NULL, text text NOT NULL, hash bytea NOT NULL)"
    )
    store.execute(
        "CREATE INDEX noughts_notes_by_shelf ON noughts_notes (shelf, change) WHERE shelf <> ''"
    )


MIGRATIONS: tuple[Callable[[Session], None], ...] = (_create, _add_catalogue, _add_notes)
"""Each leads from one version of the schema to the next; a new store goes through all of them."""


def bring_up_to_date(store: Session, *, create: bool) -> None:
    """Make the tables, or change older ones; those of a newer noughts are left untouched."""
    with store.transaction():
        store.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        (there,) = one(store.execute("SELECT to_regclass('noughts_schema') IS NOT NULL"))
        if not there and not create:
            raise StoreMissing("there is no store in that database")
        version = _version(store) if there else 0
        if version > len(MIGRATIONS):
            raise NotAStore(
                f"the store in that database was made by a newer noughts: its schema is {version}, "
                f"and this one reads {len(MIGRATIONS)}"
            )
        if not there:
            store.execute("CREATE TABLE noughts_schema (version int PRIMARY KEY)")
        for number, migrate in enumerate(MIGRATIONS[version:], start=version + 1):
            migrate(store)
            store.execute("INSERT INTO noughts_schema VALUES (%s)", (number,))


def _version(store: Session) -> int:
    try:
        (version,) = one(store.execute("SELECT max(version) FROM noughts_schema"))
    except (errors.UndefinedColumn, errors.UndefinedFunction, errors.WrongObjectType):
        version = None
    if not isinstance(version, int):
        raise NotAStore("the table noughts_schema in that database is no store's: it tells no version")
    return version


def change(writer: Session, column: str, value: str, number: int) -> None:
    """Let the list of games say something else of a game."""
    change = sql.SQL("UPDATE noughts_games SET {} = %s WHERE number = %s").format(sql.Identifier(column))
    writer.execute(change, (value, number))


def one(rows: Cursor[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the one row there is."""
    row = rows.fetchone()
    if row is None:
        raise CorruptStore("the server answers with nothing where there is always something")
    return row
