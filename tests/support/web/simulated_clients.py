"""The players and spectators of the simulation, and what they know to be right.

Each answer is compared with what the game was, in the store, between the request and the answer.
"""

from __future__ import annotations

import asyncio
import json
from functools import partial
from random import Random
from typing import Any, NamedTuple

from noughts.core.board import Mark
from noughts.core.errors import NoughtsError
from noughts.core.events import PlayerNotifyIllegalMove
from noughts.core.game import Game, PlaceToken, Resign, TakeBack, evolve
from noughts.service import judge
from noughts.store.base import StoredGame
from noughts.store.rows import read_events
from noughts.web.problems import api_error
from noughts.web.rooms import hash_secret, offer_of, room_of
from support.web.matches import position_of
from support.web.simulation import Cluster, Exchange, Process, visible, without_presence

SETTLE_SECONDS = 4.0
"""After the last fault: when all streams that had no fault of their own are live again."""

REST_SECONDS = 12.0
"""After the last fault: when a bot that rests after a failure has moved, and presence is written."""

LIVE_SECONDS = 3.5
"""How soon a stream has a change, or a bot has moved: a look every two seconds finds what was lost."""

PLAY_SECONDS = 4.0
"""After the last fault: until when new games begin."""

END_SECONDS = 120.0
"""After the last fault: when everything has ended, also for those whose connection was mute."""

GONE_SECONDS, LEFT_SECONDS = 45.0, 4.0
"""How soon nobody sees somebody any more who has vanished, or has left."""

ANSWER_SECONDS = 5.0
"""After the last fault: how soon a request is answered."""

TIMEOUT_SECONDS = 2.0
RECONNECT_SECONDS = 1.0
SILENCE_SECONDS = 25.0
LOOK_SECONDS = 1.0
GO_AWAY_SECONDS = 8.0
"""How clients behave, as the page and `noughts join` do."""

BOTS = ("random", "novice")

GIVEN_UP = 599
"""The status of a request that was not repeated any more."""


class Answer(NamedTuple):
    status: int
    json: Any
    since: int
    """The state of the game when the request was sent, of those that the store knows."""
    attempts: int


