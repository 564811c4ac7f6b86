"""What can be asked for under /api/v1: each thing a function from a request to an answer."""

from __future__ import annotations

import asyncio
import logging
import random
from base64 import b32encode
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from noughts.core.board import Mark
from noughts.core.errors import (
    AlreadyOver,
    InvalidName,
    StaleVersion,
    StoreUnavailable,
    UnknownPolicy,
    quoted,
)
from noughts.core.game import CreateGame, JoinGame, PlaceToken, Resign, TakeBack, decide, fold
from noughts.core.player import LONGEST_NAME, check_names_differ, clean_name, name_key
from noughts.players.grammar import BOT, BOT_NAMES, parse_policy, prefix
from noughts.service import SHORT_ID, judge, random_id, wall_clock
from noughts.store.appends import serialize
from noughts.web import analysis, schemas
from noughts.web.problems import Refused, absent
from noughts.web.rooms import MARKS, OPEN, PLAYING, Chair, Offered, Room, read_room
from noughts.web.secrets import is_same, new_secret, opens, sealed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from noughts.core.events import Event
    from noughts.core.game import Command
    from noughts.service import Answer
    from noughts.web.asking import Asking
    from noughts.web.house import House
    from noughts.web.live import Live
    from noughts.web.rooms import MarkName

log = logging.getLogger("noughts.web")

BASE = "/api/v1"
LISTED = 50
READY = 2.0
"""How long the store may take to say that it is there, in seconds."""

YEAR = 365 * 24 * 3600

Header = tuple[bytes, bytes]
JSON: Header = (b"content-type", b"application/json")
_encode = msgspec.json.Encoder().encode


class Reply(NamedTuple):
    """An answer."""

    status: int
    body: bytes
    headers: tuple[Header, ...] = (JSON,)


CREATE = msgspec.json.Decoder(schemas.Create)
JOIN = msgspec.json.Decoder(schemas.Join)
MOVE = msgspec.json.Decoder(schemas.Move)
ACT = msgspec.json.Decoder(schemas.Act)
REPLY = msgspec.json.Decoder(schemas.Reply)
AGAIN = msgspec.json.Decoder(schemas.Again)


