"""Reads the answers of a server; anything invalid is a `BadResponse`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from noughts.cli.remote.client import BadResponse
from noughts.core.board import Board, Mark, check_cell
from noughts.core.codec import decode, read_json
from noughts.core.errors import NoughtsError, RecordError, printable
from noughts.core.events import Event
from noughts.core.game import Game
from noughts.core.player import Player
from noughts.core.value import Value

_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_SECRET = re.compile(r"[A-Za-z0-9._~+/=-]{1,256}")
_MAX_NUMBER = 1_000_000_000


class SeatStatus(Value):
    name: str | None
    is_taken: bool
    is_present: bool
    is_bot: bool


class PendingOffer(Value):
    """A player's request to take back, or for another game."""

    kind: str
    mark: Mark


class RoomState(Value):
    """The room of a game: who is there, and what they agree on."""

    seats: Mapping[Mark, SeatStatus]
    is_open: bool
    """Whether anybody may take a free seat."""
    offer: PendingOffer | None
    score: Mapping[Mark | None, int]
    """Of the games before this one; None counts the draws."""
    next_game: str | None


class GameSnapshot(Value):
    version: int
    game: Game
    room: RoomState
    our_marks: tuple[Mark, ...]


class GrantedSeat(Value):
    game: str
    mark: Mark
    secret: str
    invite: str | None
    snapshot: GameSnapshot


class CommandResult(Value):
    version: int
    offer: PendingOffer | None


class ListedGame(Value):
    game: str
    names: Mapping[Mark, str]


def read_event(text: str) -> Event:
    try:
        return decode(_json(text))
    except RecordError as error:
        raise BadResponse(f"the server sent an invalid event: {error}") from error


def read_room(text: str) -> RoomState:
    return _room(_json(text))


def read_position(text: str, version: int) -> Game:
    """Read the game at a version, without its players."""
    position = _dict(_json(text), "position")
    if _number(position, "version") != version:
        raise BadResponse("the server's position is not the one after its events")
    return _game(position)


def read_snapshot(answer: Mapping[str, object]) -> GameSnapshot:
    room = _room(answer.get("room"))
    players = [Player.recorded(seat.name, mark) for mark, seat in room.seats.items() if seat.name]
    our_marks = tuple(_mark(item) for item in _list(answer, "you"))
    return GameSnapshot(_number(answer, "version"), seated(_game(answer), players), room, our_marks)


def seated(game: Game, players: Iterable[Player]) -> Game:
    """Return a game with its players; it is ready when there are two."""
    known = {player.mark: player for player in players}
    return game.replace(players=tuple(known.values()), is_ready=len(known) == len(Mark))


def read_granted_seat(answer: Mapping[str, object]) -> GrantedSeat:
    marks, secrets = _list(answer, "marks"), answer.get("secrets")
    mark = _mark(marks[0] if marks else None)
    secret = secrets.get(str(mark)) if isinstance(secrets, dict) else None
    if not isinstance(secret, str) or not _SECRET.fullmatch(secret):
        raise BadResponse("the server sent a seat without a valid secret")
    snapshot = read_snapshot(_dict(answer.get("game"), "game"))
    return GrantedSeat(_id(answer, "id"), mark, secret, _id_or_none(answer, "invite"), snapshot)


def read_result(answer: Mapping[str, object]) -> CommandResult:
    return CommandResult(_number(answer, "version"), _offer(answer.get("offer")))


def read_open_games(answer: Mapping[str, object]) -> list[ListedGame]:
    """Return the games that wait for a player, the newest first."""
    return [
        ListedGame(_id(item, "id"), {_mark(item.get("mark")).other: _name(item, "name")})
        for item in _dicts(answer, "open")
    ]


def read_games_in_progress(answer: Mapping[str, object]) -> list[ListedGame]:
    """Return the games that are being played, the newest first."""
    return [
        ListedGame(_id(item, "id"), {mark: _name(item, str(mark)) for mark in Mark})
        for item in _dicts(answer, "playing")
    ]


def _json(text: str) -> object:
    try:
        return read_json(text)
    except RecordError:
        raise BadResponse("the stream has a message that is not JSON") from None


def _game(written: Mapping[str, object]) -> Game:
    """Read a game without its players; its result has to follow from its moves and the resignation."""
    first, resigned = _mark(written.get("first")), _mark_or_none(written, "resigned")
    cells = _list(written, "moves")
    try:
        moves = tuple(map(check_cell, cells))
        board = Board.from_moves(moves, first)
    except NoughtsError as error:
        raise BadResponse(f"the server sent an impossible game: {error}") from error
    winner = resigned.other if resigned else board.winner
    is_over = board.is_over or resigned is not None
    result = _mark_or_none(written, "winner"), written.get("over")
    if result != (winner, is_over) or (resigned and board.is_over):
        raise BadResponse("the server sent an impossible game: its result is not that of its moves")
    return Game(board, moves, winner=winner, resigned=resigned, is_over=is_over)


def _room(value: object) -> RoomState:
    room = _dict(value, "room")
    seats, score = (_dict(room.get(name), "seats and score") for name in ("seats", "score"))
    counted: dict[Mark | None, str] = {Mark.X: "X", Mark.O: "O", None: "draws"}
    return RoomState(
        {mark: _seat(seats.get(str(mark))) for mark in Mark},
        room.get("lobby") is True,
        _offer(room.get("offer")),
        {winner: _number(score, name) for winner, name in counted.items()},
        _id_or_none(room, "next"),
    )


def _seat(value: object) -> SeatStatus:
    seat = _dict(value, "two seats")
    name = None if seat.get("name") is None else _name(seat, "name")
    is_bot = seat.get("bot") is not None
    return SeatStatus(name, seat.get("taken") is True, seat.get("present") is True, is_bot)


def _offer(value: object) -> PendingOffer | None:
    """Read an offer; one of an unknown kind cannot be answered here, and is ignored."""
    if value is None:
        return None
    offer = _dict(value, "offer")
    kind = offer.get("kind")
    return PendingOffer(str(kind), _mark(offer.get("mark"))) if kind in ("takeBack", "rematch") else None


def _mark(value: object) -> Mark:
    if value not in ("X", "O"):
        raise BadResponse("the server sent a mark that is neither X nor O")
    return Mark(value)


def _mark_or_none(answer: Mapping[str, object], name: str) -> Mark | None:
    return None if answer.get(name) is None else _mark(answer.get(name))


def _number(answer: Mapping[str, object], name: str) -> int:
    number = answer.get(name)
    if type(number) is not int or not 0 <= number <= _MAX_NUMBER:
        raise _invalid(name)
    return number


def _list(answer: Mapping[str, object], name: str) -> list[object]:
    found = answer.get(name)
    if not isinstance(found, list):
        raise _invalid(name)
    return found


def _dicts(answer: Mapping[str, object], name: str) -> Iterable[dict[str, object]]:
    return (_dict(item, name) for item in _list(answer, name))


def _dict(value: object, what: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _invalid(what)
    return value


def _id(answer: Mapping[str, object], name: str) -> str:
    found = answer.get(name)
    if not isinstance(found, str) or not _ID.fullmatch(found):
        raise _invalid(name)
    return found


def _id_or_none(answer: Mapping[str, object], name: str) -> str | None:
    return None if answer.get(name) is None else _id(answer, name)


def _name(answer: Mapping[str, object], name: str) -> str:
    found = answer.get(name)
    return printable(found) if isinstance(found, str) else "somebody"


def _invalid(what: str) -> BadResponse:
    return BadResponse(f"the server's answer has no valid {what}")
