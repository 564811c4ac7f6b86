"""The games that are on: found, played at, and remembered while somebody looks.

Everything here happens in the loop, one thing after the other. Only the store is asked in threads. The
store is also the judge: whatever another process has done first is found there when we come too late.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING

from noughts.core.errors import InvalidId, StaleVersion
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
        self._cached = cached
        self._games: OrderedDict[str, Live] = OrderedDict()
        self._loading: dict[str, asyncio.Future[Live | None]] = {}
        self.on_change: Callable[[Live], None] = lambda _live: None
        """Called when a game was loaded or has gone on."""

    @property
    def live_games(self) -> int:
        """How many games are remembered."""
        return len(self._games)

    def known(self, game: str) -> Live | None:
        """Return a game if it is remembered here."""
        return self._games.get(game)

    def all_known(self) -> tuple[Live, ...]:
        """Return all games that are remembered here."""
        return tuple(self._games.values())

    async def in_thread(self, work: Callable[[], Found]) -> Found:
        """Do something that may take long, and let the loop go on."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def find(self, game: str) -> Live:
        """Return a game, or refuse as if it were not there."""
        live = self._games.get(game)
        if live is None:
            live = await self._load(game)
            if live is None:
                raise absent()
        elif not live.streams:
            self._games.move_to_end(game)
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
            loading.add_done_callback(lambda _done: self._loading.pop(game, None))
        return await asyncio.shield(loading)

    async def _read(self, game: str) -> Live | None:
        note, records = await self.in_thread(lambda: (self.store.note(game), self.store.read(game)))
        if note is None or not records:
            return None
        live = Live(game, read_room(note.text), note.revision, map(_kept, records))
        self.remember(live)
        return live

    def remember(self, live: Live) -> None:
        """Keep a game at hand, and forget one that nobody has asked for in a long time."""
        self._games[live.id] = live
        self._forget_some()
        self.on_change(live)

    def hold(self, live: Live) -> Live:
        """Return the game as it is remembered, for somebody who is about to follow it."""
        return self._games.setdefault(live.id, live)

    def _forget_some(self) -> None:
        for _ in range(len(self._games) - self._cached):
            game, oldest = next(iter(self._games.items()))
            if oldest.streams or oldest.is_busy:
                self._games.move_to_end(game)  # somebody is there: look at it again another time
                return
            del self._games[game]

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
        self.remember(live)
        return live

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

    def take_up(self, live: Live, records: Sequence[Recorded]) -> None:
        """Go on with what was recorded, by whomever; what is known already is passed over."""
        new = [record for record in records if record.version > live.version]
        if new and new[0].version == live.version + 1:
            live.extend([_kept(record) for record in new])
            self.on_change(live)

    def take_up_room(self, live: Live, room: Room, revision: int) -> None:
        """Go on with a room that was changed, by whomever."""
        if revision > live.revision:
            live.room, live.revision = room, revision
            live.tell_room()

    async def command(self, live: Live, command: Command, *, version: int | None, key: str) -> Answer:
        """Answer a command, durably; commands to one game are judged one after the other."""
        while True:
            while live.is_busy:
                await live.rest()
            if live.is_stale or (version is not None and version > live.version):
                await self.refresh(live)  # another process may have told them more than we know
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
            await self.refresh(live)

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
            elif append.refusal is None:
                # The same game may have been forgotten and loaded again meanwhile.
                now = self._games.get(live.id)
                for one in (live,) if now is live or now is None else (live, now):
                    if one.version == append.expected:  # unless it came back to us before we knew
                        one.extend(new, game, frame)
                        self.on_change(one)
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
