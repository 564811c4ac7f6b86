"""What other processes do with the same games: read from the store, and told to those who follow here.

A thread waits for the store's bell and reads what is new. What this process has recorded itself it knows
already, and does not read again.
"""

from __future__ import annotations

import asyncio
import logging
from threading import Event, Thread
from typing import TYPE_CHECKING

from noughts.core.errors import NoughtsError
from noughts.web.rooms import read_room

if TYPE_CHECKING:
    from noughts.store.base import EventStore, Recorded
    from noughts.store.notes import Note
    from noughts.web.lounge import Lounge
    from noughts.web.presence import Presence
    from noughts.web.writing import Writer

log = logging.getLogger("noughts.web")

GLANCE = 0.02
"""How long to let things gather before they are read, in seconds."""

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
    ) -> None:
        self._store = store
        self._writer = writer
        self._lounge = lounge
        self._presence = presence
        self._loop = loop
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
        while not self._closing.wait(GLANCE):
            try:
                rung = self._bell.rung  # before anything is read: what comes after it will ring again
                self._read_on()
                self._bell.wait(rung, SILENCE)
            except NoughtsError as error:
                log.warning("following", extra={"data": {"problem": str(error)[:200]}})
                self._closing.wait(1)

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
            if live := self._lounge.known(record.game):
                self._lounge.take_up(live, (record,))

    def _take_up_notes(self, notes: tuple[Note, ...]) -> None:
        for note in notes:
            if live := self._lounge.known(note.name):
                self._lounge.take_up_room(live, read_room(note.text), note.revision)
            else:
                self._presence.hear(note)
