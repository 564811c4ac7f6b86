"""Moves per second in whole games, by Service: python -m benchmarks.moves_noughts URL WRITERS SECONDS.

It prints a line when it is ready, and starts when it reads one.
"""

from __future__ import annotations

import random
import sys

from benchmarks.writers import append_rate
from noughts import CreateGame, JoinGame, O, PlaceToken, Service, X, open_store


class Player:
    """Plays whole games, one move per call."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._cells: list[int] = []
        self._game = ""

    def move(self) -> None:
        """Play one move; the first of a game comes with its creation and its names."""
        if not self._cells:
            self._game = self._service.new_id()
            for command in (CreateGame(), JoinGame(X, "bob"), JoinGame(O, "frank")):
                self._service.handle(self._game, command)
            self._cells = random.sample(range(9), 9)
        cell, is_odd = self._cells.pop(), len(self._cells) % 2
        if self._service.handle(self._game, PlaceToken(O if is_odd else X, cell)).game.is_over:
            self._cells = []


def main() -> None:
    """Play with some threads for some seconds."""
    url, writers, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    with open_store(url) as store:
        players = [Player(Service(store)) for _ in range(writers)]
        print("ready", flush=True)
        sys.stdin.readline()
        print(append_rate(lambda writer, _count: players[writer].move(), writers, seconds))


main()
