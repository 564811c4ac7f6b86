"""What other processes do with the same games: read from the store, and told to those who follow here.

A thread waits for the store's bell and reads what is new. What this process has recorded itself it knows
already, and does not read again.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from threading import Event, Thread
from typing import TYPE_CHECKING

from noughts.core.errors import CorruptStore, NoughtsError

if TYPE_CHECKING:
    from noughts.store.base import EventStore, Recorded
    from noughts.store.notes import Note
    from noughts.web.live import Live
    from noughts.web.lounge import Lounge
    from noughts.web.presence import Presence
    from noughts.web.writing import Writer

log = logging.getLogger("noughts.web")

GLANCE, GLANCE_ALONE = 0.02, 0.2
"""How long to let things gather before they are read, in seconds; alone there is little to be read."""

SILENCE = 2.0
"""How long to wait for the bell before looking all the same, in seconds."""


class Follower:
    """Keeps a lounge up with its store."""

    def __init__(
        self,
        store: EventStore,
        writer: Writer,
        lounge: Lounge,
        presence: Presence,
        loop: asyncio.AbstractEventLoop,
        *,
        is_shared: bool,
    ) -> None:
        self._store = store
        self._writer = writer
        self._lounge = lounge
        self._presence = presence
        self._loop = loop
        self._glance = GLANCE if is_shared else GLANCE_ALONE
        self._closing = Event()
        writer.read_up_to(store.last_position())
        self._change = store.last_change()
        self._bell = store.bell()
        self._thread = Thread(target=self._follow, name="noughts-follower", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End."""
        self._closing.set()
        self._bell.ring()
        self._thread.join()

    def _follow(self) -> None:
        while not self._closing.wait(self._glance):
            try:
                rung = self._bell.rung  # before anything is read: what comes after it will ring again
                self._read_on()
                self._bell.wait(rung, SILENCE)
            except CorruptStore as error:
                log.error("following", extra={"data": {"problem": str(error)[:200]}})  # noqa: TRY400 - it is told whole
                self._pass_over_damage()
            except NoughtsError as error:
                log.warning("following", extra={"data": {"problem": str(error)[:200]}})
                self._closing.wait(1)
            except Exception:
                log.exception("following")
                self._closing.wait(1)

    def _pass_over_damage(self) -> None:
        """Leave what is damaged behind; every game that is open here is read for itself."""
        with suppress(NoughtsError):
            self._writer.read_up_to(self._store.last_position())
            self._change = self._store.last_change()
            self._in_loop(self._refresh, self._lounge.all_known())
        self._closing.wait(1)

    def _refresh(self, games: tuple[Live, ...]) -> None:
        for live in games:
            self._lounge.refresh_soon(live)

    def _read_on(self) -> None:
        while records := self._store.feed(self._writer.known):
            self._in_loop(self._take_up, records)
            self._writer.read_up_to(records[-1].position)
        while notes := self._store.changed_notes(self._change):
            self._change = notes[-1].change
            self._in_loop(self._take_up_notes, notes)

    def _in_loop(self, work: object, found: object) -> None:
        """Have something taken up in the loop, and wait until it is: then the next page is read."""

        async def take() -> None:
            work(found)  # type: ignore[operator]  # one of the two below

        asyncio.run_coroutine_threadsafe(take(), self._loop).result()

    def _take_up(self, records: tuple[Recorded, ...]) -> None:
        for record in records:
            self._lounge.hear(record.game, (record,))

    def _take_up_notes(self, notes: tuple[Note, ...]) -> None:
        for note in notes:
            if not self._lounge.hear_of_room(note):
                self._presence.hear(note)
