"""Simulates a cluster with the server's real code, from the bytes of a request to the commit.

A run draws everything from its seed: when commits finish, fail or hang, when bytes arrive, when streams
are cut, muted or not read, how long bots think, when processes are killed, and what players do. It checks
that nothing acknowledged is lost or duplicated, that nothing refused is recorded, and that streams match
the record; and, once the last fault is over, that everybody makes progress.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Any

import httptools

from noughts.core.codec import loads
from noughts.core.errors import NoughtsError
from noughts.core.game import Game, evolve
from noughts.store.appends import Append
from noughts.store.errors import StoreUnavailable
from noughts.store.memory import MemoryStore
from noughts.web.app import App
from noughts.web.http import Connection
from noughts.web.server import Server
from noughts.web.settings import Settings
from noughts.web.world import World
from support.web.serving import LIMITS
from support.web.simulated_time import SimulatedLoop, Simulation

EPOCH_MS = 1_800_000_000_000
MOVE_SECONDS, EVENT_SECONDS = 5.0, 30.0
"""After the last fault: how soon a move is answered, and how soon all clients have every event."""

RESPONSE_TIMEOUT_SECONDS = 2.0
RETRY_SECONDS = 0.5
RECONNECT_SECONDS = 1.0
SILENCE_SECONDS = 25.0
"""How a client behaves, as the page and `noughts join` do."""

FAULTS = (
    "commit fails, not written", "commit fails, written", "commit hangs", "read fails", "bot fails",
    "connection cut", "connection mute", "reader stalls", "notification lost", "process killed",
)  # fmt: skip


class Cluster:
    """Processes that share a store, and their clients."""

    def __init__(self, seed: int) -> None:
        self.simulation = Simulation(seed)
        self.random = self.simulation.random
        self.store = MemoryStore()
        self.faults: Counter[str] = Counter()
        self.problems: list[str] = []
        self.faults_end = self.random.uniform(5, 25)
        self.last_fault = 0.0
        kinds = [kind for kind in FAULTS if self.random.random() < 0.5]
        self._chances = {kind: self.random.choice([0.02, 0.1, 0.3]) for kind in kinds}
        self.processes = [Process(self) for _ in range(self.random.choice([1, 2]))]
        for process in self.processes:
            process.start()
        self.games = [Match(self, bot) for bot in (None, "random", "novice")]
        self._plan_kills()

    def is_hit(self, kind: str) -> bool:
        if self.simulation.now >= self.faults_end or self.random.random() >= self._chances.get(kind, 0):
            return False
        self.count(kind)
        return True

    def count(self, kind: str) -> None:
        self.faults[kind] += 1
        self.last_fault = self.simulation.now

    def _plan_kills(self) -> None:
        if "process killed" in self._chances:
            for _ in range(self.random.randint(1, 3)):
                process = self.random.choice(self.processes)
                self.simulation.after(self.random.uniform(0, self.faults_end), process.kill)

    def delay(self) -> float:
        """Return how long something takes: very little, or nothing at all."""
        return self.random.choice([0.0, 0.0, 0.0, 0.0005, 0.002, self.random.uniform(0, 0.05)])

    def any_process(self) -> Process | None:
        running = [process for process in self.processes if process.is_running]
        return self.random.choice(running) if running else None

    def notify(self, writer: Process, names: set[str]) -> None:
        """Notify the other processes of a change, after a random delay."""
        for process in self.processes:
            if process is not writer:
                if self.is_hit("notification lost"):
                    self.simulation.after(2.0, partial(process.changed, None))  # like the store's polling
                else:
                    self.simulation.after(self.delay(), partial(process.changed, names))

    def run(self) -> None:
        self.simulation.run(self.faults_end + EVENT_SECONDS + MOVE_SECONDS + 5)
        for process in self.processes:
            self.problems += process.problems()
        for game in self.games:
            game.check()


async def _close() -> None:
    """Do nothing: processes are killed, not closed."""


class Process:
    """A server process."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.is_running = False
        self.connections: dict[SimulatedConnection, None] = {}
        self._failures: list[dict[str, Any]] = []
        self._missed_turns = 0

    def start(self) -> None:
        cluster, random = self.cluster, Random(self.cluster.random.random())
        self.loop = SimulatedLoop(cluster.simulation)  # type: ignore[abstract]  # the rest is not used
        self._changed: set[str] | None = set()
        self._waiting: asyncio.Future[set[str] | None] | None = None
        store = cluster.store
        shared = int(len(cluster.processes) > 1)
        world = World(
            settings=Settings(**dict.fromkeys(LIMITS, 0), expire_days=0, shared=shared),  # type: ignore[arg-type]  # numbers
            store=StoreView(store, partial(cluster.notify, self)),  # type: ignore[arg-type]  # it acts as one
            reading=Threads(self, "read fails"),
            writing=WritingThread(self),
            thinking=Threads(self, "bot fails"),
            changes=self._changes,
            documents_cursor=store.documents_end(),
            end=self._end,
            close=_close,
            clock=lambda: EPOCH_MS + int(cluster.simulation.now * 1000),
            new_id=lambda: f"{random.getrandbits(128):032x}",
            random=random,
        )
        self.app: App = self.loop.start(lambda: App(world, {}))
        self.server: Server = self.loop.start(lambda: Server(self.app, Connection, 0))
        self.is_running = True

    def kill(self) -> None:
        if self.is_running:
            self.cluster.count("process killed")
            self._failures += self.loop.failures
            self._missed_turns += self.app.bots.missed
            self.is_running = False
            self.loop.kill()
            for connection in tuple(self.connections):
                connection.cut()
            self.cluster.simulation.after(self.cluster.random.uniform(0.1, 2), self.start)

    def _end(self, error: NoughtsError) -> None:
        self.cluster.problems.append(f"a process has given up: {error}")

    def problems(self) -> list[str]:
        """Return the errors of callbacks and tasks, and whether only a periodic check found a turn."""
        missed = self._missed_turns + self.app.bots.missed * self.is_running
        failures = [f"unnoticed failure: {one}" for one in self._failures + self.loop.failures]
        return failures + ["a turn of a bot was missed"] * bool(missed)

    def connect(self, client: Client) -> SimulatedConnection:
        connection = SimulatedConnection(self, client)
        self.connections[connection] = None
        return connection

    def changed(self, names: set[str] | None) -> None:
        """Note a change by another process; None for an unknown one."""
        if self._changed is None or names is None:
            self._changed = None
        else:
            self._changed |= names
        self._pass_on()

    def _changes(self) -> asyncio.Future[set[str] | None]:
        self._waiting = self.loop.create_future()
        self._pass_on()
        return self._waiting

    def _pass_on(self) -> None:
        if self._waiting and not self._waiting.done() and self._changed != set():
            changed, self._changed = self._changed, set()
            self._waiting.set_result(changed)


