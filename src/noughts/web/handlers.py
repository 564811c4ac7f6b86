"""How games begin: creating, joining and playing again."""

from __future__ import annotations

from base64 import b32encode, urlsafe_b64encode
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256

from msgspec.structs import replace

from noughts.bots.errors import UnknownPolicy
from noughts.bots.registry import BOT, BUILT_IN, parse_policy, prefix
from noughts.core.board import Mark
from noughts.core.errors import AlreadyOver, InvalidName, quoted
from noughts.core.events import Event
from noughts.core.game import CreateGame, JoinGame, decide, fold
from noughts.core.player import MAX_NAME_CHARACTERS, check_names_differ, clean_name, name_key
from noughts.service import SHORT_ID_CHARACTERS
from noughts.store.errors import StaleVersion
from noughts.web import schemas
from noughts.web.bots import Roster
from noughts.web.game import LiveGame
from noughts.web.games import Games
from noughts.web.limits import Limit
from noughts.web.logging import details, log
from noughts.web.metrics import Metrics
from noughts.web.problems import ApiError, absent
from noughts.web.request import JSON_HEADERS, Request, Response
from noughts.web.room import MARKS, MarkName, Room, RoomOffer, RoomSeat, hash_secret, is_same
from noughts.web.seats import SeatAccess

COOKIE_SECONDS = 365 * 24 * 3600
SECRET_BYTES = 24
"""192 bits, in 32 letters, digits, - and _."""


@dataclass(frozen=True)
class Handlers:
    """The operations that give somebody a seat."""

    games: Games
    seats: SeatAccess
    roster: Roster
    metrics: Metrics
    creates: Limit
    joins: Limit

    async def create(self, request: Request) -> Response:
        """Create a game, and take a seat in it."""
        self.creates.spend(request)
        body = request.json(schemas.Create)
        if (body.opponent == "bot") != (body.bot is not None):
            raise ApiError("badRequest", "bot is needed if the opponent is a bot, and refused otherwise")
        if body.other is not None and body.opponent != "self":
            raise ApiError("badRequest", "other is allowed only if both seats are yours")
        key = body.key or self.games.world.new_id()
        mark, first = self._choose(body.mark), self._choose(body.first)
        other: MarkName = "O" if mark == "X" else "X"
        names: dict[MarkName, str] = {mark: _name(body.name, mark)}
        secrets = {mark: _derived_secret(key, mark)}
        policy = None if body.bot is None else parse_policy(body.bot)
        if policy is not None:
            names[other] = await self._bot_name(policy)
        elif body.opponent == "self":
            names[other] = _name(body.other, other)
            secrets[other] = _derived_secret(key, other)
        seats = {
            one: RoomSeat(secret=hash_secret(secrets[one]), key=_fingerprint(body))
            if one in secrets
            else RoomSeat(bot=policy)
            for one in MARKS
        }
        invite = _derived_secret(key, "invite") if body.opponent == "friend" else None
        room = Room(
            X=seats["X"],
            O=seats["O"],
            created=self.games.clock(),
            invite=None if invite is None else hash_secret(invite),
            lobby=body.opponent == "lobby",
            names=(names.get("X"), names.get("O")),
            first=first,
        )
        game = _derived_id(f"create {key}")
        events = _first_events(Mark(first), names, are_entered=True)
        try:
            live = await self.games.create(game, room, events, key=self.games.world.new_id())
        except StaleVersion:
            return await self._create_again(request, body, game)
        self.metrics.created[body.opponent] += 1
        _log("created", live, opponent=body.opponent)
        return self._seated(201, request, live, secrets, in_body=body.secret, invite=invite)

    async def _create_again(self, request: Request, body: schemas.Create, game: str) -> Response:
        """Return the same seat again: the first response may have been lost."""
        live = await self.games.find(game, is_latest=True)
        key, room, fingerprint = body.key or "", live.room, _fingerprint(body)
        own = {
            mark: _derived_secret(key, mark)
            for mark in MARKS
            if is_same(fingerprint, room.seat(mark).key)
        }
        if not own:
            raise ApiError("keyReused", "another game was created with this key")
        invite = _derived_secret(key, "invite") if room.free and room.invite else None
        return self._seated(201, request, live, own, in_body=body.secret, invite=invite)

    async def join(self, request: Request) -> Response:
        """Take the free seat of a game, by invitation or in the lobby."""
        self.joins.spend(request)
        body = request.json(schemas.Join)
        live = await self.games.find(request.id, is_latest=True)
        secret, key = _derived_secret(body.key, live.id), hash_secret(body.key)
        taken: list[tuple[MarkName, str]] = []

        def take(room: Room) -> Room:
            invite = None if body.invite is None else hash_secret(body.invite)
            if not (room.lobby if invite is None else is_same(invite, room.invite)):
                raise absent()
            mark = next((one for one in MARKS if is_same(key, room.seat(one).key)), room.free)
            if mark is None:
                is_open = invite is None
                raise ApiError("seatTaken", "somebody else has taken the seat") if is_open else absent()
            if live.game.is_over and live.game.player(Mark(mark)) is None:
                raise AlreadyOver("the game is over: nobody can join it")
            own, other = room.names if mark == "X" else room.names[::-1]
            name = own or _name(body.name, mark)
            if own is None and other is not None:
                check_names_differ(name, other)
            taken[:] = [(mark, name)]
            return room.seated(mark, RoomSeat(secret=hash_secret(secret), key=key), name)

        await self.games.change_room(live, take)
        ((mark, name),) = taken
        if live.game.player(Mark(mark)) is None:
            command = JoinGame(Mark(mark), name, is_entered=False)  # it was checked above
            await self.games.command(live, command, version=None, key=key[:48])
        live.broadcast_room()
        _log("joined", live)
        return self._seated(200, request, live, {mark: secret}, in_body=body.secret)

    async def rematch(self, request: Request) -> Response:
        """Play again with the same seats, the other starting; both have to agree."""
        body = request.json(schemas.Rematch)
        live, mark = await self.seats.find(request)
        has_both = len(await self.seats.held(live, request)) == 2
        if live.room.next is None:
            await self.games.refresh(live)  # the opponent may have agreed at another process
        if not live.game.is_over:
            raise ApiError("notOver", "the game is not over", version=live.version)
        status = 200
        if live.room.next is None:
            offer = RoomOffer("rematch", mark, live.version)
            theirs = RoomOffer("rematch", "O" if mark == "X" else "X", live.version)

            def agree(room: Room) -> Room:
                is_agreed = has_both or not room.needs_consent or room.offer == theirs
                return room if room.next or is_agreed else replace(room, offer=offer)

            await self.games.change_room(live, agree)
            if live.room.next is None:
                if live.room.offer == offer:
                    offered = schemas.Offer(kind="rematch", mark=mark)
                    waiting = schemas.Moved(version=live.version, events=[], offer=offered)
                    return Response(202, schemas.encode(waiting))
                self.creates.spend(request)
                await self._create_rematch(live)
                status = 201
        following = await self.games.find(live.room.next or "", is_latest=True)
        secrets = {
            one: secret
            for secret in request.secrets()
            for one in MARKS
            if is_same(hash_secret(secret), following.room.seat(one).secret)
        }
        if not secrets:
            raise absent()
        return self._seated(status, request, following, secrets, in_body=body.secret)

    async def _create_rematch(self, live: LiveGame) -> None:
        game, room = live.game, live.room
        x, o, draws = room.score
        winner = game.winner.value if game.winner else None
        names: dict[MarkName, str] = {
            one: player.name for one in MARKS if (player := game.player(Mark(one)))
        }
        following = Room(
            X=room.X,
            O=room.O,
            created=self.games.clock(),
            lobby=room.lobby,
            score=(x + (winner == "X"), o + (winner == "O"), draws + (winner is None)),
            names=(names.get("X"), names.get("O")),
            first=game.board.first.other.value,
        )
        name = _derived_id(f"after {live.id}")  # the same at every process
        events = _first_events(game.board.first.other, names, are_entered=False)
        with suppress(StaleVersion):
            await self.games.create(name, following, events, key=self.games.world.new_id())
        await self.games.change_room(live, lambda room: replace(room, next=name, offer=None))

    def _choose(self, asked: schemas.Choice) -> MarkName:
        return self.games.world.random.choice(MARKS) if asked == "random" else asked

    async def _bot_name(self, policy: str) -> str:
        """Return a bot's name in the record, if the bot exists."""
        name = f"{BOT}{policy}"
        if len(name) > MAX_NAME_CHARACTERS or clean_name(name) != name:
            raise UnknownPolicy(f"unknown policy {quoted(policy)}")
        await self.games.world.thinking.run(lambda: self.roster.bot(policy))
        return name

    def _seated(
        self,
        status: int,
        request: Request,
        live: LiveGame,
        secrets: dict[MarkName, str],
        *,
        in_body: bool,
        invite: str | None = None,
    ) -> Response:
        """Give somebody their seat: a program gets the secret, a browser a cookie."""
        path = f"{request.prefix}{schemas.BASE}/games/{live.id}"
        marks = [mark for mark in MARKS if mark in secrets]
        headers = [*JSON_HEADERS, (b"location", path.encode())]
        if not in_body:
            own_scheme = self.games.settings.origin.partition(":")[0]
            is_secure = "https" in (request.origin_scheme, own_scheme)
            attributes = f"Path={path}; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Strict"
            attributes += "; Secure" if is_secure else ""
            headers += [
                (b"set-cookie", f"{mark}={secrets[mark]}; {attributes}".encode()) for mark in marks
            ]
        body = schemas.Seated(
            id=live.id,
            marks=marks,
            secrets=secrets if in_body else None,
            invite=invite,
            game=live.snapshot(live.version, marks),
        )
        return Response(status, schemas.encode(body), tuple(headers))


