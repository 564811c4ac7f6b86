"""Where a command meets a store: load, decide, append.

A command carries a key. If nobody knows what became of a command, because a line broke or a process
died, it is sent again with the same key, and gets the answer that it got the first time. (A move that
was refused leaves no trace: sent again, it is judged again.)
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
    """What one command led to, as `judge` needs it; a `Record` is one."""

    @property
    def key(self) -> str:
        """The command's key."""

    @property
    def events(self) -> tuple[Event, ...]:
        """Its events."""

    @property
    def next_version(self) -> int:
        """The game's version after it."""


SHORT_ID_LENGTH = 8
"""How much of a game's id is shown, as a rule."""


class Answer(Value):
    """What a command led to, and the game with it."""

    events: tuple[Event, ...]
    """All events, with those that are for one player alone."""
    version: int
    game: Game


def wall_clock() -> int:
    """Return the time, in milliseconds since 1970; no clock is further back than that."""
    return max(0, time.time_ns() // 1_000_000)


def random_id() -> str:
    """Return an id that nobody has had or can guess: 128 bits, in 26 letters and digits."""
    return b32encode(os.urandom(16)).decode().rstrip("=").lower()


class Service:
    """The games of a store, and what can be done with them."""

    def __init__(
        self,
        store: EventStore,
        clock: Callable[[], int] = wall_clock,
        new_id: Callable[[], str] = random_id,
    ) -> None:
        self._store = store
        self._clock = clock
        self.new_id = new_id

    def handle(
        self, game: str, command: Command, *, version: int | None = None, key: str | None = None
    ) -> Answer:
        """Answer a command that was given by somebody who saw the game at that version.

        If the game has gone on since, the command counts only if it is still meant: a token that was
        meant for another position is refused with `StaleVersion`, and never placed as a second move.
        A command without a version is meant for the game as it is when the command comes.
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
            try:
                self._store.append(game, new, expected=reached, key=key, at=self._clock())
            except StaleVersion:
                continue  # somebody was faster: judge again whether it is still meant, and right
            return answer

    def start(self, game: str, commands: Sequence[Command]) -> Answer:
        """Start a game with several commands, recorded in one commit: all of them, or none.

        Called again after an unknown outcome, it records nothing twice.
        """
        events: list[Event] = []
        appends: list[Append] = []
        now: Game | None = None
        at = self._clock()
        for number, command in enumerate(commands):
            new = facts(decide(now, command))
            if not new:
                raise InvalidArgument(f"{quoted(command)} is illegal there: the game was not started")
            appends.append(append_of(game, len(events), new, key=f"start-{number}", at=at))
            events += new
            now = fold(new, now)
        if now is None:
            raise InvalidArgument("a game is started with at least one command")
        self._store.restore(appends)
        return Answer(tuple(events), len(events), now)

    def look(self, game: str) -> Answer:
        """Return a game as it is now, with all its events."""
        records = self._store.read(game)
        now = fold_records(records)
        if now is None:
            raise NoSuchGame(f"there is no game {quoted(game)}")
        events = tuple(event for record in records for event in record.events)
        return Answer(events, len(events), now)

    def short(self, game: str) -> str:
        """Return enough of a game's id to find it by, and not much more."""
        beginning = game[:SHORT_ID_LENGTH]
        alike = self._store.catalogue(GameFilter(id_prefix=beginning), 2)
        return beginning if len(alike) < 2 else game

    def find(self, beginning: str) -> str:
        """Return the id of the one game whose id begins like that."""
        if beginning.__class__ is str and beginning:
            with suppress(CorruptStore):
                if self._store.versions((beginning,)):
                    return beginning
            found = [listed.game for listed in self._store.catalogue(GameFilter(id_prefix=beginning), 2)]
            if len(found) == 1:
                return found[0]
            if found:
                raise NoSuchGame(
                    f"more than one game begins with {quoted(beginning)}: give more of its id"
                )
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
    """Answer a command, and return with the answer what is still to be recorded for it to hold.

    `now` is what the history adds up to. A command whose key is known gets its first answer again.
    """
    for place, recorded in enumerate(history):
        if recorded.key == key:
            return _first_answer(history[:place], recorded, command), ()
    if now is None and not isinstance(command, CreateGame):
        raise NoSuchGame(f"there is no game {quoted(game)}")
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
        raise NotCreated("there is no game yet: create it first")
    return after


def _check_meant(command: Command, history: Sequence[KeyedEvents], version: int) -> None:
    """Refuse a token, or taking one back, that was meant for another position than the one now."""
    reached = _version(history)
    if not 0 <= version <= reached:
        raise StaleVersion(f"the game is at version {reached}, and never was at {quoted(version)}")
    events = [event for recorded in history for event in recorded.events]
    if isinstance(command, PlaceToken | TakeBack) and any(
        isinstance(event, PlayerPlacedToken | PlayerTookBack) for event in events[version:]
    ):
        raise StaleVersion(f"the game has gone on since version {version}: it is at {reached}")


def _first_answer(before: Sequence[KeyedEvents], recorded: KeyedEvents, command: Command) -> Answer:
    """Return what a command led to that was recorded earlier, if it was this one."""
    then = fold(event for one in before for event in one.events)
    events = recorded.events
    try:
        is_same = facts(decide(then, command)) == events
    except NoughtsError:
        is_same = False
    if not is_same:
        raise KeyReused(f"the key {quoted(recorded.key)} was used for another command")
    return Answer(events, recorded.next_version, _after(then, events))