class StoreView:
    """One process's view of the shared store."""

    def __init__(self, store: MemoryStore, on_write: Callable[[set[str]], None]) -> None:
        self._store = store
        self._on_write = on_write

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def record(self, items: Sequence[Any]) -> None:
        self._store.record(items)
        self._on_write({one.game if isinstance(one, Append) else one.document.name for one in items})


def _fail() -> None:
    raise StoreUnavailable("the simulation says so")


class Threads:
    """Threads whose work takes simulated time."""

    def __init__(self, process: Process, fault: str = "") -> None:
        self._process = process
        self._cluster = process.cluster
        self._fault = fault

    def run(self, work: Callable[[], Any]) -> asyncio.Future[Any]:
        """Run the work after a delay, unless the process is killed first."""
        done: asyncio.Future[Any] = self._process.loop.create_future()
        self._soon(partial(self._do, work, done))
        return done

    def _do(self, work: Callable[[], Any], done: asyncio.Future[Any]) -> None:
        self._finish(_fail if self._cluster.is_hit(self._fault) else work, done)

    def _finish(self, work: Callable[[], Any], done: asyncio.Future[Any]) -> None:
        try:
            settle = partial(done.set_result, work())
        except Exception as failure:  # noqa: BLE001 - raised where the result is awaited
            settle = partial(done.set_exception, failure)
        self._soon(lambda: done.done() or settle())

    def _soon(self, action: Callable[[], object]) -> None:
        loop = self._process.loop

        def act() -> None:
            if not loop.is_killed:
                action()

        delay = self._cluster.delay()
        if delay:
            self._cluster.simulation.after(delay, act)
        else:
            act()


