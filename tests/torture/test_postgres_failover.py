"""PostgreSQL with a standby fails over in the middle of play: nothing that was acknowledged is lost."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from http.client import HTTPException
from itertools import zip_longest
from random import Random
from threading import Event
from typing import Any, NamedTuple

import pytest

from noughts.store import postgres as engine, postgres_session as sessions
from noughts.store.rows import StoredGame
from noughts.store.urls import open_store
from noughts.web import games, presence, queries
from support.deadlines import LONG_DEADLINE_SECONDS, eventually
from support.figures import Property, record_figure
from support.length import short_or_long
from support.postgres_server import Node
from support.proxy import Proxy
from support.store_games import everything
from support.web.in_process import InProcessServer
from support.web.inspection import events_of, quiet_port
from support.web.serving import Server, Stream, new_key

PLAYERS = 8
"""Each has both seats of a game."""

ROUNDS = short_or_long(1, 6)
"""Failovers in a row: to the standby, back to the first server, and so on."""

STRICT = {"killed": 2.0, "frozen": 10.0, "cut": 10.0}
"""What happens to the primary, and how long after the promotion moves go on."""

BROKEN = {"terminated": "pg_terminate_backend", "cancelled": "pg_cancel_backend"}
"""What happens to commits that wait for the standby, before the primary is killed."""

WAYS = short_or_long(("terminated",), (*STRICT, *BROKEN, "any"))
"""With `any`, each round has one of those before."""

ANSWER_SECONDS = 5.0
"""How long a player waits for any answer."""

LENIENT = 10
"""How much longer all that may take on a machine that is busy with other things."""

RETRY_SECONDS = 0.1

FIGURE = (
    "{rounds:.0f} failovers of PostgreSQL, {way}: {commands:,.0f} acknowledged commands, "
    "{lost:.0f} lost, {doubled:.0f} doubled, {ended:.0f} streams ended, {taken_back:.0f} events taken "
    "back that were shown; moves went on {resumed:.1f} s after the promotion, answers took {answer:.1f} s"
)
NUMBERS = re.findall(r"{(\w+):", FIGURE)


# Two database servers


class Pair(AbstractContextManager["Pair"]):
    """A primary and its standby; with `is_cut`, there is a network between them and everybody."""

    def __init__(self, *, is_cut: bool = False) -> None:
        with ExitStack() as stack:
            self._networks: dict[str, Proxy] = {}
            self.primary = self._node(stack, "one", None, is_cut=is_cut)
            self.standby = self._node(stack, "two", self.primary, is_cut=is_cut)
            self.primary.wait_for_standby(self.standby)
            self._stack = stack.pop_all()
        addresses = self.primary.address, self.standby.address
        places = ",".join(f"{host}:{port}" for host, port in addresses)
        self.url = f"postgresql://postgres@{places}/postgres?target_session_attrs=read-write"

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _node(self, stack: ExitStack, name: str, primary: Node | None, *, is_cut: bool) -> Node:
        node = Node(name, quiet_port(), primary)
        stack.enter_context(closing(node))
        if is_cut:
            network = self._networks[name] = stack.enter_context(Proxy(node.address))
            node.address = network.place
        return node

    def break_primary(self, way: str) -> None:
        match way:
            case "killed":
                self.primary.kill()
            case "frozen":
                self.primary.freeze()
            case "cut":
                self._networks[self.primary.name].is_flowing.clear()

    def break_commits(self, how: str) -> None:
        """End what waits for the standby, which has gone: it is recorded at the primary alone."""
        waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        self.primary.wait_until(f"SELECT count(*) > 0 {waiting}")
        ((last,),) = self.primary.execute(f"SELECT max(query_start) {waiting}")
        self.primary.execute(f"SELECT {how}(pid) {waiting} AND query_start <= %s", last)
        self.primary.wait_until(f"SELECT count(*) = 0 {waiting} AND query_start <= %s", last)

    def promote(self) -> float:
        """Make the standby the primary; return when."""
        self.primary, self.standby = self.standby, self.primary
        self.primary.promote()
        return time.monotonic()

    def repair(self) -> None:
        """Let the old primary come back as a standby."""
        self.standby.kill()
        if network := self._networks.get(self.standby.name):
            network.is_flowing.set()
        self.standby.follow(self.primary)
        self.primary.wait_for_standby(self.standby)


# People who play on, whatever happens


class Acknowledged(NamedTuple):
    """A command that was acknowledged; without a key it created a game."""

    player: int
    game: str
    key: str | None
    version: int
    events: list[Any]
    at: float


class Play(AbstractContextManager["Play"]):
    """The players, at two servers; they end with the `with` block."""

    def __init__(self, servers: list[Server], chance: Random) -> None:
        self.servers = servers
        self.acknowledged: list[Acknowledged] = []
        self.streams: list[tuple[str, Stream]] = []
        self.refused = self.ended = 0
        """How many commands were answered that the games cannot be reached; how many streams ended."""
        self.slowest = 0.0
        self.is_over = Event()
        """Set when nothing new is to be begun."""
        self.is_given_up = False
        """True when nobody is to wait for an answer any more."""
        self._pool = ThreadPoolExecutor(PLAYERS)
        players = [Player(self, number, Random(chance.random())) for number in range(PLAYERS)]
        self._playing = [self._pool.submit(player.play) for player in players]

    def __exit__(self, failure: object = None, *_: object) -> None:
        self.is_given_up = failure is not None
        self.is_over.set()
        self._pool.shutdown()
        for _game, stream in self.streams:
            stream.close()

    def wait_for(self, is_so: Callable[[], object]) -> None:
        eventually(lambda: is_so() or any(player.done() for player in self._playing))
        self._check()

    def wait_for_more(self, commands: int) -> None:
        wanted = len(self.acknowledged) + commands
        self.wait_for(lambda: len(self.acknowledged) >= wanted)

    def resumed(self, since: float) -> float:
        """Wait until each player's command was acknowledged since then; return how long that took."""

        def first() -> dict[int, float]:
            return {one.player: one.at for one in reversed(self.acknowledged) if one.at > since}

        self.wait_for(lambda: len(first()) == PLAYERS)
        return max(first().values()) - since

    def end(self) -> None:
        """Let everybody finish the command that they have begun."""
        self.__exit__()
        self._check()

    def _check(self) -> None:
        for player in self._playing:
            if player.done():
                player.result()


