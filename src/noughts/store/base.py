"""The contract of all stores: read, compare and set, list, watch, delete.

A game is one row (`rows.py`). A change names what was read: of two that read the same,
one wins and the other gets `StaleVersion`. It is durable before `Change.result` returns.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from threading import Condition
from typing import NamedTuple, Protocol, Self, TypeAlias

from noughts.core.codec import can_be_recorded
from noughts.core.errors import quoted
from noughts.core.game import Game
from noughts.core.value import Value
from noughts.store.errors import CorruptStore, NoSuchGame, StaleVersion, StoreUnavailable
from noughts.store.rows import (
    Change,
    Columns,
    Entry,
    Row,
    StoredGame,
    check_id,
    clamp,
    game_of,
    nothing,
    row_hash,
)
from noughts.store.writer import CLOSED, Executor, Writer
from noughts.system import Worker

__all__ = ["Change", "Entry", "GameFilter", "GameSummary", "Store", "StoredGame", "nothing"]

PAGE_ROWS = 500
MAX_TRIES = 100
"""How often a change is made again because others were faster."""
POLL_SECONDS = 2.0
"""How often a watcher compares hashes anyway."""
DAMAGED = "damaged: noughts store verify says more"

Start: TypeAlias = tuple[int, str]
"""When a game was created, and its id: its place in the list."""
Progress: TypeAlias = Callable[[float], None]
"""Called with the share that is done, from 0 to 1."""


class GameFilter(Value):
    """Which games to list; by default all."""

    player: str | None = None
    is_over: bool | None = None
    result: str | None = None
    """`X`, `O` or `draw`."""
    id_prefix: str = ""


ALL_GAMES = GameFilter()


class GameSummary(NamedTuple):
    """A game in a list."""

    id: str
    started: int
    """When it was created, in milliseconds since 1970."""
    version: int = 0
    game: Game | None = None
    """The current state; None if the game is damaged."""
    last_played: int = 0
    """When its last command was recorded, in milliseconds since 1970."""
    is_on_web: bool = False
    """True if it is a game of the server."""
    fault: str | None = None
    """Why `game` is None."""


class News(NamedTuple):
    """What another process changed; without `piece` it must be read."""

    id: str
    revision: int
    hash: bytes
    piece: str | None = None
    """What was added to the record."""
    room: str | None = None
    """The room, if it changed."""
    hour: int = 0


def news_of(change: Change) -> News:
    """Return a change as news for other processes."""
    after = change.after
    return News(after.id, after.revision, after.hash, change.piece, change.room, after.hour)


OnNews: TypeAlias = Callable[[Sequence[News] | None], None]
"""Called from a thread with news; with None if some may have been missed."""


Streams: TypeAlias = tuple[int, int, int]
"""How many streams of a game X has, O has, and spectators have."""


class PresenceTable(Protocol):
    """Who is connected to the processes that share a store; each process writes its own rows."""

    def renew(self, seconds: float) -> bool:
        """Say that this process is alive for so long; return whether its line was missing."""

    def write(self, rows: Mapping[str, Streams | None]) -> None:
        """Note how many streams of each game this process has; None removes the row."""

    def of(self, games: Sequence[str]) -> dict[str, Streams]:
        """Return the sums of what other living processes have noted."""

    def lobby(self) -> list[str]:
        """Return the games that any living process has a row of."""

    def leave(self) -> None:
        """Remove everything of this process."""


class Store(ABC):
    """A store of games. Threads may share it; close it when you are done."""

    is_shared = False
    """True if other processes may change the same games: what was read may be old."""

    def __init__(self, executor: Executor | None = None) -> None:
        self._worker = Worker("noughts-writer")
        self.writer = Writer(self._commit_open, executor or self._worker)
        self._waking = Condition()
        self._wakes = 0
        """How often watchers were woken."""
        self._is_following = False
        self._is_closed = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"  # without its address, which may have a password in it

    def read(self, game: str) -> StoredGame | None:
        """Return a game, checked; None if there is none, or none any more."""
        found = self.look(game)
        return None if found is None or found.is_deleted else found

    def look(self, game: str) -> StoredGame | None:
        """Return a game, also one that was deleted."""
        rows = self.read_rows((game,))
        return game_of(rows[0]) if rows else None

    def read_rows(self, games: Sequence[str]) -> list[Row]:
        """Return the rows of these games, unchecked."""
        self._check_open()
        rows = self._rows([check_id(game) for game in games])
        if not {row[0] for row in rows} <= {*games}:
            raise CorruptStore("the store is damaged: an index leads to another game")
        return rows

    def confirm(self, game: str) -> StoredGame | None:
        """Return a game as it is durably: for a command that was found after a commit had failed."""
        return self.read(game)

    def hashes(self, games: Sequence[str]) -> dict[str, bytes]:
        """Return the hash of each of these games."""
        self._check_open()
        return self._hashes([check_id(game) for game in games])

    def submit(self, change: Change) -> Change:
        """Commit a change; its `result` waits for that."""
        self._check_open()
        return self.writer.submit(change)

    def delete(self, game: str) -> None:
        """Delete a game for good: its id is never used again."""
        for _ in range(MAX_TRIES):
            before = self.read(game)
            if before is None:
                raise NoSuchGame(f"no game has the id {quoted(game)}")
            with suppress(StaleVersion):  # it went on: read it again
                self.submit(Change(before, before.deleted())).result()
                return
        raise StoreUnavailable(f"game {game} changes too fast: try again")

    def games(
        self, wanted: GameFilter = ALL_GAMES, *, limit: int = 20, before: Start | None = None
    ) -> tuple[GameSummary, ...]:
        """List games, the newest first; for the next page, those before (started, id) of the last."""
        self._check_open()
        started, game = before or (0, "")
        texts = [text for text in (wanted.player, wanted.result) if text is not None]
        if not all(map(can_be_recorded, (*texts, wanted.id_prefix, game))):
            return ()  # no engine could store it
        if type(started) is not int or started < 0:
            return ()  # from a damaged store
        rows = self._list(wanted, clamp(limit), before and (clamp(started), game))
        return tuple(map(_summary, rows))

    def rows(self) -> Iterator[Row]:
        """Return all rows in the order of their ids, unchecked, with their columns for lists."""
        after = ""
        while True:
            self._check_open()
            page = self._page(after, PAGE_ROWS)
            yield from page
            if len(page) < PAGE_ROWS or not isinstance(page[-1][0], str) or page[-1][0] <= after:
                return
            after = page[-1][0]

    def salvage(self) -> Iterator[Row]:
        """Return the rows that can be read although the store is damaged, in any order."""
        return self.rows()

    def count(self) -> int:
        """Return how many games there are, deleted ones included."""
        self._check_open()
        return self._count()

    def watch(self, game: str, after: int = 0, timeout: float | None = None) -> Iterator[Entry]:
        """Yield what the record of a game gains after a version, as it is recorded.

        With a timeout it ends once nothing has come for so many seconds. A deleted game raises
        `NoSuchGame`.
        """
        self._check_open()
        check_id(game)
        if not self._is_following:
            self._is_following = True
            self.follow(lambda _news: self._wake())
        return self._watch(game, after, timeout)

    def _watch(self, game: str, after: int, timeout: float | None) -> Iterator[Entry]:
        """Read the game at each wake-up: a lost one delays, and a needless one shows nothing twice."""
        seen: StoredGame | None = None
        since = time.monotonic()
        while True:
            wakes = self._wakes
            if seen is None or self.hashes((game,)).get(game) != seen.hash:
                now = self.look(game)
                if now and now.is_deleted:
                    raise NoSuchGame(f"game {game} was deleted")
                if seen and not (now and now.record.startswith(seen.record)):
                    raise CorruptStore(f"game {quoted(game)} is not what it was: the store went back")
                if now and now.version > after:
                    yield from (entry for entry in now.entries if entry.next_version > after)
                    after, since = now.version, time.monotonic()
                seen = now
            left = POLL_SECONDS if timeout is None else since + timeout - time.monotonic()
            if left <= 0:
                return
            with self._waking:
                self._waking.wait_for(lambda: self._wakes != wakes, min(left, POLL_SECONDS))  # noqa: B023 - called at once

    def _wake(self) -> None:
        with self._waking:
            self._wakes += 1
            self._waking.notify_all()

    def follow(self, on_news: OnNews) -> None:  # noqa: B027 - most engines have nothing to do
        """Be called with what other processes change, if the engine knows."""

    def hours(self) -> int:
        """Return how many hours servers have run on this store; damage raises `CorruptStore`."""
        self._check_open()
        hours, found = self._counter()
        if type(hours) is not int or found != row_hash("counter", hours, 0, "", ""):
            raise CorruptStore("the count of hours has changed since it was recorded")
        return hours

    def count_hour(self, seen: int) -> None:
        """Count one hour more, unless another server has counted it."""
        self._check_open()
        self._set_counter(seen, seen + 1, row_hash("counter", seen + 1, 0, "", ""))

    def idle(self, before: int, after: str = "", limit: int = PAGE_ROWS) -> list[str]:
        """Return the games of the server that were last used before an hour, after an id and in order."""
        self._check_open()
        return self._idle(clamp(before), after, limit)

    def presence(self, process: str) -> PresenceTable | None:  # noqa: ARG002 - engines need it
        """Return who is present at which process, if several processes may share the store."""
        return None

    def hold(self) -> None:  # noqa: B027 - most engines have nothing to do
        """Own the store as its server does; refuse a second one, if the engine has only one."""

    def check_writable(self) -> None:  # noqa: B027 - most engines have nothing to do
        """Refuse now what a change would be refused for: a server that owns the store, for example."""

    def integrity_errors(self) -> Iterator[str]:
        """Return the faults that the engine finds in its own structures."""
        return iter(())

    def backup(self, target: str, progress: Progress = lambda _share: None) -> None:  # noqa: ARG002 - of a file
        """Copy the store as it is at one moment into a new file, if it is a file itself."""
        raise StoreUnavailable("only a store in a file has such a backup: on PostgreSQL use pg_dump")

    def check(self) -> None:
        """Raise an error if the store can't be read."""
        self._check_open()
        self._hashes(["-"])

    def close(self) -> None:
        """Release everything, after the commits that have begun."""
        if not self._is_closed:
            self._is_closed = True
            self._wake()
            self.writer.close()
            self._worker.close(self.writer.limit_seconds)
            self._close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise StoreUnavailable(CLOSED)

    def _commit_open(self, batch: list[Change]) -> None:
        self._commit(batch)
        self._wake()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What an engine implements.

    @abstractmethod
    def _commit(self, batch: Sequence[Change]) -> None:
        """Make changes durable in one commit, and note the failure of each that loses."""

    @abstractmethod
    def _rows(self, games: Sequence[str]) -> list[Row]: ...

    def _hashes(self, games: Sequence[str]) -> dict[str, bytes]:
        return {row[0]: row[5] for row in self._rows(games)}

    @abstractmethod
    def _page(self, after: str, limit: int) -> list[Row]:
        """Return rows whose ids come after one, with their columns for lists."""

    @abstractmethod
    def _list(self, wanted: GameFilter, limit: int, before: Start | None) -> list[Row]:
        """Return the rows of listed games, with their columns."""

    @abstractmethod
    def _idle(self, before: int, after: str, limit: int) -> list[str]: ...

    @abstractmethod
    def _count(self) -> int: ...

    @abstractmethod
    def _counter(self) -> Row: ...

    @abstractmethod
    def _set_counter(self, seen: int, hours: int, new_hash: bytes) -> None: ...

    def _close(self) -> None:  # noqa: B027 - most engines have nothing to do
        """Release what the engine holds."""


def _summary(row: Row) -> GameSummary:
    listed = Columns._make(row[6:])
    try:
        stored = game_of(row)
        if stored.columns == listed:
            return GameSummary(
                stored.id,
                stored.entries[0].at,
                stored.version,
                stored.game,
                stored.entries[-1].at,
                bool(stored.room),
            )
    except CorruptStore:
        pass
    return GameSummary(row[0], listed.started or 0, fault=DAMAGED)


def refusal(change: Change, found: Row | None) -> Exception:
    """Return why a change lost, from the row that is there."""
    if found is None or (found[1] and not found[3]):
        return NoSuchGame(f"no game has the id {quoted(change.id)}, or it was deleted")
    return StaleVersion(f"game {change.id} has changed since it was read: nothing was recorded")
