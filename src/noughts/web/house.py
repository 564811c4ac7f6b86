"""All that a server is made of, put together for one process, and taken apart again in order."""

from __future__ import annotations

import asyncio
import gc
import logging
import multiprocessing
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from noughts.core.board import Mark, reachable
from noughts.core.errors import NoughtsError, StoreLost
from noughts.store.urls import open_store
from noughts.web.asking import Asking, bare
from noughts.web.bots import Bots
from noughts.web.expiry import Expiry
from noughts.web.following import Follower
from noughts.web.limits import Limit
from noughts.web.lounge import Lounge
from noughts.web.metrics import Metrics
from noughts.web.presence import Presence
from noughts.web.problems import absent
from noughts.web.readers import Readers
from noughts.web.roster import read_roster
from noughts.web.writing import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    from noughts.store.base import EventStore
    from noughts.web.asking import Receive
    from noughts.web.connection import Connection
    from noughts.web.live import Live
    from noughts.web.rooms import MarkName, Room
    from noughts.web.settings import Settings

    Found = TypeVar("Found")

log = logging.getLogger("noughts.web")

THREADS = 16
THINKERS = 2

LOST_STORE_SECONDS = 5.0
"""How long a server whose store was lost still answers, so that a monitor notices."""


class House:
    """The games, those who are there, and the limits."""

    def __init__(self, settings: Settings, *, is_shared: bool) -> None:
        self.settings = settings
        self.may_create_store = True
        self.lost: StoreLost | None = None
        """Why the store can't be used any more, once it can't."""
        self.end: Callable[[StoreLost], None] = lambda _lost: signal.raise_signal(signal.SIGTERM)
        """Called some seconds after the store was lost."""
        self.metrics = Metrics()
        self.roster = read_roster(settings.bots)
        self.creates = Limit("new games", settings.creates_per_minute)
        self.joins = Limit("attempts to join", settings.joins_per_minute)
        self.wrong_secrets = Limit("wrong secrets", settings.wrong_secrets_per_minute)
        self.analyses = Limit("analyses", settings.analyses_per_minute)
        self.is_shared = is_shared
        """Whether other processes play the same games."""
        self._proxies = frozenset(bare(one) for one in settings.proxy.split(",") if one.strip())
        self.readers = Readers(self)
        self.connections: set[Connection] = set()
        self._closing: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Open the store, and start all that works beside the loop."""
        loop = asyncio.get_running_loop()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="noughts-store")
        self._thinkers = ThreadPoolExecutor(THINKERS, thread_name_prefix="noughts-thinker")
        self.store = await loop.run_in_executor(self._threads, self._open_store)
        self._writer = Writer(self.store, loop)
        self.lounge = Lounge(self.store, self._writer, self._threads, self.settings.cached_games)
        self.presence = Presence(
            self.lounge, is_shared=self.is_shared, grace_seconds=self.settings.lobby_grace_seconds
        )
        self.bots = Bots(self.lounge, self.roster, self.think, self.metrics)
        self.lounge.on_change = self._on_change
        self._follower = await loop.run_in_executor(
            self._threads,
            lambda: Follower(
                self.store, self.lounge, self.presence, loop, self.lose, is_shared=self.is_shared
            ),
        )
        self.expiry = Expiry(self.store, self.lounge, days=self.settings.expire_days)
        self._tasks = [asyncio.ensure_future(self._tick()), asyncio.ensure_future(self.expiry.run())]
        self.metrics.gauges = {
            "commits": lambda: self._writer.commits,
            "commands_recorded": lambda: self._writer.recorded,
            "games_expired": lambda: self.expiry.expired,
            "streams": lambda: len(self.readers),
            "live_games": lambda: self.lounge.live_games,
        }
        # What lives as long as the server is made now, and not looked through again and again.
        for first in Mark:
            reachable(first)
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 50, 100)

    def _open_store(self) -> EventStore:
        return open_store(
            self.settings.store,
            create=self.may_create_store,
            checkpoint_file=self.settings.checkpoint_file,
        )

    async def close(self) -> None:
        """Record what waits, and give everything back."""
        for task in self._tasks:
            task.cancel()
        loop = asyncio.get_running_loop()
        for close in (
            self.readers.close,
            self.bots.close,
            self.presence.close,
            lambda: asyncio.gather(*self._tasks, *self._closing, return_exceptions=True),
            self.expiry.close,
            lambda: loop.run_in_executor(None, self._follower.close),
            lambda: loop.run_in_executor(None, self._writer.close),
            lambda: loop.run_in_executor(None, self.store.close),
        ):
            try:
                await close()
            except StoreLost:  # it is logged
                pass
            except Exception:  # whatever one of them meets, the others are closed
                log.exception("closing")
        for threads in (self._threads, self._thinkers):
            threads.shutdown(wait=False)

    def lose(self, lost: StoreLost) -> None:
        """Remember that the store was lost, and end in a few seconds."""
        if self.lost is None:
            self.lost = lost
            log.error("store lost", extra={"data": {"problem": str(lost)}})
            asyncio.get_running_loop().call_later(LOST_STORE_SECONDS, self.end, lost)

    def check(self) -> None:
        """Refuse if the store is known to be lost; nothing is read for it."""
        if self.lost:
            raise StoreLost(str(self.lost))

    def _on_change(self, live: Live) -> None:
        """See to what a game needs when it was loaded, or has gone on."""
        if live.room.X.bot or live.room.O.bot:
            self.bots.consider(live)
        if live.game.is_over and live.room.lobby and not live.room.closed:
            task = asyncio.ensure_future(self._close_room(live))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def _close_room(self, live: Live) -> None:
        with suppress(NoughtsError):  # tried again when the game is loaded again
            await self.lounge.change_room(live, _closed)

    async def think(self, work: Callable[[], Found]) -> Found:
        """Have something thought about in a thread, and let the loop go on."""
        return await asyncio.get_running_loop().run_in_executor(self._thinkers, work)

    def asking(self, scope: Mapping[str, Any], receive: Receive) -> Asking:
        """Return a request, as it came in."""
        return Asking(scope, receive, self._proxies)

    async def held(self, live: Live, asking: Asking) -> tuple[MarkName, ...]:
        """Return the seats whose secrets came with a request; wrong ones are counted."""
        secrets = asking.secrets()
        if not secrets:
            return ()
        if held := live.room.held(secrets):
            return held
        self.wrong_secrets.check(asking.address)
        await self.lounge.refresh(live)  # another process may have given the seat away just now
        if held := live.room.held(secrets):
            return held
        self.wrong_secrets.spend(asking.address)
        return ()

    async def seat(
        self, live: Live, asking: Asking, mark: MarkName | None, *, is_to_move: bool = True
    ) -> MarkName:
        """Return the seat that a command is for, or refuse as if there were no game."""
        seat = live.seat(await self.held(live, asking), mark, is_to_move=is_to_move)
        if seat is None:
            raise absent()
        return seat

    async def _tick(self) -> None:
        """See every second to what must not take too long."""
        second, parent = 0, multiprocessing.parent_process()
        while True:
            await asyncio.sleep(1)
            second += 1
            try:
                self.readers.keep_awake(second)
                now = asyncio.get_running_loop().time()
                for connection in tuple(self.connections):
                    connection.check_patience(now)
                await self.bots.check()
            except Exception:  # the next second is another one
                log.exception("ticking")
            if parent and not parent.is_alive():  # who would replace us, and tell us to stop
                signal.raise_signal(signal.SIGTERM)


def _closed(room: Room) -> Room:
    return msgspec.structs.replace(room, closed=True)