class Guests:
    """All clients of a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.random = cluster.random
        self.database = cluster.database
        self.subscribers: dict[str, list[Subscriber]] = {}
        self.acknowledged: dict[tuple[str, str], tuple[int, list[Any]]] = {}
        """By game and key of the command: the version after it, and its events."""
        self.refused: set[tuple[str, str]] = set()
        self.left = 0.0
        """When somebody has left last."""
        self._goes_on: dict[str, bool] = {}
        self._visible: dict[str, list[Any]] = {}
        """What could be seen of the room in each state of a game."""
        self._recorded: dict[str, set[tuple[int, str]]] = {}
        self.database.on_change = self._changed
        kinds = self.random.sample(("lobby", "self", *BOTS), self.random.choice([1, 2]))
        self.tables = [Table(kind, self) for kind in ("friend", *kinds)]
        self._tasks = [self.start(table.run()) for table in self.tables]
        for task in self._tasks:
            task.add_done_callback(self._end_table)
        self.is_done = False
        self.cluster.simulation.at(self.cluster.faults_end, self._plan_check)

    def start(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = self.cluster.clients.create_task(work)
        task.add_done_callback(self._note_failure)
        return task

    def _plan_check(self) -> None:
        seconds = max(0, self.cluster.last_fault - self.cluster.now)
        self.cluster.simulation.after(seconds + SETTLE_SECONDS, self.check_all_live)

    def _end_table(self, _task: asyncio.Task[None]) -> None:
        self.is_done = all(task.done() for task in self._tasks)

    def _note_failure(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception():
            self.cluster.problems.append(f"a client failed: {task.exception()!r}")

    def goes_on(self, game: str) -> bool:
        """Return whether a rematch follows; all who ask get the same answer."""
        is_early = self.cluster.now < self.cluster.faults_end + PLAY_SECONDS
        return self._goes_on.setdefault(game, is_early)

    def new_key(self) -> str:
        return f"{self.random.getrandbits(100):025x}"

    def problem(self, what: str) -> None:
        self.cluster.problems.append(f"{self.cluster.now:.2f} s: {what}")

    # What a store's state says.

    def states(self, game: str, since: int) -> list[StoredGame | None]:
        return self.database.states[game][since:]

    def visible(self, game: str) -> list[Any]:
        """Return what could be seen of a game's room, in each of its states."""
        found, states = self._visible.setdefault(game, []), self.database.states[game]
        for stored in states[len(found) :]:
            found.append(visible(stored) if stored and not stored.is_deleted else None)
        return found

    def was_recorded(self, game: str, version: int, line: str) -> bool:
        lines = self._recorded.setdefault(game, set())
        if (version, line) not in lines:
            for stored in self.database.states[game]:
                texts = "\n".join(entry.text for entry in stored.entries) if stored else ""
                lines |= {*enumerate(texts.split("\n"), 1)}
        return (version, line) in lines

    def _changed(self, stored: StoredGame) -> None:
        """Look in a few seconds whether everybody has what is recorded now."""
        now, end = self.cluster.now, self.cluster.faults_end
        if now > end + SETTLE_SECONDS:
            for one in self.subscribers.get(stored.id, ()):
                if one.is_live:
                    self.cluster.simulation.after(
                        LIVE_SECONDS, partial(one.check_live, one.exchange, stored)
                    )
        if now > end + REST_SECONDS and room_of(stored).bot_to_move(stored):
            self.cluster.simulation.after(LIVE_SECONDS, partial(self._check_bot, stored))

    def check_all_live(self) -> None:
        """Look whether all streams without a fault of their own have what was recorded a while ago."""
        since = self.cluster.now - LIVE_SECONDS
        for game, subscribers in self.subscribers.items():
            if (stored := self.database.now(game)) and self.database.changed_at[game] < since:
                for one in subscribers:
                    if one.live_since < since:
                        one.check_live(one.exchange, stored)

    def _check_bot(self, stored: StoredGame) -> None:
        if self.database.now(stored.id) is stored:
            self.problem("a turn of a bot was forgotten")

    # The end.

    def run(self) -> None:
        """Play until all games are over and everybody knows who is there, and check everything."""
        cluster = self.cluster
        cluster.run(cluster.faults_end + END_SECONDS, lambda: self.is_done)
        if not self.is_done:
            self.problem(f"games are not over: {[task.get_stack() for task in self._tasks]}")
        until = max(
            cluster.now + LIVE_SECONDS,
            cluster.vanished + GONE_SECONDS,
            self.left + LEFT_SECONDS,
            cluster.last_fault + REST_SECONDS + 1,
        )
        cluster.run(until - cluster.now)
        self.check_presence()
        self.check()
        cluster.end()

    def check(self) -> None:
        """Compare what all have been told with what is in the store."""
        for (game, key), (version, events) in self.acknowledged.items():
            stored = self.database.now(game)
            found = [one for one in stored.entries if one.key == key] if stored else []
            if len(found) != 1 or found[0].next_version != version:
                self.problem(f"a command was acknowledged once and recorded {len(found)} times")
            elif [json.loads(line) for line in found[0].text.split("\n")] != events:
                self.problem("a command was acknowledged with other events than are recorded")
        for game, key in self.refused:
            stored = self.database.now(game)
            if stored and any(one.key == key for one in stored.entries):
                self.problem("a command was refused and recorded")
        for game, subscribers in self.subscribers.items():
            stored = self.database.now(game)
            lines = [line for one in stored.entries for line in one.text.split("\n")] if stored else []
            for one in subscribers:
                if not one.has_gone and one.lines != lines:
                    self.problem(f"a stream has {len(one.lines)} of {len(lines)} events")
        for table in self.tables:
            for game in table.games:
                stored = self.database.now(game)
                if stored is None or not stored.game.is_over:
                    self.problem(f"a game has not come to its end: {stored}")
            if not table.games:
                self.problem(f"a game was never created or joined: {table.kind}")

    def check_presence(self) -> None:
        """Compare who is shown as present with who is."""
        for game, subscribers in self.subscribers.items():
            there = [one for one in subscribers if not one.has_gone]
            for one in there:
                marks = [other.mark for other in there]
                stored = self.database.now(game)
                if one.room is None or stored is None:
                    self.problem("a stream never had a room")
                    continue
                for mark in ("X", "O"):
                    expected = mark in marks or room_of(stored).seat(mark).bot is not None
                    if one.room["seats"][mark]["present"] != expected:
                        self.problem(f"{mark} is shown as present: {not expected}")
                if one.room["watching"] != marks.count(""):
                    self.problem(f"{one.room['watching']} are watching, and not {marks.count('')}")
                if without_presence(one.room) != self.visible(game)[-1]:
                    self.problem("the room on a stream is not the room of the game")


