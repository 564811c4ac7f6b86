"""The tables of a store on PostgreSQL: created, checked, or refused untouched."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote

from psycopg import Connection, Cursor, Error, ProgrammingError, errors
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import PoolClosed, PoolTimeout

from noughts.core.errors import quoted
from noughts.store.errors import CorruptStore, NotAStore, StoreMissing, StoreUnavailable, UnknownStore
from noughts.store.sql import CATALOGUE_INDEXES, OLDEST_SCHEMA, check_schema

Session: TypeAlias = Connection[tuple[Any, ...]]

SCHEMA_LOCK = int.from_bytes(b"noughts", "big")
"""The advisory lock for creating and changing tables."""


class Shard(NamedTuple):
    number: int = 0
    total: int = 1


ONLY_SHARD = Shard()


def _create(store: Session, shard: Shard) -> None:
    store.execute(f"""
        CREATE TABLE noughts_records (game text COLLATE "C" NOT NULL, version int NOT NULL,
            at bigint NOT NULL, key text NOT NULL, events text NOT NULL, hash bytea NOT NULL,
            generation int NOT NULL, xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
            PRIMARY KEY (game, version));
        CREATE INDEX noughts_feed ON noughts_records (generation, xid, game, version);
        CREATE TABLE noughts_games (id text COLLATE "C" PRIMARY KEY, started bigint NOT NULL,
            x text, o text, result text);
        {CATALOGUE_INDEXES};
        CREATE TABLE noughts_documents (name text COLLATE "C" PRIMARY KEY, revision bigint NOT NULL,
            label text NOT NULL, text text NOT NULL, key text NOT NULL, hash bytea NOT NULL,
            generation int NOT NULL, xid xid8 NOT NULL DEFAULT pg_current_xact_id());
        CREATE INDEX noughts_changes ON noughts_documents (generation, xid, name);
        CREATE INDEX noughts_documents_by_label ON noughts_documents (label, generation, xid, name)
            WHERE label <> '';
        CREATE TABLE noughts_store (server bigint NOT NULL, generation int NOT NULL,
            shard int NOT NULL, shards int NOT NULL, id text NOT NULL DEFAULT gen_random_uuid()::text);
        CREATE TABLE noughts_checkpoint (cursor text NOT NULL, records bigint NOT NULL,
            hashes text NOT NULL, documents_cursor text NOT NULL, documents text,
            is_copied boolean NOT NULL DEFAULT false)""")
    store.execute("INSERT INTO noughts_checkpoint VALUES ('', 0, '0', '', NULL)")
    store.execute(
        "INSERT INTO noughts_store SELECT system_identifier, 1, %s, %s FROM pg_control_system()", shard
    )


MIGRATIONS: tuple[Callable[[Session, Shard], None], ...] = (_create,)
"""The first creates a store with the oldest schema; each of the others leads to the next schema."""
SCHEMA = OLDEST_SCHEMA + len(MIGRATIONS) - 1

_TABLES = """SELECT relname, relkind::text FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f')
    AND relnamespace = current_schema()::regnamespace AND starts_with(relname::text, 'noughts_')"""
_INDEXES = """SELECT relname, CASE WHEN indisunique THEN 'UNIQUE ' ELSE '' END
    || CASE WHEN indisvalid THEN substring(pg_get_indexdef(indexrelid) FROM 'USING btree (.*)') END
    FROM pg_index JOIN pg_class ON indexrelid = pg_class.oid
    WHERE relnamespace = current_schema()::regnamespace AND relname = ANY(%s)"""
_ATTACHED = """WITH ours AS (SELECT oid, relname FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relname = ANY(%s))
    SELECT tgname, relname FROM pg_trigger JOIN ours ON tgrelid = ours.oid WHERE NOT tgisinternal
    UNION ALL SELECT rulename, relname FROM pg_rewrite JOIN ours ON ev_class = ours.oid"""


def prepare(store: Session, shard: Shard, *, create: bool) -> None:
    with store.transaction():
        store.execute("SELECT pg_advisory_xact_lock(%s)", (SCHEMA_LOCK,))
        (exists,) = one(store.execute("SELECT to_regclass('noughts_schema') IS NOT NULL"))
        if not exists and not create:
            raise StoreMissing("no store in that database")
        version = _version(store) if exists else 0
        if version:
            check_schema(version, SCHEMA, "the store in that database")
        if not exists:
            store.execute("CREATE TABLE noughts_schema (version int PRIMARY KEY)")
        for migrate in MIGRATIONS[version and version - OLDEST_SCHEMA + 1 :]:
            migrate(store, shard)
        if version < SCHEMA:
            store.execute("INSERT INTO noughts_schema VALUES (%s)", (SCHEMA,))
        found = Shard(*one(store.execute("SELECT shard, shards FROM noughts_store")))
        if found != shard:
            raise NotAStore(
                f"that database is number {found.number + 1} of the {found.total} databases of its store,"
                f" and was named as number {shard.number + 1} of {shard.total}"
            )


TABLES = [
    *("noughts_records", "noughts_games", "noughts_documents"),
    *("noughts_schema", "noughts_store", "noughts_checkpoint"),
]
INDEXES = {
    "noughts_records_pkey": "UNIQUE (game, version)",
    "noughts_feed": "(generation, xid, game, version)",
    "noughts_documents_pkey": "UNIQUE (name)",
    "noughts_changes": "(generation, xid, name)",
    "noughts_documents_by_label": "(label, generation, xid, name) WHERE (label <> ''::text)",
    "noughts_games_pkey": "UNIQUE (id)",
    "noughts_games_by_start": "(started, id)",
    "noughts_games_by_x": "(x, started, id) WHERE (x IS NOT NULL)",
    "noughts_games_by_o": "(o, started, id) WHERE (o IS NOT NULL)",
    "noughts_games_unfinished": "(started, id) WHERE (result IS NULL)",
}
"""As PostgreSQL writes them."""


def differences(store: Session) -> Iterator[str]:
    kinds: dict[str, str] = dict(store.execute(_TABLES).fetchall())
    for table in TABLES:
        if kinds.pop(table, None) != "r":
            yield f"the table {table} is missing, or not a plain table"
    for table in kinds:
        yield f"the table {quoted(table)} is not part of a store"
    found: dict[str, str] = dict(store.execute(_INDEXES, ([*INDEXES],)).fetchall())
    for index, definition in INDEXES.items():
        if found.get(index) != definition:
            yield f"the index {index} is {'not the one it was' if index in found else 'missing'}"
    for name, table in store.execute(_ATTACHED, (TABLES,)):
        yield f"the trigger or rule {quoted(name)} on {table} is not part of a store"


def current_generation(store: Session) -> int:
    """Return the store's generation; it grows when the database is moved to another server.

    Transaction ids order the feed, and each server counts its own.
    """
    (server,) = one(store.execute("SELECT system_identifier FROM pg_control_system()"))
    before, generation = one(store.execute("SELECT server, generation FROM noughts_store"))
    if server != before:
        store.execute(
            "UPDATE noughts_store SET server = %s, generation = generation + 1 WHERE server = %s",
            (server, before),
        )
        (generation,) = one(store.execute("SELECT generation FROM noughts_store"))
    return int(generation)


def _version(store: Session) -> int:
    try:
        (version,) = one(store.execute("SELECT max(version) FROM noughts_schema"))
    except (errors.UndefinedColumn, errors.UndefinedFunction, errors.WrongObjectType):
        version = None
    if not isinstance(version, int):
        raise NotAStore("the table noughts_schema in that database isn't a store's: it has no version")
    return version


def one(rows: Cursor[tuple[Any, ...]]) -> tuple[Any, ...]:
    row = rows.fetchone()
    if row is None:
        raise CorruptStore("the store on PostgreSQL is damaged: a row is missing")
    return row


def check_url(url: str) -> None:
    """Refuse an invalid URL; psycopg's message would show its password."""
    try:
        conninfo_to_dict(url)
    except ProgrammingError:
        raise UnknownStore(
            "that is not the URL of a database: use postgresql://USER@HOST/DATABASE"
        ) from None


@contextmanager
def translated(url: str) -> Iterator[None]:
    try:
        yield
    except Error as error:
        words = (str(error).strip().splitlines() or [type(error).__name__])[0]
        if isinstance(error, _DAMAGE):
            raise CorruptStore(f"the store on PostgreSQL is damaged: {words}") from error
        if isinstance(error, PoolTimeout | PoolClosed) or any(one in words for one in _secrets(url)):
            words = f"the server cannot be reached ({type(error).__name__})"
        raise StoreUnavailable(f"the store on PostgreSQL is unavailable: {words}") from error


_DAMAGE = (
    errors.DataCorrupted,
    errors.IndexCorrupted,
    errors.UndefinedTable,
    errors.UndefinedColumn,
    errors.WrongObjectType,
)


def _secrets(url: str) -> list[str]:
    """Return possible passwords in a URL, and parts of one: an @ in it must be written %40."""
    before_host = url.rpartition("@")[0].partition("://")[2]
    password = before_host.partition(":")[2]
    return [part for part in (*re.split("[@:/?#]", password), unquote(password)) if len(part) > 2]
