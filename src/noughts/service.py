"""Handles a command on a stored game: load, decide, append.

A command has a key. After a lost connection or a crash it can be sent again with the same key, and gets
its first answer again. (A refused move is not recorded, so it is judged again.)
"""

from __future__ import annotations

import os
import time
from base64 import b32encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

from noughts.core.errors import InvalidArgument, NotCreated, NoughtsError, quoted
from noughts.core.events import Event, PlayerPlacedToken, PlayerTookBack, facts
from noughts.core.game import Command, CreateGame, Game, PlaceToken, TakeBack, decide, fold
from noughts.core.value import Value
from noughts.store.base import Append, EventStore, GameFilter, append_of
from noughts.store.errors import CorruptStore, KeyReused, NoSuchGame, StaleVersion
from noughts.store.records import fold_records


class KeyedEvents(Protocol):
    """The events of one command, with its key; a `Record` is one."""

    @property
    def key(self) -> str: ...

    @property
    def events(self) -> tuple[Event, ...]: ...

    @property
    def next_version(self) -> int:
        """The game's version after it."""


SHORT_ID_CHARACTERS = 8
"""How much of a game's id is usually shown."""


class Answer(Value):
    """What a command led to, and the game after it."""

    events: tuple[Event, ...]
    """All events, including those for one player only."""
    version: int
    game: Game


def wall_clock() -> int:
    """Return the time in milliseconds since 1970, and not less than 0."""
    return max(0, time.time_ns() // 1_000_000)


def random_id() -> str:
    """Return 128 random bits in 26 letters and digits."""
    return b32encode(os.urandom(16)).decode().rstrip("=").lower()


class Service:
    """Handles commands on the games of a store."""

    def __init__(
        self,
        store: EventStore,
        clock: Callable[[], int] = wall_clock,
        new_id: Callable[[], str] = random_id,
    ) -> None:
        self._store = store
        self._clock = clock
        self.new_id = new_id

    def __repr__(self) -> str:
        return f"Service({self._store!r})"

    def handle(
        self, game: str, command: Command, *, version: int | None = None, key: str | None = None
    ) -> Answer:
        """Answer a command from somebody who saw the game at that version.

        If the position has changed since, a token or a take-back is refused with `StaleVersion`, and
        never applied to the new position. A command without a version applies to the game as it is.
        """
        key = key or self.new_id()
        while True:
            records = self._store.read(game)
            reached = _version(records)
            answer, new = judge(game, records, fold_records(records), command, version=version, key=key)
            if not new:
                return answer
            if version is None:
                version = reached
            with suppress(StaleVersion):  # another command was recorded first: judge again
                self._store.append(game, new, expected=reached, key=key, at=self._clock())
                return answer

    def start(self, game: str, commands: Sequence[Command]) -> Answer:
        """Start a game with several commands in one commit.

        Called again after an unknown outcome, it records nothing twice.
        """
        events: list[Event] = []
        appends: list[Append] = []
        now: Game | None = None
        at = self._clock()
        for number, command in enumerate(commands):
            new = facts(decide(now, command))
            if not new:
                raise InvalidArgument(f"{quoted(command)} is illegal, so the game was not started")
            appends.append(append_of(game, len(events), new, key=f"start-{number}", at=at))
            events += new
            now = fold(new, now)
        if now is None:
            raise InvalidArgument("a game needs at least one command to start")
        self._store.restore(appends)
        return Answer(tuple(events), len(events), now)

    def append(self, game: str, events: Sequence[Event], *, version: int, key: str | None = None) -> int:
        """Record events that were decided on the game at that version, and return the new version."""
        key = key or self.new_id()
        return self._store.append(game, events, expected=version, key=key, at=self._clock())

    def look(self, game: str) -> Answer:
        """Return a game with all its events."""
        records = self._store.read(game)
        now = fold_records(records)
        if now is None:
            raise NoSuchGame(f"no game has the id {quoted(game)}")
        events = tuple(event for record in records for event in record.events)
        return Answer(events, len(events), now)

    def short(self, game: str) -> str:
        """Return the beginning of a game's id, or all of it if another id begins alike."""
        beginning = game[:SHORT_ID_CHARACTERS]
        alike = self._store.catalogue(GameFilter(id_prefix=beginning), 2)
        return beginning if len(alike) < 2 else game

    def find(self, beginning: str) -> str:
        """Return the id of the only game whose id begins like that."""
        with suppress(CorruptStore):
            if self._store.versions((beginning,)):
                return beginning
        found = [listed.game for listed in self._store.catalogue(GameFilter(id_prefix=beginning), 2)]
        if len(found) == 1:
            return found[0]
        if found:
            raise NoSuchGame(f"more than one game begins with {quoted(beginning)}: give more of its id")
        raise NoSuchGame(f"no game begins with {quoted(beginning)}")


def judge(
    game: str,
    history: Sequence[KeyedEvents],
    now: Game | None,
    command: Command,
    *,
    version: int | None,
    key: str,
) -> tuple[Answer, tuple[Event, ...]]:
    """Return the answer to a command, and the events that must be recorded first.

    `now` is the game after `history`. A command with a known key gets its first answer again.
    """
    for place, recorded in enumerate(history):
        if recorded.key == key:
            return _first_answer(history[:place], recorded, command), ()
    if now is None and not isinstance(command, CreateGame):
        raise NoSuchGame(f"no game has the id {quoted(game)}")
    reached = _version(history)
    if version is not None and version != reached:
        _check_meant(command, history, version)
    events = decide(now, command)
    new = facts(events)
    return Answer(events, reached + len(new), _after(now, new)), new


def _version(history: Sequence[KeyedEvents]) -> int:
    return history[-1].next_version if history else 0


def _after(game: Game | None, events: tuple[Event, ...]) -> Game:
    after = fold(events, game)
    if after is None:
        raise NotCreated("the game does not exist yet: create it first")
    return after


def _check_meant(command: Command, history: Sequence[KeyedEvents], version: int) -> None:
    """Refuse a token or a take-back if the position has changed since that version."""
    reached = _version(history)
    if not 0 <= version <= reached:
        raise StaleVersion(f"the game is at version {reached}, and was never at {quoted(version)}")
    events = [event for recorded in history for event in recorded.events]
    if isinstance(command, PlaceToken | TakeBack) and any(
        isinstance(event, PlayerPlacedToken | PlayerTookBack) for event in events[version:]
    ):
        raise StaleVersion(f"the game has changed since version {version}: it is at {reached}")


def _first_answer(before: Sequence[KeyedEvents], recorded: KeyedEvents, command: Command) -> Answer:
    """Return the recorded answer to a command; refuse another command with its key."""
    then = fold(event for one in before for event in one.events)
    events = recorded.events
    try:
        is_same = facts(decide(then, command)) == events
    except NoughtsError:
        is_same = False
    if not is_same:
        raise KeyReused(f"the key {quoted(recorded.key)} was used for another command")
    return Answer(events, recorded.next_version, _after(then, events))