def refusal(stored: StoredGame | None, what: str, secret: str, body: dict[str, Any]) -> str | None:
    """Return the code with which a command must be refused in a state; None if it is allowed there."""
    if stored is None or stored.is_deleted:
        return "notFound"
    room, game = room_of(stored), stored.game
    if what == "join":
        invite = body["invite"] and hash_secret(body["invite"])
        if not (room.open if invite is None else room.invite == invite):
            return "notFound"
        if hash_secret(body["key"]) in (room.X.key, room.O.key):
            return None
        if room.free is None:
            return "seatTaken" if invite is None else "notFound"
        return "alreadyOver" if game.is_over else None
    held = room.held((secret,))
    if not held:
        return "notFound"
    mark = Mark(held[0])
    match what:
        case "rematch":
            return None if game.is_over else "notOver"
        case "moves":
            if not game.is_ready:
                return "notReady"
            command: PlaceToken | Resign | TakeBack = PlaceToken(mark, body["cell"])
        case "resign":
            command = Resign(mark)
        case "take-back":
            command = TakeBack(mark)
        case _:
            offer = offer_of(stored)
            is_theirs = offer and offer.kind == "takeBack" and offer.mark != mark.value
            return None if is_theirs else "noOffer"
    try:
        answer, _ = judge(stored, command, version=body["version"], key=body["key"], at=0)
    except NoughtsError as error:
        return api_error(error).code
    event = answer.events[0]
    return event.reason.value if isinstance(event, PlayerNotifyIllegalMove) else None


class Caller:
    """Sends requests, at the same process until one is not answered, or the mood changes."""

    def __init__(self, guests: Guests, secret: str = "") -> None:
        self.guests = guests
        self.cluster = guests.cluster
        self.secret = secret
        self._process: Process | None = None

    async def ask(
        self, method: str, path: str, game: str, body: object = None, patience: float = 1.0
    ) -> Answer:
        """Repeat a request until its outcome is known, or with some chance not any more."""
        begin, attempts, random = self.cluster.now, 0, self.cluster.random
        if random.random() < 0.1:
            self._process = None
        while True:
            attempts += 1
            since = self.guests.database.begin(game)
            found = await self._try(method, path, body)
            if found and found[0] < 500:
                break
            if found and found[0] != 503:
                self.guests.problem(f"{method} {path} was answered with {found}")
            if random.random() >= patience:
                return Answer(GIVEN_UP, {}, since, attempts)
            self._process = None
            await asyncio.sleep(random.choice([0.01, 0.1, 0.5]))
        waited = self.cluster.now - max(begin, self.cluster.last_fault)
        if waited > ANSWER_SECONDS:
            self.guests.problem(f"an answer took {waited:.1f} s")
        return Answer(found[0], json.loads(found[1]), since, attempts)

    async def _try(self, method: str, path: str, body: object) -> tuple[int, bytes] | None:
        if self._process is None or not self._process.is_running:
            self._process = self.cluster.any_process()
        if self._process is None:
            return None
        exchange = self._process.request(method, path, self.secret, body)
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                start = await exchange.next()
                content = await exchange.next()
        except (TimeoutError, ConnectionError):
            return None
        finally:
            exchange.close()
        return start["status"], content["body"]

    async def command(self, game: str, what: str, body: dict[str, Any]) -> Answer:
        """Send a command, and check its answer."""
        guests = self.guests
        patience = 1.0 if what in ("join", "rematch") else 0.8
        answer = await self.ask("POST", f"/games/{game}/{what}", game, body, patience)
        if answer.status == GIVEN_UP:
            pass
        elif answer.status >= 400:
            self._check_refusal(game, what, body, answer)
            if answer.attempts == 1:
                guests.refused.add((game, body["key"]))
        elif answer.json.get("events"):
            guests.acknowledged[game, body["key"]] = answer.json["version"], answer.json["events"]
        return answer

    def _check_refusal(self, game: str, what: str, body: dict[str, Any], answer: Answer) -> None:
        """Compare a refusal with what was in the store between the request and the answer."""
        code, version = answer.json["code"], answer.json.get("version")
        for stored in self.guests.states(game, answer.since):
            if code == refusal(stored, what, self.secret, body) and (
                version is None or (stored and version == stored.version)
            ):
                return
        self.guests.problem(
            f"{what} was refused with {code} at {version}, which the store never justified"
        )

    async def look(self, game: str, mark: str) -> None:
        """Read a game, and check that it is as it was in the store."""
        answer = await self.ask("GET", f"/games/{game}", game)
        room = without_presence(answer.json["room"]) if answer.status == 200 else None
        for number, stored in enumerate(self.guests.states(game, answer.since), answer.since):
            if stored is None:
                if answer.status == 404:
                    return
            elif (
                answer.status == 200
                and answer.json["version"] == stored.version
                and answer.json["moves"] == [*stored.game.moves]
                and "".join(answer.json["you"]) == mark
                and room == self.guests.visible(game)[number]
            ):
                return
        self.guests.problem(f"a game was read as it was not: {answer}")


