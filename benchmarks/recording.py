"""A finished game, recorded move by move without judging it again."""

from __future__ import annotations

from itertools import accumulate, chain
from typing import TYPE_CHECKING

from noughts import CreateGame, JoinGame, O, PlaceToken, X, decide, fold
from noughts.service import random_id
from noughts.store.rows import Change, entries_of, nothing

if TYPE_CHECKING:
    from noughts import Command, Event, Store

RECORDED_AT_MS = 1_700_000_000_000
OPENING = 3
"""The commands before the first move."""


def finished_game() -> list[tuple[Event, ...]]:
    """Return the events of each command of a game of nine moves."""
    commands: list[Command] = [CreateGame(), JoinGame(X, "bob"), JoinGame(O, "frank")]
    commands += (PlaceToken((X, O)[at % 2], cell) for at, cell in enumerate((0, 1, 2, 4, 3, 5, 7, 6, 8)))
    history: list[tuple[Event, ...]] = []
    for command in commands:
        history.append(decide(fold(chain.from_iterable(history)), command))
    return history


STEPS = finished_game()
STATES = [*accumulate(STEPS[1:], lambda game, events: fold(events, game), initial=fold(STEPS[0]))]


class Recording:
    """Records that game in a store; after its end, again with a new id."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.begin()

    def begin(self) -> None:
        """Go on with a new game."""
        self._now, self._next = nothing(random_id()), 0

    @property
    def id(self) -> str:
        """The id of the game that is being recorded."""
        return self._now.id

    def submit(self) -> Change:
        """Submit the next move; the first comes with everything before it."""
        end = max(self._next, OPENING) + 1
        steps = enumerate(STEPS[self._next : end], self._next)
        commands = ((f"{number:026}", RECORDED_AT_MS, step) for number, step in steps)
        entries = entries_of(commands, self._now.version)
        change = Change(self._now, self._now.followed_by(entries, game=STATES[end - 1]))
        self._now, self._next = change.after, end
        return self._store.submit(change)

    def move(self) -> None:
        """Record a move durably."""
        self.submit().result()
        if self._next == len(STEPS):
            self.begin()
