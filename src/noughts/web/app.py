"""The ASGI application: a request in, a response or a stream out. It doesn't know any server.

It starts with the server's lifespan, or with the first request: a mounted application gets no lifespan.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping, MutableMapping
from functools import partial
from time import monotonic
from typing import Any, TypeAlias
from urllib.parse import quote

from noughts.bots.policy import Policy
from noughts.core.board import Mark, reachable
from noughts.core.errors import NoughtsError
from noughts.store.base import StoredGame
from noughts.store.errors import StoreLost
from noughts.store.urls import SERVED, default_store, open_store
from noughts.web import assets, openapi
from noughts.web.bots import BotTurns, Roster, read_policies, split_offered
from noughts.web.commands import Commands
from noughts.web.expiry import Expiry
from noughts.web.games import Games
from noughts.web.limits import Limit
from noughts.web.logging import details, log
from noughts.web.metrics import Metrics
from noughts.web.presence import Presence
from noughts.web.problems import ApiError, GamesUnavailable, api_error
from noughts.web.queries import Queries
from noughts.web.request import API_HEADERS, MAX_BODY_BYTES, Header, Request, Response, problem
from noughts.web.rooms import room_of
from noughts.web.routes import OPERATIONS, Handler, Result
from noughts.web.schemas import BASE
from noughts.web.settings import Settings, from_environment
from noughts.web.streams import Receive, Send, Stream, Streams
from noughts.web.world import Threads, World

Message: TypeAlias = MutableMapping[str, Any]

BODY_SECONDS = 10.0
"""How long a body may take to come."""

READING_THREADS, THINKING_THREADS = 4, 2

LOST_STORE_SECONDS = 5.0
"""How long a server whose store was lost still answers, so that a monitor notices."""

CLOSE_SECONDS = 2.0
"""How long closing may take in all: a database may be away."""


class Application:
    """The application for any ASGI server."""

    def __init__(
        self,
        settings: Settings,
        policies: Mapping[str, Policy],
        end: Callable[[NoughtsError], None] = lambda _error: None,
    ) -> None:
        self._settings = settings
        self._policies = policies
        self._end = end
        self._proxies = settings.proxies
        self._bodies = Bodies()
        self._opening: asyncio.Task[App] | None = None
        self._app: App | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self.live(receive, send)
        else:  # a websocket, which is not supported
            await send({"type": "websocket.close", "code": 1000})

    async def live(self, receive: Receive, send: Send) -> None:
        """Start and stop with the server."""
        await receive()
        try:
            await self.open()
        except Exception as error:  # noqa: BLE001 - the server reports it
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def open(self) -> App:
        """Open the store and start everything, once."""
        if self._app is None:
            if self._opening is None or self._opening.done():  # again, if it failed
                self._opening = asyncio.ensure_future(self._open())
            self._app = await asyncio.shield(self._opening)
        return self._app

    async def _open(self) -> App:
        reading, attending = Threads("noughts-reader", READING_THREADS), Threads("noughts-presence")
        thinking = Threads("noughts-thinker", THINKING_THREADS)
        store = None
        try:
            store = await reading.run(lambda: open_store(self._settings.store))
            await reading.run(store.hold)
            world = World(
                settings=self._settings,
                store=store,
                reading=reading,
                attending=attending,
                thinking=thinking,
                end=self._end,
            )
            app = App(world, self._policies)
            await app.start()
        except BaseException:
            if store:
                reading.run(store.close)
            for threads in (reading, attending, thinking):
                threads.close()
            raise
        for first in Mark:
            reachable(first)
        app.load_page()
        log.info("started", extra=details(store=self._settings.store.partition(":")[0]))
        return app

    def end_streams(self) -> None:
        """End all streams, so that the server need not wait for them."""
        if self._app:
            self._app.streams.end()

    async def close(self) -> None:
        app, self._app, self._opening = self._app, None, None
        self._bodies = Bodies()  # its timer is of this event loop
        if app:
            await app.close()
            log.info("stopped")

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        start = monotonic()
        is_head = scope["method"] == "HEAD"
        try:
            app = self._app or await self.open()
            body = await self._bodies.read(receive)
        except NoughtsError as error:
            await _respond(send, problem(api_error(error)), is_head=is_head)
            return
        client, prefix = scope.get("client"), scope.get("root_path", "")
        request = Request(
            scope["method"],
            scope["path"].removeprefix(prefix) or "/",
            scope["query_string"],
            _headers(scope["headers"]),
            body,
            peer=client[0] if client else "",
            scheme=scope.get("scheme", "http"),
            prefix=quote(prefix, safe="/"),
            proxies=self._proxies,
        )
        result = await app.handle(request)
        if isinstance(result, Stream):
            try:
                await result.run(receive, send)
            finally:
                result.close()
        else:
            app.metrics.request_seconds.observe(monotonic() - start)
            await _respond(send, result, is_head=is_head)


def from_settings() -> Application:
    """Create the application with the settings in the environment."""
    settings = from_environment(os.environ, store=default_store(os.environ, SERVED))
    return Application(settings, read_policies(split_offered(settings.bots)))


class App:
    """The components of the server, and how a request passes through them."""

    def __init__(self, world: World, policies: Mapping[str, Policy]) -> None:
        self._world = world
        settings = world.settings
        self._lost: StoreLost | None = None
        self._loading: asyncio.Future[assets.Site] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        metrics = self.metrics = Metrics()
        games = self.games = Games(world, metrics)
        games.on_change = self._on_change
        games.on_lost = self._lose
        self.presence = Presence(games, self._wake)
        self.streams = Streams(games, self.presence, metrics)
        self.expiry = Expiry(games, days=settings.expire_days)
        games.on_visit = self.expiry.note_visit
        roster = Roster(policies, world.random)
        self.bots = BotTurns(games, roster, metrics)
        wrong = Limit("wrong secrets", settings.wrong_secrets_per_minute)
        creates = Limit("new games", settings.creates_per_minute)
        joins = Limit("attempts to join", settings.joins_per_minute)
        moves = Limit("moves", settings.moves_per_minute)
        analyses = Limit("analyses", settings.analyses_per_minute)
        drawings = Limit("QR codes", settings.creates_per_minute)
        commands = Commands(games, self.presence, roster, metrics, creates, joins, moves, wrong)
        queries = Queries(
            games, self.presence, self.streams, roster, self._check_store, wrong, analyses, drawings
        )
        owners = {type(one).__name__: one for one in (commands, queries)}
        self._routes: dict[str, dict[str, tuple[str, Handler]]] = {}
        for one in OPERATIONS:
            self._add(one.method, one.route, _bound(one.handler, owners))
        self._add("GET", f"{BASE}/openapi.json", _at_once(lambda _: Response(200, openapi.encoded())))
        self._add("GET", "/metrics", _at_once(self._metrics_page))
        self._add("GET", "/favicon.ico", _at_once(lambda _: Response(204, b"", API_HEADERS)))
        self._add("GET", "/static/{version}/{name}", self._loaded(self._static_file))
        for name in (assets.WORKER, assets.ROBOTS):
            self._add("GET", f"/{name}", self._loaded(partial(assets.unversioned_file, name)))
        for path in assets.PAGES:
            self._add("GET", path, self._loaded(self._page))
        metrics.lookups = {
            "streams_ended": lambda: self.streams.ended,
            "commits": lambda: world.store.writer.commits,
            "commits_failed": lambda: world.store.writer.failed_commits,
            "games_expired": lambda: self.expiry.expired,
            "games_damaged": lambda: len(games.damaged),
            "games_lost": lambda: games.lost,
            "bots_thinking": lambda: len(self.bots),
            "streams": lambda: len(self.streams),
            "cached_games": lambda: len(games),
            "oldest_commit_seconds": world.store.writer.waiting_seconds,
        }

    async def start(self) -> None:
        """Start what goes on by itself."""
        await self.expiry.open()
        works: list[Coroutine[Any, Any, None]] = [self.streams.tick(), self.expiry.run()]
        if self.games.is_shared:
            works += [self.games.follow(), self.games.answer_late(), self.presence.renew()]
        for work in works:
            task = asyncio.ensure_future(work)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def handle(self, request: Request) -> Result:
        """Answer a request."""
        path = "other"
        try:
            path, handler = self._find(request)
            if request.method == "POST":
                request.check_origin(self._world.settings.origin)
            result = await handler(request)
        except asyncio.CancelledError:  # the server stops, and has waited long enough
            result = problem(api_error(GamesUnavailable("the server stops")))
        except Exception as error:  # noqa: BLE001 - it is logged, if it is not a refusal
            if path == "other" and _is_lost_browser(request):
                result = await self._loaded(partial(self._page, status=404))(request)
            else:
                result = self._failed(path, error)
        self.metrics.requests[path, result.status] += 1
        return result

    def _add(self, method: str, path: str, handler: Handler) -> None:
        parts = path.split("/")
        pattern = "/".join("*" if part.startswith("{") else part for part in parts)
        methods = self._routes.setdefault(pattern, {})
        methods[method] = path, handler
        if method == "GET" and not path.endswith("/events"):
            methods["HEAD"] = path, handler

    def _find(self, request: Request) -> tuple[str, Handler]:
        """Return the route of a request, and give the request its parameter; or refuse."""
        methods = self._routes.get(request.path)
        if methods is None or "*" in request.path:
            if request.path[:1] not in ("/", "*"):
                raise ApiError("badRequest", "the address of a request begins with a slash")
            parts = request.path.split("/")
            for at in (4, 2):  # /api/v1/games/ID/… and /game/ID
                if len(parts) > at:
                    request.id = parts[at]
                    methods = self._routes.get("/".join([*parts[:at], "*", *parts[at + 1 :]]))
                    if methods:
                        break
            if methods is None and len(parts) == 4:  # /static/VERSION/NAME
                methods = self._routes.get("/".join([*parts[:2], "*", "*"]))
            if methods is None:
                raise ApiError("notFound", "nothing is at that address")
        found = methods.get(request.method)
        if found is None:
            error = ApiError("methodNotAllowed", f"{request.method[:20]} is not allowed for this address")
            error.headers = ((b"allow", ", ".join(sorted(methods)).encode()),)
            raise error
        return found

    def _failed(self, path: str, error: BaseException) -> Response:
        if not isinstance(error, NoughtsError):
            log.error("failure", exc_info=error, extra=details(route=path))
            return problem(ApiError("internal", "something went wrong on the server, and was logged"))
        if isinstance(error, StoreLost):
            self._lose(error)
        return problem(api_error(error))

    def load_page(self) -> asyncio.Future[assets.Site]:
        """Load the files of the page in a thread: one for all who wait."""
        if self._loading is None or self._loading.done():  # again, if it failed
            self._loading = self._world.thinking.run(assets.load)
        return self._loading

    def _loaded(self, respond: Callable[[Request], Response]) -> Handler:
        """Return a handler that waits until the files of the page are loaded."""

        async def load(request: Request) -> Response:
            if not assets.is_loaded():
                await asyncio.shield(self.load_page())
            return respond(request)

        return load

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

    def _check_store(self) -> None:
        """Refuse if the store is known to be lost; nothing is read for it."""
        if self._lost:
            raise self._lost.with_traceback(None)

    def _wake(self, game: str) -> None:
        self.streams.wake(game)

    def _on_change(self, stored: StoredGame) -> None:
        """Wake the streams of a game that was read or changed, and start its bot."""
        self.streams.wake(stored.id, has_changed=True)
        if stored.room and room_of(stored).has_bot:
            self.bots.start(stored)

    async def close(self) -> None:
        """Write what is queued, and close everything, in limited time."""
        self.streams.end()
        for task in self._tasks:
            task.cancel()
        until = asyncio.get_running_loop().time() + CLOSE_SECONDS
        closing = Threads("noughts-closer")
        for close in (
            self.bots.close,
            self.presence.close,
            self.expiry.close,
            lambda: closing.run(self._world.store.close),
        ):
            try:
                async with asyncio.timeout_at(until):
                    await close()
            except (TimeoutError, StoreLost):
                pass
            except Exception:  # the others are closed all the same
                log.exception("closing")
        for threads in (self._world.reading, self._world.attending, self._world.thinking, closing):
            threads.close()


def _is_lost_browser(request: Request) -> bool:
    """Return whether somebody opened an address that does not exist: they get a page that says so."""
    is_page = request.method in ("GET", "HEAD") and not request.path.startswith(BASE)
    return is_page and "text/html" in request.text(b"accept")


def _bound(handler: Callable[..., object], owners: Mapping[str, object]) -> Handler:
    """Bind a handler of the table to the object that it is a method of."""
    owner, _, name = handler.__qualname__.partition(".")
    found: Handler = getattr(owners[owner], name)
    return found


def _at_once(respond: Callable[[Request], Response]) -> Handler:
    async def answer(request: Request) -> Response:
        return respond(request)

    return answer


def _headers(pairs: Iterable[Header]) -> dict[bytes, bytes]:
    """Return the headers by name; what a proxy or HTTP/2 sends in several is joined."""
    headers: dict[bytes, bytes] = {}
    for name, value in pairs:
        if name in headers and name in _JOINED:
            headers[name] += _JOINED[name] + value
        else:
            headers[name] = value
    return headers


_JOINED = {b"cookie": b"; ", b"x-forwarded-for": b", "}


class Bodies:
    """Reads the bodies of requests, and gives up those that come too slowly.

    One timer looks at all of them: a time limit for each would take a twentieth of a move's time.
    """

    def __init__(self) -> None:
        self._since: dict[asyncio.Task[Any], float] = {}
        self._late: set[asyncio.Task[Any]] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def read(self, receive: Receive) -> bytes:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a request is answered in a task")
        loop = asyncio.get_running_loop()
        self._since[task] = loop.time()
        if self._timer is None:
            self._timer = loop.call_later(1, self._look)
        try:
            message = await receive()
            body = message.get("body", b"")
            while message.get("more_body", False) and len(body) <= MAX_BODY_BYTES:
                message = await receive()
                body += message.get("body", b"")
        except asyncio.CancelledError:
            if task not in self._late:
                raise
            self._late.discard(task)
            task.uncancel()
            raise ApiError("timeout", f"the body did not come within {BODY_SECONDS:.0f} s") from None
        finally:
            del self._since[task]
        if message["type"] == "http.disconnect":
            raise ApiError("badRequest", "the connection was closed before the body had come")
        if len(body) > MAX_BODY_BYTES:
            raise ApiError("tooLarge", f"a body has {MAX_BODY_BYTES} bytes at most")
        return bytes(body)

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        late = loop.time() - BODY_SECONDS
        for task in [task for task, since in self._since.items() if since < late]:
            self._late.add(task)
            task.cancel()
        self._timer = None
        if self._since:
            self._timer = loop.call_later(1, self._look)


async def _respond(send: Send, response: Response, *, is_head: bool) -> None:
    status, body, headers = response
    if status not in (204, 304):
        headers = (*headers, (b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": status, "headers": [*headers]})
    await send({"type": "http.response.body", "body": b"" if is_head else body})
