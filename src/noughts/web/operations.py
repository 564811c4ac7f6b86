"""The table of what can be asked for: the routes and the OpenAPI document are both made from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from noughts.web import schemas
from noughts.web.api import BASE, Api

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import TypeAlias

    import msgspec

    from noughts.web.api import Reply
    from noughts.web.asking import Asking

    Handler: TypeAlias = Callable[[Api, Asking], Awaitable[Reply]]


class Query(NamedTuple):
    """Something that a query may say."""

    name: str
    words: str
    schema: Mapping[str, object]


class Operation(NamedTuple):
    """One thing that can be asked for."""

    method: str
    path: str
    handler: Handler
    answers: dict[int, type[msgspec.Struct]]
    problems: tuple[str, ...]
    body: type[msgspec.Struct] | None = None
    query: tuple[Query, ...] = ()

    @property
    def route(self) -> str:
        """The whole path."""
        return BASE + self.path

    @property
    def is_for_a_seat(self) -> bool:
        """Whether a seat's secret is needed."""
        return self.method == "POST" and self.path.startswith("/games/{id}/") and self.path != JOINING


JOINING = "/games/{id}/join"
_NUMBER = {"type": "integer", "minimum": 0, "maximum": 999_999_999}
_MARK = {"type": "string", "enum": ["X", "O"], "default": "X"}
_FIRST = Query("first", "Who started; X, if it is not said", _MARK)
_ACTING = ("notFound", "staleVersion", "keyReused", "tooLong")

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "POST",
        "/games",
        Api.create,
        {201: schemas.Seated},
        ("nameRefused", "unknownPolicy"),
        body=schemas.Create,
    ),
    Operation("GET", "/games", Api.lobby, {200: schemas.Lobby}, ()),
    Operation(
        "GET",
        "/games/{id}",
        Api.read,
        {200: schemas.Game},
        ("notFound",),
        query=(Query("version", "As it was at this version; as it is, if it is not said", _NUMBER),),
    ),
    Operation(
        "POST",
        JOINING,
        Api.join,
        {200: schemas.Seated},
        ("nameRefused", "notFound", "seatTaken", "alreadyOver"),
        body=schemas.Join,
    ),
    Operation(
        "POST",
        "/games/{id}/moves",
        Api.move,
        {200: schemas.Moved},
        (*_ACTING, "gameOver", "noSuchCell", "notYourTurn", "cellTaken", "notReady"),
        body=schemas.Move,
    ),
    Operation(
        "POST",
        "/games/{id}/resign",
        Api.resign,
        {200: schemas.Moved},
        (*_ACTING, "alreadyOver"),
        body=schemas.Act,
    ),
    Operation(
        "POST",
        "/games/{id}/take-back",
        Api.take_back,
        {200: schemas.Moved, 202: schemas.Moved},
        (*_ACTING, "alreadyOver", "nothingToTakeBack"),
        body=schemas.Act,
    ),
    Operation(
        "POST",
        "/games/{id}/take-back/answer",
        Api.answer,
        {200: schemas.Moved},
        (*_ACTING, "noOffer"),
        body=schemas.Reply,
    ),
    Operation(
        "POST",
        "/games/{id}/rematch",
        Api.rematch,
        {200: schemas.Seated, 201: schemas.Seated, 202: schemas.Moved},
        ("notFound", "notOver"),
        body=schemas.Again,
    ),
    Operation(
        "GET",
        "/analysis",
        Api.analyse,
        {200: schemas.Analysis},
        ("unreadable",),
        query=(
            Query("board", "A position, such as X__/_O_/___", {"type": "string"}),
            Query("moves", "A game, such as 519", {"type": "string"}),
            _FIRST,
        ),
    ),
    Operation("GET", "/bots", Api.bots, {200: schemas.Bots}, ()),
    Operation("GET", "/health", Api.health, {200: schemas.Health}, ()),
    Operation("GET", "/ready", Api.ready, {200: schemas.Health}, ()),
)