class Api:
    """The answers."""

    def __init__(self, house: House) -> None:
        self._house = house

    async def create(self, asking: Asking) -> Reply:
        """Create a game, and take a seat at it."""
        house = self._house
        house.creates.spend(asking.address)
        body = await asking.body(CREATE)
        if (body.opponent == "bot") != (body.bot is not None):
            raise Refused("badRequest", "a bot is named if the opponent is to be one, and only then")
        if body.other is not None and body.opponent != "self":
            raise Refused("badRequest", "the other seat's name is yours to give only if both are yours")
        mark, first = _drawn(body.mark), _drawn(body.first)
        other: MarkName = "O" if mark == "X" else "X"
        names: dict[MarkName, str] = {mark: _name(body.name, mark)}
        secrets = {mark: new_secret()}
        chairs = {mark: Chair(secret=sealed(secrets[mark])), other: Chair()}
        invite = None
        if body.bot is not None:
            policy = parse_policy(body.bot)
            names[other] = await self._bot_name(policy)
            chairs[other] = Chair(bot=policy)
        elif body.opponent == "self":
            names[other] = _name(body.other, other)
            secrets[other], both = new_secret(), sealed(random_id())
            chairs = {one: Chair(secret=sealed(secrets[one]), key=both) for one in MARKS}
        elif body.opponent == "friend":
            invite = new_secret()
        room = Room(
            X=chairs["X"],
            O=chairs["O"],
            created=wall_clock(),
            invite=None if invite is None else sealed(invite),
            lobby=body.opponent == "lobby",
            names=(names.get("X"), names.get("O")),
            first=first,
        )
        beginning = _beginning(Mark(first), names, are_entered=True)
        live = await house.lounge.begin(random_id(), room, beginning)
        house.metrics.created[body.opponent] += 1
        _log("created", live, opponent=body.opponent)
        return self._seated(201, asking, live, secrets, in_answer=body.secret, invite=invite)

    async def join(self, asking: Asking) -> Reply:
        """Take the free seat of a game, by invitation or in the lobby."""
        house = self._house
        house.joins.spend(asking.address)
        body = await asking.body(JOIN)
        live = await house.lounge.find(asking.path["id"])
        secret, key = new_secret(), sealed(body.key)
        taken: list[tuple[MarkName, str]] = []

        def take(room: Room) -> Room:
            if not (opens(body.invite, room.invite) if body.invite is not None else room.lobby):
                raise absent()
            mark = next((one for one in MARKS if is_same(key, room.chair(one).key)), room.free)
            if mark is None:
                raise (
                    absent()
                    if body.invite is not None
                    else Refused("seatTaken", "somebody else has taken the seat")
                )
            if live.game.is_over and live.game.player(Mark(mark)) is None:
                raise AlreadyOver("the game is over: nobody can join it")
            own, other = room.names if mark == "X" else room.names[::-1]
            name = own or _name(body.name, mark)
            if own is None and other is not None:
                check_names_differ(name, other)
            taken[:] = [(mark, name)]
            return room.seated(mark, Chair(secret=sealed(secret), key=key), name)

        await house.lounge.change_room(live, take)
        ((mark, name),) = taken
        command = JoinGame(Mark(mark), name, is_entered=False)  # it was checked when it was entered
        if live.game.player(Mark(mark)) is None:
            await house.lounge.command(live, command, version=None, key=key[:48])
        live.tell_room()
        _log("joined", live)
        return self._seated(200, asking, live, {mark: secret}, in_answer=body.secret)

    async def move(self, asking: Asking) -> Reply:
        """Place a mark."""
        body = await asking.body(MOVE)
        live, mark = await self._acting(asking, body.mark)
        if not live.game.is_ready:
            await self._house.lounge.refresh(live)
        if not live.game.is_ready:
            raise Refused("notReady", "nobody sits at the other seat yet", version=live.version)
        return await self._done(live, PlaceToken(Mark(mark), body.cell), body.version, body.key)

    async def resign(self, asking: Asking) -> Reply:
        """Give the game up."""
        body = await asking.body(ACT)
        live, mark = await self._acting(asking, body.mark)
        return await self._done(live, Resign(Mark(mark)), body.version, body.key)

    async def take_back(self, asking: Asking) -> Reply:
        """Take back the last token, or ask the opponent to let it be taken back."""
        body = await asking.body(ACT)
        live, mark = await self._acting(asking, body.mark, is_to_move=False)
        command = TakeBack(Mark(mark))
        if live.room.is_held_by_one() or body.key in live.keys:
            return await self._done(live, command, body.version, body.key)
        if body.version > live.version:
            await self._house.lounge.refresh(live)
        try:
            judge(live.id, live.history, live.game, command, version=body.version, key=body.key)
        except StaleVersion as error:
            raise Refused("staleVersion", str(error), version=live.version) from None
        offer = Offered("takeBack", mark, live.version)
        await self._house.lounge.change_room(live, lambda room: room.with_offer(offer))
        return _moved(202, live.version, (), offer)

    async def answer(self, asking: Asking) -> Reply:
        """Let the opponent take back, or not."""
        body = await asking.body(REPLY)
        live, mark = await self._acting(asking, None)
        theirs = TakeBack(Mark(mark).other)
        if body.key in live.keys:
            return await self._done(live, theirs, live.version, body.key)
        if not _asks_to_take_back(live.offer, mark):
            await self._house.lounge.refresh(live)
        offer, key = live.offer, sealed(body.key)
        if not body.accept and live.room.declined == key:  # it was answered so before
            return _moved(200, live.version, ())
        if offer is None or not _asks_to_take_back(offer, mark):
            raise Refused("noOffer", "there is nothing to answer", version=live.version)
        if body.accept:
            return await self._done(live, theirs, offer.version, body.key)
        await self._house.lounge.change_room(live, lambda room: room.declining(key))
        return _moved(200, live.version, ())

    async def rematch(self, asking: Asking) -> Reply:
        """Play again at the same table, the other starting; both have to want it."""
        body = await asking.body(AGAIN)
        live, mark = await self._acting(asking, None)
        has_both = len(await self._house.held(live, asking)) == 2
        if live.room.next is None:
            await self._house.lounge.refresh(live)  # the other may have agreed at another process
        if not live.game.is_over:
            raise Refused("notOver", "the game is not over", version=live.version)
        status = 200
        if live.room.next is None:
            offer = Offered("rematch", mark, live.version)
            theirs = Offered("rematch", "O" if mark == "X" else "X", live.version)
            await self._house.lounge.change_room(
                live,
                lambda room: (
                    room
                    if room.next or room.offer == theirs or room.is_held_by_one() or has_both
                    else room.with_offer(offer)
                ),
            )
            if live.room.next is None:
                if live.room.offer == offer:
                    return _moved(202, live.version, (), offer)
                self._house.creates.spend(asking.address)
                await self._play_again(live)
                status = 201
        following = await self._house.lounge.find(live.room.next or "")
        given = {
            one: secret
            for secret in asking.secrets()
            for one in MARKS
            if opens(secret, following.room.chair(one).secret)
        }
        if not given:
            raise absent()
        return self._seated(status, asking, following, given, in_answer=body.secret)

    async def _play_again(self, live: Live) -> None:
        """Set up the next game at the same table."""
        game, room = live.game, live.room
        x, o, draws = room.score
        winner = game.winner.value if game.winner else None
        names: dict[MarkName, str] = {
            one: player.name for one in MARKS if (player := game.player(Mark(one)))
        }
        following = Room(
            X=room.X,
            O=room.O,
            created=wall_clock(),
            lobby=room.lobby,
            score=(x + (winner == "X"), o + (winner == "O"), draws + (winner is None)),
            names=(names.get("X"), names.get("O")),
            first=game.board.first.other.value,
        )
        # Whoever sets it up, at whatever process, sets up the same game.
        number = sha256(f"after {live.id}".encode()).digest()[:16]
        name = b32encode(number).decode().rstrip("=").lower()
        beginning = _beginning(game.board.first.other, names, are_entered=False)
        with suppress(StaleVersion):
            await self._house.lounge.begin(name, following, beginning)
        await self._house.lounge.change_room(
            live, lambda room: msgspec.structs.replace(room, next=name, offer=None)
        )

    async def read(self, asking: Asking) -> Reply:
        """Return a game as it is, or as it was at a version."""
        query = asking.query("version")
        live = await self._house.lounge.find(asking.path["id"])
        self._house.expiry.note_reader(live)
        you = await self._house.held(live, asking)
        version = live.version
        if "version" in query:
            version = asking.number("version", query["version"])
            if version > live.version:
                await self._house.lounge.refresh(live)
            if not 1 <= version <= live.version:
                raise Refused(
                    "notFound", f"the game has versions 1 to {live.version}", version=live.version
                )
        await self._house.presence.find(live)
        return Reply(200, _encode(live.snapshot(version, you)))

    async def lobby(self, asking: Asking) -> Reply:
        """List the games of the lobby: those whose players are there first, and of these the newest."""
        asking.query()
        house, lounge = self._house, self._house.lounge
        store = lounge.store
        attended = await house.presence.attended()
        known = {game: live.room for game in attended if (live := lounge.known(game))}
        others = [game for game in attended if game not in known][-2 * LISTED :]

        def read() -> dict[str, Room]:
            documents = (
                *store.labelled(OPEN, LISTED),
                *store.labelled(PLAYING, LISTED),
                *store.documents_named(others),
            )
            return {document.name: read_room(document.text) for document in documents}

        rooms = {**known, **await lounge.in_thread(read)}
        newest = wall_clock() - 1000 * house.settings.lobby_grace_seconds
        listed = sorted(
            [
                (game, room)
                for game, room in rooms.items()
                if game in attended or room.created > newest  # nobody may have had the time to connect
            ],
            key=lambda found: (not attended.get(found[0]), -found[1].created),
        )
        found = schemas.Lobby(
            open=[
                schemas.OpenTable(
                    id=game,
                    name=next((name for name in room.names if name), ""),
                    mark=room.free or "O",
                    first=room.first,
                    created=room.created,
                )
                for game, room in listed
                if room.label == OPEN
            ][:LISTED],
            playing=[
                schemas.Playing(id=game, X=room.names[0] or "", O=room.names[1] or "")
                for game, room in listed
                if room.label == PLAYING
            ][:LISTED],
        )
        return Reply(200, _encode(found))

    async def analyse(self, asking: Asking) -> Reply:
        """Say what each move of a position is worth, and why; or what to say of a game."""
        self._house.analyses.spend(asking.address)
        query = asking.query("board", "moves", "first")
        first = query.get("first", "X")
        if first not in MARKS:
            raise Refused("badRequest", f"first is X or O, not {quoted(first)}")
        if ("board" in query) == ("moves" in query):
            raise Refused("badRequest", "either board is given or moves, such as moves=519")
        if "board" in query:
            found = await self._house.think(lambda: analysis.position(query["board"], first))
        else:
            found = await self._house.think(lambda: analysis.game(query["moves"], first))
        return Reply(200, found)

    async def bots(self, asking: Asking) -> Reply:
        """List the bots, and exactly how strong each is."""
        asking.query()
        return Reply(200, await self._house.think(lambda: analysis.bots(self._house.roster)))

    async def health(self, _asking: Asking) -> Reply:
        """Say that the server answers, and has not lost its store."""
        self._house.check()
        return Reply(200, _encode(schemas.Health()))

    async def ready(self, _asking: Asking) -> Reply:
        """Say whether the games can be reached."""
        self._house.check()
        try:
            async with asyncio.timeout(READY):
                await self._house.lounge.in_thread(self._house.store.check)
        except TimeoutError:
            raise StoreUnavailable("the store does not answer") from None
        return Reply(200, _encode(schemas.Health()))

    async def _bot_name(self, policy: str) -> str:
        """Return what a bot is called in the record, if there is such a bot."""
        name = f"{BOT}{policy}"
        if len(name) > LONGEST_NAME or clean_name(name) != name:
            raise UnknownPolicy(f"a bot's policy is written shorter than {quoted(policy)}")
        await self._house.think(lambda: self._house.roster.seated(policy))
        return name

    async def _acting(
        self, asking: Asking, mark: MarkName | None, *, is_to_move: bool = True
    ) -> tuple[Live, MarkName]:
        """Return the game that a command is for, and the seat."""
        live = await self._house.lounge.find(asking.path["id"])
        return live, await self._house.seat(live, asking, mark, is_to_move=is_to_move)

    async def _done(self, live: Live, command: Command, version: int, key: str) -> Reply:
        is_new = key not in live.keys
        try:
            answer: Answer = await self._house.lounge.command(live, command, version=version, key=key)
        except StaleVersion as error:
            raise Refused("staleVersion", str(error), version=live.version) from None
        self._house.metrics.moves += is_new and command.__class__ is PlaceToken
        return _moved(200, answer.version, answer.events)

    def _seated(
        self,
        status: int,
        asking: Asking,
        live: Live,
        secrets: dict[MarkName, str],
        *,
        in_answer: bool,
        invite: str | None = None,
    ) -> Reply:
        """Give somebody their seat: a program gets the secret, a browser a cookie."""
        place = f"{BASE}/games/{live.id}"
        marks = [mark for mark in MARKS if mark in secrets]
        headers = [JSON, (b"location", place.encode())]
        if not in_answer:
            is_secure = asking.is_secure or self._house.settings.origin.startswith("https:")
            ending = f"Path={place}; Max-Age={YEAR}; HttpOnly; SameSite=Strict"
            headers += [
                (
                    b"set-cookie",
                    f"{mark}={secrets[mark]}; {ending}{'; Secure' if is_secure else ''}".encode(),
                )
                for mark in marks
            ]
        body = schemas.Seated(
            id=live.id,
            marks=marks,
            secrets=secrets if in_answer else None,
            invite=invite,
            game=live.snapshot(live.version, marks),
        )
        return Reply(status, _encode(body), tuple(headers))


