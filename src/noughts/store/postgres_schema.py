"""The tables of a store on PostgreSQL: created, checked, or refused untouched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from psycopg import Connection, errors

from noughts.core.errors import quoted
from noughts.store.errors import NotAStore, StoreMissing
from noughts.store.rows import Row, row_hash

Object: TypeAlias = tuple[str, str]
"""`table`, `index`, `trigger` or `rule`, and its name."""

SCHEMA = 20
"""As on SQLite: those below belonged to versions that were never released."""
SCHEMA_LOCK = int.from_bytes(b"noughts", "big")
"""The advisory lock for creating the tables."""

_TABLES = {
    "noughts": "schema integer NOT NULL",
    "games": 'id text COLLATE "C" NOT NULL, revision bigint NOT NULL, hour bigint NOT NULL,'
    " record text NOT NULL, room text NOT NULL, hash bytea NOT NULL, started bigint, played bigint,"
    " x text, o text, result text, open text, code text",
    "counter": "hours bigint NOT NULL, hash bytea NOT NULL",
    "processes": 'process text COLLATE "C" NOT NULL, expires timestamp with time zone NOT NULL',
    "presence": 'process text COLLATE "C" NOT NULL, game text COLLATE "C" NOT NULL,'
    " x integer NOT NULL, o integer NOT NULL, watching integer NOT NULL",
}
_UNLOGGED = {"processes", "presence"}
_INDEXES = {  # nothing that a move changes is in an index
    "games_by_start": "games USING btree (started, id) WHERE (started IS NOT NULL)",
    "games_by_x": "games USING btree (x, started, id) WHERE (x IS NOT NULL)",
    "games_by_o": "games USING btree (o, started, id) WHERE (o IS NOT NULL)",
    "games_by_hour": "games USING btree (hour) WHERE ((started IS NOT NULL) AND (room <> ''::text))",
    "presence_by_game": "presence USING btree (game)",
}
_KEYS = {
    "games_pkey": "UNIQUE games USING btree (id)",
    "processes_pkey": "UNIQUE processes USING btree (process)",
    "presence_pkey": "UNIQUE presence USING btree (process, game)",
}
_EXPECTED: dict[Object, str] = {
    **{("table", name): columns for name, columns in _TABLES.items()},
    **{("index", name): definition for name, definition in (_INDEXES | _KEYS).items()},
}
_FOUND = """WITH ours AS (SELECT oid, relname, relkind FROM pg_class
        WHERE oid IN (SELECT to_regclass(name) FROM unnest(%s::text[]) AS name))
    SELECT 'table', relname, CASE relkind WHEN 'r' THEN (
        SELECT string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod),
            CASE WHEN collname <> 'default' THEN format('COLLATE %%I', collname) END,
            CASE WHEN attnotnull THEN 'NOT NULL' END), ', ' ORDER BY attnum)
        FROM pg_attribute LEFT JOIN pg_collation AS used ON used.oid = attcollation
        WHERE attrelid = ours.oid AND attnum > 0 AND NOT attisdropped) END FROM ours
    UNION ALL SELECT 'index', one.relname, CASE WHEN indisvalid THEN concat(
        CASE WHEN indisunique THEN 'UNIQUE ' END, ours.relname, ' ',
        substring(pg_get_indexdef(indexrelid) FROM 'USING .*')) END
    FROM ours JOIN pg_index ON indrelid = ours.oid JOIN pg_class AS one ON indexrelid = one.oid
    UNION ALL SELECT 'trigger', tgname, NULL FROM ours JOIN pg_trigger ON tgrelid = ours.oid
    WHERE NOT tgisinternal
    UNION ALL SELECT 'rule', rulename, NULL FROM ours JOIN pg_rewrite ON ev_class = ours.oid
    WHERE relkind = 'r'"""


def prepare(store: Connection[Any], *, create: bool) -> None:
    """Create the tables if they are missing; refuse those of anything else, untouched."""
    with store.transaction():
        store.execute("SELECT pg_advisory_xact_lock(%s)", (SCHEMA_LOCK,))
        names = "SELECT name FROM unnest(%s::text[]) AS name WHERE to_regclass(name) IS NOT NULL"
        found = {name for (name,) in store.execute(names, ([*_TABLES],))}
        if "noughts" in found:
            _check_version(store)
        elif not create:
            raise StoreMissing("no store in that database")
        elif found:
            raise NotAStore(f"that database has a table {quoted(min(found))} of another program")
        else:
            _create(store)


def _create(store: Connection[Any]) -> None:
    for name, columns in _TABLES.items():
        kind = "UNLOGGED TABLE" if name in _UNLOGGED else "TABLE"
        store.execute(f"CREATE {kind} {name} ({columns})".encode())
    store.execute("ALTER TABLE games SET (fillfactor = 50), ADD PRIMARY KEY (id)")  # rows grow in place
    store.execute("ALTER TABLE processes ADD PRIMARY KEY (process)")
    store.execute("""ALTER TABLE presence ADD PRIMARY KEY (process, game),
        ADD FOREIGN KEY (process) REFERENCES processes ON DELETE CASCADE""")
    for name, definition in _INDEXES.items():
        store.execute(f"CREATE INDEX {name} ON {definition}".encode())
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


def differences(select: Callable[..., list[Row]]) -> Iterator[str]:
    """Compare the tables and indexes with those of a new store."""
    expected = dict(_EXPECTED)
    for kind, name, definition in select(_FOUND, [*_TABLES]):
        if (kind, name) not in expected:
            yield f"the {kind} {quoted(name)} is not part of a store"
        elif expected.pop((kind, name)) != definition:
            yield f"the {kind} {name} is not the one that the store was made with"
    for kind, name in expected:
        yield f"the {kind} {name} is missing"
