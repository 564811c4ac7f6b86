"""Durable inserts a second, nothing but sqlite3: python -m benchmarks.appends_bare URL WRITERS SECONDS.

The same pragmas as in our store, the same columns, the same index.
"""

from __future__ import annotations

import sqlite3
import sys

from benchmarks.writers import appends_a_second

EVENT = '{"schema":1,"event":"playerPlacedToken","row":0,"column":0,"mark":"X"}'


def main() -> None:
    """Insert one row after the other, and commit each."""
    url, writers, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    connection = sqlite3.connect(url.removeprefix("sqlite:"), check_same_thread=False)
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS events (position INTEGER PRIMARY KEY, game INTEGER NOT NULL,"
        " version INTEGER NOT NULL, at INTEGER NOT NULL, key TEXT NOT NULL, event TEXT NOT NULL,"
        " hash BLOB NOT NULL, UNIQUE (game, version))"
    )
    (last,) = connection.execute("SELECT coalesce(max(position), 0) FROM events").fetchone()
    connection.commit()
    link = bytes(range(32))

    def append(_writer: int, version: int) -> None:
        key = f"{version:026}"
        row = last + version + 1, last, version, 1_700_000_000_000, key, EVENT, link
        connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        connection.commit()

    print(appends_a_second(append, writers, seconds))


main()
