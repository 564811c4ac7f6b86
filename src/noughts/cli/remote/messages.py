"""What a server's answers say, read with care: whatever is not as agreed is refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from noughts.cli.remote.client import Garbled
from noughts.core.board import Mark
from noughts.core.codec import decode, read_json
from noughts.core.errors import RecordError, printable
from noughts.core.events import Event
from noughts.core.game import Game, replay
from noughts.core.value import Value

_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_SECRET = re.compile(r"[A-Za-z0-9._~+/=-]{1,256}")
_MOST_GAMES = 1_000_000_000


class Chair(Value):
    """A seat, as everybody may see it."""

    is_taken: bool
    is_present: bool
    is_bot: bool


class Offer(Value):
    """What one has asked the other: to take back, or for another game."""

    kind: str
    mark: Mark


class Room(Value):
    """What stands around a game."""

    chairs: Mapping[Mark, Chair]
    is_open: bool
    """Whether anybody may take a seat that is free."""
    offer: Offer | None
    score: Mapping[Mark | None, int]
    """Of the games before this one."""
    next: str | None
    """The game that came after this one."""


class Standing(Value):
    """A game as it stands, and which seats are ours."""

    version: int
    game: Game
    room: Room
    ours: tuple[Mark, ...]


class Seated(Value):
    """A seat that was given to us."""

    game: str
    mark: Mark
    secret: str
    invite: str | None
    standing: Standing


class Moved(Value):
    """What a command led to."""

    version: int
    events: tuple[Event, ...]


class Listed(Value):
    """A game that anybody may see, and who sits there."""

    game: str
    names: Mapping[Mark, str]


def read_event(text: str) -> Event:
    """Read an event of a stream."""
    return _event(_json(text))


def read_room(text: str) -> Room:
    """Read a room of a stream."""
    return _room(_json(text))


def standing(answer: Mapping[str, object]) -> Standing:
    """Read a game as it stands."""
    try:
        history = [_event(written) for written in _list(answer, "events")]
        if len(history) != _number(answer, "version"):
            raise Garbled("the server's version of the game is not the number of its events")
        game = replay(history)
    except RecordError as error:
        raise Garbled(f"the server tells a game that cannot be: {error}") from error
    ours = tuple(_mark(one) for one in _list(answer, "you"))
    return Standing(len(history), game, _room(answer.get("room")), ours)


def seated(answer: Mapping[str, object]) -> Seated:
    """Read the answer to a seat that was asked for."""
    marks, secrets = _list(answer, "marks"), answer.get("secrets")
    mark = _mark(marks[0] if marks else None)
    secret = secrets.get(str(mark)) if isinstance(secrets, dict) else None
    if not isinstance(secret, str) or not _SECRET.fullmatch(secret):
        raise Garbled("the server gives a seat without its secret")
    now = answer.get("game")
    if not isinstance(now, dict):
        raise _lacks("game")
    return Seated(_id(answer, "id"), mark, secret, _id_or_none(answer, "invite"), standing(now))


def is_seated(answer: Mapping[str, object]) -> bool:
    """Tell whether an answer gives a seat."""
    return "marks" in answer


def moved(answer: Mapping[str, object]) -> Moved:
    """Read what a command led to."""
    events = tuple(_event(written) for written in _list(answer, "events"))
    return Moved(_number(answer, "version"), events)


def open_games(answer: Mapping[str, object]) -> list[Listed]:
    """Read which games wait for somebody, the newest first."""
    found = []
    for one in _dicts(answer, "open"):
        free = _mark(one.get("mark"))
        found.append(Listed(_id(one, "id"), {free.other: _name(one, "name")}))
    return found


def games_played(answer: Mapping[str, object]) -> list[Listed]:
    """Read which games are played, the newest first."""
    return [
        Listed(_id(one, "id"), {mark: _name(one, str(mark)) for mark in Mark})
        for one in _dicts(answer, "playing")
    ]


def _json(text: str) -> object:
    try:
        return read_json(text)
    except RecordError:
        raise Garbled("the stream has a message that cannot be read") from None


def _event(written: object) -> Event:
    try:
        return decode(written)
    except RecordError as error:
        raise Garbled(f"the server tells an event that cannot be read: {error}") from error


def _room(written: object) -> Room:
    if not isinstance(written, dict):
        raise _lacks("room")
    seats, score = written.get("seats"), written.get("score")
    if not isinstance(seats, dict) or not isinstance(score, dict):
        raise _lacks("seats and score")
    counted: dict[Mark | None, str] = {Mark.X: "X", Mark.O: "O", None: "draws"}
    return Room(
        {mark: _chair(seats.get(str(mark))) for mark in Mark},
        written.get("lobby") is True,
        read_offer(written.get("offer")),
        {winner: _number(score, name) for winner, name in counted.items()},
        _id_or_none(written, "next"),
    )


def _chair(written: object) -> Chair:
    if not isinstance(written, dict):
        raise _lacks("two seats")
    is_bot = written.get("bot") is not None
    return Chair(written.get("taken") is True, written.get("present") is True, is_bot)


def read_offer(written: object) -> Offer | None:
    """Read an offer, if there is one; one of a kind that is not known here cannot be answered here."""
    if written is None:
        return None
    if not isinstance(written, dict):
        raise _lacks("offer")
    kind = written.get("kind")
    return Offer(str(kind), _mark(written.get("mark"))) if kind in ("takeBack", "rematch") else None


def _mark(written: object) -> Mark:
    if written not in ("X", "O"):
        raise Garbled("the server names a mark that is neither X nor O")
    return Mark(written)


def _number(answer: Mapping[str, object], name: str) -> int:
    number = answer.get(name)
    if type(number) is not int or not 0 <= number <= _MOST_GAMES:
        raise _lacks(name)
    return number


def _list(answer: Mapping[str, object], name: str) -> list[object]:
    found = answer.get(name)
    if not isinstance(found, list):
        raise _lacks(name)
    return found


def _dicts(answer: Mapping[str, object], name: str) -> Iterable[dict[str, object]]:
    for one in _list(answer, name):
        if not isinstance(one, dict):
            raise _lacks(name)
        yield one


def _id(answer: Mapping[str, object], name: str) -> str:
    found = answer.get(name)
    if not isinstance(found, str) or not _ID.fullmatch(found):
        raise _lacks(name)
    return found


def _id_or_none(answer: Mapping[str, object], name: str) -> str | None:
    return None if answer.get(name) is None else _id(answer, name)


def _name(answer: Mapping[str, object], name: str) -> str:
    found = answer.get(name)
    return printable(found) if isinstance(found, str) else "somebody"


def _lacks(what: str) -> Garbled:
    return Garbled(f"the server's answer lacks {what}, or has something else in its place")
