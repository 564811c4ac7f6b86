"""Threads that race to create the same game, or to change it once it was created.

It reads games from its input, one per line. For each it prints the outcome of every writer: `won`,
`stale`, or an unexpected error.
"""

from __future__ import annotations

import sys
from functools import partial

from noughts import Mark, PlaceToken, decide, fold
from noughts.store.base import Change, Store, nothing
from noughts.store.errors import StaleVersion
from noughts.store.urls import open_store
from support.at_once import in_threads
from support.played import CREATED, change_of, commit

WON, STALE = "won", "stale"


def created(game: str, writer: int = 0) -> Change:
    return change_of(nothing(game), CREATED, key=f"writer-{writer}")


def change_wanted(writer: int, game: str) -> Change:
    """Return what a writer tries: to create a new game, or the first move, its own one, in another."""
    if game.startswith("new"):
        return created(game, writer)
    move = decide(fold(CREATED), PlaceToken(Mark.X, writer))
    return change_of(created(game).after, move, key=f"move-{writer}")


def outcome(store: Store, writer: int, game: str) -> str:
    try:
        commit(store, change_wanted(writer, game))
    except StaleVersion:
        return STALE
    except Exception as error:  # noqa: BLE001 - it is printed, and fails the test
        return f"{type(error).__name__}: {error}"
    return WON


def main(url: str, first: int, last: int) -> None:
    with open_store(url) as store:
        for line in sys.stdin:
            game = line.rstrip("\n")
            outcomes = in_threads(
                *(partial(outcome, store, writer, game) for writer in range(first, last))
            )
            print(*outcomes, sep="\t", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
