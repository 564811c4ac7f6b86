"""A store that lasts as long as the process."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from threading import RLock

from noughts.store.base import (
    GameFilter,
    News,
    OnNews,
    PresenceTable,
    Start,
    Store,
    Streams,
    news_of,
    refusal,
)
from noughts.store.rows import Change, Row, row_hash
from noughts.store.writer import Executor


class Database:
    """What several memory stores may share, as processes share a server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.lock = RLock()
        self.games: dict[str, Row] = {}
        self.counter: Row = (0, row_hash("counter", 0, 0, "", ""))
        self.processes: dict[str, float] = {}
        """Until when each process is believed to be alive."""
        self.present: dict[tuple[str, str], Streams] = {}
        """By process and game."""
        self.followers: list[tuple[MemoryStore, OnNews]] = []


class MemoryStore(Store):
    def __init__(self, database: Database | None = None, executor: Executor | None = None) -> None:
        super().__init__(executor)
        self._database = database or Database()

    def _commit(self, batch: Sequence[Change]) -> None:
        if won := self._write(batch):
            self._announce([news_of(change) for change in won])

    def _write(self, batch: Sequence[Change]) -> list[Change]:
        """Make the changes that do not lose, and return them."""
        games, won = self._database.games, []
        with self._database.lock:
            for change in batch:
                found, after = games.get(change.id), change.after
                is_as_read = found[5] == change.before.hash if found else not change.before.revision
                if is_as_read:
                    games[change.id] = after.row
                    won.append(change)
                elif not found or found[5] != after.hash:
                    change.failure = refusal(change, found)
        return won

    def _announce(self, news: Sequence[News]) -> None:
        for store, on_news in tuple(self._database.followers):
            if store is not self:
                on_news(news)

    def presence(self, process: str) -> PresenceTable | None:
        return MemoryPresence(self._database, process, self._announce) if self.is_shared else None

    def follow(self, on_news: OnNews) -> None:
        self._database.followers.append((self, on_news))

    def _rows(self, games: Sequence[str]) -> list[Row]:
        found = self._database.games
        with self._database.lock:
            return [found[game] for game in games if game in found]

    def _page(self, after: str, limit: int) -> list[Row]:
        with self._database.lock:
            rows = [row for game, row in self._database.games.items() if game > after]
        return sorted(rows)[:limit]

    def _list(self, wanted: GameFilter, limit: int, before: Start | None) -> list[Row]:
        with self._database.lock:
            rows = [row for row in self._database.games.values() if row[6] is not None]
        rows.sort(key=lambda row: (row[6], row[0]), reverse=True)
        found = (row for row in rows if before is None or (row[6], row[0]) < before)
        return [*islice((row for row in found if _is_wanted(row, wanted)), limit)]

    def _idle(self, before: int, after: str, limit: int) -> list[str]:
        with self._database.lock:
            rows = sorted(self._database.games.items())
        return [game for game, row in rows if row[2] < before and game > after and row[3] and row[4]][
            :limit
        ]

    def _count(self) -> int:
        return len(self._database.games)

    def _counter(self) -> Row:
        return self._database.counter

    def _set_counter(self, seen: int, hours: int, new_hash: bytes) -> None:
        with self._database.lock:
            if self._database.counter[0] == seen:
                self._database.counter = hours, new_hash

    def _close(self) -> None:
        followers = self._database.followers
        followers[:] = [one for one in followers if one[0] is not self]


class MemoryPresence(PresenceTable):
    """Who is present; a process's rows go with its line."""

    def __init__(
        self, database: Database, process: str, announce: Callable[[Sequence[News]], None]
    ) -> None:
        self._database = database
        self._process = process
        self._announce = announce

    def renew(self, seconds: float) -> bool:
        now, processes = self._database.clock(), self._database.processes
        with self._database.lock:
            is_missing = self._process not in processes
            processes[self._process] = now + seconds
            for process in [one for one, expires in processes.items() if expires < now]:
                self._forget(process)
        return is_missing

    def write(self, rows: Mapping[str, Streams | None]) -> None:
        with self._database.lock:
            for game, streams in rows.items():
                self._database.present.pop((self._process, game), None)
                if streams is not None and self._process in self._database.processes:
                    self._database.present[self._process, game] = streams
        self._announce([News(game, 0, b"") for game in rows])

    def of(self, games: Sequence[str]) -> dict[str, Streams]:
        found = dict[str, Streams]()
        for process, game, (x, o, watching) in self._rows():
            if process != self._process and game in games:
                before = found.get(game, (0, 0, 0))
                found[game] = before[0] + x, before[1] + o, before[2] + watching
        return found

    def lobby(self) -> list[str]:
        return [*dict.fromkeys(game for _, game, _ in self._rows())]

    def leave(self) -> None:
        with self._database.lock:
            games = self._forget(self._process)
        self._announce([News(game, 0, b"") for game in games])

    def _rows(self) -> list[tuple[str, str, Streams]]:
        """Return the rows of living processes."""
        now, processes = self._database.clock(), self._database.processes
        with self._database.lock:
            present = [*self._database.present.items()]
            return [(*key, streams) for key, streams in present if processes.get(key[0], 0.0) > now]

    def _forget(self, process: str) -> list[str]:
        self._database.processes.pop(process, None)
        games = [game for one, game in self._database.present if one == process]
        for game in games:
            del self._database.present[process, game]
        return games


def _is_wanted(row: Row, wanted: GameFilter) -> bool:
    _, _, x, o, result, *_ = row[6:]
    return (
        (wanted.player is None or wanted.player in (x, o))
        and (wanted.is_over is None or wanted.is_over == (result is not None))
        and (wanted.result is None or wanted.result == result)
        and row[0].startswith(wanted.id_prefix)
    )