class Player:
    """Plays one game after another; repeats a command at the other server until it is answered."""

    def __init__(self, play: Play, number: int, chance: Random) -> None:
        self._play = play
        self._number = number
        self._chance = chance
        self._clients = [server.client() for server in play.servers]
        self._at = chance.randrange(2)

    def play(self) -> None:
        with ExitStack() as stack:
            for client in self._clients:
                stack.enter_context(client)
            while not self._play.is_over.is_set():
                self._play_game()

    def _play_game(self) -> None:
        seats = self._ask("", {"opponent": "self", "mark": "X", "key": new_key(), "secret": True})
        if seats is None:
            return
        game: str = seats["id"]
        self._acknowledge(game, None, seats["game"])
        stream = self._follow(game)
        now, free = seats["game"], self._chance.sample(range(9), 9)
        while not self._play.is_over.is_set() and (mark := to_move(now["events"])):
            for client in self._clients:
                client.secret = seats["secrets"][mark]
            key, version = new_key(), now["version"]
            now = self._ask(f"/{game}/moves", {"version": version, "cell": free.pop(), "key": key})
            if now is None:
                break
            self._acknowledge(game, key, now)
            assert now["version"] == version + len(now["events"])
        if stream:
            self._play.ended += stream.is_over
            stream.close()

    def _follow(self, game: str) -> Stream | None:
        with suppress(HTTPException, OSError):  # its server was killed
            stream = self._clients[self._at].follow(game)
            if stream.refusal is None:
                self._play.streams.append((game, stream))
                return stream
            stream.close()
        return None

    def _ask(self, path: str, body: dict[str, object]) -> Any:
        """Send a command until it is answered; return None if that is given up."""
        until = time.monotonic() + LONG_DEADLINE_SECONDS
        while not self._play.is_given_up:
            answer, start = None, time.monotonic()
            assert start < until, "it is never answered"
            with suppress(HTTPException, OSError):  # its server was killed
                answer = self._clients[self._at].post(f"/games{path}", body)
            self._play.slowest = max(self._play.slowest, time.monotonic() - start)
            if answer and answer.status in (200, 201):
                return answer.json
            if answer:
                assert answer.code == "storeUnavailable", (answer.body, path, body)
                self._play.refused += 1
            self._at = 1 - self._at
            self._play.is_over.wait(RETRY_SECONDS)
        return None

    def _acknowledge(self, game: str, key: str | None, answer: Any) -> None:
        version, events = answer["version"], answer["events"]
        done = Acknowledged(self._number, game, key, version, events, time.monotonic())
        self._play.acknowledged.append(done)


