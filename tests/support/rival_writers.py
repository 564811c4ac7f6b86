"""Threads that race to append at the same version of the same game, or to delete it.

As a program it reads races from its input, one per line: a game and a version. For each it prints the
outcome of every writer: `won`, `stale`, `deleted`, or an unexpected error.
"""

from __future__ import annotations

import sys
from threading import Barrier, Thread

from noughts import CreateGame, Event, Mark, PlaceToken, decide, fold
from noughts.store.base import EventStore
from noughts.store.errors import NoSuchGame, StaleVersion
from noughts.store.urls import open_store

WON, STALE, DELETED = "won", "stale", "deleted"
START = decide(None, CreateGame())


def events_wanted(writer: int, version: int) -> tuple[Event, ...]:
    """Return what a writer appends: the start of a game, or its own first move."""
    return START if version == 0 else decide(fold(START), PlaceToken(Mark.X, writer))


def deletes(writer: int, game: str) -> bool:
    """Return whether a writer deletes the game as soon as it exists."""
    return writer % 4 == 3 and game.startswith("deleted")


class RivalWriters:
    """Numbered threads that share a store."""

    def __init__(self, store: EventStore, numbers: range) -> None:
        self._store = store
        self._race: tuple[str, int] | None = None
        self._outcomes = dict.fromkeys(numbers, "")
        self._barrier = Barrier(len(numbers) + 1)
        for number in numbers:
            Thread(target=self._run, args=(number,), daemon=True).start()

    def race(self, game: str, version: int) -> dict[int, str]:
        """Let all append at this version; return the outcome of each."""
        self._race = game, version
        self._barrier.wait()  # start
        self._barrier.wait()  # finish
        return dict(self._outcomes)

    def stop(self) -> None:
        self._race = None
        self._barrier.wait()

    def _run(self, number: int) -> None:
        while True:
            self._barrier.wait()
            if self._race is None:
                return
            self._outcomes[number] = self._outcome(number, *self._race)
            self._barrier.wait()

    def _outcome(self, number: int, game: str, version: int) -> str:
        try:
            if version and deletes(number, game):
                self._store.delete(game, at=number)
            else:
                events = events_wanted(number, version)
                self._store.append(game, events, expected=version, key=f"writer-{number}", at=number)
        except StaleVersion:
            return STALE
        except NoSuchGame:
            return DELETED
        except Exception as error:  # noqa: BLE001 - it is returned, and fails the test
            return f"{type(error).__name__}: {error}"
        return WON


def main(url: str, first: int, last: int) -> None:
    with open_store(url) as store:
        writers = RivalWriters(store, range(first, last))
        for line in sys.stdin:
            game, version = line.split()
            outcomes = writers.race(game, int(version))
            print(*outcomes.values(), sep="\t", flush=True)
        writers.stop()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
