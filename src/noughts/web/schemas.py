"""The bodies of requests and responses; the OpenAPI document is made from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

BASE = "/api/v1"

encode = msgspec.json.Encoder().encode

MarkName: TypeAlias = Literal["X", "O"]
Choice: TypeAlias = Literal["X", "O", "random"]
Cell: TypeAlias = Literal[0, 1, 2, 3, 4, 5, 6, 7, 8]
Name: TypeAlias = Annotated[str, Meta(max_length=200, description="1 to 32 printable characters")]
OtherName: TypeAlias = Annotated[Name, Meta(description="The name for the other seat, if both are yours")]
PolicyName: TypeAlias = Annotated[
    str, Meta(max_length=64, description="The policy of a listed bot, optionally with parameters")
]
Key: TypeAlias = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9_-]{1,64}$(?!\n)",
        description="Your own key for this command; a retry with the same key gets the first answer",
    ),
]
JoinKey: TypeAlias = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9_-]{16,64}$(?!\n)",
        description="Random and secret; a retry with the same key returns the same seat",
    ),
]
Version: TypeAlias = Annotated[
    int, Meta(ge=0, le=2**31 - 1, description="The number of the game's events that you have seen")
]
Event: TypeAlias = dict[str, Any]


class RequestBody(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A request's body: an unknown field is refused, and never ignored."""


class Create(RequestBody, frozen=True, kw_only=True):
    """A new game."""

    opponent: Literal["friend", "lobby", "bot", "self"]
    key: JoinKey | None = None
    bot: PolicyName | None = None
    name: Name | None = None
    other: OtherName | None = None
    mark: Choice = "X"
    first: Choice = "X"
    secret: bool = False


class Join(RequestBody, frozen=True, kw_only=True):
    """Take the free seat."""

    key: JoinKey
    invite: Annotated[str, Meta(max_length=64)] | None = None
    name: Name | None = None
    secret: bool = False


class Move(RequestBody, frozen=True, kw_only=True):
    """Place a mark."""

    cell: Cell
    version: Version
    key: Key
    mark: MarkName | None = None


class Action(RequestBody, frozen=True, kw_only=True):
    """Resign, or take back."""

    version: Version
    key: Key
    mark: MarkName | None = None


class TakeBackReply(RequestBody, frozen=True, kw_only=True):
    """Allow the opponent to take back, or refuse."""

    accept: bool
    key: Key


class Rematch(RequestBody, frozen=True, kw_only=True):
    """Play again."""

    key: Key
    secret: bool = False


class Link(RequestBody, frozen=True, kw_only=True):
    """A link to draw as a QR code."""

    link: Annotated[str, Meta(max_length=300, pattern="^[!-~]+$")]


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """An offer that waits for the opponent's answer."""

    kind: Literal["takeBack", "rematch"]
    mark: MarkName


class Seat(msgspec.Struct, frozen=True, kw_only=True):
    """A seat, and who has it."""

    name: str | None
    bot: str | None
    taken: bool
    present: bool


class Seats(msgspec.Struct, frozen=True, kw_only=True):
    """The two seats."""

    X: Seat
    O: Seat


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """The score before this game."""

    X: int = 0
    O: int = 0
    draws: int = 0


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """What belongs to a game but is not part of its record."""

    seats: Seats
    lobby: bool
    watching: int
    offer: Offer | None
    score: Score
    next: str | None


class Game(msgspec.Struct, frozen=True, kw_only=True):
    """A game at a version."""

    id: str
    version: int
    first: MarkName
    board: str
    moves: list[Cell]
    active: MarkName | None
    winner: MarkName | None
    resigned: MarkName | None
    over: bool
    ready: bool
    description: str
    events: list[Event]
    you: list[MarkName]
    room: Room


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """What a command led to."""

    version: int
    events: list[Event]
    offer: Offer | None = None


class Position(msgspec.Struct, frozen=True, kw_only=True):
    """What a stream says of the game after its events."""

    version: int
    first: MarkName
    moves: list[Cell]
    winner: MarkName | None
    resigned: MarkName | None
    over: bool


class Seated(msgspec.Struct, frozen=True, kw_only=True):
    """Your seat in a game."""

    id: str
    marks: list[MarkName]
    secrets: dict[MarkName, str] | None
    invite: str | None
    game: Game


class OpenGame(msgspec.Struct, frozen=True, kw_only=True):
    """A game with a free seat."""

    id: str
    name: str
    mark: MarkName
    first: MarkName
    created: int


class PlayedGame(msgspec.Struct, frozen=True, kw_only=True):
    """A game to watch."""

    id: str
    X: str
    O: str


class Lobby(msgspec.Struct, frozen=True, kw_only=True):
    """The games of the lobby, the newest first."""

    open: list[OpenGame]
    playing: list[PlayedGame]


class Shares(msgspec.Struct, frozen=True, kw_only=True):
    """How the games end, as shares of all."""

    wins: float
    draws: float
    losses: float


class Bot(msgspec.Struct, frozen=True, kw_only=True):
    """A bot, and exactly how strong it is."""

    policy: str
    parameters: Annotated[
        list[str], Meta(description="What may follow the policy: club takes win, as in club:win=1/3")
    ]
    description: str
    strength: str
    againstPerfect: Shares  # noqa: N815 - JSON is written so


class Bots(msgspec.Struct, frozen=True, kw_only=True):
    """The bots of the server."""

    bots: list[Bot]


class Prospect(msgspec.Struct, frozen=True, kw_only=True):
    """What a position or a move is worth, and how many moves away the end is."""

    result: Literal["win", "draw", "loss"]
    distance: int


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """What a move does, with what proves it."""

    kind: str
    cells: list[Cell]
    lines: list[list[Cell]]
    play: list[Cell]


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """Advice on a move."""

    mark: MarkName
    cell: Cell
    result: Literal["win", "draw", "loss"]
    distance: int
    best: bool
    reasons: list[Reason]
    sentence: str


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """A review of a game; moves are numbered from 1."""

    moves: list[Advice]
    standing: Prospect
    mistakes: list[int]
    decisive: int | None


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """An analysis of a position, and of the game that led there if it was given."""

    board: str
    turn: MarkName
    over: bool
    prospect: Prospect
    moves: list[Advice]
    description: str
    review: Review | None = None


class LinkImage(msgspec.Struct, frozen=True, kw_only=True):
    """A QR code."""

    svg: str


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """The server answers."""

    status: Literal["ok"] = "ok"
