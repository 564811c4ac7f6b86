"""Reads as many rows as possible of a store that may be damaged, without checking them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from noughts.store import sqlite_schema as schema
from noughts.store.errors import StoreMissing, StoreUnavailable, UnknownStore
from noughts.store.files import beside
from noughts.store.sql import CATALOGUE, DOCUMENTS, EXISTS
from noughts.store.urls import NEEDS_DRIVER, is_on_server, sqlite_path

ROWS_PER_READ = 1000
FIRST_NUMBER, LAST_NUMBER = -(2**63), 2**63 - 1
MAX_SKIPPED, MAX_SKIPPED_AT_END = 100_000, 1_000
"""How many unreadable numbers are tried in a row: up to the last that was used, and after it."""

_SELECT = {
    "records": f"SELECT game, version, at, key, events, hash FROM noughts_records WHERE {EXISTS}",  # noqa: S608 - our own text
    "documents": f"{DOCUMENTS} WHERE true",
    "games": f"{CATALOGUE} WHERE true",
}
_AFTER = " NOT INDEXED WHERE sequence > ? AND "
_IS_TABLE = "SELECT count(*) FROM sqlite_schema WHERE name = ? AND type = 'table' AND rootpage > 0"


def salvage(url: str, table: str, unread: list[str]) -> Iterator[tuple[Any, ...]]:
    """Return the rows of a table; add to `unread` why some can't be read."""
    check_repairable(url)
    if path := sqlite_path(url):
        return _from_file(path, table, unread)
    return _from_server(url, table, unread)


def check_repairable(url: str) -> None:
    if not sqlite_path(url) and not is_on_server(url):
        raise UnknownStore(
            "only a store in a file or on a server can be restored or repaired: sqlite:PATH or "
            "postgresql://USER@HOST/DATABASE"
        )


def _from_file(path: Path, table: str, unread: list[str]) -> Iterator[tuple[Any, ...]]:
    if not path.is_file():
        not_a_file = f"{path} is not a store of games: it is not a file"
        raise StoreMissing(not_a_file if path.exists() else f"no store at {path}")
    is_idle = schema.is_fixed(path) or not beside(path, "-wal").exists()  # an open store has a log
    mode = "immutable=1" if is_idle else "mode=ro"  # immutable: creates no files
    with closing(schema.connect(f"{path.as_uri()}?{mode}")) as store:
        store.text_factory = schema.decode_damaged
        store.execute("PRAGMA writable_schema = ON")  # reads on where the file is shorter than it says
        try:
            (is_table,) = store.execute(_IS_TABLE, (f"noughts_{table}",)).fetchone()
            if not is_table:  # reading from a view may never end
                unread.append(f"the {table} can't be read: noughts_{table} is not a table")
            elif table == "games":
                yield from store.execute(_SELECT[table]).fetchall()
            else:
                yield from _by_number(store, table, unread)
        except sqlite3.Error as error:
            if table != "games":  # they are made again from the records
                unread.append(f"the {table} can't be read: {error}")


def _by_number(store: sqlite3.Connection, table: str, unread: list[str]) -> Iterator[tuple[Any, ...]]:
    """Read rows by their numbers; one that can't be read is skipped."""
    select = _SELECT[table].replace(" FROM ", ", sequence FROM ").replace(" WHERE ", _AFTER)
    last = _last_number(store)
    after, limit, skipped, in_a_row = FIRST_NUMBER, ROWS_PER_READ, 0, 0
    rows: list[Any] | None = None
    while rows is None or rows:
        try:
            rows = store.execute(f"{select} ORDER BY sequence LIMIT ?", (after, limit)).fetchall()
        except sqlite3.Error:
            if limit == 1:
                after, skipped, in_a_row = max(0, after + 1), skipped + 1, in_a_row + 1
            if in_a_row > (MAX_SKIPPED if after < last else MAX_SKIPPED_AT_END):
                break
            limit = max(1, limit // 2)
            continue
        rows = [row for row in rows if row[-1] > after]  # damage may have changed their order
        yield from (row[:-1] for row in rows)
        in_a_row = 0
        after, limit = max((row[-1] for row in rows), default=after), min(2 * limit, ROWS_PER_READ)
    if skipped:
        unread.append(f"rows of the {table} can't be read at {skipped} places")


def _last_number(store: sqlite3.Connection) -> int:
    """Return the last number that SQLite has used; if it is lost, the largest possible one."""
    try:
        (last,) = store.execute("SELECT max(seq) FROM sqlite_sequence").fetchone()
    except sqlite3.Error:
        return LAST_NUMBER
    return last if isinstance(last, int) else LAST_NUMBER


def _from_server(url: str, table: str, unread: list[str]) -> Iterator[tuple[Any, ...]]:
    try:
        import psycopg  # noqa: PLC0415 - loads only what is used
    except ImportError as error:
        raise UnknownStore(NEEDS_DRIVER) from error
    for one in url.split():
        try:
            session = psycopg.connect(one)
        except psycopg.Error as error:
            raise StoreUnavailable("the store on PostgreSQL can't be reached") from error
        try:
            with session, session.cursor("noughts_salvage") as rows:
                yield from rows.execute(_SELECT[table].encode())
        except psycopg.Error as error:
            unread.append(f"not all of the {table} can be read: {str(error).splitlines()[0]}")
