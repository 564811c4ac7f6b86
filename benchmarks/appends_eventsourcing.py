"""Durable moves per second of the peer: benchmarks.appends_eventsourcing URL WRITERS SECONDS [RECORDER].

The recorder is the one that, like our store, also keeps the order of all events (`application`), or the
one that does not (`aggregate`).
"""

from __future__ import annotations

import sys
from typing import Any
from uuid import uuid4

from eventsourcing.persistence import StoredEvent
from eventsourcing.postgres import (
    PostgresAggregateRecorder,
    PostgresApplicationRecorder,
    PostgresDatastore,
)
from eventsourcing.sqlite import SQLiteAggregateRecorder, SQLiteApplicationRecorder, SQLiteDatastore
from psycopg.conninfo import conninfo_to_dict

from benchmarks.writers import append_rate

MOVE = (
    ("playerPlacedToken", b'{"schema":1,"event":"playerPlacedToken","row":0,"column":0,"mark":"X"}'),
    ("gamePlacedCount", b'{"schema":1,"event":"gamePlacedCount","count":1}'),
    ("playerActive", b'{"schema":1,"event":"playerActive","mark":"O"}'),
)


def recorder(url: str, kind: str) -> Any:  # noqa: ANN401 - the peer's recorders have no common class
    """Open the peer's recorder on SQLite or on PostgreSQL, with enough connections for the writers."""
    if url.startswith("sqlite:"):
        store = SQLiteDatastore(url.removeprefix("sqlite:"), pool_size=5, max_overflow=60)
        return {"application": SQLiteApplicationRecorder, "aggregate": SQLiteAggregateRecorder}[kind](
            store
        )
    place = conninfo_to_dict(url)
    server = PostgresDatastore(
        dbname=str(place["dbname"]),
        host=str(place["host"]),
        port=str(place.get("port") or 5432),
        user=str(place["user"]),
        password=str(place.get("password") or "none"),
        pool_size=10,
    )
    kinds = {"application": PostgresApplicationRecorder, "aggregate": PostgresAggregateRecorder}
    return kinds[kind](server, events_table_name=f"peer_{kind}_events")


def main() -> None:
    """Insert moves of three events, each writer into its own stream."""
    url, writers, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    kind = sys.argv[4] if len(sys.argv) > 4 else "application"
    peer = recorder(url, kind)
    peer.create_table()
    streams = [uuid4() for _ in range(writers)]

    def append(writer: int, count: int) -> None:
        stream = streams[writer]
        peer.insert_events([StoredEvent(stream, 3 * count + at, *event) for at, event in enumerate(MOVE)])

    print(append_rate(append, writers, seconds))
    peer.datastore.close()


main()
