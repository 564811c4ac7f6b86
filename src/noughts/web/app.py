"""The application: a request in, a response or a stream out. It doesn't know any server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from msgspec.structs import replace

from noughts.bots.policy import Policy
from noughts.core.board import Mark, reachable
from noughts.core.errors import NoughtsError
from noughts.store.errors import StoreLost
from noughts.web import assets, openapi
from noughts.web.bots import BotTurns, Roster
from noughts.web.expiry import Expiry
from noughts.web.game import LiveGame
from noughts.web.games import Games
from noughts.web.handlers import Handlers
from noughts.web.limits import Limit
from noughts.web.logging import details, log
from noughts.web.metrics import Metrics
from noughts.web.moves import MoveHandlers
from noughts.web.peers import Follower, Presence
from noughts.web.problems import WRITER_CRASHED, ApiError, ServerFailed, api_error
from noughts.web.queries import Queries
from noughts.web.request import API_HEADERS, Pending, Request, Response, bare_address, problem
from noughts.web.routes import OPERATIONS, Handler, Result, Route, Router
from noughts.web.schemas import BASE
from noughts.web.seats import SeatAccess
from noughts.web.settings import Settings
from noughts.web.streams import Streams
from noughts.web.world import World, open_world
from noughts.web.writer import Writer

LOST_STORE_SECONDS = 5.0
"""How long a server whose store was lost still answers, so that a monitor notices."""

CLOSE_SECONDS = 2.0
"""How long closing may take in all, apart from the store: a database may be away."""

SHUTTING_DOWN = ApiError("tooBusy", "the server is shutting down", retry_after=1)


async def open_app(
    settings: Settings,
    policies: Mapping[str, Policy],
    end: Callable[[NoughtsError], None],
    *,
    may_create: bool = True,
) -> App:
    """Open the application with a real store and real threads."""
    app = App(await open_world(settings, end, may_create=may_create), policies)
    for first in Mark:
        reachable(first)
    app.load_page()
    log.info("started", extra=details(store=settings.store.partition(":")[0]))
    return app


class App:
    """The components of the server, and how a request passes through them."""

    def __init__(self, world: World, policies: Mapping[str, Policy]) -> None:
        self._world = world
        settings = self.settings = world.settings
        self.proxies = frozenset(bare_address(one) for one in settings.proxy.split(",") if one.strip())
        self.metrics = Metrics()
        self._lost: StoreLost | None = None
        self._loading: asyncio.Future[assets.Site] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self.writer = Writer(world.store.record, world.writing)
        self.writer.on_crash = self._crash
        games = self.games = Games(world, self.writer)
        games.on_change = self._on_change
        self.presence = Presence(games, self.writer, world.new_id())
        follower = Follower(games, self.presence, self._lose)
        self.expiry = Expiry(games, days=settings.expire_days)
        roster = Roster(policies, world.random)
        self.bots = BotTurns(games, roster, self.metrics)
        seats = SeatAccess(games, Limit("wrong secrets", settings.wrong_secrets_per_minute))
        self.streams = Streams(games, seats, self.presence)
        self.streams.on_join = self._on_join
        creates = Limit("new games", settings.creates_per_minute)
        joins = Limit("attempts to join", settings.joins_per_minute)
        handlers = Handlers(games, seats, roster, self.metrics, creates, joins)
        moving = Limit("moves", settings.moves_per_minute)
        moves = MoveHandlers(games, seats, self.metrics, moving, self._start)
        analyses = Limit("analyses", settings.analyses_per_minute)
        drawings = Limit("QR codes", settings.creates_per_minute)
        limits = (analyses, drawings)
        queries = Queries(games, seats, self.presence, self.expiry, roster, self._check_store, *limits)
        owners = {type(one).__name__: one for one in (handlers, moves, queries, self.streams)}
        self._router = Router(
            [
                *(Route(one.method, one.route, _bound(one.handler, owners)) for one in OPERATIONS),
                Route("GET", f"{BASE}/openapi.json", lambda _request: Response(200, openapi.encoded())),
                Route("GET", "/metrics", self._metrics_page),
                Route("GET", "/favicon.ico", lambda _request: Response(204, b"", API_HEADERS)),
                Route("GET", "/static/{version}/{name}", self._loaded(self._static_file)),
                Route("GET", "/worker.js", self._loaded(partial(assets.unversioned_file, assets.WORKER))),
                Route(
                    "GET", "/robots.txt", self._loaded(partial(assets.unversioned_file, assets.ROBOTS))
                ),
                *(Route("GET", path, self._loaded(self._page)) for path in assets.PAGES),
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
        for work in (self._tick(), follower.run(), self.expiry.run()):
            self._keep(asyncio.ensure_future(work))

    def handle(self, request: Request) -> Result | Pending[Result]:
        """Answer a request, at once or later."""
        path = "other"
        try:
            route = self._router.find(request)
            path = route.path
            if request.method == "POST":
                request.check_origin(self.settings.origin)
            result = route.handler(request)
        except Exception as error:  # noqa: BLE001 - it is logged, if it is not a refusal
            if path == "other" and _is_lost_browser(request):
                result = self._loaded(partial(self._page, status=404))(request)
            else:
                result = self._failed(path, error)
        if isinstance(result, Pending):  # from MoveHandlers, which counts its own
            return result
        if isinstance(result, Awaitable):
            return self._start(path, result)
        return self._counted(path, result)

    def _start(self, path: str, work: Awaitable[Any]) -> Pending[Any]:
        """Run a handler in a task of its own."""
        pending: Pending[Any] = Pending()
        task = self._keep(asyncio.ensure_future(work))
        task.add_done_callback(lambda done: pending.resolve(self._outcome(path, done)))
        return pending

    def _keep(self, task: asyncio.Task[Any]) -> asyncio.Task[Any]:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _outcome(self, path: str, task: asyncio.Task[Result]) -> Result:
        if task.cancelled():
            return problem(SHUTTING_DOWN)
        error = task.exception()
        return self._counted(path, self._failed(path, error) if error else task.result())

    def _failed(self, path: str, error: BaseException) -> Response:
        if not isinstance(error, NoughtsError):
            log.error("failure", exc_info=error, extra=details(route=path))
            return problem(ApiError("internal", "something went wrong on the server, and was logged"))
        if isinstance(error, StoreLost):
            self._lose(error)
        return problem(api_error(error))

    def _counted(self, path: str, result: Result) -> Result:
        self.metrics.requests[path, result.status] += 1
        return result

    def load_page(self) -> asyncio.Future[assets.Site]:
        """Load the files of the page in a thread: one for all who wait."""
        if self._loading is None or self._loading.done():  # again, if it failed
            self._loading = self._world.thinking.run(assets.load)
        return self._loading

    def _loaded(self, respond: Callable[[Request], Response]) -> Handler:
        """Return a handler that waits until the files of the page are loaded."""

        async def load(request: Request) -> Response:
            await asyncio.shield(self.load_page())
            return respond(request)

        return lambda request: respond(request) if assets.is_loaded() else load(request)

    def _page(self, request: Request, status: int = 200) -> Response:
        return assets.unversioned_file(assets.PAGE, request, status)

    def _static_file(self, request: Request) -> Response:
        try:
            return assets.static_file(request)
        except ApiError:
            if _is_lost_browser(request):
                return self._page(request, status=404)
            raise

    def _metrics_page(self, _request: Request) -> Response:
        kind = (b"content-type", b"text/plain; version=0.0.4; charset=utf-8")
        return Response(200, self.metrics.text().encode(), (kind, *API_HEADERS))

    def _lose(self, lost: StoreLost) -> None:
        """Note that the store was lost, and end in a few seconds."""
        if self._lost is None:
            self._lost = lost
            log.error("store lost", extra=details(problem=str(lost)))
            asyncio.get_running_loop().call_later(LOST_STORE_SECONDS, self._world.end, lost)

    def _crash(self, error: BaseException) -> None:
        log.error("the writer has crashed", exc_info=error)
        self._world.end(ServerFailed(WRITER_CRASHED))

    def _check_store(self) -> None:
        """Refuse if the store is known to be lost; nothing is read for it."""
        if self._lost:
            raise self._lost.with_traceback(None)

    def _on_change(self, live: LiveGame) -> None:
        """Start the bot of a game that was loaded or changed, and close its room after the end."""
        if live.room.has_bot:
            self.bots.start(live)
        if live.game.is_over and live.room.lobby and not live.room.closed:
            self._keep(asyncio.ensure_future(self._close_room(live)))

    async def _close_room(self, live: LiveGame) -> None:
        with suppress(NoughtsError):  # tried again when the game is loaded again
            await self.games.change_room(live, lambda room: replace(room, closed=True))

    def _on_join(self, live: LiveGame) -> None:
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
            except Exception:  # go on with the next second
                log.exception("ticking")

    async def close(self) -> None:
        """Write what is queued, and close everything, in limited time."""
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
        await self._world.close()
        log.info("stopped")


def _is_lost_browser(request: Request) -> bool:
    """Return whether somebody opened an address that does not exist: they get a page that says so."""
    is_page = request.method in ("GET", "HEAD") and not request.path.startswith(BASE)
    return is_page and "text/html" in request.text(b"accept")


def _bound(handler: Callable[..., object], owners: Mapping[str, object]) -> Any:  # noqa: ANN401 - a handler
    """Bind a handler of the table to the object that it is a method of."""
    owner, _, name = handler.__qualname__.partition(".")
    return getattr(owners[owner], name)
