"""The games that are on: found, played at, and remembered while somebody looks.

Everything here happens in the loop, one thing after the other. Only the store is asked in threads. The
store is also the judge: whatever another process has done first is found there when we come too late.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import msgspec

from noughts.core.errors import InvalidId, NoSuchGame, NoughtsError, StaleVersion, StoreUnavailable
from noughts.core.events import PlayerNotifyIllegalMove
from noughts.core.game import TakeBack
from noughts.service import Answer, judge, random_id, wall_clock
from noughts.store.appends import append_of
from noughts.store.documents import Write
from noughts.store.records import check_id
from noughts.web.live import Live, kept
from noughts.web.problems import Refused, absent
from noughts.web.rooms import read_room, write_room

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from concurrent.futures import Executor
    from typing import TypeVar

    from noughts.core.events import Event
    from noughts.core.game import Command, Game
    from noughts.store.appends import Append
    from noughts.store.base import EventStore, Record
    from noughts.store.documents import Document
    from noughts.web.live import Kept
    from noughts.web.rooms import Room
    from noughts.web.writing import Writer

    Found = TypeVar("Found")

LONGEST = 1500
"""How many events a game may have before nothing is taken back any more: the disk has an end."""


class Lounge:
    """The games of a store, as far as this process has to do with them."""

    def __init__(self, store: EventStore, writer: Writer, threads: Executor, cached: int = 4096) -> None:
        self.store = store
        self._writer = writer
        self._threads = threads
        self._alive: WeakValueDictionary[str, Live] = WeakValueDictionary()
        """Every game that anybody here holds: there is never a second one of the same id."""
        self._recent: OrderedDict[str, Live] = OrderedDict()
        """Those that are held although nobody else does, the longest untouched first."""
        self._most_recent = cached
        self._loading: dict[str, asyncio.Future[Live | None]] = {}
        self._creating: set[str] = set()
        self._missed: set[str] = set()
        """Games that changed while they were being loaded or created."""
        self._refreshing: dict[Live, asyncio.Task[None]] = {}
        self.on_change: Callable[[Live], None] = lambda _live: None
        """Called when a game was loaded or has gone on."""

    @property
    def live_games(self) -> int:
        """How many games are remembered."""
        return len(self._alive)

    def known(self, game: str) -> Live | None:
        """Return a game if it is remembered here."""
        return self._recent.get(game) or self._alive.get(game)  # which is slower, for it holds nothing

    def all_known(self) -> tuple[Live, ...]:
        """Return all games that are remembered here."""
        return tuple(self._alive.values())

    async def in_thread(self, work: Callable[[], Found]) -> Found:
        """Do something that may take long, and let the loop go on."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def find(self, game: str) -> Live:
        """Return a game, or refuse as if it were not there."""
        live = self._alive.get(game) or await self._load(game)
        if live is None:
            raise absent()
        self._touch(live)
        if live.is_stale:
            await self.refresh(live)
        return live

    async def _load(self, game: str) -> Live | None:
        """Read a game once, however many ask for it at the same time."""
        try:
            check_id(game)
        except InvalidId:
            return None
        loading = self._loading.get(game)
        if loading is None:
            loading = asyncio.ensure_future(self._read(game))
            self._loading[game] = loading
            loading.add_done_callback(lambda _done: self._loaded(game))
        return await asyncio.shield(loading)

    async def _read(self, game: str) -> Live | None:
        document, records = await self.in_thread(
            lambda: (self.store.document(game), self.store.read(game))
        )
        if document is None or not records:
            return None
        live = self._alive.get(game)
        if live is None:
            room, last = read_room(document.text), records[-1].at
            live = Live(game, room, document.revision, _kept(records), last)
            self._remember(live)
        else:
            self.take_up(live, records)
        if game in self._missed:  # the change may not be in what was read
            await self.refresh(live)
        return live

    def _loaded(self, game: str) -> None:
        self._loading.pop(game, None)
        self._forget_missed(game)

    def _remember(self, live: Live) -> None:
        """Keep a game at hand."""
        self._alive[live.id] = live
        self._touch(live)
        self.on_change(live)

    def _touch(self, live: Live) -> None:
        """Hold a game for a while; what nobody else holds may be forgotten when others come."""
        if self._alive.get(live.id) is not live:  # it was forgotten on purpose
            return
        self._recent[live.id] = live
        self._recent.move_to_end(live.id)
        if len(self._recent) > self._most_recent:
            self._recent.popitem(last=False)

    async def begin(self, game: str, room: Room, events: Sequence[Event]) -> Live:
        """Create a game: its room and its first record are written in one commit."""
        write = Write(game, write_room(room), expected=0, label=room.label)
        append = append_of(game, 0, events, key=random_id(), at=wall_clock(), document=write)
        history = kept(append.key, append.text, events)
        live = Live(game, room, write.document.revision, history, append.at)
        self._creating.add(game)
        try:
            await self._record(live, append, [], live.game)
            if append.refusal:
                raise append.refusal
            if (known := self._alive.get(game)) is None:
                self._remember(known := live)
            if game in self._missed:
                known.outdate()
        finally:
            self._creating.discard(game)
            self._forget_missed(game)
        return await self.find(game)

    async def refresh(self, live: Live) -> None:
        """Read what the store has beyond what is known here; a game that was deleted is refused."""
        changes, before = live.changes, live.version
        try:
            document, records = await self.in_thread(
                lambda: (self.store.document(live.id), self.store.read(live.id, before))
            )
        except NoSuchGame:
            self.forget(live)
            raise absent() from None
        if live.changes == changes:
            live.is_stale = False
        self.take_up(live, records)
        if document:
            self.take_up_room(live, document)

    def refresh_soon(self, live: Live) -> None:
        """Refresh a game in the background, again if another change comes while it is read."""
        live.outdate()
        if live not in self._refreshing:
            self._refreshing[live] = asyncio.ensure_future(self._refresh_in_background(live))

    async def _refresh_in_background(self, live: Live) -> None:
        try:
            while live.is_stale:
                while live.is_busy:  # what is being recorded here need not be read
                    await live.rest()
                await self.refresh(live)
        except NoughtsError:
            pass  # it is still stale, so the next request for it tries again
        finally:
            del self._refreshing[live]

    def changed(self, names: Iterable[str]) -> tuple[list[Live], list[str]]:
        """Split the names of what has changed: the games that are known here, and other names."""
        games, others = [], []
        for name in names:
            if live := self._alive.get(name):
                games.append(live)
            elif not self._miss(name):
                others.append(name)
        return games, others

    def all_changed(self) -> tuple[Live, ...]:
        """Return all games that are known here, as if all had changed."""
        self._missed.update(self._loading, self._creating)
        return self.all_known()

    async def read_on(self, games: Sequence[Live]) -> None:
        """Read what other processes have recorded of these games; what this one has isn't read."""
        names = [live.id for live in games]
        versions = await self.in_thread(lambda: self.store.versions(names))
        behind = [live for live in games if self._is_behind(live, versions.get(live.id))]
        if behind:
            known = {live.id: live.version for live in behind}
            found = await self.in_thread(lambda: self.store.read_many(known))
            for live in behind:
                if live.id in found:
                    self.take_up(live, found[live.id])
                else:
                    self.forget(live)

    def _is_behind(self, live: Live, version: int | None) -> bool:
        """Return whether a game has to be read that is at that version, or deleted, in the store."""
        if version is not None and version <= live.version:
            return False
        if live.is_busy:  # the record may be the one that is being written here: wait and see
            live.rest().add_done_callback(
                lambda _idle: self.refresh_soon(live) if self._is_behind(live, version) else None
            )
            return False
        return True

    def refresh_all(self) -> None:
        """Refresh every game for itself, so that a damaged one hides no other."""
        for live in self.all_changed():
            self.refresh_soon(live)

    def on_document(self, document: Document) -> bool:
        """Take up a document that has changed; return whether it is the room of a game known here."""
        live = self._alive.get(document.name)
        if live:
            self.take_up_room(live, document)
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

    def take_up(self, live: Live, records: Sequence[Record]) -> None:
        """Apply the records that are not known yet."""
        new = [record for record in records if record.next_version > live.version]
        if new and new[0].version != live.version:  # the store was replaced by one with other records
            self.forget(live)
        elif new:
            live.last_played = new[-1].at
            live.extend(_kept(new))
            self.on_change(live)

    def take_up_room(self, live: Live, document: Document) -> None:
        """Apply a room, unless it is known."""
        if document.revision > live.revision:
            live.room, live.revision = read_room(document.text), document.revision
            live.tell_room()

    async def command(self, live: Live, command: Command, *, version: int | None, key: str) -> Answer:
        """Answer a command, durably; commands to one game are judged one after the other."""
        if version is not None and version > live.version:
            await self.refresh(live)  # another process has told them more than we know
        while True:
            if live.is_busy:
                await live.rest()
                continue
            if live.is_stale:
                await self.refresh(live)
                continue
            answer, new = judge(live.id, live.history, live.game, command, version=version, key=key)
            if not new:
                return _legal(answer)
            if isinstance(command, TakeBack) and answer.version > LONGEST:
                raise Refused("tooLong", f"after {LONGEST} events nothing is taken back any more")
            if version is None:
                version = live.version
            append = append_of(live.id, live.version, new, key=key, at=wall_clock())
            await self._record(live, append, kept(key, append.text, new), answer.game)
            if not append.refusal:
                return answer
            await self._catch_up(live, append.expected)

    async def _catch_up(self, live: Live, version: int) -> None:
        """Go on after somebody else was faster; if nobody was, the store has lost what we know."""
        await self.refresh(live)
        if live.version == version:
            self.forget(live)
            raise StoreUnavailable("the store has gone back behind what it had said before")

    def forget(self, live: Live) -> None:
        """Drop a game and end its streams; the next request reads it from the store."""
        if self._alive.get(live.id) is live:
            del self._alive[live.id]
            self._recent.pop(live.id, None)
        for stream in tuple(live.streams):
            stream.end()

    def _record(self, live: Live, append: Append, new: list[Kept], game: Game) -> asyncio.Future[None]:
        recorded: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def settled(failure: Exception | None) -> None:
            if not recorded.done():
                if failure:
                    recorded.set_exception(failure)
                else:
                    recorded.set_result(None)

        self.record(live, append, new, game, settled)
        return recorded

    def record(
        self,
        live: Live,
        append: Append,
        new: list[Kept],
        game: Game,
        settled: Callable[[Exception | None], None],
        frame: bytes = b"",
    ) -> None:
        """Have events recorded that `game` comes of; when they are, all who follow are told first.

        `frame` is what they are told, if that is known already.
        """
        live.is_busy = True

        def settle(append: Append, failure: Exception | None) -> None:
            live.is_busy = False
            if failure:
                live.outdate()
            elif append.refusal is None and live.version == append.expected:
                live.last_played = append.at
                live.extend(new, game, frame)  # unless it came back to us before we knew
                self.on_change(live)
            if live.waiting:
                live.wake()
            settled(failure)

        self._writer.record(append, settle)

    async def change_room(self, live: Live, change: Callable[[Room], Room]) -> None:
        """Change what stands around a game, durably; `change` may refuse, and may be asked again."""
        while True:
            room = change(live.room)
            if room == live.room:
                return
            room = msgspec.structs.replace(room, seen=wall_clock())
            text, label, expected = write_room(room), room.label, live.revision
            try:
                document = await self.in_thread(
                    lambda: self.store.write_document(live.id, text, expected=expected, label=label)  # noqa: B023 - it is called before the next turn
                )
            except StaleVersion:
                await self.refresh(live)
                if live.revision == expected:
                    self.forget(live)
                    raise StoreUnavailable("the store has gone back behind what it had said") from None
                continue
            self.take_up_room(live, document)
            return


def _kept(records: Iterable[Record]) -> list[Kept]:
    return [event for record in records for event in kept(record.key, record.text, record.events)]


_REASONS = {
    "gameOver": "the game is over",
    "noSuchCell": "there is no such cell: cells are 0 to 8",
    "notYourTurn": "it is the other player's turn",
    "cellTaken": "the cell is taken",
}


def _legal(answer: Answer) -> Answer:
    """Refuse a move that led to nothing but a word to the player."""
    for event in answer.events:
        if isinstance(event, PlayerNotifyIllegalMove):
            raise Refused(event.reason.value, _REASONS[event.reason.value], version=answer.version)
    return answer
