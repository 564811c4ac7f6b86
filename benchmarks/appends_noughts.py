"""Durable appends a second, ours: python -m benchmarks.appends_noughts URL WRITERS SECONDS."""

from __future__ import annotations

import sys

from benchmarks.writers import appends_a_second
from noughts import Service, X, events, open_store

EVENT = (events.PlayerPlacedToken(0, 0, X),)


def main() -> None:
    """Append one event after the other, each writer to a new game of its own."""
    url, writers, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    with open_store(url) as store:
        games = [Service(store).new_id() for _ in range(writers)]

        def append(writer: int, version: int) -> None:
            key = f"{version:026}"
            store.append(games[writer], EVENT, expected=version, key=key, at=1_700_000_000_000)

        print(appends_a_second(append, writers, seconds))


main()
