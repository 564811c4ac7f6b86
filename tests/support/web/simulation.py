"""Simulates processes that share a store, with the server's real code from a request to the commit.

A run draws everything from its seed: when commits finish, fail or hang, when reads begin and end, when
news arrive, when connections are cut, muted or not read, how long bots think, when the store is away or
fails over to its standby, when processes are killed, and what players do (`simulated_clients.py`).

The store keeps all states that it has had, so that every answer can be compared with those that the game
had between the request and the answer. What was committed without an answer from the standby is lost
when the store fails over.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import msgspec

from noughts.core.errors import NoughtsError
from noughts.store import news as news_module, writer as writer_module
from noughts.store.base import Change, News, StoredGame, news_of
from noughts.store.errors import StoreUnavailable
from noughts.store.memory import Database, MemoryStore
from noughts.store.news import decode_news, encode_news
from noughts.store.rows import Row, game_of
from noughts.web import app as app_module
from noughts.web.app import App, Application, Message
from noughts.web.logging import log
from noughts.web.rooms import Present, visible_room
from noughts.web.schemas import BASE, encode
from noughts.web.settings import Settings
from noughts.web.world import World, resolve
from support.web.simulated_time import SimulatedLoop, Simulation

EPOCH_MS = 1_800_000_000_000

FAULTS = (
    "commit fails, not written", "commit fails, written", "commit hangs", "read fails", "read is slow",
    "store away", "store fails over", "news lost", "news late", "listener cut", "bot fails",
    "connection cut", "connection mute", "reader stalls", "process killed", "presence fails, written",
)  # fmt: skip

FREQUENT = ("store fails over", "news lost", "news late")
"""Those that often have no effect."""

DEADLINE_SECONDS = 5.0
"""How long a commit may take, if the store has a deadline."""

UNACKNOWLEDGED_SECONDS = 25.0
"""When the system gives up a connection whose other end has vanished."""

LIMITS = {
    field.name: 0
    for field in msgspec.structs.fields(Settings)
    if field.name.endswith(("_per_minute", "_per_address"))
}
"""All clients share one address."""


class Cluster:
    """Processes that share a store, a network, and what goes wrong."""

    def __init__(self, seed: int) -> None:
        self.simulation = Simulation(seed)
        self.random = random = self.simulation.random
        self.clients = SimulatedLoop(self.simulation)  # type: ignore[abstract]  # the rest is not used
        self.faults: Counter[str] = Counter()
        self.problems: list[str] = []
        self.faults_end = random.uniform(1, 5)
        self.last_fault = 0.0
        """When the effect of the last fault ended."""
        self.vanished = 0.0
        """When the last client vanished, or a process with its clients."""
        kinds = [kind for kind in FAULTS if random.random() < 0.5]
        self._chances = {kind: random.choice([0.02, 0.1, 0.3]) for kind in kinds}
        self._chances |= {kind: 2.5 * self._chances[kind] for kind in kinds if kind in FREQUENT}
        if "store fails over" in kinds:  # which loses only what was broken
            self._chances["commit fails, written"] = 0.2
        self.database = SimulatedDatabase(self)
        self.payload_bytes = random.choice([news_module.MAX_PAYLOAD_BYTES, 1000, 300])
        self.settings = Settings(
            **LIMITS,  # type: ignore[arg-type]  # they are numbers
            expire_days=0,
            lobby_grace_seconds=5,
            cache_megabytes=random.choice([64, 64, 0]),
        )
        self.processes = [Process(self, f"p{number}") for number in range(random.choice([1, 2, 2]))]
        self.is_shared = len(self.processes) > 1 or random.random() < 0.3
        for process in self.processes:
            process.start()
        self._plan()

    @property
    def now(self) -> float:
        return self.simulation.now

    def is_hit(self, kind: str) -> bool:
        if self.now >= self.faults_end or self.random.random() >= self._chances.get(kind, 0):
            return False
        self.count(kind)
        return True

    def count(self, kind: str, seconds: float = 0) -> None:
        """Count a fault whose effect lasts for so long."""
        self.faults[kind] += 1
        self.last_fault = max(self.last_fault, self.now + seconds)

    def _plan(self) -> None:
        plans = {
            "process killed": self._kill,
            "store away": self._take_away,
            "listener cut": self._deafen,
        }
        for kind, happen in plans.items():
            if kind in self._chances:
                for _ in range(self.random.randint(1, 3)):
                    self.simulation.after(self.random.uniform(0, self.faults_end), happen)

    def _kill(self) -> None:
        self.random.choice(self.processes).kill()

    def _take_away(self) -> None:
        seconds = self.random.choice([0.01, 0.5, self.random.uniform(0, 3)])
        self.count("store away", seconds)
        self.database.away_until = self.now + seconds

    def _deafen(self) -> None:
        process = self.random.choice(self.processes)
        seconds = self.random.uniform(0, 1)
        self.count("listener cut", seconds)
        process.deaf_until = self.now + seconds
        self.simulation.at(process.deaf_until, partial(self.database.pass_on, None, {process.name}))

    def commit_was_broken(self) -> None:
        """Have the standby get nothing more and take over soon, maybe."""
        if self.is_shared and not self.database.is_alone and self.is_hit("store fails over"):
            self.database.is_alone = True
            self.simulation.after(self.random.uniform(0.3, 1.5), self._fail_over)

    def _fail_over(self) -> None:
        seconds = self.random.uniform(0, 1)
        self.count("store fails over", seconds)
        self.database.fail_over()
        self.database.away_until = self.now + seconds
        self.simulation.at(self.database.away_until, partial(self.database.pass_on, None, None))

    def delay(self) -> float:
        """Return how long something takes: very little, or nothing at all."""
        drawn = self.random.random()
        if drawn < 0.8:
            return 0.0 if drawn < 0.5 else 0.0005 if drawn < 0.65 else 0.002
        return (drawn - 0.8) / 4

    def any_process(self) -> Process | None:
        running = [process for process in self.processes if process.is_running]
        return self.random.choice(running) if running else None

    def run(self, seconds: float, is_done: Callable[[], object] = lambda: False) -> None:
        clock = SimpleNamespace(monotonic=lambda: self.now)
        with (
            patch.multiple(log, propagate=False, handlers=[Complaints(self.problems)]),
            patch.object(news_module, "MAX_PAYLOAD_BYTES", self.payload_bytes),
            patch.object(writer_module, "time", clock),
            patch.object(app_module, "monotonic", clock.monotonic),
        ):
            self.simulation.run(self.now + seconds, is_done)

    def end(self) -> None:
        for process in self.processes:
            process.check()
            process.loop.kill()
        self.problems += [f"unnoticed failure: {one}" for one in self.clients.failures]
        self.clients.kill()


class Complaints(logging.Handler):
    """Collects what a server logs as an error."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._problems = problems

    def emit(self, record: logging.LogRecord) -> None:
        if not record.getMessage().startswith("the store has lost"):  # compared with the truth elsewhere
            self._problems.append(
                f"logged: {record.getMessage()} {record.exc_info and record.exc_info[1]!r}"
            )


