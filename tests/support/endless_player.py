"""Plays into a store with several threads until it is killed.

After every change it prints a line: the game, its version and the hash of its last record, and the
revision of its document; a deleted game has no hash.
"""

from __future__ import annotations

import os
import sys
from itertools import count
from random import Random
from threading import Thread

from noughts.store.base import EventStore, GameFilter
from noughts.store.records import GENESIS, count_events, record_hash
from noughts.store.urls import open_store
from support.store_changes import State, changes, new_game
from support.store_games import row_of

THREADS = 4


def play(store: EventStore, chance: Random, unfinished: list[str]) -> None:
    """Finish the games that others left, then play new games forever."""
    for number in count():
        game = unfinished[number] if number < len(unfinished) else new_game(chance)
        document = store.document(game)
        before = State(
            tuple(map(row_of, store.read(game))),
            (document.revision, document.label, document.text) if document else None,
        )
        for change in changes(game, chance, before):
            change.apply_to(store)
            os.write(1, line(game, change.after).encode())  # short enough for one atomic write to a pipe


def line(game: str, state: State) -> str:
    """Return the line to print after a change: the resulting state of the game."""
    version, link = 0, GENESIS
    for row in state.rows:
        link = record_hash(link, *row)
        version = row[1] + count_events(row[4])
    shown = "deleted" if state.is_deleted else link.hex()
    return f"{game} {version} {shown} {state.document[0] if state.document else 0}\n"


def main(url: str, seed: int) -> None:
    store = open_store(url)
    unfinished = [each.id for each in store.games(GameFilter(is_over=False), limit=3 * THREADS)]
    for number in range(THREADS):
        chance = Random(seed * THREADS + number)
        Thread(target=play, args=(store, chance, unfinished[number::THREADS])).start()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
