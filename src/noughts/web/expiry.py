"""Deletes web games that have been idle for long.

A move counts as use, and so does a reader, which the game's room notes. Games without a room, such as
those played in the terminal, never expire.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from msgspec.structs import replace

from noughts.core.errors import NoughtsError
from noughts.service import SHORT_ID_CHARACTERS
from noughts.store.base import PAGE_ROWS, EventStore
from noughts.store.documents import check_row
from noughts.store.errors import CorruptStore, NoSuchGame, StaleVersion, StoreUnavailable
from noughts.web.game import LiveGame
from noughts.web.games import Games
from noughts.web.logging import details, log, report
from noughts.web.peers import is_presence
from noughts.web.room import Room, read_room

DAY_MS = 24 * 3600 * 1000
"""A reader is noted once a day, so a game is kept one day longer."""

ROUND_SECONDS = 3600.0
"""How often to look for games that have expired."""


class Expiry:
    """Notes the readers of web games, and deletes the games that have had none for long."""

    def __init__(self, games: Games, *, days: int) -> None:
        self._store = games.store
        self._games = games
        self._days = days
        self._noting: dict[LiveGame, asyncio.Task[None]] = {}
        self.expired = 0
        """How many games were deleted here."""

    def note_reader(self, live: LiveGame) -> None:
        """Note in the background that somebody reads a game, at most once a day."""
        last_used = max(live.room.last_seen, live.played_at)
        if last_used <= self._games.clock() - DAY_MS and live not in self._noting:
            task = self._noting[live] = asyncio.ensure_future(self._note(live))
            task.add_done_callback(lambda _done: self._noting.pop(live))

    async def _note(self, live: LiveGame) -> None:
        now = self._games.clock()

        def seen(room: Room) -> Room:
            is_noted = room.last_seen > now - DAY_MS
            return room if is_noted else replace(room, seen=now)

        with suppress(NoughtsError):  # the next reader tries again
            await self._games.change_room(live, seen)

    async def run(self) -> None:
        """Look for expired games now, and then every hour."""
        while self._days:
            try:
                await self.delete_expired()
            except NoughtsError as error:
                report("expiry", error)
            except Exception:  # go on with the next round
                log.exception("expiry")
            await asyncio.sleep(ROUND_SECONDS)

    async def delete_expired(self) -> None:
        for live in self._games.all_known():
            if live.streams:
                self.note_reader(live)
        until = self._games.clock() - (self._days + 1) * DAY_MS
        for part in self._store.parts():  # each has an order of its own
            cursor, is_last = "", False
            while not is_last:
                games, cursor, is_last = await self._games.threads.run(
                    lambda: _idle_games(part, cursor, until)  # noqa: B023 - awaited before the next turn
                )
                for game in games:
                    await self._expire(game, until)

    async def _expire(self, game: str, until: int) -> None:
        live = self._games.known(game)
        if live and (live.streams or live.is_busy):
            return
        try:
            if not await self._games.threads.run(lambda: self._delete(game, until)):
                return
        except CorruptStore:
            _report_damage(game)
            return
        self.expired += 1
        log.info("expired", extra=details(game=game[:SHORT_ID_CHARACTERS]))
        if live := self._games.known(game):
            self._games.forget(live)

    def _delete(self, game: str, until: int) -> bool:
        """Delete a game unless it has been used after all; return whether it is deleted."""
        document, records = self._store.document(game), self._store.read(game)
        if not (document and records):
            return False
        if max(read_room(document.text).last_seen, records[-1].at) > until:
            return False
        try:
            self._store.delete(game, at=self._games.clock(), expected=records[-1].next_version)
        except (NoSuchGame, StaleVersion, StoreUnavailable):
            return False  # others were faster, or it can't be deleted yet
        return True

    async def close(self) -> None:
        """Finish what is being written."""
        await asyncio.gather(*self._noting.values(), return_exceptions=True)


def _idle_games(part: EventStore, after: str, until: int) -> tuple[list[str], str, bool]:
    """Return the games of a page that were last read before a time, the next cursor, and whether to stop.

    A room that is written moves to the end: after the first with a later time, all have one.
    """
    games: list[str] = []
    # Not `changed_documents`, where one damaged document would hide the page and all that follows.
    rows, cursor = part._feed("documents", after, PAGE_ROWS)  # noqa: SLF001
    for row in rows:
        name = str(row[0])
        if is_presence(name):
            continue
        try:
            if read_room(check_row(row).text).last_seen > until:
                return games, cursor, True
            games.append(name)
        except CorruptStore:
            _report_damage(name)
    return games, cursor, len(rows) < PAGE_ROWS


def _report_damage(game: str) -> None:
    report("expiry", "damaged, and left alone", game=game[:SHORT_ID_CHARACTERS])
