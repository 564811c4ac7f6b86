"""The table of operations: the routes and the OpenAPI document are made from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple, TypeAlias

import msgspec

from noughts.web import schemas
from noughts.web.commands import Commands
from noughts.web.queries import Queries
from noughts.web.request import Request, Response
from noughts.web.schemas import BASE, Action, Moved, Rematch, Seated, TakeBackReply
from noughts.web.streams import Stream

Result: TypeAlias = Response | Stream
Handler: TypeAlias = Callable[[Request], Response | Awaitable[Result]]


class Parameter(NamedTuple):
    name: str
    description: str
    schema: Mapping[str, object]


class Operation(NamedTuple):
    """One thing that the API can do; it is a POST if it takes a body."""

    path: str
    handler: Callable[..., object]
    """A method of `Commands` or `Queries`."""
    answers: dict[int, type[msgspec.Struct]]
    problems: tuple[str, ...] = ()
    body: type[msgspec.Struct] | None = None
    query: tuple[Parameter, ...] = ()

    @property
    def method(self) -> str:
        return "POST" if self.body else "GET"

    @property
    def route(self) -> str:
        return BASE + self.path

    @property
    def needs_seat(self) -> bool:
        return self.method == "POST" and self.path.startswith("/games/{id}/") and self.path != JOIN


GAME = "/games/{id}"
JOIN = f"{GAME}/join"

_ACTING = ("notFound", "staleVersion", "keyReused", "tooLong")
_MOVING = (*_ACTING, "gameOver", "noSuchCell", "cellTaken", "notYourTurn", "notReady")
_RESIGNING = (*_ACTING, "alreadyOver")
_TAKING_BACK = (*_RESIGNING, "nothingToTakeBack")
_ANSWERING = (*_ACTING, "noOffer")
_CREATING = ("nameRefused", "unknownPolicy", "keyReused", "notFound")
_JOINING = ("nameRefused", "notFound", "seatTaken", "alreadyOver")
_AGAIN = ("notFound", "notOver")
_FOLLOWING = ("notFound", "staleVersion")

_TEXT = {"type": "string"}
_VERSION = {"type": "integer", "minimum": 0, "maximum": 999_999_999}
_MARK = {"type": "string", "enum": ["X", "O"], "default": "X"}
_CELLS = {"type": "string", "enum": ["numbers", "places"], "default": "numbers"}
_AT = (Parameter("version", "The version to return (default: the current one)", _VERSION),)
_AFTER = (Parameter("after", "The last version you have seen; Last-Event-ID takes precedence", _VERSION),)
_ANALYSED = (
    Parameter("board", "A position, such as X__/_O_/___", _TEXT),
    Parameter("moves", "A game, such as 519", _TEXT),
    Parameter("first", "The mark that started (default: X)", _MARK),
    Parameter("cells", "How sentences name the cells (default: numbers)", _CELLS),
)

OPERATIONS: tuple[Operation, ...] = (
    Operation("/games", Commands.create, {201: Seated}, _CREATING, schemas.Create),
    Operation("/games", Queries.lobby, {200: schemas.Lobby}),
    Operation(GAME, Queries.read, {200: schemas.Game}, ("notFound",), query=_AT),
    Operation(JOIN, Commands.join, {200: Seated}, _JOINING, schemas.Join),
    Operation(f"{GAME}/moves", Commands.move, {200: Moved}, _MOVING, schemas.Move),
    Operation(f"{GAME}/resign", Commands.resign, {200: Moved}, _RESIGNING, Action),
    Operation(f"{GAME}/take-back", Commands.take_back, {200: Moved, 202: Moved}, _TAKING_BACK, Action),
    Operation(f"{GAME}/take-back/answer", Commands.answer, {200: Moved}, _ANSWERING, TakeBackReply),
    Operation(
        f"{GAME}/rematch", Commands.rematch, {200: Seated, 201: Seated, 202: Moved}, _AGAIN, Rematch
    ),
    Operation(f"{GAME}/events", Queries.subscribe, {}, _FOLLOWING, query=_AFTER),
    Operation("/analysis", Queries.analyse, {200: schemas.Analysis}, ("unreadable",), query=_ANALYSED),
    Operation("/qr", Queries.qr, {200: schemas.LinkImage}, body=schemas.Link),
    Operation("/bots", Queries.bots, {200: schemas.Bots}),
    Operation("/health", Queries.health, {200: schemas.Health}),
    Operation("/ready", Queries.ready, {200: schemas.Health}),
)
