"""What players ask for: games, seats, moves, offers. Each is judged, committed and then answered."""

from __future__ import annotations

from base64 import b32encode, urlsafe_b64encode
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import TypeAlias, TypeVar

from msgspec.structs import replace

from noughts.bots.errors import UnknownPolicy
from noughts.bots.registry import BOT, BUILT_IN, parse_policy, prefix
from noughts.core.board import Mark
from noughts.core.errors import AlreadyOver, InvalidName, quoted
from noughts.core.events import Event, PlayerNotifyIllegalMove, facts
from noughts.core.game import (
    Command,
    CreateGame,
    Game,
    JoinGame,
    PlaceToken,
    Resign,
    TakeBack,
    decide,
    fold,
)
from noughts.core.player import MAX_NAME_CHARACTERS, check_names_differ, clean_name, name_key
from noughts.service import SHORT_ID_CHARACTERS, judge
from noughts.store.base import Change, Entry, StoredGame
from noughts.store.errors import NoSuchGame, StaleVersion
from noughts.store.rows import entries_of, format_events
from noughts.web import schemas
from noughts.web.bots import Roster
from noughts.web.games import Games
from noughts.web.limits import Limits
from noughts.web.logging import details, log
from noughts.web.metrics import Metrics
from noughts.web.presence import Presence
from noughts.web.problems import ApiError, GamesUnavailable, WrongSecret, absent
from noughts.web.queries import snapshot
from noughts.web.request import JSON_HEADERS, Body, Request, Response
from noughts.web.rooms import (
    MARKS,
    Room,
    RoomOffer,
    RoomSeat,
    hash_secret,
    is_same,
    offer_of,
    room_of,
    write_room,
)
from noughts.web.schemas import MarkName

T = TypeVar("T")
Decision: TypeAlias = tuple[Response, Change | None]

COOKIE_SECONDS = 365 * 24 * 3600
SECRET_BYTES = 24
"""192 bits, in 32 letters, digits, - and _."""

TOKENS = {(mark, cell): PlaceToken(Mark(mark), cell) for mark in MARKS for cell in range(9)}


