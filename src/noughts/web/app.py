"""The ASGI application: a request in, a response or a stream out. It doesn't know any server.

It starts with the server's lifespan, or with the first request: a mounted application gets no lifespan.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Coroutine, Mapping, MutableMapping
from functools import partial
from inspect import iscoroutinefunction
from math import inf
from time import monotonic
from typing import Any, TypeAlias, cast
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
from noughts.web.limits import Limits
from noughts.web.logging import details, log
from noughts.web.metrics import Metrics
from noughts.web.presence import Presence
from noughts.web.problems import ApiError, GamesUnavailable, api_error
from noughts.web.queries import Queries
from noughts.web.request import API_HEADERS, MAX_BODY_BYTES, Header, Request, Response, problem
from noughts.web.rooms import room_of
from noughts.web.routes import OPERATIONS, Handler, Result
from noughts.web.schemas import BASE, encode
from noughts.web.settings import Settings, from_environment
from noughts.web.streams import Receive, Send, Stream, Streams
from noughts.web.world import Threads, World

Message: TypeAlias = MutableMapping[str, Any]

BODY_SECONDS = 10.0
"""How long a body may take to come."""

READING_THREADS, THINKING_THREADS = 4, 2

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
        self._opening: asyncio.Task[App] | None = None
        self._app: App | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)
        else:  # a websocket, which is not supported
            await send({"type": "websocket.close", "code": 1000})

    async def _live(self, receive: Receive, send: Send) -> None:
        """Start and stop with the server."""
        await receive()
        try:
            await self.start()
        except Exception as error:  # noqa: BLE001 - the server reports it
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.stop()
        await send({"type": "lifespan.shutdown.complete"})

    async def start(self) -> None:
        await self.open()

    async def stop(self) -> None:
        await self.close()

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
            loading = thinking.run(assets.load)
            store = await reading.run(lambda: open_store(self._settings.store))
            await reading.run(store.hold)
            await loading
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
        log.info("started", extra=details(store=self._settings.store.partition(":")[0]))
        return app

    def end_streams(self) -> None:
        """End all streams, so that the server need not wait for them."""
        if self._app:
            self._app.streams.end()

    async def close(self) -> None:
        app, self._app, self._opening = self._app, None, None
        if app:
            await app.close()
            log.info("stopped")

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        start = monotonic()
        is_head, headers = scope["method"] == "HEAD", _headers(scope["headers"])
        try:
            app = self._app or await self.open()
            body = await app.read_body(receive, headers.get(b"content-length", b""))
        except NoughtsError as error:
            await _respond(send, problem(api_error(error)), is_head=is_head)
            return
        client, prefix = scope.get("client"), scope.get("root_path", "")
        request = Request(
            scope["method"],
            scope["path"].removeprefix(prefix) or "/",
            scope["query_string"],
            headers,
            body,
            peer=client[0] if client else "",
            scheme=scope.get("scheme", "http"),
            prefix=quote(prefix),
            proxies=self._proxies,
        )
        result = await app.handle(request)
        if isinstance(result, Stream):
            await result.run(receive, send)
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
        self._tasks: list[asyncio.Task[None]] = []
        self._bodies: dict[asyncio.Task[Any], float] = {}
        """Who waits for a body, since when."""
        metrics = self.metrics = Metrics()
        games = self.games = Games(world, metrics)
        games.on_change = self._on_change
        self.presence = Presence(games)
        self.streams = Streams(games, self.presence, metrics)
        self.expiry = Expiry(games, days=world.settings.expire_days)
        games.on_visit = self.expiry.note_visit
        roster, limits = Roster(policies, world.random), Limits(world.settings)
        self.bots = BotTurns(games, roster)
        commands = Commands(games, self.presence, roster, metrics, limits)
        queries = Queries(games, self.presence, self.streams, roster, limits)
        self._routes: dict[str | tuple[str | None, ...], dict[str, tuple[str, Handler]]] = {}
        for one in OPERATIONS:
            owner = commands if one.handler.__qualname__.startswith("Commands.") else queries
            handler = getattr(owner, one.handler.__name__)
            if one.body and not iscoroutinefunction(handler):  # it decides about a game
                handler = partial(commands.change, handler, one.body)
            self._add(one.method, one.route, handler)
        self._add("GET", f"{BASE}/openapi.json", lambda _: Response(200, encode(openapi.document())))
        self._add("GET", "/metrics", self._metrics_page)
        self._add("GET", "/favicon.ico", lambda _: Response(204, b"", API_HEADERS))
        site = assets.load()
        for path in assets.PAGES:
            self._add("GET", path, partial(site.response, assets.PAGE))
        for name in (assets.WORKER, assets.ROBOTS):
            self._add("GET", f"/{name}", partial(site.response, name))
        for name in site.files.keys() - assets.UNVERSIONED:
            at = f"/static/{site.version}/{name}"
            self._add("GET", "/static/{version}/{name}", partial(site.response, name), at)
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
        works: list[Coroutine[Any, Any, None]] = [self._tick(), self.expiry.run()]
        if self.games.is_shared:
            works += [self.games.follow(), self.games.answer_late(), self.presence.renew()]
        self._tasks = [*map(asyncio.ensure_future, works)]

    async def _tick(self) -> None:
        """Look every second at what is waited for: a timer for each would cost much more."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(1)
            try:
                self.metrics.count()
                self.streams.look()
                for task, since in [*self._bodies.items()]:
                    if since < loop.time() - BODY_SECONDS:
                        self._bodies[task] = inf
                        task.cancel()
            except Exception:  # the next second may do better
                log.exception("pinging")

    async def read_body(self, receive: Receive, length: bytes) -> bytes:
        """Read the body of a request, unless it is too long or comes too slowly."""
        if length.isdigit() and int(length[:9]) > MAX_BODY_BYTES:  # before any of it has come
            raise _too_large()
        task = cast("asyncio.Task[Any]", asyncio.current_task())  # as every server has it
        self._bodies[task] = asyncio.get_running_loop().time()
        try:
            message = await receive()
            body = message.get("body", b"")
            while message.get("more_body", False) and len(body) <= MAX_BODY_BYTES:
                message = await receive()
                body += message.get("body", b"")
        except asyncio.CancelledError:
            if self._bodies[task] < inf:  # the server stops
                raise
            task.uncancel()
            raise ApiError("timeout", f"the body did not come within {BODY_SECONDS:.0f} s") from None
        finally:
            del self._bodies[task]
        if message["type"] == "http.disconnect":
            raise ApiError("badRequest", "the connection was closed before the body had come")
        if len(body) > MAX_BODY_BYTES:
            raise _too_large()
        return bytes(body)

    async def handle(self, request: Request) -> Result:
        """Answer a request."""
        path = "other"
        result: Result
        try:
            path, handler = self._find(request)
            if request.method == "POST":
                request.check_origin(self._world.settings.origin)
            found = handler(request)
            result = found if isinstance(found, Response) else await found
        except asyncio.CancelledError:  # the server stops, and has waited long enough
            result = problem(api_error(GamesUnavailable("the server stops")))
        except Exception as error:  # noqa: BLE001 - it is logged, if it is not a refusal
            result = self._failed(request, path, error)
        self.metrics.requests[path, result.status] += 1
        return result

    def _add(self, method: str, path: str, handler: Handler, at: str = "") -> None:
        parts = [None if part.startswith("{") else part for part in path.split("/")]
        methods = self._routes.setdefault(at or (tuple(parts) if None in parts else path), {})
        methods[method] = path, handler
        if method == "GET" and not path.endswith("/events"):
            methods["HEAD"] = path, handler

    def _find(self, request: Request) -> tuple[str, Handler]:
        """Return the route of a request, and give the request its parameter; or refuse."""
        methods = self._routes.get(request.path)
        if methods is None:
            parts: list[str | None] = [*request.path.split("/")]
            for at in (4, 2):  # /api/v1/games/ID/… and /game/ID
                if len(parts) > at and methods is None:
                    request.id = parts[at] or ""
                    methods = self._routes.get((*parts[:at], None, *parts[at + 1 :]))
            if methods is None:
                raise ApiError("notFound", "nothing is at that address")
        found = methods.get(request.method)
        if found is None:
            error = ApiError("methodNotAllowed", f"{request.method[:20]} is not allowed for this address")
            error.headers = ((b"allow", ", ".join(sorted(methods)).encode()),)
            raise error
        return found

    def _failed(self, request: Request, path: str, error: Exception) -> Response:
        if not isinstance(error, NoughtsError):
            log.error("failure", exc_info=error, extra=details(route=path))
            return problem(ApiError("internal", "something went wrong on the server, and was logged"))
        if isinstance(error, StoreLost):
            self.games.lose(error)
        if path == "other" and request.method in ("GET", "HEAD"):
            is_page = "text/html" in request.text(b"accept") and not request.path.startswith(BASE)
            if is_page:  # a browser is at an address that does not exist: the page says so
                return assets.load().response(assets.PAGE, request, 404)
        return problem(api_error(error))

    def _metrics_page(self, _request: Request) -> Response:
        kind = (b"content-type", b"text/plain; version=0.0.4; charset=utf-8")
        return Response(200, self.metrics.text().encode(), (kind, *API_HEADERS))

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


def _too_large() -> ApiError:
    return ApiError("tooLarge", f"a body has {MAX_BODY_BYTES} bytes at most")


def _headers(pairs: Collection[Header]) -> dict[bytes, bytes]:
    """Return the headers by name; what a proxy or HTTP/2 sends in several is joined."""
    headers = dict(pairs)
    if len(headers) < len(pairs):
        for name, between in ((b"cookie", b"; "), (b"x-forwarded-for", b", ")):
            if name in headers:
                headers[name] = between.join([text for one, text in pairs if one == name])
    return headers


async def _respond(send: Send, response: Response, *, is_head: bool) -> None:
    status, body, found = response
    headers = [*found]
    if status not in (204, 304):
        headers.append((b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if is_head else body})