class Subscriber:
    """Follows a game; reconnects when the stream ends or falls silent."""

    def __init__(self, guests: Guests, game: str, mark: str = "", secret: str = "") -> None:
        self.guests = guests
        self.cluster = guests.cluster
        self.id = game
        self.mark = mark
        self.secret = secret
        self.lines: list[str] = []
        """The events that have come."""
        self.game: Game | None = None
        self.room: Any = None
        self.exchange: Exchange | None = None
        self.has_gone = False
        self.live_since = 0.0
        self._is_connected = False
        self._failovers = 0
        self._state = 0
        """The first state of the game whose room may be shown now."""
        self._news = asyncio.Event()
        guests.subscribers.setdefault(game, []).append(self)
        self._task = guests.start(self._follow())

    @property
    def is_live(self) -> bool:
        return bool(
            self._is_connected
            and self.exchange
            and not (self.exchange.is_cut or self.exchange.is_mute or self.exchange.is_stalled)
        )

    def check_live(self, exchange: Exchange | None, stored: StoredGame) -> None:
        if self.exchange is exchange and self.is_live and len(self.lines) < stored.version:
            self.guests.problem(f"a stream is late: {len(self.lines)} of {stored.version} events")

    async def wait(self, seconds: float) -> None:
        """Wait for something new, or until the time is up."""
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            pass

    def leave(self, *, vanishes: bool) -> None:
        self.has_gone = True
        self.guests.left = self.cluster.now
        if self.exchange:
            if vanishes:
                self.exchange.mute()
            self.exchange.close()
        self._task.cancel()

    async def _follow(self) -> None:
        while True:
            if self.cluster.database.failovers > self._failovers:  # as a page that is loaded again
                self._failovers = self.cluster.database.failovers
                self.lines, self.game, self._state = [], None, 0
            since = self.guests.database.begin(self.id)
            if process := self.cluster.any_process():
                last = {"last-event-id": str(len(self.lines))}
                self.exchange = process.request("GET", f"/games/{self.id}/events", self.secret, **last)
                try:
                    await self._read(self.exchange, since)
                except (ConnectionError, TimeoutError):
                    pass
                finally:
                    self._is_connected = False
                    self.exchange.close()
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _read(self, exchange: Exchange, since: int) -> None:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            status = (await exchange.next())["status"]
            if status != 200:
                self._check_refusal(status, await exchange.next(), since)
                return
        self._state = max(self._state, since)
        buffer, heard = b"", self.cluster.now
        while True:
            try:
                async with asyncio.timeout_at(heard + SILENCE_SECONDS):
                    message = await exchange.next()
            except TimeoutError:
                if exchange.is_stalled:  # it does not look at its clock meanwhile, either
                    heard = self.cluster.now
                    continue
                if not exchange.is_mute:
                    self.guests.problem("a stream was silent without a fault")
                raise
            if not message.get("more_body", True):
                if not self.cluster.database.failovers:
                    self.guests.problem("a server ended a stream")
                return
            *frames, buffer = (buffer + message["body"]).split(b"\n\n")
            for frame in frames:
                lines = [line for line in frame.decode().split("\n") if not line.startswith(":")]
                fields = dict(line.split(": ", 1) for line in lines)
                if fields.keys() - {"retry"}:
                    heard = self.cluster.now
                self._take(fields, since)
            self._news.set()
            self._news.clear()

    def _check_refusal(self, status: int, message: Any, since: int) -> None:
        if status == 503:
            return
        code = json.loads(message["body"])["code"]
        for stored in self.guests.states(self.id, since):
            if code == ("notFound" if stored is None else "staleVersion") and (
                stored is None or stored.version < len(self.lines)
            ):
                return
        self.guests.problem(f"a stream was refused with {code}, which the store never justified")

    def _take(self, fields: dict[str, str], since: int) -> None:
        match fields.get("event"):
            case None if "id" in fields:
                version, line = int(fields["id"]), fields["data"]
                if version != len(self.lines) + 1:
                    self.guests.problem(f"event {version} came after event {len(self.lines)}")
                elif not self.guests.was_recorded(self.id, version, line):
                    self.guests.problem(f"event {version} was sent, and never recorded")
                else:
                    self.lines.append(line)
                    self.game = evolve(self.game, *read_events(line))
            case "position":
                self._take_position(json.loads(fields["data"]), since)
            case "room":
                self._take_room(json.loads(fields["data"]))

    def _take_position(self, position: Any, since: int) -> None:
        game = self.game
        assert game
        expected = position_of(game, len(self.lines))
        if position != expected:
            self.guests.problem(f"a stream said {position}, and its events {expected}")
        if not self._is_connected:
            self._is_connected, self.live_since = True, self.cluster.now
            versions = [one.version if one else 0 for one in self.guests.states(self.id, since)]
            if len(self.lines) < min(versions):
                self.guests.problem(f"a stream began at {len(self.lines)} instead of {versions[0]}")

    def _take_room(self, room: Any) -> None:
        self.room = room
        seen, states = without_presence(room), self.guests.visible(self.id)
        if seen in states[self._state :]:
            self._state = states.index(seen, self._state)
        else:
            self.guests.problem(f"a stream showed a room that was not there, or not any more: {seen}")


