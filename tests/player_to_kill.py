"""Plays into a store with several threads until somebody kills it.

Every turn is told after it was recorded, on one line: game, version and hash of each of its events.
"""

from __future__ import annotations

import os
import sys
from itertools import count
from random import Random
from threading import Thread
from typing import TYPE_CHECKING

from noughts.store.base import Wanted
from noughts.store.chain import GENESIS, seal
from noughts.store.opening import open_store
from store_games import turns

if TYPE_CHECKING:
    from noughts.store.base import EventStore

THREADS = 4


def play(store: EventStore, chance: Random, unfinished: list[str]) -> None:
    """Play on what others have left, and then new games without an end."""
    for number in count():
        game = unfinished[number] if number < len(unfinished) else f"g{chance.getrandbits(64):x}"
        records = store.read(game)
        link = records[-1].hash if records else GENESIS
        for turn in turns(game, chance, [record.event for record in records]):
            turn.append_to(store)
            told = []
            for name, version, at, key, text in turn.rows:
                link = seal(link, name, version, at, key, text)  # what the store must have come to
                told.append(f"{name} {version} {link.hex()}")
            os.write(1, ";".join(told).encode() + b"\n")  # short enough for a pipe to take it whole


def main(url: str, seed: int) -> None:
    """Play until the end."""
    store = open_store(url)
    unfinished = [listed.id for listed in store.games(Wanted(is_over=False), limit=3 * THREADS)]
    for number in range(THREADS):
        chance = Random(seed * THREADS + number)
        Thread(target=play, args=(store, chance, unfinished[number::THREADS])).start()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