@dataclass(frozen=True)
class Commands:
    """The operations that change games."""

    games: Games
    presence: Presence
    roster: Roster
    metrics: Metrics
    limits: Limits

    async def change(
        self,
        decide: Callable[[Request, Body, StoredGame], tuple[T, Change | None]],
        kind: type[Body],
        request: Request,
    ) -> T:
        """Answer a command on a game, durably, as a function decides on the game that there is."""
        if kind is schemas.Move:
            self.limits.moves.spend(request)
        try:
            return await self.games.change(request.id, partial(decide, request, request.json(kind)))
        except WrongSecret:
            self.limits.wrong_secrets.spend(request)
            raise

    # Playing: each decides, for `change`.

    def move(self, request: Request, body: schemas.Move, stored: StoredGame) -> Decision:
        """Place a mark."""
        mark = self._seat(request, stored, body.mark)
        if not stored.game.is_ready:
            raise ApiError("notReady", "nobody has joined yet", version=stored.version)
        return self._judge(stored, TOKENS[mark, body.cell], body.version, body.key)

    def resign(self, request: Request, body: schemas.Action, stored: StoredGame) -> Decision:
        """Resign."""
        mark = self._seat(request, stored, body.mark)
        return self._judge(stored, Resign(Mark(mark)), body.version, body.key)

    def take_back(self, request: Request, body: schemas.Action, stored: StoredGame) -> Decision:
        """Take back the last token, or ask the opponent to allow it."""
        mark = self._seat(request, stored, body.mark, is_to_move=False)
        room, key = room_of(stored), hash_secret(body.key)
        if room.offer and room.offer.key == key:  # it was asked before
            return _moved(202, room.offer.version, "", room.offer), None
        answer, change = self._judge(stored, TakeBack(Mark(mark)), body.version, body.key)
        if change is None or not room.needs_consent:
            return answer, change
        offer = RoomOffer("takeBack", mark, stored.version, key)
        return _moved(202, stored.version, "", offer), self._with_room(stored, replace(room, offer=offer))

    def answer(self, request: Request, body: schemas.TakeBackReply, stored: StoredGame) -> Decision:
        """Allow the opponent to take back, or refuse."""
        mark = self._seat(request, stored)
        room, key = room_of(stored), hash_secret(body.key)
        theirs = TakeBack(Mark(mark).other)
        if any(entry.key == body.key for entry in stored.entries):  # it was allowed before
            return self._judge(stored, theirs, None, body.key)
        if not body.accept and room.offer and room.offer.declined == key:  # it was declined before
            return _moved(200, room.offer.version, ""), None
        offer = offer_of(stored)
        if offer is None or offer.kind != "takeBack" or offer.mark == mark:
            raise ApiError("noOffer", "no offer is waiting for your answer", version=stored.version)
        if body.accept:
            return self._judge(stored, theirs, offer.version, body.key)
        declined = replace(room, offer=replace(offer, declined=key))
        return _moved(200, stored.version, ""), self._with_room(stored, declined)

    def _judge(self, stored: StoredGame, command: Command, version: int | None, key: str) -> Decision:
        """Judge a command; a stale one is refused with the version that the game is at."""
        try:
            answer, change = judge(
                stored,
                command,
                version=version,
                key=key,
                at=self.games.world.clock(),
                hour=self.games.hour,
            )
        except StaleVersion as error:
            raise ApiError("staleVersion", str(error), version=stored.version) from None
        if isinstance(refused := answer.events[0], PlayerNotifyIllegalMove):
            raise ApiError(refused.reason.value, version=answer.version)
        text = change.after.entries[-1].text if change else format_events(answer.events)
        return _moved(200, answer.version, text), change

    def _seat(
        self,
        request: Request,
        stored: StoredGame,
        asked: MarkName | None = None,
        *,
        is_to_move: bool = True,
    ) -> MarkName:
        """Return the seat that a command is for.

        With both seats, that is the mark to move, or the other one.
        """
        secrets = request.secrets()
        held = room_of(stored).held(secrets)
        if not held or (asked and asked not in held):
            raise WrongSecret if secrets and not held else absent()
        active = stored.game.active
        if asked or len(held) < 2 or active is None:
            return asked or held[0]
        return active.value if is_to_move else active.other.value

    def _with_room(self, stored: StoredGame, room: Room) -> Change:
        """Return the change of a room, which leaves the record as it is."""
        return Change(stored, stored.followed_by(room=write_room(room), hour=self.games.hour))

    # Games and seats.

    async def create(self, request: Request) -> Response:
        """Create a game, and take a seat in it."""
        self.limits.creates.spend(request)
        body = request.json(schemas.Create)
        if (body.opponent == "bot") != (body.bot is not None):
            raise ApiError("badRequest", "bot is needed if the opponent is a bot, and refused otherwise")
        if body.other is not None and body.opponent != "self":
            raise ApiError("badRequest", "other is allowed only if both seats are yours")
        key = body.key or self.games.world.new_id()
        fingerprint = hash_secret(schemas.encode(body).decode())  # of no other request
        mark = _derived_mark(key, "mark") if body.mark == "random" else body.mark
        first = _derived_mark(key, "first") if body.first == "random" else body.first
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
            one: RoomSeat(secret=hash_secret(secrets[one]), key=fingerprint)
            if one in secrets
            else RoomSeat(bot=policy)
            for one in MARKS
        }
        invite = _derived_secret(key, "invite") if body.opponent == "friend" else None
        room = Room(
            X=seats["X"],
            O=seats["O"],
            created=self.games.world.clock(),
            invite=None if invite is None else hash_secret(invite),
            open="seat" if body.opponent == "lobby" else None,
        )
        game = _derived_id(f"create {key}")
        entries = self._first_entries(Mark(first), names, are_entered=True)
        try:
            stored = await self.games.create(game, write_room(room), entries)
        except StaleVersion:  # the first response may have been lost
            stored = await self._find_created(game, fingerprint)
        except NoSuchGame:  # it was deleted since
            raise absent() from None
        else:
            if room.open:
                self.presence.created(game)
            self.metrics.created[body.opponent] += 1
            _log("created", stored, opponent=body.opponent)
        invite = invite if room_of(stored).free else None
        return self._seated(201, request, stored, secrets, in_body=body.secret, invite=invite)

    async def _find_created(self, game: str, fingerprint: str) -> StoredGame:
        """Return the game that the same request has created before."""

        def same(stored: StoredGame) -> tuple[StoredGame, None]:
            if not any(is_same(fingerprint, room_of(stored).seat(mark).key) for mark in MARKS):
                raise ApiError("keyReused", "another game was created with this key")
            return stored, None

        try:
            return await self.games.change(game, same)
        except ApiError as error:
            if error.code == "notFound":
                raise GamesUnavailable("the game has gone with its commit: try again") from None
            raise

    async def join(self, request: Request) -> Response:
        """Take the free seat of a game, by invitation or in the lobby."""
        self.limits.joins.spend(request)
        body = request.json(schemas.Join)
        secret, key = _derived_secret(body.key, request.id), hash_secret(body.key)

        def take(stored: StoredGame) -> tuple[tuple[MarkName, StoredGame], Change | None]:
            room, game = room_of(stored), stored.game
            invite = None if body.invite is None else hash_secret(body.invite)
            if not (room.open if invite is None else is_same(invite, room.invite)):
                raise absent()
            if own := next((one for one in MARKS if is_same(key, room.seat(one).key)), None):
                return (own, stored), None  # it was taken before
            mark = room.free
            if mark is None:
                is_open = invite is None
                raise ApiError("seatTaken", "somebody else has taken the seat") if is_open else absent()
            if game.is_over:
                raise AlreadyOver("the game is over: nobody can join it")
            name = _name(body.name, mark)
            if other := game.player(Mark(mark).other):
                check_names_differ(name, other.name)
            command = JoinGame(Mark(mark), name, is_entered=False)  # it was checked above
            events = facts(decide(game, command))
            entries = entries_of([(key[:48], self.games.world.clock(), events)], stored.version)
            taken = room.seated(mark, RoomSeat(secret=hash_secret(secret), key=key))
            after = stored.followed_by(entries, room=write_room(taken), hour=self.games.hour)
            return (mark, after), Change(stored, after)

        mark, stored = await self.games.change(request.id, take)
        _log("joined", stored)
        return self._seated(200, request, stored, {mark: secret}, in_body=body.secret)

    async def rematch(self, request: Request) -> Response:
        """Play again with the same seats, the other starting; both have to agree.

        The next game is created first, and the offer waits until it is: so asking again, at any
        process, completes what was interrupted.
        """
        stored, offer = await self.change(self._ask_rematch, schemas.Rematch, request)
        if offer:
            return _moved(202, stored.version, "", offer)
        is_new = room_of(stored).next is None
        if is_new:
            self.limits.creates.spend(request)
            stored = await self._create_rematch(stored)
        following = await self.games.find(room_of(stored).next or "")
        secrets = {
            one: secret for secret in request.secrets() for one in room_of(following).held((secret,))
        }
        if not secrets:
            raise absent()
        in_body = request.json(schemas.Rematch).secret
        return self._seated(201 if is_new else 200, request, following, secrets, in_body=in_body)

    def _ask_rematch(
        self, request: Request, body: schemas.Rematch, stored: StoredGame
    ) -> tuple[tuple[StoredGame, RoomOffer | None], Change | None]:
        """Return the game; with an offer that waits, unless both agree."""
        mark, room = self._seat(request, stored), room_of(stored)
        if not stored.game.is_over:
            raise ApiError("notOver", "the game is not over", version=stored.version)
        asked = room.offer if room.offer and room.offer.kind == "rematch" else None
        has_both = len(room.held(request.secrets())) == 2
        if room.next or has_both or not room.needs_consent or (asked and asked.mark != mark):
            return (stored, None), None
        if asked:  # before
            return (stored, asked), None
        offer = RoomOffer("rematch", mark, stored.version, hash_secret(body.key))
        change = self._with_room(stored, replace(room, offer=offer))
        return (change.after, offer), change

    async def _create_rematch(self, stored: StoredGame) -> StoredGame:
        """Create the next game, under an id that follows from this one's, and then name it here."""
        game, room = stored.game, room_of(stored)
        x, o, draws = room.score
        winner = game.winner.value if game.winner else None
        names: dict[MarkName, str] = {
            one: player.name for one in MARKS if (player := game.player(Mark(one)))
        }
        following = Room(
            X=room.X,
            O=room.O,
            created=self.games.world.clock(),
            open="play" if room.open else None,
            score=(x + (winner == "X"), o + (winner == "O"), draws + (winner is None)),
        )
        name = _derived_id(f"after {stored.id}")  # the same at every process
        first = game.board.first.other
        with suppress(StaleVersion):
            entries = self._first_entries(first, names, are_entered=False)
            await self.games.create(name, write_room(following), entries)
            if following.open:
                self.presence.created(name)

        def end(now: StoredGame) -> tuple[StoredGame, Change | None]:
            before = room_of(now)
            if before.next:
                return now, None
            named = self._with_room(now, replace(before, next=name, offer=None))
            return named.after, named

        return await self.games.change(stored.id, end)

    async def _bot_name(self, policy: str) -> str:
        """Return a bot's name in the record, if the bot exists."""
        name = f"{BOT}{policy}"
        if len(name) > MAX_NAME_CHARACTERS or clean_name(name) != name:
            raise UnknownPolicy(f"unknown policy {quoted(policy)}")
        await self.games.world.thinking.run(lambda: self.roster.bot(policy))
        return name

    def _first_entries(
        self, first: Mark, names: dict[MarkName, str], *, are_entered: bool
    ) -> tuple[Entry, ...]:
        """Return the first entry of a game: it is created, and its players join it."""
        events: list[Event] = [*decide(None, CreateGame(first, open_seats=True))]
        for mark, name in names.items():
            joined: Game | None = fold(events)
            events += decide(joined, JoinGame(Mark(mark), name, is_entered=are_entered))
        return entries_of([(self.games.world.new_id(), self.games.world.clock(), events)])

    def _seated(
        self,
        status: int,
        request: Request,
        stored: StoredGame,
        secrets: dict[MarkName, str],
        *,
        in_body: bool,
        invite: str | None = None,
    ) -> Response:
        """Give somebody their seat: a program gets the secret, a browser a cookie."""
        path = f"{request.prefix}{schemas.BASE}/games/{stored.id}"
        marks = [mark for mark in MARKS if mark in secrets]
        headers = [*JSON_HEADERS, (b"location", path.encode())]
        if not in_body:
            own_scheme = self.games.world.settings.origin.partition(":")[0]
            is_secure = "https" in (request.origin_scheme, own_scheme)
            attributes = f"Path={path}; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Strict"
            attributes += "; Secure" if is_secure else ""
            headers += [
                (b"set-cookie", f"{mark}={secrets[mark]}; {attributes}".encode()) for mark in marks
            ]
        body = schemas.Seated(
            id=stored.id,
            marks=marks,
            secrets=secrets if in_body else None,
            invite=invite,
            game=snapshot(stored, stored.version, marks, self.presence.present(stored.id)),
        )
        return Response(status, schemas.encode(body), tuple(headers))