def _asks_to_take_back(offer: Offered | None, mark: MarkName) -> bool:
    """Tell whether the opponent of that mark waits for an answer."""
    return offer is not None and offer.kind == "takeBack" and offer.mark != mark


def _log(event: str, live: Live, **more: str) -> None:
    """Write down that something happened; who has a game's whole id may watch it, so it is cut."""
    log.info(event, extra={"data": {"game": live.id[:SHORT_ID], **more}})


def _moved(status: int, version: int, events: Sequence[Event], offer: Offered | None = None) -> Reply:
    """Return what a command led to."""
    texts = serialize(events)[0].replace("\n", ",") if events else ""
    offered = f'{{"kind":"{offer.kind}","mark":"{offer.mark}"}}' if offer else "null"
    return Reply(status, f'{{"version":{version},"events":[{texts}],"offer":{offered}}}'.encode())


def _beginning(first: Mark, names: dict[MarkName, str], *, are_entered: bool) -> list[Event]:
    """Return the events with which a game begins whose players have these names."""
    events = list(decide(None, CreateGame(first, open_seats=True)))
    for mark, name in names.items():
        events += decide(fold(events), JoinGame(Mark(mark), name, is_entered=are_entered))
    return events


def _drawn(asked: schemas.Chosen) -> MarkName:
    return random.SystemRandom().choice(MARKS) if asked == "random" else asked


def _name(asked: str | None, mark: MarkName) -> str:
    """Return a person's name: nobody passes for a bot."""
    name = clean_name(f"Player {mark}" if asked is None else asked)
    if prefix(key := name_key(name)) or key in BOT_NAMES:
        raise InvalidName(f"a person cannot be called '{name}': that is the name of a bot")
    return name