def _derived_secret(key: str, what: str) -> str:
    """Derive a secret from a key: a request that is sent again gets the same one."""
    return urlsafe_b64encode(sha256(f"{what} {key}".encode()).digest()[:SECRET_BYTES]).decode()


def _fingerprint(body: schemas.Create) -> str:
    """Return the same text for a request that is sent again, and another for any other request."""
    return hash_secret(schemas.encode(body).decode())


def _derived_id(text: str) -> str:
    """Derive a game's id from what the game was created for."""
    return b32encode(sha256(text.encode()).digest()[:16]).decode().rstrip("=").lower()


def _log(event: str, live: LiveGame, **more: str) -> None:
    """Log an event of a game with a part of its id: the whole id would allow watching."""
    log.info(event, extra=details(game=live.id[:SHORT_ID_CHARACTERS], **more))


def _first_events(first: Mark, names: dict[MarkName, str], *, are_entered: bool) -> list[Event]:
    events = list(decide(None, CreateGame(first, open_seats=True)))
    for mark, name in names.items():
        events += decide(fold(events), JoinGame(Mark(mark), name, is_entered=are_entered))
    return events


def _name(asked: str | None, mark: MarkName) -> str:
    """Return a person's name, which must not be a bot's."""
    name = clean_name(f"Player {mark}" if asked is None else asked)
    if prefix(key := name_key(name)) or key in BUILT_IN:
        raise InvalidName(f"a person cannot be called '{name}': that is the name of a bot")
    return name
