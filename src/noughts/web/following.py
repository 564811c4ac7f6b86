"""Follows what other processes do with the same games, and passes it on to the streams of this one.

A thread waits until the store names what others have changed, or says that anything may have. Of games,
only those are read that this process holds and whose version in the store is another.
"""

from __future__ import annotations

import asyncio
import logging
from threading import Event, Thread
from typing import TYPE_CHECKING

from noughts.core.errors import CorruptStore, NoughtsError, StoreLost
from noughts.store.base import PAGE_SIZE
from noughts.store.watch import ANYTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable

    from noughts.store.base import EventStore
    from noughts.store.documents import Document
    from noughts.web.lounge import Lounge
    from noughts.web.presence import Presence

log = logging.getLogger("noughts.web")

PAUSE_SECONDS, PAUSE_ALONE_SECONDS = 0.02, 0.2
"""How long changes gather after the last were read; longer if no other process is expected."""

RETRY_DELAY_SECONDS = 1.0


class Follower:
    """Keeps a lounge up to date with its store."""

    def __init__(
        self,
        store: EventStore,
        lounge: Lounge,
        presence: Presence,
        loop: asyncio.AbstractEventLoop,
        on_lost: Callable[[StoreLost], None],
        *,
        is_shared: bool,
    ) -> None:
        self._store = store
        self._lounge = lounge
        self._presence = presence
        self._loop = loop
        self._on_lost = on_lost
        """Called in the loop if the store was lost; nothing is followed any more."""
        self._pause_seconds = PAUSE_SECONDS if is_shared else PAUSE_ALONE_SECONDS
        self._closing = Event()
        self._subscription = store.changes()
        self._cursor = store.documents_end()  # after subscribing, so that no change is between the two
        self._thread = Thread(target=self._follow, name="noughts-follower", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the thread."""
        self._closing.set()
        self._subscription.notify(ANYTHING)
        self._thread.join()

    def _follow(self) -> None:
        while not self._closing.wait(self._pause_seconds):
            changed = self._subscription.wait()
            if self._closing.is_set():
                return
            try:
                self._in_loop(self._read_all() if changed is ANYTHING else self._read(changed))
                continue
            except StoreLost as error:
                self._loop.call_soon_threadsafe(self._on_lost, error)
                return
            except CorruptStore as error:
                log.error("following", extra={"data": {"problem": str(error)[:200]}})  # noqa: TRY400 - the message says it all
                self._pass_over_damage()
            except NoughtsError as error:
                log.warning("following", extra={"data": {"problem": str(error)[:200]}})
                self._subscription.notify(ANYTHING)
            except Exception:
                log.exception("following")
                self._subscription.notify(ANYTHING)
            self._closing.wait(RETRY_DELAY_SECONDS)

    def _pass_over_damage(self) -> None:
        """Skip documents that can't be read, and read each game for itself."""
        try:
            self._cursor = self._store.documents_end()
        except NoughtsError:
            self._subscription.notify(ANYTHING)
        self._loop.call_soon_threadsafe(self._lounge.refresh_all)

    def _in_loop(self, work: Coroutine[None, None, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _read(self, names: set[str]) -> None:
        """Read what has changed, as far as it concerns this process."""
        games, others = self._lounge.changed(names)
        wanted = [live.id for live in games] + [*filter(self._presence.concerns, others)]
        if wanted:
            self._take_up(await self._lounge.in_thread(lambda: self._store.documents_named(wanted)))
        if games:
            await self._lounge.read_on(games)

    async def _read_all(self) -> None:
        """Find out what has changed, and read it."""
        games = self._lounge.all_changed()
        await self._lounge.in_thread(self._store.check)
        is_last = False
        while not is_last:
            documents, self._cursor = await self._lounge.in_thread(
                lambda: self._store.changed_documents(self._cursor, PAGE_SIZE)
            )
            self._take_up(documents)
            is_last = len(documents) < PAGE_SIZE
        if games:
            await self._lounge.read_on(games)

    def _take_up(self, documents: Iterable[Document]) -> None:
        for document in documents:
            if not self._lounge.on_document(document):
                self._presence.on_document(document)
