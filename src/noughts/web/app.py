"""The application: a request in, a response or a stream out. It doesn't know any server.

Everything that comes from outside is passed in: the store, threads, clock, ids and randomness; timers
are the event loop's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from random import Random, SystemRandom
from typing import Any, NamedTuple

import msgspec

from noughts.bots.policy import Policy
from noughts.core.errors import NoughtsError
from noughts.service import random_id, wall_clock
from noughts.store.base import EventStore
from noughts.store.errors import StoreLost
from noughts.web import assets, openapi
from noughts.web.bots import BotTurns, Roster
from noughts.web.expiry import Expiry
from noughts.web.game import LiveGame
from noughts.web.games import Games
from noughts.web.handlers import Handlers
from noughts.web.limits import Limit
from noughts.web.metrics import Metrics
from noughts.web.moves import Moves
from noughts.web.peers import Follower, Presence
from noughts.web.problems import ApiError, api_error, unexpected
from noughts.web.request import API_HEADERS, Pending, Request, Response, bare_address, problem
from noughts.web.room import Room
from noughts.web.routes import OPERATIONS, Handler, Result, Route, Router
from noughts.web.schemas import BASE
from noughts.web.seats import Seats
from noughts.web.settings import Settings
from noughts.web.streams import Streams
from noughts.web.threads import Runner
from noughts.web.writer import Writer

log = logging.getLogger("noughts.web")

LOST_STORE_SECONDS = 5.0
"""How long a server whose store was lost still answers, so that a monitor notices."""

CLOSE_SECONDS = 2.0
"""How long closing may take in all: a database may be away."""

SHUTTING_DOWN = ApiError("tooBusy", "the server is shutting down", retry_after=1)

PAGES = ("/", "/lobby", "/game/{id}", "/replay/{digits}", "/replay")


class World(NamedTuple):
    """What the application needs from outside."""

    store: EventStore
    reading: Runner
    """Threads that read from the store."""
    writing: Runner
    """The one thread that writes to it."""
    thinking: Runner
    """Threads for bots and analyses."""
    changes: Callable[[], Awaitable[set[str] | None]]
    """Waits for what other processes change in the store."""
    documents_cursor: str
    """The end of the store's documents, from before the first of these changes."""
    is_shared: bool
    """True if other processes serve the same games."""
    end: Callable[[NoughtsError], None]
    """Ends the process, which can't go on."""
    clock: Callable[[], int] = wall_clock
    new_id: Callable[[], str] = random_id
    random: Random = SystemRandom()


