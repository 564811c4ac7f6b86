"""The games that this process knows: immutable values that can be old, but are never wrong.

The store decides. A command is judged on what is known; if another was faster, the store refuses it, and
it is judged again on what the store has. After a commit, and when another process says that it has
changed a game, the streams of the game are woken.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from noughts.core.errors import NoughtsError, RecordError
from noughts.service import SHORT_ID_CHARACTERS
from noughts.store.base import MAX_TRIES, Change, News, StoredGame, nothing
from noughts.store.errors import (
    CorruptStore,
    InvalidId,
    NoSuchGame,
    StaleVersion,
    StoreLost,
    StoreUnavailable,
)
from noughts.store.rows import Entry, check_id, game_of, parse_record
from noughts.web.logging import Outage, details, log, report
from noughts.web.metrics import Metrics
from noughts.web.problems import GamesUnavailable, absent
from noughts.web.world import World, resolve

T = TypeVar("T")

MAX_READS = 2
"""At the same time."""

MAX_GAMES_PER_READ = 100
"""The others wait for the next read."""

FIXED_BYTES = 3_000
"""What a game takes in memory apart from its record and its room, roughly."""

LOST_STORE_SECONDS = 5.0
"""How long a server whose store was lost still answers, so that a monitor notices."""

LOOK_SECONDS = 0.5
"""How often to look for changes that wait too long for their commit."""

FOLLOW_SECONDS = 2.0
"""How often the games that are followed here are compared with the store, if others may change them."""

PLACED = '"playerPlacedToken"'
"""What the record of a move contains, and that of no other command."""

Decide = Callable[[StoredGame], tuple[T, Change | None]]
"""Returns the answer to a command, and the change that must be durable before it is given."""


class Games:
    def __init__(self, world: World, metrics: Metrics) -> None:
        self.world = world
        self.store = world.store
        self.is_shared = world.store.is_shared
        """True if other processes play the same games: nothing is refused from what is known here."""
        self.hour = 0
        """The last number of hours served that was seen."""
        self.followed: Collection[str] = ()
        """The games that have streams here."""
        self.on_change: Callable[[StoredGame], None] = lambda _stored: None
        """Called when a game was read, or has gone on."""
        self.on_visit: Callable[[StoredGame], None] = lambda _stored: None
        """Called when somebody looks at a game."""
        self.on_presence: Callable[[Sequence[str] | None], None] = lambda _games: None
        """Called with the games of which others say that somebody came or left; with None for any."""
        self.outage, self.write_outage = Outage("reading"), Outage("writing")
        """Apart: with a full disk, reading goes on."""
        self.damaged: set[str] = set()
        self.lost = 0
        """How many games the store had at an earlier state than it had acknowledged."""
        self._lost_store: StoreLost | None = None
        self._metrics = metrics
        self._loop = asyncio.get_running_loop()
        self._cache: OrderedDict[str, StoredGame] = OrderedDict()
        self._bytes = 0
        self._most_bytes = world.settings.cache_megabytes * 1_000_000
        self._waiting: dict[str, list[asyncio.Future[StoredGame | None]]] = {}
        """Reads that have not begun, by game."""
        self._reads: dict[asyncio.Future[dict[str, StoredGame | NoughtsError]], set[str]] = {}
        """Those that run, each with the games that were dropped from memory meanwhile."""
        self._used: set[str] = set()
        """The games changed here since the last news of them: the others are not kept up to date."""
        self._news: deque[Sequence[News] | None] = deque()
        """What has come and was not applied yet."""
        self._is_news_noticed = False
        self._confirming = asyncio.Lock()
        """One at a time: while commits hang, the other threads go on reading."""
        self._limit_seconds = self.store.writer.limit_seconds
        self._awaited: dict[asyncio.Future[Any], float] = {}
        """Since when somebody waits for the store, if that has a deadline."""
        self.store.writer.on_settled = self._on_settled
        self.store.follow(self._on_news)

    def __len__(self) -> int:
        return len(self._cache)

    def known(self, game: str) -> StoredGame | None:
        """Return a game as it is known here, if it is."""
        return self._cache.get(game)

    async def find(self, game: str) -> StoredGame:
        """Return a game, or refuse; on a shared store, as it is there now."""
        stored = None if self.is_shared else self._cache.get(game)
        stored = stored or await self.read(game)
        if stored is None or stored.is_deleted:
            raise absent()
        if game in self._cache:
            self._cache.move_to_end(game)
        self.on_visit(stored)
        return stored

    # Reading.

    async def read(self, game: str) -> StoredGame | None:
        """Return a game as the store has it: one read of it at a time, which begins after this call."""
        try:
            check_id(game)
        except InvalidId:
            return None
        found: asyncio.Future[StoredGame | None] = self._loop.create_future()
        self._wait(game, [found])
        return await self._in_time(found)

    def _wait(self, game: str, futures: list[asyncio.Future[StoredGame | None]]) -> None:
        self._waiting.setdefault(game, []).extend(futures)
        if len(self._reads) < MAX_READS:
            self._read()

    def _read(self) -> None:
        games = [*self._waiting][:MAX_GAMES_PER_READ]
        waiting = {game: self._waiting.pop(game) for game in games}
        held = {game: self._cache.get(game) for game in games}
        reading = self.world.reading.run(lambda: self._read_rows(games, held))
        self._reads[reading] = set()

        def done(reading: asyncio.Future[dict[str, StoredGame | NoughtsError]]) -> None:
            dropped = self._reads.pop(reading)
            if reading.cancelled():
                return
            if self._waiting and len(self._reads) < MAX_READS:
                self._read()
            failure = reading.exception()
            if isinstance(failure, NoughtsError):
                self.note_failure(failure)
            for game, futures in waiting.items():
                if not (failure or self.is_shared) and game in dropped and game not in self._cache:
                    self._wait(game, futures)  # what was dropped may have been newer
                    continue
                outcome = failure or reading.result().get(game)
                if isinstance(outcome, CorruptStore):
                    self.report_damage(game, outcome)
                error = outcome if isinstance(outcome, BaseException) else None
                found = None if isinstance(outcome, BaseException) else outcome
                if error is None:
                    found = self._apply_read(game, found, held[game])
                for future in futures:
                    resolve(future, found, error)

        reading.add_done_callback(done)

    def _read_rows(
        self, games: Sequence[str], held: Mapping[str, StoredGame | None]
    ) -> dict[str, StoredGame | NoughtsError]:
        """Read games in a thread; a damaged one doesn't hide the others."""
        found: dict[str, StoredGame | NoughtsError] = {}
        try:
            rows = self.store.read_rows(games)
        except CorruptStore as error:
            if len(games) == 1:
                return {games[0]: error}
            for game in games:
                found |= self._read_rows([game], held)
            return found
        for row in rows:
            known = held.get(row[0])
            try:
                stored = known if known and known.row[:6] == row[:6] else game_of(row)
                if not stored.is_deleted:
                    stored.game  # noqa: B018 - folded here, and not in the event loop
                found[row[0]] = stored
            except CorruptStore as error:
                found[row[0]] = error
        return found

    def _apply_read(
        self, game: str, found: StoredGame | None, held: StoredGame | None
    ) -> StoredGame | None:
        """Keep what was read, unless something newer is known by now; notice a store that went back."""
        self.outage.end()
        if held and (
            found is None
            or found.revision < held.revision
            or (found.revision == held.revision and found.hash != held.hash)
        ):
            self.lost += 1
            log.error("the store has lost what it had acknowledged", extra={"data": {"game": game[:8]}})
            self._forget(game)
            if found is None:
                self.on_change(nothing(game))
        known = self._cache.get(game)
        if found and (known is None or found.revision > known.revision):
            self._keep(found)
            return found
        return known or found

    def report_damage(self, game: str, error: CorruptStore) -> None:
        if game not in self.damaged:
            self.damaged.add(game)
            report("damaged game", error, logging.ERROR, game=game[:SHORT_ID_CHARACTERS])

    def note_failure(self, error: NoughtsError) -> None:
        if isinstance(error, StoreLost):
            self.lose(error)
        elif isinstance(error, StoreUnavailable):
            self.outage.begin(error)

    def lose(self, error: StoreLost) -> None:
        """Note that the store was lost, and end in a few seconds."""
        if self._lost_store is None:
            self._lost_store = error
            log.error("store lost", extra=details(problem=str(error)))
            self._loop.call_later(LOST_STORE_SECONDS, self.world.end, error)

    def check_store(self) -> None:
        """Refuse if the store is known to be lost; nothing is read for it."""
        if self._lost_store:
            raise self._lost_store.with_traceback(None)

    # Keeping.

    def _keep(self, stored: StoredGame) -> None:
        before = self._cache.get(stored.id)
        self._cache[stored.id] = stored
        self._cache.move_to_end(stored.id)
        self._bytes += _size(stored) - (_size(before) if before else 0)
        while self._bytes > self._most_bytes and len(self._cache) > 1:
            self._forget(next(iter(self._cache)))
        self.on_change(stored)

    def _forget(self, game: str) -> None:
        self._used.discard(game)
        for dropped in self._reads.values():
            dropped.add(game)
        if stored := self._cache.pop(game, None):
            self._bytes -= _size(stored)

    # Changing.

    async def change(self, game: str, decide: Decide[T]) -> T:
        """Answer a command, durably: judge it again until it is committed or refused."""
        before, is_fresh = self._cache.get(game), not self.is_shared
        for _ in range(MAX_TRIES):
            if before is None:
                before, is_fresh = await self.read(game), True
            try:
                if before is None or before.is_deleted:
                    raise absent()
                answer, change = decide(before)
            except NoughtsError:
                if is_fresh:
                    raise
                before = None
                continue
            if change is None:
                if not self.is_shared:
                    return answer
                found = await self._confirm(game)
                if found.hash == before.hash:
                    return answer
                before, is_fresh = found, True
                continue
            try:
                await self.submit(change)
            except (StaleVersion, NoSuchGame):
                known = self._cache.get(game)
                is_newer = known and known.revision > before.revision
                before, is_fresh = known if is_newer else None, not self.is_shared
                continue
            return answer
        raise GamesUnavailable(f"a game changes too fast: {MAX_TRIES} tries were too late")

    async def create(self, game: str, room: str, entries: Sequence[Entry]) -> StoredGame:
        """Create a game; one that exists raises `StaleVersion`."""
        before = nothing(game)
        after = before.followed_by(entries, room=room, hour=self.hour)
        await self.submit(Change(before, after))
        return after

    async def submit(self, change: Change) -> None:
        """Commit a change; raise an error if it was refused, or if nobody knows."""
        settled = change.settled = self._loop.create_future()
        try:
            self.store.submit(change)
            await self._in_time(settled)
            if change.id in self._cache:
                self._used.add(change.id)
        except StoreUnavailable as error:  # it may be recorded all the same
            self._forget(change.id)
            self.on_change(nothing(change.id))  # its streams read it
            self.write_outage.begin(error)
            raise
        except StoreLost as error:
            self.lose(error)
            raise

    def _in_time(self, outcome: asyncio.Future[T]) -> asyncio.Future[T]:
        """Return what the store is asked for; it is late after a while."""
        if self._limit_seconds:
            self._awaited[outcome] = self._loop.time()
        return outcome

    async def answer_late(self) -> None:
        """Answer those who have waited too long for the store; a commit itself goes on."""
        while limit := self._limit_seconds:
            await asyncio.sleep(LOOK_SECONDS)
            since = self._loop.time() - limit
            for outcome, awaited in tuple(self._awaited.items()):
                if awaited < since:
                    resolve(outcome, None, StoreUnavailable("the store has not answered for seconds"))
                if outcome.done():
                    del self._awaited[outcome]

    async def _confirm(self, game: str) -> StoredGame:
        """Make sure that what was found in a game is there for good, and is all there is.

        Its commit may have failed, here or at another process, after it was recorded.
        """
        held = self._cache.get(game)
        try:
            async with self._confirming:
                confirmed = await self._in_time(self.world.reading.run(lambda: self.store.confirm(game)))
        except StoreUnavailable as error:  # reading may go on
            self.write_outage.begin(error)
            raise
        self._apply_read(game, confirmed, held)
        if confirmed is None:  # lost with its commit, also if its creation was asked for again
            raise GamesUnavailable("the game has gone: try again")
        return confirmed

    def _on_settled(self, batch: Sequence[Change]) -> None:
        """Pass on a batch from the writer's thread."""
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._settle, batch, self.store.writer.commit_seconds)

    def _settle(self, batch: Sequence[Change], seconds: float) -> None:
        """Keep what was committed, wake its streams, and answer."""
        self._metrics.commit_seconds.observe(seconds)
        for change in batch:
            if change.failure is None:
                if self.write_outage.is_on:
                    self.write_outage.end()
                self._metrics.moves += PLACED in change.piece
                known = self._cache.get(change.id)
                if known is None or known.revision < change.after.revision:
                    self._keep(change.after)
            if not change.settled.done():
                if change.failure is None:
                    change.settled.set_result(None)
                else:
                    change.settled.set_exception(change.failure)

    # What other processes change.

    def _on_news(self, news: Sequence[News] | None) -> None:
        self._news.append(news)
        if not self._is_news_noticed:
            self._is_news_noticed = True
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._apply_all_news)

    def _apply_all_news(self) -> None:
        self._is_news_noticed = False
        while self._news:
            self.apply_news(self._news.popleft())

    def apply_news(self, news: Sequence[News] | None) -> None:
        """Apply what other processes have changed; what does not follow on what is known is read."""
        if news is None:
            self.on_presence(None)
            for game in tuple(self.followed):
                self.read_soon(game)
            return
        present = [one.id for one in news if not one.revision]
        if present:
            self.on_presence(present)
        for one in news:
            known = self._cache.get(one.id)
            if one.revision <= (known.revision if known else 0):
                continue
            is_used = one.id in self._used or one.id in self.followed
            self._used.discard(one.id)
            if after := known and is_used and _followed(known, one):
                self._keep(after)
            elif one.id in self.followed:
                self.read_soon(one.id)
            else:
                self._forget(one.id)

    def read_soon(self, game: str) -> None:
        task = asyncio.ensure_future(self.read(game))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def follow(self) -> None:
        """Compare the games that are followed here with the store: news may have been lost."""
        while True:
            await asyncio.sleep(FOLLOW_SECONDS)
            games = tuple(self.followed)
            try:
                hashes = await self.world.reading.run(partial(self.store.hashes, games))
                self.outage.end()
            except NoughtsError as error:
                self.note_failure(error)
                continue
            except Exception:  # the next round may do better
                log.exception("following")
                continue
            for game in games:
                known = self._cache.get(game)
                if known is None or hashes.get(game) != known.hash:
                    self.read_soon(game)
            self.on_presence(None)


def _size(stored: StoredGame) -> int:
    return FIXED_BYTES + 2 * len(stored.record) + len(stored.room)


def _followed(known: StoredGame, news: News) -> StoredGame | None:
    """Return the game after a change at another process; None if it must be read."""
    if news.revision != known.revision + 1 or news.piece is None:
        return None
    try:
        after = known.followed_by(parse_record(news.piece, known.version), room=news.room, hour=news.hour)
    except RecordError:
        return None
    return after if after.hash == news.hash else None
