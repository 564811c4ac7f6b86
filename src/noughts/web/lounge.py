"""The games that are on: found, played at, and remembered while somebody looks.

Everything here happens in the loop, one thing after the other. Only the store is asked in threads. The
store is also the judge: whatever another process has done first is found there when we come too late.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from noughts.core.errors import InvalidId, NoughtsError, StaleVersion, StoreUnavailable
from noughts.core.events import PlayerNotifyIllegalMove
from noughts.core.game import TakeBack
from noughts.service import Answer, judge, random_id, wall_clock
from noughts.store.chain import check_game
from noughts.store.ledger import Append, entries
from noughts.web.live import Kept, Live, kept
from noughts.web.problems import Refused, absent
from noughts.web.rooms import read_room, write_room

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor
    from typing import TypeVar

    from noughts.core.events import Event
    from noughts.core.game import Command, Game
    from noughts.store.base import EventStore, Recorded
    from noughts.store.notes import Note
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
        self._missed: set[str] = set()
        """Games that something was heard of while they were loaded."""
        self._refreshing: set[asyncio.Task[None]] = set()
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
            check_game(game)
        except InvalidId:
            return None
        loading = self._loading.get(game)
        if loading is None:
            loading = asyncio.ensure_future(self._read(game))
            self._loading[game] = loading
            loading.add_done_callback(lambda _done: self._loaded(game))
        return await asyncio.shield(loading)

    async def _read(self, game: str) -> Live | None:
        note, records = await self.in_thread(lambda: (self.store.note(game), self.store.read(game)))
        if note is None or not records:
            return None
        live = self._alive.get(game)
        if live is None:
            live = Live(game, read_room(note.text), note.revision, map(_kept, records))
            self._remember(live)
        else:
            self.take_up(live, records)
        if game in self._missed:  # what was heard while the store was read may not be in what was read
            await self.refresh(live)
        return live

    def _loaded(self, game: str) -> None:
        self._loading.pop(game, None)
        self._missed.discard(game)

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
        """Start a game: first the room, then the events, so that no game is without its room.

        A room that is there already was left by somebody who came no further, or who is about to.
        """

        def furnish() -> Note:
            try:
                return self.store.write_note(game, write_room(room), expected=0, shelf=room.shelf)
            except StaleVersion:
                there = self.store.note(game)
                if there is None:
                    raise
                return there

        note = await self.in_thread(furnish)
        room = read_room(note.text)
        key = random_id()
        append = Append(game, 0, entries(events, key, wall_clock()))
        live = Live(game, room, note.revision, kept(append, events))
        await self._record(live, append, [], live.game)
        if append.refusal:
            raise append.refusal
        if self._alive.get(game) is None:
            self._remember(live)
        return await self.find(game)

    async def refresh(self, live: Live) -> None:
        """Take up what the store knows and we do not."""
        before = live.version
        note, records = await self.in_thread(
            lambda: (self.store.note(live.id), self.store.read(live.id, before))
        )
        live.is_stale = False
        self.take_up(live, records)
        if note and note.revision > live.revision:
            self.take_up_room(live, read_room(note.text), note.revision)

    def refresh_soon(self, live: Live) -> None:
        """Have a game refreshed, by and by."""
        live.is_stale = True
        task = asyncio.ensure_future(self._try_to_refresh(live))
        self._refreshing.add(task)
        task.add_done_callback(self._refreshing.discard)

    async def _try_to_refresh(self, live: Live) -> None:
        with suppress(NoughtsError):  # whoever asks for the game next tries again, and is told
            await self.refresh(live)

    def hear(self, game: str, records: Sequence[Recorded]) -> None:
        """Hear that something was recorded, by whomever."""
        live = self._alive.get(game)
        if live:
            self.take_up(live, records)
        elif game in self._loading:
            self._missed.add(game)

    def hear_of_room(self, note: Note) -> bool:
        """Hear that a note has changed, and tell whether it is that of a room that is known here."""
        live = self._alive.get(note.name)
        if live:
            self.take_up_room(live, read_room(note.text), note.revision)
        elif note.name in self._loading:
            self._missed.add(note.name)
        return live is not None

    def take_up(self, live: Live, records: Sequence[Recorded]) -> None:
        """Go on with what was recorded; what is known already is passed over, and what lacks is read."""
        new = [record for record in records if record.version > live.version]
        if not new:
            return
        if new[0].version > live.version + 1:
            self.refresh_soon(live)
            return
        live.extend([_kept(record) for record in new])
        self.on_change(live)

    def take_up_room(self, live: Live, room: Room, revision: int) -> None:
        """Go on with a room that was changed, by whomever."""
        if revision > live.revision:
            live.room, live.revision = room, revision
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
            append = Append(live.id, live.version, entries(new, key, wall_clock()))
            await self._record(live, append, kept(append, new), answer.game)
            if not append.refusal:
                return answer
            await self._catch_up(live, append.expected)

    async def _catch_up(self, live: Live, version: int) -> None:
        """Go on after somebody else was faster; if nobody was, the store has lost what we know."""
        await self.refresh(live)
        if live.version == version:
            self._forget(live)
            raise StoreUnavailable("the store has gone back behind what it had said before")

    def _forget(self, live: Live) -> None:
        """Let a game be read anew by whoever asks for it next."""
        self._alive.pop(live.id, None)
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
                live.is_stale = True
            elif append.refusal is None and live.version == append.expected:
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
            text, shelf, expected = write_room(room), room.shelf, live.revision
            try:
                note = await self.in_thread(
                    lambda: self.store.write_note(live.id, text, expected=expected, shelf=shelf)  # noqa: B023 - it is called before the next turn
                )
            except StaleVersion:
                await self.refresh(live)
                if live.revision == expected:
                    self._forget(live)
                    raise StoreUnavailable("the store has gone back behind what it had said") from None
                continue
            self.take_up_room(live, room, note.revision)
            return


def _kept(record: Recorded) -> Kept:
    return Kept(record.key, record.text, record.event)


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
