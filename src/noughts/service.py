"""Handles a command on a stored game: read, judge, record.

A command has a key. After a lost connection or a crash it can be sent again with the same key, and gets
its first answer again. (A refused move is not recorded, so it is judged again.)
"""

from __future__ import annotations

import os
import time
from base64 import b32encode
from collections.abc import Callable, Sequence
from contextlib import suppress

from noughts.core.errors import InvalidArgument, NotCreated, NoughtsError, TooLong, quoted
from noughts.core.events import Event, PlayerPlacedToken, PlayerTookBack, facts
from noughts.core.game import Command, CreateGame, Game, PlaceToken, TakeBack, decide, fold
from noughts.core.value import Value
from noughts.store.base import MAX_TRIES, Change, Entry, GameFilter, Store, StoredGame, nothing
from noughts.store.errors import (
    CorruptStore,
    KeyReused,
    NoSuchGame,
    StaleVersion,
    StoreUnavailable,
    WebGame,
)
from noughts.store.rows import entries_of

SHORT_ID_CHARACTERS = 8
"""How much of a game's id is usually shown."""

MAX_TAKE_BACK_BYTES = 64 * 1024
"""Beyond this record nothing can be taken back; without that, at most nine moves are left."""


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
        store: Store,
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
        return self.record(self._store.look(game) or nothing(game), command, version=version, key=key)[0]

    def record(
        self, before: StoredGame, command: Command, *, version: int | None = None, key: str | None = None
    ) -> tuple[Answer, StoredGame]:
        """Answer a command on a game that was read before, and return the game after it."""
        key = key or self.new_id()
        for _ in range(MAX_TRIES):
            _check_local(before)
            answer, change = judge(before, command, version=version, key=key, at=self._clock())
            if change is None:
                found = self._store.confirm(before.id) or nothing(before.id)
                if found.hash == before.hash:
                    return answer, before
                before = found
                continue
            if version is None:
                version = before.version
            with suppress(StaleVersion):  # another command was recorded first: judge again
                return answer, self._store.submit(change).result()
            before = self._store.look(before.id) or nothing(before.id)
        raise StoreUnavailable(f"game {before.id} changes too fast: try again")

    def start(self, game: str, commands: Sequence[Command]) -> StoredGame:
        """Start a game with several commands in one commit.

        Called again after an unknown outcome, it records nothing twice.
        """
        now: Game | None = None
        at, keyed = self._clock(), []
        for number, command in enumerate(commands):
            new = facts(decide(now, command))
            if not new:
                raise InvalidArgument(f"{quoted(command)} is illegal, so the game was not started")
            keyed.append((f"start-{number}", at, new))
            now = fold(new, now)
        if now is None:
            raise InvalidArgument("a game needs at least one command to start")
        before = nothing(game)
        after = before.followed_by(entries_of(keyed), game=now)
        try:
            return self._store.submit(Change(before, after)).result()
        except StaleVersion:
            found = self._store.confirm(game)
            if found is None or found.events[: len(after.events)] != after.events:
                raise
            return found

    def look(self, game: str) -> StoredGame:
        """Return a game with all its events."""
        found = self._store.read(game)
        if found is None:
            raise NoSuchGame(f"no game has the id {quoted(game)}")
        return found

    def short(self, game: str) -> str:
        """Return the beginning of a game's id, or all of it if another id begins alike."""
        beginning = game[:SHORT_ID_CHARACTERS]
        alike = self._store.games(GameFilter(id_prefix=beginning), limit=2)
        return beginning if len(alike) < 2 else game

    def find(self, beginning: str) -> str:
        """Return the id of the only game whose id begins like that."""
        with suppress(CorruptStore):
            if self._store.read(beginning):
                return beginning
        found = self._store.games(GameFilter(id_prefix=beginning), limit=2)
        if len(found) == 1:
            return found[0].id
        if found:
            raise NoSuchGame(f"more than one game begins with {quoted(beginning)}: give more of its id")
        raise NoSuchGame(f"no game begins with {quoted(beginning)}")


def judge(
    before: StoredGame,
    command: Command,
    *,
    version: int | None,
    key: str,
    at: int,
    hour: int | None = None,
) -> tuple[Answer, Change | None]:
    """Return the answer to a command, and the change that must be durable before it is given.

    A command with a known key gets its first answer again.
    """
    for place, entry in enumerate(before.entries):
        if entry.key == key:
            return _first_answer(before.entries[:place], entry, command), None
    if before.is_deleted and (before.revision or not isinstance(command, CreateGame)):
        raise NoSuchGame(f"no game has the id {quoted(before.id)}")
    now = None if before.is_deleted else before.game
    if version is not None and version != before.version:
        _check_meant(command, before, version)
    if isinstance(command, TakeBack) and len(before.record) > MAX_TAKE_BACK_BYTES:
        raise TooLong("the game has become too long: nothing can be taken back any more")
    events = decide(now, command)
    new = facts(events)
    after = _after(now, new)
    if not new:
        return Answer(events, before.version, after), None
    entries = entries_of([(key, at, new)], before.version)
    change = Change(before, before.followed_by(entries, game=after, hour=hour))
    return Answer(events, change.after.version, after), change


def _check_local(stored: StoredGame) -> None:
    if stored.room:
        raise WebGame(f"game {stored.id} is played on the web: here it can be shown, but not played")


def _after(game: Game | None, events: tuple[Event, ...]) -> Game:
    after = fold(events, game)
    if after is None:
        raise NotCreated("the game does not exist yet: create it first")
    return after


def _check_meant(command: Command, before: StoredGame, version: int) -> None:
    """Refuse a token or a take-back if the position has changed since that version."""
    if not 0 <= version <= before.version:
        raise StaleVersion(f"the game is at version {before.version}, and was never at {quoted(version)}")
    if isinstance(command, PlaceToken | TakeBack) and any(
        isinstance(event, PlayerPlacedToken | PlayerTookBack) for event in before.events[version:]
    ):
        raise StaleVersion(f"the game has changed since version {version}: it is at {before.version}")


def _first_answer(earlier: Sequence[Entry], entry: Entry, command: Command) -> Answer:
    """Return the recorded answer to a command; refuse another command with its key."""
    then = fold(event for one in earlier for event in one.events)
    events = entry.events
    try:
        is_same = facts(decide(then, command)) == events
    except NoughtsError:
        is_same = False
    if not is_same:
        raise KeyReused(f"the key {quoted(entry.key)} was used for another command")
    return Answer(events, entry.next_version, _after(then, events))