def _moved(status: int, version: int, text: str, offer: RoomOffer | None = None) -> Response:
    """Return what a command led to; the text is that of the record."""
    offered = f'{{"kind":"{offer.kind}","mark":"{offer.mark}"}}' if offer else "null"
    events = text.replace("\n", ",")
    return Response(status, f'{{"version":{version},"events":[{events}],"offer":{offered}}}'.encode())


def _derived_secret(key: str, what: str) -> str:
    """Derive a secret from a key: a request that is sent again gets the same one."""
    return urlsafe_b64encode(sha256(f"{what} {key}".encode()).digest()[:SECRET_BYTES]).decode()


def _derived_mark(key: str, what: str) -> MarkName:
    """Draw a mark, for a request that is sent again the same one."""
    return MARKS[sha256(f"{what} {key}".encode()).digest()[0] % 2]


def _derived_id(text: str) -> str:
    """Derive a game's id from what the game was created for."""
    return b32encode(sha256(text.encode()).digest()[:16]).decode().rstrip("=").lower()


def _log(event: str, stored: StoredGame, **more: str) -> None:
    """Log an event of a game with a part of its id: the whole id would allow watching."""
    log.info(event, extra=details(game=stored.id[:SHORT_ID_CHARACTERS], **more))


def _name(asked: str | None, mark: MarkName) -> str:
    """Return a person's name, which must not be a bot's."""
    name = clean_name(f"Player {mark}" if asked is None else asked)
    if prefix(key := name_key(name)) or key in BUILT_IN:
        raise InvalidName(f"a person cannot be called '{name}': that is the name of a bot")
    return name