class Table:
    """People who play with each other, one game after another, and a spectator."""

    def __init__(self, kind: str, guests: Guests) -> None:
        self.kind = kind
        self.guests = guests
        self.games: list[str] = []

    async def run(self) -> None:
        guests = self.guests
        opponent = {"opponent": "bot", "bot": self.kind} if self.kind in BOTS else {"opponent": self.kind}
        wanted = {
            **opponent,
            "first": guests.random.choice("XO"),
            "key": guests.new_key(),
            "secret": True,
        }
        created = await Caller(guests).ask("POST", "/games", "", wanted)
        assert created.status == 201, created
        seat = created.json
        game = seat["id"]
        self.games.append(game)
        players = [Player(self, mark, seat["secrets"][mark], game) for mark in seat["marks"]]
        if self.kind in ("friend", "lobby"):
            friend = Caller(guests)
            if self.kind == "lobby":
                await self._find(game, players[0].line, friend)
            body = {"invite": seat["invite"], "key": guests.new_key(), "secret": True}
            joined = await friend.command(game, "join", body)
            assert joined.status == 200, joined
            secret, version = joined.json["secrets"]["O"], joined.json["game"]["version"]
            if guests.random.random() < 0.8:  # a program that does not look first
                move = {"cell": 4, "version": version, "key": guests.new_key()}
                await Caller(guests, secret).command(game, "moves", move)
            players.append(Player(self, "O", secret, game))
        self._spectator = Subscriber(guests, game)
        if guests.random.random() < 0.3:
            guests.start(self._look_on())
        await asyncio.gather(*(player.play() for player in players))

    async def _look_on(self) -> None:
        """Read the game again and again, as long as there are faults."""
        caller = Caller(self.guests)
        while self.guests.cluster.now < self.guests.cluster.faults_end:
            await caller.look(self.games[-1], "")
            await asyncio.sleep(self.guests.random.uniform(0, 0.3))

    def go_on(self, game: str) -> None:
        """Have the spectator watch the next game, too."""
        if game not in self.games:
            self.games.append(game)
            self._spectator.leave(vanishes=False)
            self._spectator = Subscriber(self.guests, game)

    async def _find(self, game: str, line: Subscriber, friend: Caller) -> None:
        """Look into the lobby until the game is there."""
        cluster, is_there = self.guests.cluster, False
        while True:
            lobby = await friend.ask("GET", "/games", "")
            if any(one["id"] == game for one in lobby.json["open"]):
                return
            since = max(cluster.faults_end, line.live_since)
            if is_there and line.is_live and cluster.now > since + REST_SECONDS:
                self.guests.problem("the lobby does not list a game whose player is there")
                return
            is_there = line.is_live
            await asyncio.sleep(LOOK_SECONDS)


