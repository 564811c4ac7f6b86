"""Deletes web games that have not been used for long, by hours that servers have run.

No clock can delete a game, and a store that rests keeps everything: the store counts the hours that
servers have run on it, and each change and each visit notes the last number that was seen. A game without
a room, such as one played in the terminal, never expires.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial

from noughts.core.errors import NoughtsError
from noughts.service import SHORT_ID_CHARACTERS
from noughts.store.base import Change, StoredGame
from noughts.store.errors import (
    CorruptStore,
    InvalidId,
    NoSuchGame,
    StaleVersion,
    StoreUnavailable,
)
from noughts.web.games import Games
from noughts.web.logging import details, log, report

HOUR_SECONDS = 3600.0
HOURS_A_DAY = 24
"""A visit is noted once a day, so a game is kept one day longer."""

DAMAGED = "nothing expires"
"""What is logged while the count of hours is damaged."""


class Expiry:
    def __init__(self, games: Games, *, days: int) -> None:
        self._games = games
        self._store = games.store
        self._run = games.world.reading.run
        self._days = days
        self._noting: dict[str, asyncio.Task[None]] = {}
        self.expired = 0
        """How many games were deleted here."""

    async def open(self) -> None:
        """Read the count of hours; without it nothing expires."""
        try:
            self._games.hour = await self._run(self._store.hours)
        except CorruptStore as error:
            report(DAMAGED, error)

    def note_visit(self, stored: StoredGame) -> None:
        """Note in the background that somebody uses a game, at most once a day."""
        is_due = stored.room and stored.hour + HOURS_A_DAY <= self._games.hour
        if is_due and stored.id not in self._noting:
            task = self._noting[stored.id] = asyncio.ensure_future(self._note(stored))
            task.add_done_callback(lambda _done: self._noting.pop(stored.id))

    async def _note(self, stored: StoredGame) -> None:
        with suppress(NoughtsError):  # a change notes the hour, too; or the next visit tries again
            await self._games.submit(Change(stored, stored.followed_by(hour=self._games.hour)))

    async def run(self) -> None:
        """Count the hours that this server runs, and delete what has expired after each."""
        while True:
            seen = self._games.hour
            await asyncio.sleep(HOUR_SECONDS)
            try:
                if await self._run(self._store.hours) == seen:  # and is not damaged
                    await self._run(partial(self._store.count_hour, seen))
                self._games.hour = await self._run(self._store.hours)
                for game in tuple(self._games.followed):
                    if stored := self._games.known(game):
                        self.note_visit(stored)
                if self._days:
                    await self.delete_expired()
            except CorruptStore as error:
                report(DAMAGED, error)
            except NoughtsError as error:
                self._games.note_failure(error)
            except Exception:  # the next hour may do better
                log.exception("expiry")

    async def delete_expired(self) -> None:
        before = self._games.hour - HOURS_A_DAY * (self._days + 1)
        after = ""
        while before > 0:
            games = await self._run(partial(self._store.idle, before, after))
            for game in games:
                await self._expire(game, before)
            if not games or games[-1] <= after:  # a damaged id may be out of order
                return
            after = games[-1]

    async def _expire(self, game: str, before: int) -> None:
        try:
            stored = await self._run(lambda: self._store.read(game))
        except CorruptStore as error:  # it is left alone
            self._games.report_damage(game, error)
            return
        except InvalidId:  # damaged, too
            return
        if stored is None or not stored.room or stored.hour >= before:
            return  # it was used after all
        with suppress(StaleVersion, NoSuchGame, StoreUnavailable):  # used just now; or not yet
            await self._games.submit(Change(stored, stored.deleted()))
            self.expired += 1
            log.info("expired", extra=details(game=game[:SHORT_ID_CHARACTERS]))

    async def close(self) -> None:
        """Finish what is being written."""
        await asyncio.gather(*self._noting.values(), return_exceptions=True)
