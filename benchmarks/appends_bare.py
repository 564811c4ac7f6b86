"""Durable moves per second with bare sqlite3: python -m benchmarks.appends_bare URL WRITERS SECONDS.

The same pragmas as in our store, the same table, one row and one commit per move.
"""

from __future__ import annotations

import sqlite3
import sys

from benchmarks.writers import append_rate

MOVE = """{"schema":1,"event":"playerPlacedToken","row":0,"column":0,"mark":"X"}
{"schema":1,"event":"gamePlacedCount","count":1}
{"schema":1,"event":"playerActive","mark":"O"}"""


def main() -> None:
    """Insert rows, and commit each."""
    url, writers, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    connection = sqlite3.connect(url.removeprefix("sqlite:"), check_same_thread=False)
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS records (sequence INTEGER PRIMARY KEY AUTOINCREMENT,"
        " game TEXT NOT NULL, version INTEGER NOT NULL, at INTEGER NOT NULL, key TEXT NOT NULL,"
        " events TEXT NOT NULL, hash BLOB NOT NULL, UNIQUE (game, version))"
    )
    (last,) = connection.execute("SELECT coalesce(max(sequence), 0) FROM records").fetchone()
    connection.commit()
    link = bytes(range(32))

    def append(_writer: int, count: int) -> None:
        row = f"{last:026}", 3 * count, 1_700_000_000_000, f"{count:026}", MOVE, link
        connection.execute(
            "INSERT INTO records (game, version, at, key, events, hash) VALUES (?, ?, ?, ?, ?, ?)", row
        )
        connection.commit()

    print(append_rate(append, writers, seconds))


main()