class WritingThread(Threads):
    """The thread that commits."""

    def _do(self, work: Callable[[], Any], done: asyncio.Future[Any]) -> None:
        cluster = self._cluster
        if cluster.is_hit("commit fails, not written"):
            self._finish(_fail, done)
        elif cluster.is_hit("commit fails, written"):
            work()
            self._finish(_fail, done)
        elif cluster.is_hit("commit hangs"):
            if cluster.random.random() < 0.5:
                work()
            cluster.simulation.after(cluster.random.uniform(0.5, 3), self._process.kill)
        else:
            self._finish(work, done)


class SimulatedConnection(asyncio.Transport):
    """A connection between a client and a process, with a network between them."""

    def __init__(self, process: Process, client: Client) -> None:
        super().__init__()
        self._process = process
        self._loop = process.loop
        self._cluster = process.cluster
        self._client = client
        self._times = {"up": 0.0, "down": 0.0}
        self._held: list[bytes] | None = None
        """What the server does not read now."""
        self.is_mute = self.is_stalled = self._is_closing = self._is_cut = False
        self._server_side = Connection(process.server)
        self._loop.start(lambda: self._server_side.connection_made(self))
        faults = {"connection cut": self.cut, "connection mute": self._mute, "reader stalls": self._stall}
        for kind, happen in faults.items():
            if self._cluster.is_hit(kind):
                self._cluster.simulation.after(self._cluster.random.uniform(0, 5), happen)

    def _mute(self) -> None:
        if not self._is_cut:
            self._cluster.count("connection mute")
            self.is_mute = True

    def _stall(self) -> None:
        if not self._is_cut:
            self._cluster.count("reader stalls")
            self.is_stalled = True
            self._in_loop(self._server_side.pause_writing)

    def cut(self) -> None:
        if not self._is_cut:
            self._is_cut = True
            self._process.connections.pop(self, None)
            self._in_loop(partial(self._server_side.connection_lost, None))
            self._cluster.simulation.after(self._cluster.delay(), partial(self._client.lost, self))

    def _in_loop(self, action: Callable[[], object]) -> None:
        if not self._loop.is_killed:
            self._loop.call_soon(action)

    def _carry(self, way: str, action: Callable[[], None]) -> None:
        """Have something arrive at the other end, in order."""
        simulation = self._cluster.simulation
        self._times[way] = max(self._times[way], simulation.now + self._cluster.delay())
        simulation.at(self._times[way], action)

    # The client's end

    def send(self, data: bytes) -> None:
        """Send bytes to the server, in one piece or two."""
        place = self._cluster.random.choice([len(data), self._cluster.random.randrange(len(data) + 1)])
        for piece in (data[:place], data[place:]):
            if piece:
                self._carry("up", partial(self._arrive, piece))

    def _arrive(self, piece: bytes) -> None:
        if self._is_cut or self.is_mute:
            return
        if self._held is not None:
            self._held.append(piece)
        else:
            self._in_loop(partial(self._server_side.data_received, piece))

    # The server's end

    def write(self, data: bytes) -> None:  # type: ignore[override]  # it is given bytes
        if not (self._is_cut or self.is_stalled):
            self._carry("down", partial(self._deliver, data))

    def _deliver(self, data: bytes) -> None:
        if not (self._is_cut or self.is_mute or self.is_stalled):
            self._client.received(self, data)

    def close(self) -> None:
        if not self._is_closing:
            self._is_closing = True
            self._carry("down", self.cut)

    abort = close

    def is_closing(self) -> bool:
        return self._is_closing or self._is_cut

    def pause_reading(self) -> None:
        self._held = self._held or []

    def resume_reading(self) -> None:
        held, self._held = self._held or [], None
        for piece in held:
            self._arrive(piece)

    def get_extra_info(self, name: str, default: object = None) -> Any:
        return ("127.0.0.1", 1) if name == "peername" else default

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...


