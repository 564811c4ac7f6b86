"""Who is there: the lines that are open to this process, and to all others that share the games.

Processes tell each other by notes beside the games, one for each game and process. A process that has
not been heard of for a while is gone, and with it those who had a line to it.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from secrets import token_hex
from typing import TYPE_CHECKING

import msgspec

from noughts.core.errors import NoughtsError
from noughts.service import wall_clock
from noughts.web.live import NOBODY, Present

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from noughts.store.notes import Note
    from noughts.web.live import Live
    from noughts.web.lounge import Lounge

log = logging.getLogger("noughts.web")

SOON = 0.05
"""How long to wait for others who come, before it is told that somebody has come, in seconds."""

PATIENCE = 1.0
"""How long somebody may be away before it is told: a page that is loaded again is back by then."""

HEARTBEAT = 10.0
GONE = 35.0
"""How often a process is heard of, and after how long a silence it is gone, in seconds."""

_PROCESS, GOODBYE = "process-", "0"


class Presence:
    """Tells who is there, to those who follow a game."""

    def __init__(self, lounge: Lounge, *, is_shared: bool) -> None:
        self._lounge = lounge
        self._is_shared = is_shared
        self._process = token_hex(6)
        self._told: dict[str, Present] = {}
        self._telling: set[str] = set()
        self._heard: dict[str, float] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self._loop = asyncio.get_running_loop()
        if is_shared:
            self._start(self._beat())

    def came(self, live: Live) -> None:
        """Tell soon that somebody has come."""
        if self._is_closed:
            return
        if live.timer:
            if live.timer.when() <= self._loop.time() + SOON:
                return
            live.timer.cancel()
        live.timer = self._loop.call_later(SOON, self._settle, live)

    def left(self, live: Live) -> None:
        """Tell that somebody has left, unless they are back in a moment or nobody is there to hear."""
        if live.timer is None and (live.streams or self._is_shared) and not self._is_closed:
            live.timer = self._loop.call_later(PATIENCE, self._settle, live)

    def _settle(self, live: Live) -> None:
        live.timer = None
        live.tell_room()
        if self._is_shared and live.id not in self._telling:
            self._telling.add(live.id)
            self._start(self._tell_others(live))

    async def _tell_others(self, live: Live) -> None:
        """Write down who is here, until nothing has changed meanwhile."""
        name = f"{live.id}-{self._process}"
        try:
            while (here := live.here) != self._told.get(live.id, NOBODY):
                await self._write(name, msgspec.json.encode(here).decode(), live.id)
                self._told[live.id] = here
                if here == NOBODY:
                    del self._told[live.id]
        except NoughtsError as error:
            log.warning("presence", extra={"data": {"problem": str(error)[:200]}})
        finally:
            self._telling.discard(live.id)

    async def _write(self, name: str, text: str, shelf: str = "") -> None:
        store = self._lounge.store

        def write() -> None:
            before = store.note(name)
            store.write_note(name, text, expected=before.revision if before else 0, shelf=shelf)

        await self._lounge.in_thread(write)

    async def find(self, live: Live) -> None:
        """Look who of a game is at other processes."""
        if not self._is_shared:
            return
        store = self._lounge.store
        notes = await self._lounge.in_thread(lambda: store.notes(live.id))
        for note in notes:
            process = note.name.rpartition("-")[2]
            if process not in self._heard:
                beat = await self._lounge.in_thread(lambda: store.note(_PROCESS + process))  # noqa: B023 - the same
                if beat is None or wall_clock() - int(beat.text) > GONE * 1000:
                    continue
                self._heard[process] = self._loop.time()
            self.hear(note)

    def hear(self, note: Note) -> None:
        """Take up what another process has written down."""
        kind, _, process = note.name.rpartition("-")
        if process == self._process or not kind:
            return
        if note.text == GOODBYE and not note.shelf:
            self._gone({process})
            return
        self._heard[process] = self._loop.time()
        live = self._lounge.known(note.shelf) if note.shelf else None
        if live:
            try:
                present = msgspec.json.decode(note.text, type=Present)
            except msgspec.MsgspecError:
                return
            if present == NOBODY:
                live.elsewhere.pop(process, None)
            else:
                live.elsewhere[process] = present
            live.tell_room()

    async def _beat(self) -> None:
        while True:
            try:
                await self._write(_PROCESS + self._process, str(wall_clock()))
            except NoughtsError as error:
                log.warning("presence", extra={"data": {"problem": str(error)[:200]}})
            await asyncio.sleep(HEARTBEAT)
            now = self._loop.time()
            self._gone({process for process, heard in self._heard.items() if now - heard > GONE})
            for live in self._lounge.all_known():  # what could not be told is told now
                if live.here != self._told.get(live.id, NOBODY) and live.timer is None:
                    self.came(live)

    def _gone(self, processes: set[str]) -> None:
        """Hear that there is nobody any more at these processes."""
        for process in processes:
            self._heard.pop(process, None)
        for live in self._lounge.all_known() if processes else ():
            if [live.elsewhere.pop(process) for process in processes if process in live.elsewhere]:
                live.tell_room()

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Stop, and tell the other processes that nobody is here any more."""
        self._is_closed = True
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._is_shared:
            with suppress(NoughtsError):
                await self._write(_PROCESS + self._process, GOODBYE)
