"""Who is connected: by streams here, and by what other processes say of theirs.

Somebody who comes is shown at once; somebody who goes a second later, so that a page that reloads was
never away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from noughts.core.errors import NoughtsError
from noughts.store.base import PresenceTable
from noughts.web.games import Games
from noughts.web.logging import log, report
from noughts.web.rooms import Present
from noughts.web.schemas import MarkName

SYNC_SECONDS = 0.05
"""How long changes wait for company before they are written and read."""

LEAVE_SECONDS = 1.0
"""Somebody who is back within this time was never away."""

RENEW_SECONDS, EXPIRE_SECONDS = 10.0, 35.0
"""How often a process says that it is alive, and for how long that holds."""

NOBODY = Present()
UNKNOWN = Present(-1, -1, -1)
"""What is written while nobody knows."""


class Presence:
    def __init__(self, games: Games) -> None:
        self._games = games
        self.wake: Callable[[str], None] = lambda _game: None
        """Has the streams of a game look again."""
        self._table = games.store.presence(games.world.new_id())
        self._run = games.world.attending.run
        self._here: dict[str, Present] = {}
        """The streams of each game, as they are."""
        self._shown: dict[str, Present] = {}
        """The same, as it is shown: a departure a second later."""
        self._elsewhere: dict[str, Present] = {}
        self.shown: dict[str, Present] = {}
        """Who is shown as present: the sum of both."""
        self._written: dict[str, Present] = {}
        self._leaving: dict[str, asyncio.TimerHandle] = {}
        self._lobby: dict[str, float] = {}
        """Lobby games whose player has gone, or never came: until when they are listed."""
        self._attended: set[str] = set()
        """Lobby games with a player connected here."""
        self._unwritten: set[str] = set()
        self._unread: set[str] = set()
        """The games to write, and those to read, together with what else comes up meanwhile."""
        self._syncing: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._is_closed = False
        games.on_presence = self._on_news

    def present(self, game: str) -> Present:
        """Return who is shown as present."""
        return self.shown.get(game, NOBODY)

    def _show(self, game: str) -> None:
        found = self._shown.get(game, NOBODY).plus(self._elsewhere.get(game, NOBODY))
        self.shown[game] = found
        if found == NOBODY:
            del self.shown[game]

    def came(self, game: str, marks: tuple[MarkName, ...], *, is_in_lobby: bool) -> None:
        here = self._here.get(game, NOBODY).plus(_streams(marks))
        self._here[game] = here
        shown = self._shown.get(game, NOBODY)
        self._shown[game] = Present(*map(max, zip(shown, here, strict=True)))
        self._show(game)
        if marks and is_in_lobby:
            self._attended.add(game)
            self._lobby.pop(game, None)
        self.wake(game)
        self._sync(write=(game,), read=(game,))

    def left(self, game: str, marks: tuple[MarkName, ...]) -> None:
        x, o, watching = _streams(marks)
        here = self._here.get(game, NOBODY).plus((-x, -o, -watching))
        self._here[game] = here
        if here == NOBODY:
            del self._here[game]
        if game in self._attended and not (here.X or here.O):
            self._attended.discard(game)
            self._list_for_a_while(game)
        if not self._is_closed and game not in self._leaving:
            self._leaving[game] = self._loop.call_later(LEAVE_SECONDS, self._hide, game)

    def created(self, game: str) -> None:
        """List a new game of the lobby for a while: its player is about to connect."""
        self._list_for_a_while(game)
        self._sync(write=(game,))

    def _list_for_a_while(self, game: str) -> None:
        self._forget_left()
        self._lobby[game] = self._loop.time() + self._games.world.settings.lobby_grace_seconds

    def _hide(self, game: str) -> None:
        """Show no more who has left and is not back."""
        del self._leaving[game]
        here = self._shown[game] = self._here.get(game, NOBODY)
        if here == NOBODY:
            del self._shown[game]
            self._elsewhere.pop(game, None)
        self._show(game)
        self.wake(game)
        self._sync(write=(game,))

    async def look(self, game: str) -> Present:
        """Return who is present, also for a game that nobody follows here."""
        if self._table and game not in self._here:
            found = await self._run(partial(self._table.of, (game,)))
            return self._shown.get(game, NOBODY).plus(found.get(game, NOBODY))
        return self.present(game)

    def _on_news(self, games: Sequence[str] | None) -> None:
        self._sync(read=self._here if games is None else games)

    def _sync(self, *, write: Iterable[str] = (), read: Iterable[str] = ()) -> None:
        """Write who is here, and read who is elsewhere."""
        if self._table and not self._is_closed:
            self._unwritten.update(write)
            self._unread.update(read)
            self._syncing = self._syncing or self._loop.create_task(self._write_and_read(self._table))

    async def _write_and_read(self, table: PresenceTable) -> None:
        try:
            while self._unwritten or self._unread:
                await asyncio.sleep(SYNC_SECONDS)
                new = {game: self._wanted(game) for game in self._unwritten}
                new = {game: shown for game, shown in new.items() if shown != self._written.get(game)}
                read = [game for game in self._unread if game in self._here]
                self._unwritten, self._unread = set(), set()
                if new:
                    self._written |= dict.fromkeys(new, UNKNOWN)  # also if it fails
                    await self._run(partial(table.write, new))
                    for game, shown in new.items():
                        if shown:
                            self._written[game] = shown
                        else:
                            self._written.pop(game, None)
                if read:
                    self._show_elsewhere(read, await self._run(partial(table.of, read)))
        except NoughtsError as error:  # the next round of `renew` and of `Games.follow` makes up for it
            self._games.write_outage.begin(error)
        finally:
            self._syncing = None

    def _wanted(self, game: str) -> Present | None:
        """Return what this process should have written about a game."""
        return self._shown.get(game) or (NOBODY if game in self._lobby else None)

    def _show_elsewhere(self, games: Sequence[str], found: Mapping[str, tuple[int, int, int]]) -> None:
        for game in games:
            elsewhere = Present(*found.get(game, NOBODY))
            if game in self._here and self._elsewhere.get(game, NOBODY) != elsewhere:
                self._elsewhere[game] = elsewhere
                self._show(game)
                self.wake(game)

    async def attended(self) -> dict[str, bool]:
        """Return the games to list in the lobby: True with a player connected, False if one just left."""
        self._forget_left()
        found = dict.fromkeys(self._lobby, False) | dict.fromkeys(self._attended, True)
        if self._table:
            listed = await self._run(self._table.lobby)
            others = await self._run(partial(self._table.of, listed))
            for game in listed:
                x, o, _ = others.get(game, NOBODY)
                found[game] = found.get(game, False) or bool(x or o)
        return found

    def _forget_left(self) -> None:
        now = self._loop.time()
        for game in [game for game, until in self._lobby.items() if until <= now]:
            del self._lobby[game]
            self._sync(write=(game,))

    async def renew(self) -> None:
        """Say from time to time that this process is alive; write everything again if that was lost."""
        while table := self._table:
            try:
                if await self._run(partial(table.renew, EXPIRE_SECONDS)):
                    self._written.clear()
                self._sync(write={*self._shown, *self._lobby, *self._written})
                self._forget_left()
            except NoughtsError as error:
                self._games.write_outage.begin(error)
            except Exception:  # the next round may do better
                log.exception("presence")
            await asyncio.sleep(RENEW_SECONDS)

    async def close(self) -> None:
        """Stop, and tell the other processes that nobody is connected here any more."""
        self._is_closed = True
        for timer in self._leaving.values():
            timer.cancel()
        if self._syncing:
            self._syncing.cancel()
            await asyncio.gather(self._syncing, return_exceptions=True)
        if self._table:
            try:
                await self._run(self._table.leave)
            except NoughtsError as error:
                report("presence", error)


def _streams(marks: tuple[MarkName, ...]) -> tuple[int, int, int]:
    return "X" in marks, "O" in marks, not marks
