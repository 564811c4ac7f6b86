"""The application: what is asked for most often first, and everything else by Starlette's routes."""

from __future__ import annotations

import logging
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from noughts.core.errors import NoughtsError, StoreLost
from noughts.web import logs, pages
from noughts.web.api import BASE, Api, Reply
from noughts.web.house import House
from noughts.web.openapi import document
from noughts.web.operations import OPERATIONS
from noughts.web.problems import API_HEADERS, Refused, refusal
from noughts.web.readers import ROUTE as EVENTS
from noughts.web.settings import from_environment
from noughts.web.short_way import ROUTE as MOVES
from noughts.web.short_way import ShortWay

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
    from typing import Any

    from starlette.requests import Request

    from noughts.web.asking import Asking, Receive, Send
    from noughts.web.operations import Handler
    from noughts.web.settings import Settings

log = logging.getLogger("noughts.web")

PAGES = ("/", "/lobby", "/game/{id}", "/replay/{digits}", "/replay")


class Application:
    """The server's one door."""

    def __init__(self, settings: Settings, *, is_shared: bool = False) -> None:
        self.house = House(settings, is_shared=is_shared)
        self._api = Api(self.house)
        self._files = pages.load()
        self._document = msgspec.json.encode(document())
        self._rest = Starlette(
            routes=[
                *(
                    Route(operation.route, self._endpoint(operation.handler), methods=[operation.method])
                    for operation in OPERATIONS
                ),
                Route(EVENTS, self._misused, methods=["GET"]),
                Route(f"{BASE}/openapi.json", self._openapi),
                Route("/metrics", self._metrics),
                Route("/static/{name:path}", self._static),
                Route("/favicon.ico", self._no_icon),
                *(Route(path, self._page) for path in PAGES),
            ],
            exception_handlers={HTTPException: self._no_route, Exception: self._failed},
            lifespan=self._lifespan,
        )
        self._rest.router.redirect_slashes = False
        self.short_way = ShortWay(self.house, lambda asking: self._answer(Api.move, MOVES, asking))
        """What a connection asks first when a move has come, or somebody who wants to follow a game."""

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer what did not take the short way."""
        await self._rest(scope, receive, send)

    async def _answer(self, handler: Handler, route: str, asking: Asking) -> Reply:
        """Answer as the handler does, or with the problem that it met."""
        try:
            if asking.scope["method"] == "POST":
                asking.check_origin(self.house.settings.origin)
            reply = await handler(self._api, asking)
        except NoughtsError as error:
            if isinstance(error, StoreLost):
                self.house.lose(error)
            reply = _problem(error)
        except Exception:
            log.exception("failure", extra={"data": {"route": route}})
            reply = _problem(_unexpected())
        self.house.metrics.requests[route, reply.status] += 1
        return reply

    def _endpoint(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            route = request.scope["route"].path
            asking = self.house.asking(request.scope, request.receive)
            return _response(await self._answer(handler, route, asking))

        return endpoint

    async def _openapi(self, _request: Request) -> Response:
        return _raw(200, self._document, [(b"content-type", b"application/json"), *API_HEADERS])

    async def _metrics(self, _request: Request) -> Response:
        text = self.house.metrics.text().encode()
        kind = (b"content-type", b"text/plain; version=0.0.4; charset=utf-8")
        return _raw(200, text, [kind, *API_HEADERS])

    async def _static(self, request: Request) -> Response:
        return self._file(request, request.path_params["name"])

    async def _page(self, request: Request) -> Response:
        return self._file(request, "index.html")

    async def _no_icon(self, _request: Request) -> Response:
        return _raw(204, b"", API_HEADERS)

    def _file(self, request: Request, name: str) -> Response:
        file = self._files.get(name)
        if file is None:
            raise HTTPException(404)
        accepts, known = request.headers.get("accept-encoding", ""), request.headers.get("if-none-match")
        return _raw(*pages.answer(file, accepts=accepts, known=known))

    async def _misused(self, request: Request) -> Response:
        """Answer what asks to follow a game, and cannot."""
        if request.method == "HEAD":
            raise HTTPException(405)
        refused = Refused("badRequest", "a game is followed on a connection of its own")
        return _response(_problem(refused))

    async def _no_route(self, request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        if status == 405:
            refused = Refused(
                "methodNotAllowed", f"{request.method[:20]} is nothing that can be done there"
            )
        elif status == 404:
            refused = Refused("notFound", "there is nothing at that address")
        else:
            refused = Refused("badRequest", "the request cannot be read")
        self.house.metrics.requests["other", refused.status] += 1
        response = _response(_problem(refused))
        if status == 405:
            response.headers["Allow"] = ", ".join(sorted(self._methods(request.url.path)))
        return response

    def _methods(self, path: str) -> set[str]:
        """Return what can be done at an address."""
        found: set[str] = set()
        for route in self._rest.routes:
            if isinstance(route, Route) and route.path_regex.match(path):
                found |= route.methods or set()
                if route.path == EVENTS:
                    found -= {"HEAD"}
        return found

    async def _failed(self, _request: Request, _error: Exception) -> Response:
        return _response(_problem(_unexpected()))

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        await self.house.open()
        log.info("started", extra={"data": {"store": self.house.settings.store.partition(":")[0]}})
        try:
            yield
        finally:
            await self.house.close()
            log.info("stopped")


def make() -> Application:
    """Return the application of a process, with the settings in its environment."""
    settings = from_environment(os.environ)
    logs.set_up(settings)
    is_shared = bool(os.environ.get("NOUGHTS_SHARED"))
    return Application(settings, is_shared=is_shared or settings.store.startswith("postgres"))


def _problem(error: NoughtsError) -> Reply:
    refused = refusal(error)
    return Reply(refused.status, refused.body(), tuple(refused.headers))


def _unexpected() -> Refused:
    return Refused("internal", "something went wrong here, and was written down")


def _response(reply: Reply) -> Response:
    return _raw(reply.status, reply.body, [*reply.headers, *API_HEADERS])


def _raw(status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> Response:
    response = Response(body, status)
    length = [(b"content-length", str(len(body)).encode())] if status not in (204, 304) else []
    response.raw_headers = [*headers, *length]
    return response
