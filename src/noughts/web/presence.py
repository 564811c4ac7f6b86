"""Who is connected: by streams here, and by what other processes say of theirs.

Somebody who comes is shown at once; somebody who goes a second later, so that a page that reloads was
never away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any

from noughts.core.errors import NoughtsError
from noughts.web.games import Games
from noughts.web.logging import log, report
from noughts.web.rooms import Present
from noughts.web.schemas import MarkName

COME_SECONDS = 0.05
"""After somebody has come, others are told this much later, together with others who come."""

LEAVE_SECONDS = 1.0
"""Somebody who is back within this time was never away."""

RENEW_SECONDS, EXPIRE_SECONDS = 10.0, 35.0
"""How often a process says that it is alive, and for how long that holds."""

NOBODY = Present()


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
        self._timers: dict[tuple[float, str], asyncio.TimerHandle] = {}
        self._lobby: dict[str, float] = {}
        """Lobby games whose player has gone, or never came: until when they are listed."""
        self._attended: set[str] = set()
        """Lobby games with a player connected here."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._writing: set[str] = set()
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
        self._publish_in(COME_SECONDS, game)
        if self._table:
            self._start(self._look((game,)))

    def left(self, game: str, marks: tuple[MarkName, ...]) -> None:
        x, o, watching = _streams(marks)
        here = self._here.get(game, NOBODY).plus((-x, -o, -watching))
        self._here[game] = here
        if here == NOBODY:
            del self._here[game]
        if game in self._attended and not (here.X or here.O):
            self._attended.discard(game)
            self._list_for_a_while(game)
        self._publish_in(LEAVE_SECONDS, game)

    def created(self, game: str) -> None:
        """List a new game of the lobby for a while: its player is about to connect."""
        self._list_for_a_while(game)
        if self._table:
            self._start(self._write(game))

    def _list_for_a_while(self, game: str) -> None:
        self._forget_left()
        self._lobby[game] = self._loop.time() + self._games.world.settings.lobby_grace_seconds

    def _publish_in(self, seconds: float, game: str) -> None:
        """Tell others of somebody who has come or gone, together with others who do in that time."""
        if not self._is_closed and (seconds, game) not in self._timers:
            timer = self._loop.call_later(seconds, self._publish, seconds, game)
            self._timers[seconds, game] = timer

    def _publish(self, seconds: float, game: str) -> None:
        del self._timers[seconds, game]
        if seconds == LEAVE_SECONDS:
            here = self._shown[game] = self._here.get(game, NOBODY)
            if here == NOBODY:
                del self._shown[game]
                self._elsewhere.pop(game, None)
            self._show(game)
        self.wake(game)
        if self._table and game not in self._writing:
            self._start(self._write(game))

    async def _write(self, game: str) -> None:
        """Write who is here, again if that changes in the meantime."""
        table = self._table
        if table is None:
            return
        self._writing.add(game)
        try:
            while not self._is_written(game):
                shown, is_listed = self._shown.get(game), game in self._lobby
                if shown or is_listed:
                    await self._run(lambda: table.put(game, *(shown or NOBODY)))  # noqa: B023 - awaited here
                    self._written[game] = shown or NOBODY
                else:
                    await self._run(lambda: table.remove(game))
                    self._written.pop(game, None)
        except NoughtsError as error:
            self._games.write_outage.begin(error)
        finally:
            self._writing.discard(game)

    def _is_written(self, game: str) -> bool:
        wanted = self._shown.get(game) or (NOBODY if game in self._lobby else None)
        return self._written.get(game) == wanted

    async def look(self, game: str) -> Present:
        """Return who is present, also for a game that nobody follows here."""
        if self._table and game not in self._here:
            table = self._table
            found = await self._run(lambda: table.of((game,)))
            return self._shown.get(game, NOBODY).plus(found.get(game, NOBODY))
        return self.present(game)

    def _on_news(self, games: Sequence[str] | None) -> None:
        wanted = [*self._here] if games is None else [game for game in games if game in self._here]
        if wanted and self._table:
            self._start(self._look(wanted))

    async def _look(self, games: Iterable[str]) -> None:
        table, wanted = self._table, tuple(games)
        if table is None:
            return
        try:
            found = await self._run(lambda: table.of(wanted))
        except NoughtsError as error:
            self._games.outage.begin(error)
            return
        for game in wanted:
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
            table = self._table
            listed = await self._run(table.lobby)
            others = await self._run(lambda: table.of(listed))
            for game in listed:
                x, o, _ = others.get(game, NOBODY)
                found[game] = found.get(game, False) or bool(x or o)
        return found

    def _forget_left(self) -> None:
        now = self._loop.time()
        for game in [game for game, until in self._lobby.items() if until <= now]:
            del self._lobby[game]
            if self._table:
                self._start(self._write(game))

    async def renew(self) -> None:
        """Say from time to time that this process is alive; write everything again if that was lost."""
        while table := self._table:
            try:
                if await self._run(lambda: table.renew(EXPIRE_SECONDS)):
                    self._written.clear()
                for game in self._shown | self._lobby | self._written:
                    await self._write(game)
                await self.attended()
            except NoughtsError as error:
                self._games.write_outage.begin(error)
            except Exception:  # go on with the next round
                log.exception("presence")
            await asyncio.sleep(RENEW_SECONDS)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Stop, and tell the other processes that nobody is connected here any more."""
        self._is_closed = True
        for timer in self._timers.values():
            timer.cancel()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._table:
            try:
                await self._run(self._table.leave)
            except NoughtsError as error:
                report("presence", error)


def _streams(marks: tuple[MarkName, ...]) -> tuple[int, int, int]:
    return "X" in marks, "O" in marks, not marks
