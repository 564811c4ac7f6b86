"""The application of one process, with a real store and real threads."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable, Mapping

from noughts.bots.policy import Policy
from noughts.core.board import Mark, reachable
from noughts.core.errors import NoughtsError
from noughts.store.base import EventStore
from noughts.store.errors import StoreLost
from noughts.store.urls import open_store
from noughts.store.watch import ANYTHING
from noughts.web.app import App, World
from noughts.web.settings import Settings
from noughts.web.threads import Threads

log = logging.getLogger("noughts.web")

READING_THREADS, THINKING_THREADS = 4, 2

CLOSE_SECONDS = 1.0
"""How long closing the store may take: a database may be away."""


class Runtime:
    """Opens the application, and closes it in order."""

    def __init__(self, app: App, store: EventStore, close: Callable[[], None]) -> None:
        self.app = app
        self._store = store
        self._close = close

    @classmethod
    async def open(
        cls,
        settings: Settings,
        policies: Mapping[str, Policy],
        end: Callable[[NoughtsError], None],
        *,
        may_create: bool = True,
    ) -> Runtime:
        reading, watching = Threads("noughts-reader", READING_THREADS), Threads("noughts-watcher")
        writing, thinking = Threads("noughts-writer"), Threads("noughts-thinker", THINKING_THREADS)
        store: EventStore | None = None
        try:
            store = await reading.run(
                lambda: open_store(
                    settings.store, create=may_create, checkpoint_file=settings.checkpoint_file
                )
            )
            subscription = await reading.run(store.changes)
            cursor = await reading.run(store.documents_end)  # now, so that nothing is missed after it
        except BaseException:
            if store:
                reading.run(store.close)
            for threads in (reading, watching, writing, thinking):
                threads.close()
            raise
        world = World(
            store=store,
            reading=reading,
            writing=writing,
            thinking=thinking,
            changes=lambda: watching.run(subscription.wait),
            documents_cursor=cursor,
            is_shared=settings.is_shared,
            end=end,
        )
        app = App(settings, policies, world)
        for first in Mark:  # made now rather than during the first games
            reachable(first)
        log.info("started", extra={"data": {"store": settings.store.partition(":")[0]}})

        def close() -> None:
            subscription.notify(ANYTHING)
            for threads in (reading, watching, writing, thinking):
                threads.close()

        return cls(app, store, close)

    async def close(self) -> None:
        await self.app.close()
        self._close()
        closing = Threads("noughts-closer").run(self._store.close)
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await closing
        except (TimeoutError, StoreLost):  # the second is logged
            pass
        except Exception:
            log.exception("closing")
        log.info("stopped")


def freeze_memory() -> None:
    """Exempt what lives as long as the process from garbage collection."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)