def to_move(events: list[Any]) -> str | None:
    """Return whose turn it is after a command; None if the game is over."""
    return next((event["mark"] for event in events if event["event"] == "playerActive"), None)


def compare(url: str, play: Play, numbers: dict[str, float]) -> None:
    """Compare what was acknowledged and shown with what is in the store."""
    with open_store(url, create=False) as store:
        there = everything(store)
    recorded = {game: [data for _, data in events_of(stored)] for game, stored in there.items()}
    for one in play.acknowledged:
        if recorded.get(one.game, [])[one.version - len(one.events) : one.version] != one.events:
            numbers["lost"] += 1
    moves = count_moves(there.values())
    asked = {(one.game, one.key) for one in play.acknowledged}
    numbers["doubled"] = sum(count > 1 for count in moves.values()) + len(moves.keys() - asked)
    numbers["doubled"] += len(there.keys() - {one.game for one in play.acknowledged})
    for game, stream in play.streams:
        events = stream.events
        assert [int(message.id or 0) for message in events] == [*range(1, len(events) + 1)]
        shown = zip_longest((message.data for message in events), recorded.get(game, [])[: len(events)])
        numbers["taken_back"] += sum(one != other for one, other in shown)
    numbers.update(commands=len(play.acknowledged), ended=play.ended, answer=play.slowest)


def count_moves(games: Iterable[StoredGame]) -> Counter[tuple[str, str]]:
    """Return how often each command that placed a token is recorded."""
    return Counter(
        (game.id, entry.key)
        for game in games
        for entry in game.entries
        if "playerPlacedToken" in entry.text
    )


@contextmanager
def servers_on(url: str) -> Iterator[list[Server]]:
    """Start two servers; some may be replaced, at the same port."""
    servers: list[Server] = []
    try:
        servers += [Server(url, "--port", str(quiet_port())) for _ in range(2)]
        yield servers
    finally:
        for server in servers:
            server.__exit__()


def is_ready(server: Server) -> bool:
    with server.client() as client:
        answer = client.get("/ready")
    assert answer.status in (200, 503)
    return answer.status == 200


# The tests


@pytest.mark.torture
@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_lost_when_the_standby_is_promoted(way: str, record_property: Property) -> None:
    """Whatever happens to the primary, which comes back as the standby."""
    numbers = dict.fromkeys(NUMBERS, 0.0)
    chance, is_strict = Random(way), way in STRICT
    with ExitStack() as stack:
        pair = stack.enter_context(Pair(is_cut=way in ("cut", "any")))
        servers = stack.enter_context(servers_on(pair.url))
        play = stack.enter_context(Play(servers, chance))
        try:
            for number in range(ROUNDS):
                now = chance.choice([*STRICT, *BROKEN]) if way == "any" else way
                play.wait_for_more(chance.randrange(20, 60))
                resumed = fail_over(pair, play, now)
                numbers["rounds"] += 1
                numbers["resumed"] = max(numbers["resumed"], resumed)
                if number < ROUNDS - 1:
                    pair.repair()
            play.wait_for_more(20)
            play.end()
            for server in servers:
                assert b"Traceback" not in server.log()
                assert not is_strict or b"the store has lost" not in server.log()
            compare(pair.url, play, numbers)
        finally:
            record_figure(record_property, FIGURE.replace("{way}", way), **numbers)
        assert (numbers["lost"], numbers["doubled"]) == (0, 0)
        if is_strict:
            assert (play.ended, numbers["taken_back"]) == (0, 0)
        assert play.slowest < LENIENT * ANSWER_SECONDS