class Client:
    """The client's end of connections; it parses responses."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.simulation = cluster.simulation
        self.connection: SimulatedConnection | None = None
        self._parser: httptools.HttpResponseParser | None = None

    def open(self) -> bool:
        """Connect to any process; return False if there is none."""
        process = self.cluster.any_process()
        if process is None:
            return False
        self._parser = httptools.HttpResponseParser(self)
        self.connection = process.connect(self)
        return True

    def received(self, connection: SimulatedConnection, data: bytes) -> None:
        if connection is self.connection and self._parser:
            self._parser.feed_data(data)

    def lost(self, connection: SimulatedConnection) -> None:
        if connection is self.connection:
            self.connection = None
            self.on_lost()

    def on_lost(self) -> None:
        """Handle a lost connection."""

    def on_body(self, body: bytes) -> None:
        """Handle a part of a body."""


class Caller(Client):
    """Sends one request after another, each until it is answered."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        self._request = b""
        self._body = b""
        self._number = 0
        self._on_answer: Callable[[int, Any], None] = lambda _status, _body: None
        self.is_busy = False
        self.since = 0.0

    def post(self, path: str, body: object, secret: str, on_answer: Callable[[int, Any], None]) -> None:
        """Repeat a request until its outcome is known."""
        content = json.dumps(body).encode()
        self._request = (
            f"POST /api/v1{path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {secret}\r\nContent-Length: {len(content)}\r\n\r\n"
        ).encode() + content
        self._on_answer = on_answer
        self.is_busy = True
        self.since = self.simulation.now
        self._try()

    def _try(self) -> None:
        self._number += 1
        self._body = b""
        number = self._number
        if self.connection is None and not self.open():
            self.simulation.after(RETRY_SECONDS, partial(self._again, number))
            return
        assert self.connection
        self.connection.send(self._request)
        self.simulation.after(RESPONSE_TIMEOUT_SECONDS, partial(self._again, number))

    def _again(self, number: int) -> None:
        if self.is_busy and number == self._number:
            self.connection = None
            self._try()

    def on_lost(self) -> None:
        if self.is_busy:
            self.simulation.after(RETRY_SECONDS, partial(self._again, self._number))

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        """Handle the answer, or retry if the server failed."""
        assert self._parser
        status = self._parser.get_status_code()
        if status >= 500:
            if status == 500:
                self.cluster.problems.append("a request was answered with 500")
            self.simulation.after(RETRY_SECONDS, partial(self._again, self._number))
            return
        waited = self.simulation.now - max(self.since, self.cluster.faults_end)
        if waited > MOVE_SECONDS:
            self.cluster.problems.append(f"an answer took {waited:.1f} s")
        self.is_busy = False
        self._number += 1
        self._on_answer(status, json.loads(self._body))


class Subscriber(Client):
    """Follows a game; reconnects when the stream ends or falls silent."""

    def __init__(self, match: Match, secret: str | None, on_event: Callable[[], None]) -> None:
        super().__init__(match.cluster)
        self._match = match
        self._secret = secret
        self._on_event = on_event
        self.lines: list[str] = []
        """The events that have come."""
        self.game: Game | None = None
        self._buffer = b""
        self._heard = 0.0
        self._number = 0
        self.connect()

    def connect(self) -> None:
        self._number += 1
        self._buffer = b""
        if not self.open():
            self.simulation.after(RECONNECT_SECONDS, self.connect)
            return
        assert self.connection
        secret = f"Authorization: Bearer {self._secret}\r\n" if self._secret else ""
        self.connection.send(
            f"GET /api/v1/games/{self._match.id}/events HTTP/1.1\r\nHost: x\r\n{secret}"
            f"Last-Event-ID: {len(self.lines)}\r\n\r\n".encode()
        )
        self._heard = self.simulation.now
        self._watch(self._number)

    def _watch(self, number: int) -> None:
        if number != self._number:
            return
        silence = self.simulation.now - self._heard
        if silence < SILENCE_SECONDS:
            self.simulation.after(SILENCE_SECONDS - silence + 0.001, partial(self._watch, number))
            return
        if self.connection and not self.connection.is_mute and not self.connection.is_stalled:
            self.cluster.problems.append("a stream was silent without a fault")
        self.connection = None
        self.connect()

    def on_lost(self) -> None:
        self._number += 1
        self.simulation.after(RECONNECT_SECONDS, self._reconnect)

    def _reconnect(self) -> None:
        if self.connection is None:
            self.connect()

    def on_message_complete(self) -> None:
        """Handle the end or the refusal of the stream."""
        self.connection = None
        self.on_lost()

    def on_body(self, body: bytes) -> None:
        assert self._parser
        if self._parser.get_status_code() != 200:
            if self._parser.get_status_code() != 503:
                self.cluster.problems.append(f"a stream was refused: {body!r}")
            return
        self._buffer += body
        *messages, self._buffer = self._buffer.split(b"\n\n")
        for message in messages:
            fields = dict(line.split(": ", 1) for line in message.decode().split("\n") if line[0] != ":")
            if fields.keys() - {"retry"}:
                self._heard = self.simulation.now
            if "id" in fields:
                self._take(int(fields["id"]), fields["data"])

    def _take(self, version: int, data: str) -> None:
        if version != len(self.lines) + 1:
            self.cluster.problems.append(f"event {version} came after event {len(self.lines)}")
            return
        self.lines.append(data)
        self.game = evolve(self.game, loads(data))
        self._on_event()


