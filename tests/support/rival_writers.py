"""Threads in several processes that race to create the same game, or to make its first move."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from noughts import Mark, PlaceToken, decide, fold
from noughts.store.base import Change, Store, nothing
from noughts.store.urls import open_store
from support.at_once import in_threads
from support.played import CREATED, change_of, commit

stores: list[Store] = []
"""The store of this process."""


def created(game: str, writer: int = 0) -> Change:
    return change_of(nothing(game), CREATED, key=f"writer-{writer}")


def change_wanted(game: str, writer: int) -> Change:
    """Return what a writer tries: to create a new game, or the first move, its own one, in another."""
    if game.startswith("new"):
        return created(game, writer)
    move = decide(fold(CREATED), PlaceToken(Mark.X, writer))
    return change_of(created(game).after, move, key=f"move-{writer}")


def open_here(url: str) -> None:
    stores.append(open_store(url))


def race(game: str, writers: Sequence[int]) -> list[str]:
    """Return what each writer got: a game, or an error."""
    changes = [change_wanted(game, writer) for writer in writers]
    outcomes = in_threads(*(partial(commit, stores[0], change) for change in changes))
    return [type(outcome).__name__ for outcome in outcomes]
