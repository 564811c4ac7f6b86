"""Reads the rows of a store that may be damaged, past all checks: as many as can be read."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from noughts.core.errors import StoreMissing, UnknownStore
from noughts.store import sqlite_schema as schema
from noughts.store.sql import FEEDS
from noughts.store.urls import sqlite_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from noughts.store.base import Table

ROWS_AT_ONCE = 1000
COLUMNS: dict[Table, str] = {
    "records": "game, version, at, key, events, hash",
    "documents": FEEDS["documents"][0],
}
"""The columns of a `Record`, and those of a document's row."""


_IS_TABLE = "SELECT count(*) FROM sqlite_schema WHERE name = ? AND type = 'table' AND rootpage > 0"


def salvage(url: str, table: Table, unread: list[str]) -> Iterator[tuple[Any, ...]]:
    """Return the rows of a table that aren't erased; add to `unread` why others can't be read."""
    where = FEEDS[table][1]
    if path := sqlite_path(url):
        return _from_file(path, table, unread)
    if url.partition(":")[0] not in ("postgres", "postgresql"):
        raise UnknownStore("only a store in a file or on a server can be repaired")
    return _from_server(url, f"SELECT {COLUMNS[table]} FROM noughts_{table} WHERE {where}", unread)  # noqa: S608 - our own text


def _from_file(path: Path, table: Table, unread: list[str]) -> Iterator[tuple[Any, ...]]:
    """Read rows by their numbers; a number that can't be read is skipped."""
    select = f"""SELECT {COLUMNS[table]}, sequence FROM noughts_{table} NOT INDEXED
        WHERE sequence > ? AND {FEEDS[table][1]} ORDER BY sequence LIMIT ?"""  # noqa: S608 - our own text
    if not path.is_file():
        raise StoreMissing(f"the file {path} is missing")
    with closing(schema.connect(f"{path.as_uri()}?mode=ro")) as store:
        store.text_factory = lambda text: text.decode(errors="replace")
        try:
            (last,) = store.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence").fetchone()
            (is_table,) = store.execute(_IS_TABLE, (f"noughts_{table}",)).fetchone()
        except sqlite3.Error as error:
            unread.append(f"the {table} can't be read: {error}")
            return
        if not is_table:  # to read from a view may never end
            unread.append(f"the {table} can't be read: noughts_{table} is not a table")
            return
        after, limit, skipped = 0, ROWS_AT_ONCE, 0
        while after <= last:
            try:
                rows = store.execute(select, (after, limit)).fetchall()
            except sqlite3.Error:
                if limit == 1:
                    after, skipped = after + 1, skipped + 1
                limit = max(1, limit // 2)
                continue
            yield from (row[:-1] for row in rows)
            if not rows:
                break
            after, limit = rows[-1][-1], min(2 * limit, ROWS_AT_ONCE)
        if skipped:
            unread.append(f"{skipped} rows of the {table} can't be read")


def _from_server(url: str, select: str, unread: list[str]) -> Iterator[tuple[Any, ...]]:
    import psycopg  # noqa: PLC0415 - loads only what is used

    for one in url.split():
        try:
            with psycopg.connect(one) as store, store.cursor("noughts_salvage") as rows:
                yield from rows.execute(select.encode())
        except psycopg.DatabaseError as error:
            unread.append(f"not everything on the server can be read: {str(error).splitlines()[0]}")
