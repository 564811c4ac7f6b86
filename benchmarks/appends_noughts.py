"""Durable moves per second, ours: python -m benchmarks.appends_noughts URL WRITERS SECONDS.

A move is three events, appended as one command.
"""

from __future__ import annotations

import sys

from benchmarks.writers import append_rate
from noughts import O, Service, X, events, open_store

MOVE = events.PlayerPlacedToken(0, 0, X), events.GamePlacedCount(1), events.PlayerActive(O)


def main() -> None:
    """Append moves, each writer to a new game of its own."""
    url, writers, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    with open_store(url) as store:
        games = [Service(store).new_id() for _ in range(writers)]

        def append(writer: int, count: int) -> None:
            key = f"{count:026}"
            store.append(games[writer], MOVE, expected=3 * count, key=key, at=1_700_000_000_000)

        print(append_rate(append, writers, seconds))


main()
