"""The table of operations: the router and the OpenAPI document are made from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import NamedTuple, TypeAlias

import msgspec

from noughts.web import schemas
from noughts.web.handlers import Handlers
from noughts.web.moves import Moves
from noughts.web.problems import ApiError
from noughts.web.request import Pending, Request, Response
from noughts.web.schemas import BASE
from noughts.web.streams import Stream, Streams

Result: TypeAlias = Response | Stream
Handler: TypeAlias = Callable[[Request], Result | Pending[Result] | Awaitable[Result]]


class Parameter(NamedTuple):
    """A parameter of a query."""

    name: str
    description: str
    schema: Mapping[str, object]


class Operation(NamedTuple):
    """One thing that the API can do."""

    method: str
    path: str
    handler: Callable[..., object]
    """A method of `Handlers`, `Moves` or `Streams`."""
    answers: dict[int, type[msgspec.Struct]]
    problems: tuple[str, ...]
    body: type[msgspec.Struct] | None = None
    query: tuple[Parameter, ...] = ()

    @property
    def route(self) -> str:
        return BASE + self.path

    @property
    def needs_seat(self) -> bool:
        return self.method == "POST" and self.path.startswith("/games/{id}/") and self.path != JOIN


JOIN = "/games/{id}/join"
_VERSION = {"type": "integer", "minimum": 0, "maximum": 999_999_999}
_MARK = {"type": "string", "enum": ["X", "O"], "default": "X"}
_ACTING = ("notFound", "staleVersion", "keyReused", "tooLong")

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "POST",
        "/games",
        Handlers.create,
        {201: schemas.Seated},
        ("nameRefused", "unknownPolicy", "keyReused"),
        body=schemas.Create,
    ),
    Operation("GET", "/games", Handlers.lobby, {200: schemas.Lobby}, ()),
    Operation(
        "GET",
        "/games/{id}",
        Handlers.read,
        {200: schemas.Game},
        ("notFound",),
        query=(Parameter("version", "As it was at this version; without it, as it is", _VERSION),),
    ),
    Operation(
        "POST",
        JOIN,
        Handlers.join,
        {200: schemas.Seated},
        ("nameRefused", "notFound", "seatTaken", "alreadyOver"),
        body=schemas.Join,
    ),
    Operation(
        "POST",
        "/games/{id}/moves",
        Moves.move,
        {200: schemas.Moved},
        (*_ACTING, "gameOver", "noSuchCell", "notYourTurn", "cellTaken", "notReady"),
        body=schemas.Move,
    ),
    Operation(
        "POST",
        "/games/{id}/resign",
        Moves.resign,
        {200: schemas.Moved},
        (*_ACTING, "alreadyOver"),
        body=schemas.Action,
    ),
    Operation(
        "POST",
        "/games/{id}/take-back",
        Moves.take_back,
        {200: schemas.Moved, 202: schemas.Moved},
        (*_ACTING, "alreadyOver", "nothingToTakeBack"),
        body=schemas.Action,
    ),
    Operation(
        "POST",
        "/games/{id}/take-back/answer",
        Moves.answer,
        {200: schemas.Moved},
        (*_ACTING, "noOffer"),
        body=schemas.TakeBackReply,
    ),
    Operation(
        "POST",
        "/games/{id}/rematch",
        Handlers.rematch,
        {200: schemas.Seated, 201: schemas.Seated, 202: schemas.Moved},
        ("notFound", "notOver"),
        body=schemas.Rematch,
    ),
    Operation(
        "GET",
        "/games/{id}/events",
        Streams.subscribe,
        {},
        ("notFound", "staleVersion"),
        query=(
            Parameter("after", "The version that you have seen; Last-Event-ID counts more", _VERSION),
        ),
    ),
    Operation(
        "GET",
        "/analysis",
        Handlers.analyse,
        {200: schemas.Analysis},
        ("unreadable",),
        query=(
            Parameter("board", "A position, such as X__/_O_/___", {"type": "string"}),
            Parameter("moves", "A game, such as 519", {"type": "string"}),
            Parameter("first", "Who started; without it, X", _MARK),
        ),
    ),
    Operation("GET", "/bots", Handlers.bots, {200: schemas.Bots}, ()),
    Operation("GET", "/health", Handlers.health, {200: schemas.Health}, ()),
    Operation("GET", "/ready", Handlers.ready, {200: schemas.Health}, ()),
)


class Route(NamedTuple):
    """A path with a parameter at most, and what is done there."""

    method: str
    path: str
    handler: Handler


class Router:
    """Finds the route of a request."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._routes: dict[str, dict[str, Route]] = {}
        self._places: dict[int, set[int]] = {}
        """At which parts of a path there may be a parameter, by the number of parts."""
        for route in routes:
            parts = route.path.split("/")
            place = next((at for at, part in enumerate(parts) if part.startswith("{")), None)
            if place is not None:
                parts[place] = "*"
                self._places.setdefault(len(parts), set()).add(place)
            self._routes.setdefault("/".join(parts), {})[route.method] = route

    def find(self, request: Request) -> Route:
        """Return the route, and give the request its parameter; or refuse."""
        methods = self._routes.get(request.path)
        if methods is None:
            if request.path[:1] not in ("/", "*"):
                raise ApiError("badRequest", "the address of a request begins with a slash")
            parts = request.path.split("/")
            for place in self._places.get(len(parts), ()):
                parts[place], parameter = "*", parts[place]
                if methods := self._routes.get("/".join(parts)):
                    request.id = parameter
                    break
                parts[place] = parameter
            else:
                raise ApiError("notFound", "there is nothing at that address")
        method = request.method
        route = methods.get(method)
        if route is None and method == "HEAD":
            route = methods.get("GET")
            if route and route.path.endswith("/events"):
                route = None
        if route is None:
            raise MethodNotAllowed(method, methods.values())
        return route


class MethodNotAllowed(ApiError):
    """A method that the path does not have."""

    def __init__(self, method: str, routes: Iterable[Route]) -> None:
        super().__init__("methodNotAllowed", f"{method[:20]} cannot be done there")
        self._allowed = {route.method for route in routes}
        if any(route.method == "GET" and not route.path.endswith("/events") for route in routes):
            self._allowed.add("HEAD")

    @property
    def headers(self) -> tuple[tuple[bytes, bytes], ...]:
        return ((b"allow", ", ".join(sorted(self._allowed)).encode()),)
