"""The games in memory: loading, commands and rooms.

All state changes happen in the event loop, one after the other; only the store works in threads. The
store decides: if another process was faster, the write is refused, and the command is judged again.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from weakref import WeakValueDictionary

from msgspec.structs import replace

from noughts.core.errors import NoughtsError
from noughts.core.events import Event, PlayerNotifyIllegalMove
from noughts.core.game import Command, Game, TakeBack
from noughts.service import SHORT_ID_CHARACTERS, Answer, judge
from noughts.store.appends import Append, append_of
from noughts.store.documents import Document, Write
from noughts.store.errors import CorruptStore, InvalidId, NoSuchGame, StaleVersion, StoreUnavailable
from noughts.store.records import Record, check_id
from noughts.web.game import LiveGame, StoredCommand, stored_commands
from noughts.web.logging import report
from noughts.web.problems import ApiError, GamesUnavailable, absent
from noughts.web.reader import Reader
from noughts.web.room import Room, read_room, write_room
from noughts.web.world import World
from noughts.web.writer import Settle, Writer, outcome_of

RETRY_SECONDS = 1.0
"""After a read has failed that subscribers wait for."""

MAX_EVENTS = 1500
"""After this many events nothing can be taken back, so that games end."""

WENT_BACK = "the store has lost records that it had acknowledged"

_REASONS = {
    "gameOver": "the game is over",
    "noSuchCell": "cells are numbered 0 to 8",
    "cellTaken": "the cell is taken",
    "notYourTurn": "it is the other player's turn",
}


class Games:
    """The games of a store that this process uses."""

    def __init__(self, world: World, writer: Writer) -> None:
        self.world = world
        self.settings = world.settings
        self.store = world.store
        self.threads = world.reading
        self.clock = world.clock
        self.is_shared = world.settings.is_shared
        """True if other processes play the same games: memory may be behind the store."""
        self._writer = writer
        self._reader = Reader(world.store, world.reading)
        self._alive: WeakValueDictionary[str, LiveGame] = WeakValueDictionary()
        """Every game that is in use here: there are never two objects for one id."""
        self._recent: OrderedDict[str, LiveGame] = OrderedDict()
        """A cache of the games used last, the oldest first."""
        self._loading: dict[str, asyncio.Future[LiveGame | None]] = {}
        self._creating: set[str] = set()
        self._missed: set[str] = set()
        """Games that changed while they were being loaded or created."""
        self._refreshing: dict[LiveGame, asyncio.Task[None]] = {}
        self.damaged: set[str] = set()
        self.on_change: Callable[[LiveGame], None] = lambda _game: None
        """Called when a game was loaded or has gone on."""

    def __len__(self) -> int:
        return len(self._alive)

    def known(self, game: str) -> LiveGame | None:
        """Return a game if it is in memory."""
        return self._recent.get(game) or self._alive.get(game)  # the first is faster

    def all_known(self) -> tuple[LiveGame, ...]:
        return tuple(self._alive.values())

    async def find(self, game: str, *, is_latest: bool = False) -> LiveGame:
        """Return a game, or refuse; the latest version of it, even if another process has written it."""
        live = self._alive.get(game)
        is_read = live is None and game not in self._loading  # what is being read may be older
        live = live or await self._load(game)
        if live is None:
            raise absent()
        self._touch(live)
        if live.is_stale or (is_latest and self.is_shared and not is_read):
            await self.refresh(live)
        return live

    async def _load(self, game: str) -> LiveGame | None:
        """Read a game once, however many ask for it at the same time."""
        try:
            check_id(game)
        except InvalidId:
            return None
        loading = self._loading.get(game)
        if loading is None:
            loading = self._loading[game] = asyncio.ensure_future(self._read(game))
            loading.add_done_callback(lambda _done: self._loaded(game))
        return await asyncio.shield(loading)

    async def _read(self, game: str) -> LiveGame | None:
        with self._reporting(game):
            document, records = await self._reader.read(game, 0)
            if document is None or not records:
                return None
            live = self._alive.get(game)
            if live is None:
                room, commands = read_room(document.text), stored_commands(records)
                live = LiveGame(game, room, document.revision, commands, records[-1].at)
                self._remember(live)
            else:
                self.apply(live, records)
        if game in self._missed:  # the change may not be in what was read
            await self.refresh(live)
        return live

    @contextmanager
    def _reporting(self, game: str) -> Iterator[None]:
        try:
            yield
        except CorruptStore as error:
            self.report_damage(game, error)
            raise

    def report_damage(self, game: str, error: CorruptStore) -> None:
        """Log the first time that a game turns out to be damaged."""
        if game not in self.damaged:
            self.damaged.add(game)
            report("damaged game", error, logging.ERROR, game=game[:SHORT_ID_CHARACTERS])

    def _loaded(self, game: str) -> None:
        self._loading.pop(game, None)
        self._forget_missed(game)

    def _remember(self, live: LiveGame) -> None:
        self._alive[live.id] = live
        self._touch(live)
        self.on_change(live)

    def _touch(self, live: LiveGame) -> None:
        """Keep a game in memory for a while."""
        if self._alive.get(live.id) is not live:  # it was forgotten on purpose
            return
        self._recent[live.id] = live
        self._recent.move_to_end(live.id)
        if len(self._recent) > self.settings.cached_games:
            self._recent.popitem(last=False)

    async def create(self, game: str, room: Room, events: Sequence[Event], key: str) -> LiveGame:
        """Create a game: its room and its first record are written in one commit.

        With a key of its own: a game that exists is never taken for the one that is created.
        """
        write = Write(game, write_room(room), expected=0, label=room.label)
        append = append_of(game, 0, events, key=key, at=self.clock(), document=write)
        commands = [StoredCommand(append.count, key, append.text)]
        live = LiveGame(game, room, write.document.revision, commands, append.at)
        live.is_elsewhere_known = True  # nobody can be there yet
        self._creating.add(game)
        try:
            await self._writer.write(append)
            if (known := self._alive.get(game)) is None:
                self._remember(known := live)
            if game in self._missed:
                known.mark_stale()
        finally:
            self._creating.discard(game)
            self._forget_missed(game)
        return await self.find(game)

    async def refresh(self, live: LiveGame) -> None:
        """Read what the store has beyond what is known here; refuse a game that was deleted."""
        changes, before = live.changes, live.version
        try:
            with self._reporting(live.id):
                document, records = await self._reader.read(live.id, before)
                if live.changes == changes:
                    live.is_stale = False
                self.apply(live, records)
                if document:
                    self.apply_room(live, document)
        except NoSuchGame:
            self.forget(live)
            raise absent() from None

    def refresh_soon(self, live: LiveGame) -> None:
        """Refresh a game in the background, again if another change comes while it is read."""
        live.mark_stale()
        if live not in self._refreshing:
            self._refreshing[live] = asyncio.ensure_future(self._refresh_in_background(live))

    async def _refresh_in_background(self, live: LiveGame) -> None:
        try:
            while live.is_stale:
                while live.is_busy:  # what is being written here need not be read
                    await live.wait_idle()
                try:
                    await self.refresh(live)
                except NoughtsError:
                    if not live.streams:  # the next request for it tries again
                        return
                    await asyncio.sleep(RETRY_SECONDS)
        finally:
            del self._refreshing[live]

    def split_known(self, names: Iterable[str]) -> tuple[list[LiveGame], list[str]]:
        """Split the names of what has changed: the games that are known here, and other names."""
        games, others = [], []
        for name in names:
            if live := self._alive.get(name):
                games.append(live)
            elif not self._miss(name):
                others.append(name)
        return games, others

    def all_changed(self) -> tuple[LiveGame, ...]:
        """Return all known games, as if all had changed."""
        self._missed.update(self._loading, self._creating)
        return self.all_known()

    async def read_on(self, games: Sequence[LiveGame]) -> None:
        """Read what other processes have recorded of these games."""
        names = [live.id for live in games]
        versions = await self.threads.run(lambda: self.store.versions(names))
        behind = [live for live in games if self._is_behind(live, versions.get(live.id))]
        if behind:
            known = {live.id: live.version for live in behind}
            found = await self.threads.run(lambda: self.store.read_many(known))
            for live in behind:
                if live.id in found:
                    self.apply(live, found[live.id])
                else:
                    self.forget(live)

    def _is_behind(self, live: LiveGame, version: int | None) -> bool:
        """Return whether a game must be read: the store has it at a later version, or has deleted it."""
        if version is not None and version <= live.version:
            return False
        if live.is_busy:  # the record may be the one that is being written here
            live.wait_idle().add_done_callback(
                lambda _idle: self.refresh_soon(live) if self._is_behind(live, version) else None
            )
            return False
        return True

    def on_document(self, document: Document) -> bool:
        """Apply a changed document; return whether it is the room of a known game."""
        live = self._alive.get(document.name)
        if live:
            self.apply_room(live, document)
        return live is not None or self._miss(document.name)

    def _miss(self, game: str) -> bool:
        """Note a change of a game that is being loaded or created; return whether it is."""
        is_missed = game in self._loading or game in self._creating
        if is_missed:
            self._missed.add(game)
        return is_missed

    def _forget_missed(self, game: str) -> None:
        if game not in self._loading and game not in self._creating:
            self._missed.discard(game)

    def apply(self, live: LiveGame, records: Sequence[Record]) -> None:
        """Apply the records that are not known yet."""
        new = [record for record in records if record.next_version > live.version]
        if new and new[0].version != live.version:  # the store was replaced by another one
            self.forget(live)
        elif new:
            live.played_at = new[-1].at
            live.extend(stored_commands(new))
            self.on_change(live)

    def apply_room(self, live: LiveGame, document: Document) -> None:
        """Apply a room, unless it is known."""
        if document.revision > live.revision:
            live.room, live.revision = read_room(document.text), document.revision
            live.broadcast_room()

    async def command(self, live: LiveGame, command: Command, *, version: int | None, key: str) -> Answer:
        """Answer a command, durably; a game's commands are judged one after the other.

        Nothing is refused from memory that may be behind the store.
        """
        is_latest = not self.is_shared and (version is None or version <= live.version)
        while True:
            if live.is_busy:
                await live.wait_idle()
                continue
            if live.is_stale:
                await self.refresh(live)
                continue
            try:
                answer, new = judge(live.id, live.commands, live.game, command, version=version, key=key)
                check_legal(answer)
            except NoughtsError:
                if is_latest:
                    raise
                is_latest = True
                await self.refresh(live)
                continue
            if not new:
                return answer
            if isinstance(command, TakeBack) and answer.version > MAX_EVENTS:
                raise ApiError("tooLong", f"after {MAX_EVENTS} events nothing can be taken back")
            if version is None:
                version = live.version
            append = append_of(live.id, live.version, new, key=key, at=self.clock())
            recorded, settle = outcome_of(append)
            self.record(live, append, answer.game, settle)
            try:
                await recorded
            except (StaleVersion, NoSuchGame):
                await self._catch_up(live, append.expected)
                is_latest = True
                continue
            return answer

    async def _catch_up(self, live: LiveGame, version: int) -> None:
        """Read what another process wrote first; if none did, the store has lost what we know."""
        await self.refresh(live)
        if live.version == version:
            self.forget(live)
            raise GamesUnavailable(WENT_BACK)

    def forget(self, live: LiveGame) -> None:
        """Drop a game and end its streams; the next request reads it from the store."""
        if self._alive.get(live.id) is live:
            del self._alive[live.id]
            self._recent.pop(live.id, None)
        for stream in tuple(live.streams):
            stream.end()

    def record(self, live: LiveGame, append: Append, game: Game, settle: Settle) -> None:
        """Record what a command leads to; subscribers get it before `settle` is called."""
        live.is_busy = True

        def settled(failure: Exception | None) -> None:
            if failure:  # it may be recorded all the same
                self.refresh_soon(live)
            elif append.refusal is None and live.version == append.expected:
                live.played_at = append.at
                reached = append.expected + append.count
                live.extend([StoredCommand(reached, append.key, append.text)], game)
                self.on_change(live)
            live.release()
            settle(failure)

        self._writer.add(append, settled)

    async def change_room(self, live: LiveGame, change: Callable[[Room], Room]) -> None:
        """Change the room, durably; `change` may refuse, and may be called again."""
        while True:
            room = change(live.room)
            if room == live.room:
                return
            room = replace(room, seen=self.clock())
            write = Write(live.id, write_room(room), expected=live.revision, label=room.label)
            try:
                await self._writer.write(write)
            except StoreUnavailable:  # it may be written all the same
                self.refresh_soon(live)
                raise
            except StaleVersion:
                await self.refresh(live)
                if live.revision == write.expected:
                    self.forget(live)
                    raise GamesUnavailable(WENT_BACK) from None
                continue
            self.apply_room(live, write.document)
            return


def check_legal(answer: Answer) -> None:
    """Refuse a move that led only to a notice for its player."""
    event = answer.events[0]
    if isinstance(event, PlayerNotifyIllegalMove):
        code = event.reason.value
        raise ApiError(code, _REASONS[code], version=answer.version)
