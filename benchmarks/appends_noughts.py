"""Durable moves per second, ours: python -m benchmarks.appends_noughts URL WRITERS SECONDS.

A move is three events, recorded as one command.
"""

from __future__ import annotations

import sys

from benchmarks.recording import Recording
from benchmarks.writers import append_rate
from noughts import open_store


def main() -> None:
    """Record moves, each writer in games of its own."""
    url, writers, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    with open_store(url) as store:
        recordings = [Recording(store) for _ in range(writers)]
        print(append_rate(lambda writer, _count: recordings[writer].move(), writers, seconds))


main()
