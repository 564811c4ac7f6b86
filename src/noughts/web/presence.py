"""Who is there: the lines that are open to this process, and to all others that share the games.

Processes share this by documents beside the games, one for each game and process. A process that has
been silent for a while is gone, and with it everybody who was connected to it.
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
from noughts.web.rooms import OPEN, PLAYING

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from noughts.store.documents import Document
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

LOBBY_GAMES_SEARCHED = 1000
"""How many open games, and how many that are played, a process that starts looks up in the store."""


def is_presence(name: str) -> bool:
    """Return whether a document says who is there; no hyphen is in the name of a room."""
    return "-" in name


class Written(Present, frozen=True):
    """What a process writes down about a game."""

    lobby: bool = False

    def present(self) -> Present:
        """Return who is there."""
        return Present(self.X, self.O, self.watching)


class Presence:
    """Tells who is there, to those who follow a game."""

    def __init__(self, lounge: Lounge, *, is_shared: bool, grace_seconds: int) -> None:
        self._lounge = lounge
        self._is_shared = is_shared
        self._process = token_hex(6)
        self._told: dict[str, Present] = {}
        self._telling: set[str] = set()
        self._heard: dict[str, float] = {}
        self._grace_seconds = grace_seconds
        self._attended: dict[str, set[str]] = {}
        """Games of the lobby with a player connected, and the processes that they are connected to."""
        self._left: dict[str, float] = {}
        """Games of the lobby that the last player left, the longest ago first, by the loop's time."""
        self._has_searched = not is_shared
        """Whether what other processes had written before this one started is known here."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self._loop = asyncio.get_running_loop()
        if is_shared:
            self._start(self._beat())

    def came(self, live: Live, *, is_player: bool = False) -> None:
        """Tell soon that somebody has come."""
        if is_player and live.room.lobby:
            self._attend(live.id, self._process, is_there=True)
        if self._is_closed:
            return
        if live.timer:
            if live.timer.when() <= self._loop.time() + SOON:
                return
            live.timer.cancel()
        live.timer = self._loop.call_later(SOON, self._settle, live)

    def left(self, live: Live, *, is_player: bool = False) -> None:
        """Tell that somebody has left, unless they are back in a moment or nobody is there to hear."""
        if is_player and live.room.lobby and not any(stream.marks for stream in live.streams):
            self._attend(live.id, self._process, is_there=False)
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
                written = Written(here.X, here.O, here.watching, live.room.lobby)
                await self._write(name, msgspec.json.encode(written).decode(), live.id)
                self._told[live.id] = here
                if here == NOBODY:
                    del self._told[live.id]
        except NoughtsError as error:
            log.warning("presence", extra={"data": {"problem": str(error)[:200]}})
        finally:
            self._telling.discard(live.id)

    async def _write(self, name: str, text: str, label: str = "") -> None:
        store = self._lounge.store

        def write() -> None:
            before = store.document(name)
            store.write_document(name, text, expected=before.revision if before else 0, label=label)

        await self._lounge.in_thread(write)

    async def find(self, live: Live) -> None:
        """Look who of a game is at other processes."""
        if self._is_shared:
            await self._find(live.id)

    async def _find(self, *games: str) -> None:
        store = self._lounge.store
        documents = await self._lounge.in_thread(
            lambda: [document for game in games for document in store.labelled(game)]
        )
        for document in documents:
            process = document.name.rpartition("-")[2]
            if process not in self._heard:
                beat = await self._lounge.in_thread(lambda: store.document(_PROCESS + process))  # noqa: B023 - awaited before the next turn
                if beat is None or wall_clock() - int(beat.text) > GONE * 1000:
                    continue
                self._heard[process] = self._loop.time()
            self.on_document(document)

    def concerns(self, name: str) -> bool:
        """Return whether other processes say by a document of that name who is there."""
        kind, _, process = name.rpartition("-")
        return bool(kind) and process != self._process

    def on_document(self, document: Document) -> None:
        """Take up what another process has written."""
        if not self.concerns(document.name):
            return
        process = document.name.rpartition("-")[2]
        if document.text == GOODBYE and not document.label:
            self._gone({process})
            return
        self._heard[process] = self._loop.time()
        if not document.label:
            return
        try:
            written = msgspec.json.decode(document.text, type=Written)
        except msgspec.MsgspecError:
            return
        present = written.present()
        if written.lobby:
            self._attend(document.label, process, is_there=bool(present.X or present.O))
        live = self._lounge.known(document.label)
        if live:
            if present == NOBODY:
                live.elsewhere.pop(process, None)
            else:
                live.elsewhere[process] = present
            live.tell_room()

    async def attended(self) -> dict[str, bool]:
        """Return the games of the lobby that a player is connected to (True), or was a moment ago."""
        if not self._has_searched:
            store = self._lounge.store
            rooms = await self._lounge.in_thread(
                lambda: [
                    *store.labelled(OPEN, LOBBY_GAMES_SEARCHED),
                    *store.labelled(PLAYING, LOBBY_GAMES_SEARCHED),
                ]
            )
            await self._find(*(room.name for room in rooms))
            self._has_searched = True
        self._forget_left()
        return {**dict.fromkeys(self._left, False), **dict.fromkeys(self._attended, True)}

    def _attend(self, game: str, process: str, *, is_there: bool) -> None:
        """Note that a player of a game is connected to a process, or that none is any more."""
        if is_there:
            self._attended.setdefault(game, set()).add(process)
            self._left.pop(game, None)
        elif process in (there := self._attended.get(game, set())):
            there.remove(process)
            if not there:
                del self._attended[game]
                self._left[game] = self._loop.time()
                self._forget_left()

    def _forget_left(self) -> None:
        until = self._loop.time() - self._grace_seconds
        while self._left and self._left[game := next(iter(self._left))] <= until:
            del self._left[game]

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
            for game in tuple(self._attended):
                self._attend(game, process, is_there=False)
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