class SimulatedDatabase(Database):
    """A database with a standby, which knows all states that its games have had."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(lambda: cluster.now)
        self._cluster = cluster
        self._durable: dict[str, Row] = {}
        """What the standby has."""
        self.away_until = 0.0
        self.failovers = 0
        self.is_alone = False
        """True while the standby gets nothing: then no commit is answered."""
        self.states: defaultdict[str, list[StoredGame | None]] = defaultdict(lambda: [None])
        """All that a game has been, the present at the end."""
        self.changed_at: dict[str, float] = {}
        self.on_change: Callable[[StoredGame], None] = lambda _stored: None

    def begin(self, game: str) -> int:
        """Return the place of a game's present state.

        A server that is alone need not know yet what it has not acknowledged.
        """
        places = [len(self.states[game]) - 1]
        if not self._cluster.is_shared:
            unsettled = self._cluster.processes[0].store.unsettled
            places += [place for change, place in unsettled.items() if change.id == game]
        return min(places)

    def now(self, game: str) -> StoredGame | None:
        return self.states[game][-1]

    def note(self, stored: StoredGame) -> None:
        self.states[stored.id].append(stored)
        self.changed_at[stored.id] = self._cluster.now
        self.on_change(stored)

    def sync(self) -> None:
        """Wait for the standby: whatever was committed until now is there."""
        self._durable = dict(self.games)

    def fail_over(self) -> None:
        """Go on with the standby; tables without a log are empty there."""
        self.failovers += 1
        self.is_alone = False
        before, self.games = self.games, dict(self._durable)
        self.processes.clear()
        self.present.clear()
        for game, row in before.items():
            if (now := self.games.get(game)) != row:
                self.states[game].append(game_of(now) if now else None)
                self.changed_at[game] = self._cluster.now

    def pass_on(self, news: Sequence[News] | None, processes: set[str] | None) -> None:
        """Call those who listen, of these processes or of all."""
        for store, on_news in tuple(self.followers):
            if processes is None or store.process.name in processes:  # type: ignore[attr-defined]  # ours
                on_news(news)


class SimulatedStore(MemoryStore):
    """A process's store object, whose writer works in simulated time."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self._loop = process.loop
        self._cluster = process.cluster
        self._shared = process.cluster.database
        super().__init__(self._shared, executor=self._execute)
        self.is_shared = process.cluster.is_shared
        self.writer.limit_seconds = DEADLINE_SECONDS if self.is_shared else None
        self._free_at = self._settled_at = 0.0
        self.unsettled: dict[Change, int] = {}
        """What is recorded and not acknowledged, with the place of the state before."""

    def _execute(self, work: Callable[[], object]) -> None:
        cluster = self._cluster
        at = max(self._free_at, cluster.now) + cluster.delay()
        cluster.simulation.at(at, lambda: self._is_dead() or work())

    def _is_dead(self) -> bool:
        """Return whether nothing is committed any more; a server may finish for a dead client."""
        return self._loop.is_killed and not (self.is_shared and self._cluster.random.random() < 0.5)

    def delay_settling(self) -> None:
        """Have the process learn later what was committed."""
        settle = self.writer.on_settled

        def later(batch: Sequence[Change]) -> None:
            at = max(self._settled_at, self._free_at, self._cluster.now) + self._cluster.delay()
            self._settled_at = at
            self._cluster.simulation.at(at, partial(pass_on, batch))

        def pass_on(batch: Sequence[Change]) -> None:
            if not self._loop.is_killed:
                settle(batch)
                for change in batch:
                    self.unsettled.pop(change, None)

        self.writer.on_settled = later

    def check_there(self) -> None:
        if self._cluster.now < self._shared.away_until:
            raise StoreUnavailable("the simulation says so")

    def _commit(self, batch: Sequence[Change]) -> None:
        cluster = self._cluster
        if cluster.is_hit("commit hangs"):
            seconds = cluster.random.uniform(0.1, 1.5 * DEADLINE_SECONDS)
            cluster.count("commit hangs", seconds)
            self._free_at = cluster.now + seconds
        self.check_there()
        if cluster.is_hit("commit fails, not written"):
            raise StoreUnavailable("the simulation says so")
        won = self._write(batch)
        if self._shared.is_alone or cluster.is_hit("commit fails, written"):
            cluster.commit_was_broken()
            raise StoreUnavailable("the simulation says so")
        self._shared.sync()
        if won and not self._loop.is_killed:
            self._announce([news_of(change) for change in won])

    def _write(self, batch: Sequence[Change]) -> list[Change]:
        won = super()._write(batch)
        for change in won:
            self.unsettled[change] = self._shared.begin(change.id)
            self._shared.note(change.after)
        return won

    def confirm(self, game: str) -> StoredGame | None:
        self.check_there()
        if self._shared.is_alone or self._cluster.is_hit("commit fails, not written"):
            raise StoreUnavailable("the simulation says so")
        found = super().confirm(game)
        self._shared.sync()
        return found

    def _announce(self, news: Sequence[News]) -> None:
        cluster = self._cluster
        for payload in encode_news(self.process.name, news):
            assert len(payload) <= cluster.payload_bytes
            for other in cluster.processes:
                if other is self.process or cluster.is_hit("news lost"):
                    continue
                seconds = cluster.delay()
                if cluster.is_hit("news late"):
                    seconds = cluster.random.uniform(0, 1)
                    cluster.count("news late", seconds)
                cluster.simulation.after(seconds, partial(other.notify, payload))


