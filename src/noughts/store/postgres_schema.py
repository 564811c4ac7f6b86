"""The tables of a store on PostgreSQL: created, or refused untouched."""

from __future__ import annotations

from typing import Any

from psycopg import Connection, errors

from noughts.core.errors import quoted
from noughts.store.errors import NotAStore, StoreMissing
from noughts.store.rows import row_hash

SCHEMA = 20
"""As on SQLite: those below belonged to versions that were never released."""
SCHEMA_LOCK = int.from_bytes(b"noughts", "big")
"""The advisory lock for creating the tables."""

TABLES = ("noughts", "games", "counter", "processes", "presence")
# Rows grow in place, and nothing that a move changes is in an index.
_CREATE = """
CREATE TABLE noughts (schema integer NOT NULL);
CREATE TABLE games (
    id text COLLATE "C" PRIMARY KEY, revision bigint NOT NULL, hour bigint NOT NULL,
    record text NOT NULL, room text NOT NULL, hash bytea NOT NULL,
    started bigint, played bigint, x text, o text, result text, open text, code text
) WITH (fillfactor = 50);
CREATE INDEX games_by_start ON games (started, id) WHERE started IS NOT NULL;
CREATE INDEX games_by_x ON games (x, started, id) WHERE x IS NOT NULL;
CREATE INDEX games_by_o ON games (o, started, id) WHERE o IS NOT NULL;
CREATE INDEX games_by_hour ON games (hour) WHERE started IS NOT NULL AND room <> '';
CREATE TABLE counter (hours bigint NOT NULL, hash bytea NOT NULL);
CREATE UNLOGGED TABLE processes (
    process text COLLATE "C" PRIMARY KEY, expires timestamp with time zone NOT NULL
);
CREATE UNLOGGED TABLE presence (
    process text COLLATE "C" REFERENCES processes ON DELETE CASCADE, game text COLLATE "C",
    x integer NOT NULL, o integer NOT NULL, watching integer NOT NULL, PRIMARY KEY (process, game)
);
CREATE INDEX presence_by_game ON presence (game)
"""


def prepare(store: Connection[Any], *, create: bool) -> None:
    """Create the tables if they are missing; refuse those of anything else, untouched."""
    with store.transaction():
        store.execute("SELECT pg_advisory_xact_lock(%s)", (SCHEMA_LOCK,))
        names = "SELECT name FROM unnest(%s::text[]) AS name WHERE to_regclass(name) IS NOT NULL"
        found = {name for (name,) in store.execute(names, ([*TABLES],))}
        if "noughts" in found:
            _check_version(store)
        elif not create:
            raise StoreMissing("no store in that database")
        elif found:
            raise NotAStore(f"that database has a table {quoted(min(found))} of another program")
        else:
            store.execute(_CREATE)
            store.execute("INSERT INTO counter VALUES (0, %s)", (row_hash("counter", 0, 0, "", ""),))
            store.execute("INSERT INTO noughts VALUES (%s)", (SCHEMA,))


def _check_version(store: Connection[Any]) -> None:
    try:
        versions = store.execute("SELECT schema FROM noughts").fetchall()
    except (errors.UndefinedColumn, errors.WrongObjectType):
        versions = []
    match versions:
        case [(int(version),)]:
            if version != SCHEMA:
                age = "an older" if version < SCHEMA else "a newer"
                raise NotAStore(f"the store in that database was made by {age} version of noughts")
        case _:
            raise NotAStore("the table noughts in that database isn't a store's: it has no version")