class Match:
    """A game of two clients, or of one and a bot, with a spectator."""

    def __init__(self, cluster: Cluster, bot: str | None) -> None:
        self.cluster = cluster
        self.bot = bot
        self.id = ""
        self.players: list[Player] = []
        self.subscribers: list[Subscriber] = []
        self._caller = Caller(cluster)
        opponent = {"opponent": "bot", "bot": bot} if bot else {"opponent": "friend"}
        body = {**opponent, "key": self.new_key(), "secret": True}
        self._caller.post("/games", body, "", self._created)

    def new_key(self) -> str:
        return f"{self.cluster.random.getrandbits(100):025x}"

    def _created(self, status: int, seat: Any) -> None:
        assert status == 201, seat
        self.id = seat["id"]
        self._seat("X", seat["secrets"]["X"])
        self.subscribers.append(Subscriber(self, None, lambda: None))
        if not self.bot:
            body = {"invite": seat["invite"], "key": self.new_key(), "secret": True}
            self._caller.post(f"/games/{self.id}/join", body, "", self._joined)

    def _joined(self, status: int, seat: Any) -> None:
        assert status == 200, seat
        self._seat("O", seat["secrets"]["O"])

    def _seat(self, mark: str, secret: str) -> None:
        player = Player(self, mark, secret)
        self.players.append(player)
        self.subscribers.append(player.subscriber)

    def check(self) -> None:
        """Compare what all clients have seen with the record."""
        problems = self.cluster.problems
        if not self.id or len(self.players) < 2 - bool(self.bot):
            problems.append("a game was never created or joined")
            return
        records = self.cluster.store.read(self.id)
        lines = [line for record in records for line in record.text.split("\n")]
        for subscriber in self.subscribers:
            if subscriber.lines != lines:
                problems.append(f"a subscriber has {len(subscriber.lines)} of {len(lines)} events")
        found = Counter(record.key for record in records)
        versions = {record.key: record.next_version for record in records}
        for player in self.players:
            for key, version in player.acknowledged.items():
                if found[key] != 1 or versions[key] != version:
                    problems.append(f"a move was acknowledged once and recorded {found[key]} times")
            if any(found[key] for key in player.refused):
                problems.append("a move was refused and recorded")
        game = self.players[0].subscriber.game
        if game is None or not game.is_over:
            problems.append(f"a game has not come to its end: {game}")


class Player:
    """Moves on its turn, and sometimes out of turn."""

    def __init__(self, match: Match, mark: str, secret: str) -> None:
        self._match = match
        self._mark = mark
        self._secret = secret
        self._random = match.cluster.random
        self._caller = Caller(match.cluster)
        self.acknowledged: dict[str, int] = {}
        self.refused: set[str] = set()
        self._is_eager = self._random.random() < 0.5
        """True for a program that moves at once, even before its opponent has."""
        self.subscriber = Subscriber(match, secret, self._think)
        self._look()

    def _think(self) -> None:
        delay = 0.0 if self._is_eager else self._random.uniform(0, 0.3)
        self._match.cluster.simulation.after(delay, self._act)

    def _look(self) -> None:
        """Look at the board every second, like a client whose move was refused."""
        self._act()
        self._match.cluster.simulation.after(1.0, self._look)

    def _act(self) -> None:
        game = self.subscriber.game
        if game is None or self._caller.is_busy or game.is_over or not game.is_ready:
            return
        version = len(self.subscriber.lines)
        if game.board.turn.value != self._mark:
            if not self._is_eager:
                return
            version += 3  # what the opponent's move will make it
        cells = game.board.free_cells if self._random.random() < 0.9 else range(9)
        key = self._match.new_key()
        body = {"cell": self._random.choice([*cells]), "version": version, "key": key}
        self._caller.post(
            f"/games/{self._match.id}/moves", body, self._secret, partial(self._answered, key)
        )

    def _answered(self, key: str, status: int, answer: Any) -> None:
        if status == 200:
            self.acknowledged[key] = answer["version"]
        else:
            self.refused.add(key)
            if status != 409:
                self._match.cluster.problems.append(f"a move was answered with {status}: {answer}")
            if self._is_eager:
                self._act()
