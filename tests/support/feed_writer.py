"""A process that writes to the same games and documents as other processes.

It records many commands, some in one batch, in random games. If another process was faster, it reads the
game again. At the end it prints how often that happened, and what it recorded.
"""

from __future__ import annotations

import sys
from random import Random
from threading import Thread

from noughts import fold
from noughts.store.appends import Append
from noughts.store.base import EventStore
from noughts.store.documents import Write
from noughts.store.errors import StaleVersion
from noughts.store.urls import open_store
from support.played import events_of
from support.store_games import turns

GAMES = 200
THREADS = 2


class Player:
    """Adds one command at a time to random games."""

    def __init__(self, store: EventStore, chance: Random) -> None:
        self.recorded: list[str] = []
        self.stale = 0
        self._store = store
        self._chance = chance
        self._rounds = [0] * GAMES
        """The number of finished games in each place."""

    def play(self, commands: int) -> None:
        while len(self.recorded) < commands:
            places = self._chance.sample(range(GAMES), self._chance.choice((1, 1, 2, 5, 20)))
            appends = [append for place in places if (append := self._next(place))]
            self._store.record(appends)
            for append in appends:
                if append.refusal is None:
                    self.recorded.append(f"{append.game} {append.expected} {append.key}")
                else:
                    assert isinstance(append.refusal, StaleVersion), append.refusal
                    self.stale += 1

    def _next(self, place: int) -> Append | None:
        """Return the next command of a game; every fourth game also gets a document."""
        game = f"{place * 77 % GAMES}-{self._rounds[place]}"
        history = events_of(self._store.read(game))
        state = fold(history)
        if state and state.is_over:
            self._rounds[place] += 1
            return None
        turn, document = next(turns(game, self._chance, history)), None
        if place % 4 == 0:
            known = self._store.document(game)
            document = Write(game, turn.key, expected=known.revision if known else 0)
        return turn.append(document)


def main(url: str, seed: int, commands: int) -> None:
    with open_store(url) as store:
        players = [Player(store, Random(seed * THREADS + number)) for number in range(THREADS)]
        print("ready", flush=True)
        sys.stdin.readline()
        threads = [Thread(target=player.play, args=(commands // THREADS,)) for player in players]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(sum(player.stale for player in players))
    print(*(line for player in players for line in player.recorded), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
