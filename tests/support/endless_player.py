"""Plays into a store with several threads until it is killed.

After every change it prints a line: the game, its revision and its hash.
"""

from __future__ import annotations

import os
import sys
from itertools import count
from random import Random
from threading import Thread

from noughts.store.base import GameFilter, Store
from noughts.store.urls import open_store
from support.played import commit, found
from support.store_games import changes, new_game

THREADS = 4


def play(store: Store, chance: Random, unfinished: list[str]) -> None:
    """Finish the games that others left, then play new games forever."""
    for number in count():
        before = found(store, unfinished[number]) if number < len(unfinished) else new_game(chance)
        for change in changes(before, chance):
            now = commit(store, change)
            # Short enough for one atomic write to a pipe.
            os.write(1, f"{now.id} {now.revision} {now.hash.hex()}\n".encode())


def main(url: str, seed: int) -> None:
    store = open_store(url)
    unfinished = [each.id for each in store.games(GameFilter(is_over=False), limit=3 * THREADS)]
    for number in range(THREADS):
        chance = Random(seed * THREADS + number)
        Thread(target=play, args=(store, chance, unfinished[number::THREADS])).start()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