def fail_over(pair: Pair, play: Play, way: str) -> float:
    """Break the primary and promote its standby; return how long afterwards moves went on."""
    if way in STRICT:
        pair.break_primary(way)
    else:
        pair.standby.kill()
        pair.break_commits(BROKEN[way])
        play.servers[0].kill()
        pair.primary.kill()
        pair.standby.start()
    seconds = play.resumed(pair.promote())
    assert seconds < LENIENT * STRICT.get(way, 2.0)
    if not play.servers[0].is_running:
        play.servers[0] = Server(pair.url, "--port", str(play.servers[0].port))
    return seconds


LOOKS, REFUSED = short_or_long((2, 20), (10, 300))
"""How often to look around in that hour, and how many commands are refused in between."""

FAST = 25
"""How much faster time passes in it."""

HOUR_FIGURE = (
    "an hour without a standby: {refused:,.0f} commands refused, {backends:.0f} backends at most, "
    "{commands:,.0f} acknowledged commands, {lost:.0f} lost, {doubled:.0f} doubled"
)


@contextmanager
def in_process(url: str) -> Iterator[InProcessServer]:
    server = InProcessServer(url)
    with server:
        yield server
    server.loop.close()


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let time pass so much faster for whatever waits for the database."""
    monkeypatch.setattr(sessions, "HANG_SECONDS", sessions.HANG_SECONDS / FAST)
    for module, names in (
        (engine, ("DEADLINE", "GUARD")),
        (games, ("LOOK", "FOLLOW")),
        (queries, ("LATE",)),
        (presence, ("RENEW",)),
    ):
        for name in names:
            seconds = getattr(module, f"{name}_SECONDS")
            monkeypatch.setattr(module, f"{name}_SECONDS", seconds / FAST)


@pytest.mark.torture
@pytest.mark.usefixtures("fast")
def test_an_hour_without_a_standby(record_property: Property) -> None:
    """Moves wait and are refused; reads and new streams work, and nothing piles up at the database."""
    numbers = dict.fromkeys((*NUMBERS, "refused", "backends"), 0.0)
    clients = "FROM pg_stat_activity WHERE backend_type = 'client backend'"
    with ExitStack() as stack:
        pair = stack.enter_context(Pair())
        servers = [stack.enter_context(in_process(pair.url)) for _ in range(2)]
        play = stack.enter_context(Play([*servers], Random(7)))
        play.wait_for_more(20)
        pair.standby.stop()
        monitor = stack.enter_context(pair.primary.connect())
        for how in (*BROKEN.values(),) * (LOOKS // 2):
            wanted = play.refused + REFUSED
            play.wait_for(lambda: play.refused >= wanted)  # noqa: B023 - called at once
            for server in servers:
                look_around(server, play)
            ((count,),) = monitor.execute(f"SELECT count(*) {clients}").fetchall()
            numbers["backends"] = max(numbers["backends"], count)
            monitor.execute(f"SELECT {how}(pid) {clients} AND wait_event = 'SyncRep'")
        numbers["refused"] = play.refused
        pair.standby.start()
        play.wait_for_more(60)
        for server in servers:
            eventually(lambda: is_ready(server))  # noqa: B023 - called at once
        play.end()
        compare(pair.url, play, numbers)
        record_figure(record_property, HOUR_FIGURE, **numbers)
        assert (numbers["lost"], numbers["doubled"], numbers["taken_back"]) == (0, 0, 0)
        assert numbers["backends"] <= 1 + len(servers) * (engine.MAX_READERS + 5)


def look_around(server: Server, play: Play) -> None:
    """Look at a server whose commits wait: it is not ready, but all that reads works."""
    eventually(lambda: not is_ready(server))
    with server.client() as client:
        assert client.get("/health").status == 200
        assert client.get("/games").status == 200
        for game in {one.game for one in play.acknowledged[-10:]}:
            assert client.read(game)["version"]
            with client.follow(game) as stream:
                stream.wait(lambda now: now.positions)