class App:
    """The components of the server, and the way of a request through them."""

    def __init__(self, settings: Settings, policies: Mapping[str, Policy], world: World) -> None:
        self._world = world
        self._origin = settings.origin
        self.settings = settings
        self.proxies = frozenset(bare_address(one) for one in settings.proxy.split(",") if one.strip())
        self.metrics = Metrics()
        self._lost: StoreLost | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self.writer = Writer(world.store.record, world.writing)
        self.writer.on_crash = self._crash
        games = self.games = Games(
            world.store,
            self.writer,
            world.reading,
            clock=world.clock,
            max_cached=settings.cached_games,
            is_shared=world.is_shared,
        )
        games.on_change = self._on_change
        self.presence = Presence(
            games, self.writer, world.new_id(), grace_seconds=settings.lobby_grace_seconds
        )
        self._follower = Follower(games, self.presence, world.changes, self._lose, world.documents_cursor)
        self.expiry = Expiry(games, days=settings.expire_days)
        roster = Roster(policies, world.random)
        self.bots = BotTurns(games, roster, world.thinking, self.metrics, world.new_id)
        seats = Seats(games, Limit("wrong secrets", settings.wrong_secrets_per_minute))
        self.streams = Streams(
            games,
            seats,
            settings,
            find_present=self.presence.find,
            on_join=self._on_join,
            on_leave=lambda live, is_player: self.presence.left(live, is_player=is_player),
        )
        moves = Moves(games, seats, Limit("moves", settings.moves_per_minute), self.metrics, self._start)
        handlers = Handlers(
            settings,
            games,
            seats,
            presence=self.presence,
            expiry=self.expiry,
            roster=roster,
            thinkers=world.thinking,
            random=world.random,
            new_id=world.new_id,
            metrics=self.metrics,
            check_store=self._check_store,
        )
        owners = {"Handlers": handlers, "Moves": moves, "Streams": self.streams}
        self._files = assets.load()
        self._router = Router(
            [
                *(Route(one.method, one.route, _bound(one.handler, owners)) for one in OPERATIONS),
                Route("GET", f"{BASE}/openapi.json", lambda _request: Response(200, openapi.encoded())),
                Route("GET", "/metrics", self._metrics_page),
                Route("GET", "/favicon.ico", lambda _request: Response(204, b"", API_HEADERS)),
                Route("GET", "/static/{name}", lambda request: self._file(request, request.id)),
                *(
                    Route("GET", path, lambda request: self._file(request, "index.html"))
                    for path in PAGES
                ),
            ]
        )
        self.metrics.lookups = {
            "readers_dropped": lambda: self.streams.dropped,
            "commits": lambda: self.writer.commits,
            "commits_failed": lambda: self.writer.failed_commits,
            "commands_recorded": lambda: self.writer.commands,
            "games_expired": lambda: self.expiry.expired,
            "games_damaged": lambda: len(games.damaged),
            "turns_missed": lambda: self.bots.missed,
            "turns_waiting": lambda: len(self.bots),
            "streams": lambda: len(self.streams),
            "live_games": lambda: len(games),
        }
        for work in (self._tick(), self._follower.run(), self.expiry.run()):
            self._keep(asyncio.ensure_future(work))

    def handle(self, request: Request) -> Result | Pending[Result]:
        """Answer a request, at once or later."""
        path = "other"
        try:
            route = self._router.find(request)
            path = route.path
            if request.method == "POST":
                request.check_origin(self._origin)
            result = route.handler(request)
        except Exception as error:  # noqa: BLE001 - it is logged, if it is not a refusal
            result = self._failed(path, error)
        if isinstance(result, Pending):  # from Moves, which counts its own
            return result
        if isinstance(result, Awaitable):
            return self._start(path, result)
        return self._counted(path, result)

    def _start(self, path: str, work: Awaitable[Any]) -> Pending[Any]:
        """Run a handler in a task of its own."""
        pending: Pending[Any] = Pending()
        task = self._keep(asyncio.ensure_future(self._finish(path, work)))
        task.add_done_callback(
            lambda done: pending.resolve(problem(SHUTTING_DOWN) if done.cancelled() else done.result())
        )
        return pending

    def _keep(self, task: asyncio.Task[Any]) -> asyncio.Task[Any]:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _finish(self, path: str, work: Awaitable[Result]) -> Result:
        try:
            result = await work
        except Exception as error:  # noqa: BLE001 - the same
            result = self._failed(path, error)
        return self._counted(path, result)

    def _failed(self, path: str, error: Exception) -> Response:
        if not isinstance(error, NoughtsError):
            log.error("failure", exc_info=error, extra={"data": {"route": path}})
            return problem(unexpected())
        if isinstance(error, StoreLost):
            self._lose(error)
        return problem(api_error(error))

    def _counted(self, path: str, result: Result) -> Result:
        self.metrics.requests[path, result.status] += 1
        return result

    def _metrics_page(self, _request: Request) -> Response:
        kind = (b"content-type", b"text/plain; version=0.0.4; charset=utf-8")
        return Response(200, self.metrics.text().encode(), (kind, *API_HEADERS))

    def _file(self, request: Request, name: str) -> Response:
        return assets.respond(self._files, name, request)

    def _lose(self, lost: StoreLost) -> None:
        """Note that the store was lost, and end in a few seconds."""
        if self._lost is None:
            self._lost = lost
            log.error("store lost", extra={"data": {"problem": str(lost)}})
            asyncio.get_running_loop().call_later(LOST_STORE_SECONDS, self._world.end, lost)

    def _crash(self, error: BaseException) -> None:
        log.error("the writer has crashed", exc_info=error)
        self._world.end(StoreLost("the thread that writes to the store has crashed"))

    def _check_store(self) -> None:
        """Refuse if the store is known to be lost; nothing is read for it."""
        if self._lost:
            raise StoreLost(str(self._lost))

    def _on_change(self, live: LiveGame) -> None:
        """Do what a game needs that was loaded or has gone on."""
        if live.room.has_bot:
            self.bots.start(live)
        if live.game.is_over and live.room.lobby and not live.room.closed:
            self._keep(asyncio.ensure_future(self._close_room(live)))

    async def _close_room(self, live: LiveGame) -> None:
        with suppress(NoughtsError):  # tried again when the game is loaded again
            await self.games.change_room(live, _closed)

    def _on_join(self, live: LiveGame, is_player: bool) -> None:  # noqa: FBT001 - as the callback has it
        self.presence.joined(live, is_player=is_player)
        self.expiry.note_reader(live)
        self.bots.start(live)  # it may have been left when it was to move

    async def _tick(self) -> None:
        second = 0
        while True:
            await asyncio.sleep(1)
            second += 1
            try:
                self.streams.ping(second)
                await self.bots.check()
            except Exception:  # the next second is another one
                log.exception("ticking")

    async def close(self) -> None:
        """Write what waits, and give everything back; nothing is waited for long."""
        self.streams.close()
        for task in self._tasks:
            task.cancel()
        until = asyncio.get_running_loop().time() + CLOSE_SECONDS
        for close in (self.bots.close, self.presence.close, self.expiry.close, self.writer.close):
            try:
                async with asyncio.timeout_at(until):
                    await close()
            except (TimeoutError, StoreLost):
                pass
            except Exception:  # the others are closed all the same
                log.exception("closing")


def _closed(room: Room) -> Room:
    return msgspec.structs.replace(room, closed=True)


def _bound(handler: Callable[..., Any], owners: Mapping[str, object]) -> Handler:
    """Bind a handler of the table to the object that it is a method of."""
    owner, _, name = handler.__qualname__.partition(".")
    bound: Handler = getattr(owners[owner], name)
    return bound