class Process:
    """A server process."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.cluster = cluster
        self.name = name
        self.is_running = False
        self.deaf_until = 0.0
        self.exchanges: dict[Exchange, None] = {}

    def start(self) -> None:
        cluster, random = self.cluster, Random(self.cluster.random.random())
        self.loop = SimulatedLoop(cluster.simulation)  # type: ignore[abstract]  # the rest is not used
        self.store = SimulatedStore(self)
        world = World(
            settings=cluster.settings,
            store=self.store,
            reading=Pool(self, 4, "read fails", "read is slow"),
            attending=Pool(self, 1, "read fails", lost="presence fails, written"),
            thinking=Pool(self, 2, "bot fails"),
            end=self._end,
            clock=lambda: EPOCH_MS + int(cluster.now * 1000),
            new_id=lambda: f"{random.getrandbits(128):032x}",
            random=random,
        )
        self.app: App = self.loop.start(lambda: App(world, {}))
        self.store.delay_settling()
        self._keep, self.app.games._keep = self.app.games._keep, self._check_kept  # noqa: SLF001
        self.application = Application(cluster.settings, {})
        self.application._app = self.app  # noqa: SLF001 - it would open a store of its own
        self.loop.create_task(self._open())

    async def _open(self) -> None:
        while not self.is_running:
            try:
                await self.app.start()
                self.is_running = True
            except NoughtsError:
                await asyncio.sleep(0.5)

    def kill(self) -> None:
        if self.is_running:
            self.check()
            self.is_running = False
            for exchange in tuple(self.exchanges):
                exchange.cut()
            self.loop.kill()
            followers = self.cluster.database.followers
            followers[:] = [one for one in followers if one[0] is not self.store]
            seconds = self.cluster.random.uniform(0.1, 2)
            self.cluster.count("process killed", seconds)
            self.cluster.vanished = self.cluster.now
            self.cluster.simulation.after(seconds, self.start)

    def request(
        self, method: str, path: str, secret: str, body: object = None, **headers: str
    ) -> Exchange:
        pairs = {"content-type": "application/json", **headers}
        if secret:
            pairs["authorization"] = f"Bearer {secret}"
        scope = {
            "type": "http",
            "method": method,
            "path": BASE + path,
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in pairs.items()],
        }
        return Exchange(self, scope, b"" if body is None else json.dumps(body).encode())

    def notify(self, payload: str) -> None:
        if self.cluster.now >= self.deaf_until:
            _, news = decode_news(payload)
            self.cluster.database.pass_on(news, {self.name})

    def _check_kept(self, stored: StoredGame) -> None:
        known = self.app.games.known(stored.id)
        if known and known.revision >= stored.revision:
            self.cluster.problems.append(
                f"revision {stored.revision} replaced {known.revision} in memory"
            )
        self._keep(stored)

    def check(self) -> None:
        """Note the errors of callbacks and tasks, and false alarms."""
        problems = self.cluster.problems
        problems += [f"unnoticed failure: {one}" for one in self.loop.failures]
        if self.app.games.lost and not self.cluster.database.failovers:
            problems.append("a process says that the store has lost something")

    def _end(self, error: NoughtsError) -> None:
        self.cluster.problems.append(f"a process has given up: {error}")


def _fail() -> None:
    raise StoreUnavailable("the simulation says so")


class Pool:
    """Threads whose work takes simulated time."""

    def __init__(
        self, process: Process, size: int, fault: str, slowness: str = "", *, lost: str = ""
    ) -> None:
        self._process = process
        self._cluster = process.cluster
        self._fault = fault
        self._slowness = slowness
        self._lost = lost
        self._free = size
        self._waiting: deque[tuple[asyncio.Future[Any], Callable[[], Any]]] = deque()

    def run(self, work: Callable[[], Any]) -> asyncio.Future[Any]:
        """Run the work after a delay, unless the process is killed first."""
        done: asyncio.Future[Any] = self._process.loop.create_future()
        if not self._process.loop.is_killed:
            self._waiting.append((done, work))
            self._next()
        return done

    def _next(self) -> None:
        if self._free and self._waiting:
            self._free -= 1
            self._soon(partial(self._do, *self._waiting.popleft()))

    def _do(self, done: asyncio.Future[Any], work: Callable[[], Any]) -> None:
        outcome: tuple[object, BaseException | None]
        try:
            if self._fault == "read fails":
                self._process.store.check_there()
            if self._cluster.is_hit(self._fault):
                _fail()
            outcome = work(), None
            if self._lost and self._cluster.is_hit(self._lost):
                _fail()
        except Exception as failure:  # noqa: BLE001 - raised where the result is awaited
            outcome = None, failure
        self._soon(partial(self._finish, done, self._cluster.database.failovers, *outcome))

    def _finish(
        self, done: asyncio.Future[Any], failovers: int, result: object, failure: BaseException | None
    ) -> None:
        self._free += 1
        self._next()
        if (
            failovers != self._cluster.database.failovers
        ):  # no server answers after another has taken over
            failure = StoreUnavailable("the simulation says so")
        resolve(done, result, failure)

    def _soon(self, action: Callable[[], object]) -> None:
        cluster, loop, delay = self._cluster, self._process.loop, self._cluster.delay()
        if self._slowness and cluster.is_hit(self._slowness):
            delay = cluster.random.uniform(0, 2)
            cluster.count(self._slowness, delay)
        cluster.simulation.after(delay, lambda: loop.is_killed or action())

    def close(self) -> None:
        """Nothing needs to be closed."""


class Exchange:
    """A request and its response, with a network between the client and a process."""

    def __init__(self, process: Process, scope: dict[str, Any], body: bytes) -> None:
        self._process = process
        self._cluster = cluster = process.cluster
        self._times = {"up": 0.0, "down": 0.0}
        self._asked = deque[Message]()
        self._read: asyncio.Future[None] | None = None
        self._answered = deque[Message | None]()
        self._awaited: asyncio.Future[None] | None = None
        self._unread = deque[Message | None]()
        self._drained: asyncio.Future[None] | None = None
        self._capacity = cluster.random.choice([0, 500, 5000])
        self.is_mute = self.is_stalled = self.is_cut = False
        self._stalled_until = 0.0
        self._is_unacknowledged = self._is_complete = False
        process.exchanges[self] = None
        self._carry("up", partial(self._begin, scope))
        place = cluster.random.choice([len(body), cluster.random.randrange(len(body) + 1)])
        for part, has_more in ((body[:place], place < len(body)), (body[place:], False)):
            if part or not has_more:
                message = {"type": "http.request", "body": part, "more_body": has_more}
                self._carry("up", partial(self._arrive, message))
        self._is_player = any(name == b"authorization" for name, _ in scope["headers"])
        is_stream = scope["path"].endswith("/events")
        faults = {"connection cut": self.cut, "connection mute": self.mute}
        if is_stream:
            faults["reader stalls"] = self._stall
        for kind, happen in faults.items():
            if cluster.is_hit(kind):
                cluster.simulation.after(cluster.random.uniform(0, 3 if is_stream else 0.1), happen)

    def _begin(self, scope: dict[str, Any]) -> None:
        if not self.is_cut and not self.is_mute:
            work = self._process.application(scope, self._receive, self._send)
            self._process.loop.create_task(work).add_done_callback(self._end)

    def _end(self, _task: object) -> None:
        if not self._is_complete:  # as a server does
            self.cut()

    def _arrive(self, message: Message) -> None:
        if not self.is_cut and not self.is_mute:
            self._asked.append(message)
            _wake(self._read)

    def _carry(self, way: str, action: Callable[[], None]) -> None:
        """Have something arrive at the other end, in order."""
        self._times[way] = max(self._times[way], self._cluster.now + self._cluster.delay())
        self._cluster.simulation.at(self._times[way], action)

    # What goes wrong.

    def cut(self) -> None:
        if not self.is_cut:
            self.is_cut = True
            self._process.exchanges.pop(self, None)
            _wake(self._read)
            _wake(self._drained)
            if not self.is_mute:
                self._carry("down", partial(self._take, None))

    def mute(self) -> None:
        """Let the network vanish: nobody gets anything any more."""
        if not self.is_cut and not self.is_mute:
            self._cluster.count("connection mute")
            self.is_mute = True
            self._vanish()

    def _vanish(self) -> None:
        """Note when the client can notice the silence at the earliest."""
        if self.is_mute:
            noticed = max(self._cluster.now, self._stalled_until)
            self._cluster.vanished = max(self._cluster.vanished, noticed)

    def _stall(self) -> None:
        """Let the client not read for a while."""
        if not self.is_cut:
            seconds = self._cluster.random.choice([0.5, 5, 19, 19 if self._is_player else 40])
            self._cluster.count("reader stalls", seconds)
            self.is_stalled = True
            self._stalled_until = self._cluster.now + seconds
            self._cluster.simulation.after(seconds, self._go_on)
            self._vanish()

    def _go_on(self) -> None:
        self.is_stalled = False
        while self._unread:
            self._take(self._unread.popleft())
        _wake(self._drained)

    # The server's end.

    async def _receive(self) -> Message:
        while not self._asked:
            if self.is_cut:
                return {"type": "http.disconnect"}
            self._read = asyncio.get_running_loop().create_future()
            await self._read
        return self._asked.popleft()

    async def _send(self, message: Message) -> None:
        if self.is_cut:
            return
        if self.is_mute:
            if not self._is_unacknowledged:
                self._is_unacknowledged = True
                self._cluster.simulation.after(UNACKNOWLEDGED_SECONDS, self.cut)
            return
        self._carry("down", partial(self._deliver, message))
        self._is_complete = message["type"] == "http.response.body" and not message.get("more_body")
        if seconds := self._cluster.delay():
            await asyncio.sleep(seconds)
        while self.is_stalled and self._is_full() and not self.is_cut:
            self._drained = asyncio.get_running_loop().create_future()
            await self._drained

    def _is_full(self) -> bool:
        return sum(len(message.get("body", b"")) for message in self._unread if message) > self._capacity

    def _deliver(self, message: Message) -> None:
        if self.is_stalled:
            self._unread.append(message)
        elif not self.is_cut and not self.is_mute:
            self._take(message)

    # The client's end.

    def _take(self, message: Message | None) -> None:
        if message is None and self.is_stalled:
            self._unread.append(None)  # noticed when the client goes on
            return
        self._answered.append(message)
        _wake(self._awaited)

    async def next(self) -> Message:
        """Return the next message; raise `ConnectionError` if the connection was lost."""
        while not self._answered:
            self._awaited = asyncio.get_running_loop().create_future()
            await self._awaited
        message = self._answered.popleft()
        if message is None:
            raise ConnectionError
        return message

    def close(self) -> None:
        """Leave; the server notices, if there is a network."""
        if not self.is_mute:
            self._carry("up", self.cut)


def _wake(future: asyncio.Future[None] | None) -> None:
    if future and not future.done():
        future.set_result(None)


def visible(stored: StoredGame) -> Any:
    """Return what everybody may know of a game's room, apart from who is connected."""
    return without_presence(json.loads(encode(visible_room(stored, Present()))))


def without_presence(room: Any) -> Any:
    seats = {mark: {**seat, "present": None} for mark, seat in room["seats"].items()}
    return {**room, "seats": seats, "watching": None}
