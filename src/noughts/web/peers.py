"""Other processes that serve the same games: their changes, and who is connected to them.

The store names what others have changed. Who is present is shared by documents, one for each game and
process; a process that has been silent for a while is gone, and with it everybody connected to it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress

import msgspec

from noughts.core.errors import NoughtsError
from noughts.store.base import PAGE_ROWS
from noughts.store.documents import Document, Write
from noughts.store.errors import CorruptStore, StaleVersion, StoreLost
from noughts.store.watch import ANYTHING
from noughts.web.game import LiveGame, Present
from noughts.web.games import Games
from noughts.web.logging import log, report
from noughts.web.room import OPEN, PLAYING
from noughts.web.writer import Writer

GATHER_SECONDS, GATHER_ALONE_SECONDS = 0.01, 0.2
"""How long changes gather before they are read; longer if no other process is expected."""

RETRY_SECONDS = 1.0

JOIN_DELAY_SECONDS = 0.05
"""After somebody has come, the room is sent this much later, together with others who come."""

LEAVE_DELAY_SECONDS = 1.0
"""Somebody who is back within this time was never away: a page that reloads, for example."""

HEARTBEAT_SECONDS, GONE_SECONDS = 10.0, 35.0
"""How often a process writes that it is alive, and after how long a silence it counts as gone."""

_PROCESS, GOODBYE = "process-", "0"

LOBBY_GAMES_SEARCHED = 1000
"""How many open games, and how many that are played, a new process looks up in the store."""


def is_presence(name: str) -> bool:
    """Return whether a document says who is present; the name of a room has no hyphen."""
    return "-" in name


class Presence:
    """Who is present, at this process and at others."""

    def __init__(self, games: Games, writer: Writer, process: str) -> None:
        self._games = games
        self._writer = writer
        self._is_shared = games.is_shared
        self._process = process
        self._written: dict[str, Present] = {}
        self._writing: set[str] = set()
        self._last_seen: dict[str, float] = {}
        self._attended: dict[str, set[str]] = {}
        """Lobby games with a player connected, and the processes that they are connected to."""
        self._left: dict[str, float] = {}
        """Lobby games that the last player left, the longest ago first, by the loop's time."""
        self._has_searched = not games.is_shared
        """Whether it is known what other processes had written before this one started."""
        self._searching = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self._revision = 0
        """Of the document that says that this process is alive."""
        self._loop = asyncio.get_running_loop()
        if self._is_shared:
            self._start(self._beat())

    def joined(self, live: LiveGame, *, is_player: bool = False) -> None:
        if is_player and live.room.lobby:
            self._attend(live.id, self._process, is_there=True)
        if self._is_closed:
            return
        if live.timer:
            if live.timer.when() <= self._loop.time() + JOIN_DELAY_SECONDS:
                return
            live.timer.cancel()
        live.timer = self._loop.call_later(JOIN_DELAY_SECONDS, self._publish, live)

    def left(self, live: LiveGame, *, is_player: bool = False) -> None:
        if is_player and live.room.lobby and not any(stream.marks for stream in live.streams):
            self._attend(live.id, self._process, is_there=False)
        if live.timer is None and (live.streams or self._is_shared) and not self._is_closed:
            live.timer = self._loop.call_later(LEAVE_DELAY_SECONDS, self._publish, live)

    def _publish(self, live: LiveGame) -> None:
        live.timer = None
        live.broadcast_room()
        if self._is_shared and live.id not in self._writing:
            self._writing.add(live.id)
            self._start(self._write_present(live))

    async def _write_present(self, live: LiveGame) -> None:
        """Write who is present here, again if that changes in the meantime."""
        try:
            while (here := live.here) != self._written.get(live.id, Present()):
                name = f"{live.id}-{self._process}"
                text = msgspec.json.encode((here, live.room.lobby)).decode()
                revision = live.presence_revision
                live.presence_revision = await self._write(name, text, revision, live.id)
                self._written[live.id] = here
                if here == Present():
                    del self._written[live.id]
        except NoughtsError as error:
            report("presence", error)
        finally:
            self._writing.discard(live.id)

    async def _write(self, name: str, text: str, revision: int, label: str = "") -> int:
        """Write a document of this process, and return its revision."""
        while True:
            write = Write(name, text, expected=revision, label=label)
            try:
                await self._writer.write(write)
            except StaleVersion:  # it was written before the game was last loaded
                before = await self._games.threads.run(lambda: self._games.store.document(name))
                revision = before.revision if before else 0
            else:
                return write.document.revision

    async def find(self, live: LiveGame) -> None:
        """Look up who of a game is connected to other processes."""
        if self._is_shared and not live.is_elsewhere_known:
            await self._find(live.id)
            live.is_elsewhere_known = True

    async def _find(self, *games: str) -> None:
        store, run = self._games.store, self._games.threads.run
        documents = await run(
            lambda: [one for game in games for one in store.labelled(game, on_damage=_ignore)]
        )
        for document in documents:
            if not (process := self.other_process(document.name)):
                continue
            if process not in self._last_seen:
                beat = await run(lambda: store.document(_PROCESS + process))
                if beat is None or self._games.clock() - int(beat.text) > GONE_SECONDS * 1000:
                    continue
                self._last_seen[process] = self._loop.time()
            self.on_document(document)

    def other_process(self, name: str) -> str:
        """Return the process whose presence a document of that name is about, unless it is this one."""
        kind, _, process = name.rpartition("-")
        return process if kind and process != self._process else ""

    def on_document(self, document: Document) -> None:
        """Apply what another process has written."""
        if not (process := self.other_process(document.name)):
            return
        if document.text == GOODBYE and not document.label:
            self._forget({process})
            return
        self._last_seen[process] = self._loop.time()
        if not document.label:
            return
        try:
            present, is_in_lobby = msgspec.json.decode(document.text, type=tuple[Present, bool])
        except msgspec.MsgspecError:
            return
        if is_in_lobby:
            self._attend(document.label, process, is_there=bool(present.X or present.O))
        if live := self._games.known(document.label):
            if present == Present():
                live.elsewhere.pop(process, None)
            else:
                live.elsewhere[process] = present
            live.broadcast_room()

    async def attended(self) -> dict[str, bool]:
        """Return the lobby games that a player is connected to (True), or was a moment ago."""
        async with self._searching:
            if not self._has_searched:
                store = self._games.store
                rooms = await self._games.threads.run(
                    lambda: [
                        *store.labelled(OPEN, LOBBY_GAMES_SEARCHED, _ignore),
                        *store.labelled(PLAYING, LOBBY_GAMES_SEARCHED, _ignore),
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
        until = self._loop.time() - self._games.settings.lobby_grace_seconds
        while self._left and self._left[game := next(iter(self._left))] <= until:
            del self._left[game]

    async def _beat(self) -> None:
        while True:
            try:
                self._revision = await self._write(
                    _PROCESS + self._process, str(self._games.clock()), self._revision
                )
            except NoughtsError as error:
                report("presence", error)
            await asyncio.sleep(HEARTBEAT_SECONDS)
            now = self._loop.time()
            self._forget({one for one, seen in self._last_seen.items() if now - seen > GONE_SECONDS})
            for live in self._games.all_known():  # what could not be written is written now
                if live.here != self._written.get(live.id, Present()) and live.timer is None:
                    self.joined(live)

    def _forget(self, processes: set[str]) -> None:
        """Forget everybody who was connected to these processes."""
        for process in processes:
            self._last_seen.pop(process, None)
            for game in tuple(self._attended):
                self._attend(game, process, is_there=False)
        for live in self._games.all_known() if processes else ():
            if [live.elsewhere.pop(process) for process in processes if process in live.elsewhere]:
                live.broadcast_room()

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Stop, and report to the other processes that nobody is connected here any more."""
        self._is_closed = True
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._is_shared:
            with suppress(NoughtsError):
                await self._write(_PROCESS + self._process, GOODBYE, self._revision)


class Follower:
    """Applies what other processes write, which sends it to the streams of this one."""

    def __init__(self, games: Games, presence: Presence, on_lost: Callable[[StoreLost], None]) -> None:
        self._games = games
        self._presence = presence
        self._on_lost = on_lost
        self._changes = games.world.changes
        self._cursor = games.world.documents_cursor
        """Up to where documents are known."""

    async def run(self) -> None:
        pause = GATHER_SECONDS if self._games.is_shared else GATHER_ALONE_SECONDS
        is_behind = False
        while True:
            await asyncio.sleep(pause)
            changed = ANYTHING if is_behind else await self._changes()
            is_behind = True
            try:
                await (self._read_all() if changed is ANYTHING else self._read(changed))
                is_behind = False
                continue
            except StoreLost as error:
                self._on_lost(error)
                return
            except CorruptStore as error:
                report("following", error, logging.ERROR)
                is_behind = not await self._skip_damage()
            except NoughtsError as error:
                report("following", error)
            except Exception:
                log.exception("following")
            await asyncio.sleep(RETRY_SECONDS)

    async def _skip_damage(self) -> bool:
        """Skip documents that can't be read, and read each game by itself."""
        try:
            self._cursor = await self._games.threads.run(self._games.store.documents_end)
        except NoughtsError:
            return False
        for live in self._games.all_changed():
            self._games.refresh_soon(live)
        return True

    async def _read(self, names: Iterable[str]) -> None:
        games, others = self._games.split_known(names)
        wanted = [live.id for live in games] + [*filter(self._presence.other_process, others)]
        if wanted:
            store = self._games.store
            self._apply(await self._games.threads.run(lambda: store.documents_named(wanted)))
        if games:
            await self._games.read_on(games)

    async def _read_all(self) -> None:
        """Find out what has changed, and read it."""
        games, store, run = self._games.all_changed(), self._games.store, self._games.threads.run
        await run(store.check)
        is_last = False
        while not is_last:
            documents, self._cursor = await run(lambda: store.changed_documents(self._cursor, PAGE_ROWS))
            self._apply(documents)
            is_last = len(documents) < PAGE_ROWS
        if games:
            await self._games.read_on(games)

    def _apply(self, documents: Iterable[Document]) -> None:
        for document in documents:
            if not self._games.on_document(document):
                self._presence.on_document(document)


def _ignore(_name: str, _error: CorruptStore) -> None:
    """Skip a damaged document: it is reported where it is needed."""