class Player:
    """Moves on its turn, and sometimes out of turn."""

    def __init__(self, table: Table, mark: str, secret: str, game: str) -> None:
        self._table = table
        self._guests = table.guests
        self._cluster = table.guests.cluster
        self._random = Random(self._cluster.random.random())
        self._mark = mark
        self._caller = Caller(self._guests, secret)
        self._game = game
        self._tried = 0
        """The version at which it has moved out of turn."""
        self._is_eager = self._random.random() < 0.5
        """True for a program that moves at once, even before its opponent has."""
        self.line = Subscriber(self._guests, game, mark, secret)

    async def play(self) -> None:
        """Play games, and finish the last."""
        while True:
            while not (self.line.game and self.line.game.is_over):
                if not await self._act():
                    await self.line.wait(LOOK_SECONDS)
            if self._guests.goes_on(self._game):
                await self._play_again()
            elif (await self._caller.ask("GET", f"/games/{self._game}", self._game)).json["over"]:
                return
            else:  # its end was lost: the stream will say so
                await self.line.wait(LOOK_SECONDS)

    async def _play_again(self) -> None:
        guests, game = self._guests, self._game
        body = {"key": guests.new_key(), "secret": True}
        while (answer := await self._caller.command(game, "rematch", body)).status not in (200, 201):
            await self.line.wait(LOOK_SECONDS)
            if answer.status != 202:  # its end was lost
                return
        self._game = answer.json["id"]
        self._table.go_on(self._game)
        self.line.leave(vanishes=self._random.random() < 0.1)
        self.line = Subscriber(guests, self._game, self._mark, self._caller.secret)

    async def _act(self) -> bool:
        """Do something, if there is something to do."""
        game, room = self.line.game, self.line.room
        if game is None or room is None or not game.is_ready:
            return False
        is_calm = self._cluster.now > self._cluster.faults_end
        wild = self._random.random() if not is_calm else 1.0
        offer = room["offer"]
        if offer and offer["kind"] == "takeBack" and offer["mark"] != self._mark:
            body = {"accept": self._random.random() < 0.5, "key": self._guests.new_key()}
            await self._caller.command(self._game, "take-back/answer", body)
            return True
        if wild < 0.05:
            await self._caller.look(self._game, self._mark)
        version = len(self.line.lines)
        if game.board.turn.value != self._mark:
            if wild < 0.1 and len(game.moves) > 1:
                return await self._do("take-back", {"version": version})
            if not self._is_eager or is_calm or self._tried == version:
                return False
            self._tried = version
            version += 3  # what the opponent's move will make it
        if not self._is_eager or is_calm:
            await asyncio.sleep(self._random.uniform(0, 2.0 if is_calm else 0.3))
            if len(self.line.lines) != version:
                return True  # it has gone on meanwhile: think again
        if wild < 0.12:
            return await self._do("resign", {"version": version})
        cells = range(9) if wild < 0.2 else game.board.free_cells
        return await self._do("moves", {"version": version, "cell": self._random.choice([*cells])})

    async def _do(self, what: str, body: dict[str, Any]) -> bool:
        command = {"key": self._guests.new_key(), **body}
        answer = await self._caller.command(self._game, what, command)
        if answer.status == GIVEN_UP:
            await asyncio.sleep(self._random.uniform(0, GO_AWAY_SECONDS))
        return answer.status < 400 and bool(answer.json["events"])
