"""Hostile requests: none is answered with a 5xx status, and games continue."""

from __future__ import annotations

import selectors
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from random import Random
from threading import Event
from typing import TypeAlias

import pytest

from support.at_once import in_threads
from support.deadlines import DEADLINE_SECONDS
from support.figures import tally
from support.length import short_or_long
from support.web.hostile_client import PersistentConnection, cut, leave_open, send
from support.web.hostile_requests import Attacker, HostileRequest, Target
from support.web.inspection import faults as own_faults, memory_kb
from support.web.matches import two_players
from support.web.serving import BASE, Server
from support.web.stream_reader import Reader

Record: TypeAlias = Callable[[str, object], None]

REQUESTS = short_or_long(1_000, 100_000)
PARTS, ATTACKERS = 10, 2
"""Parts, one after the other, and attackers at the same time."""

WARM_PARTS = 7
"""After how many parts the server remembers as much as it ever will: from then on memory is flat."""

TARGET_REQUESTS = 250
"""After how many requests another game is attacked."""

MAX_OPEN = 40
"""Connections that each attacker leaves open."""

MAX_GROWTH_KB = 5_000
"""In kB."""

MAX_GAMES = 100_000
WON, DRAWN = (0, 3, 1, 4, 2), (0, 4, 8, 1, 7, 6, 2, 5, 3)

FLOODS, FLOOD_SIZE = short_or_long((3, 50), (20, 1000))
"""How many ask without end, and how many thousand requests each would send."""

CLOSE_SECONDS = 15.0
"""When all connections without a complete request must be closed; the server's own limit is 10 s."""

POST = b"POST /api/v1/games HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"

FIGURE = (
    "{requests:,} hostile requests: {answers:,} answers, {faults} of them 5xx, {unanswered} wanting; "
    "memory grew by {growth:,} kB to {memory:,} kB; {games:,} games played meanwhile"
)
FLOOD = "{asked:,} requests asked at once on {connections} connections: memory grew by {growth:,} kB"
SLOW = "{slow} requests that never come whole: {closed} connections closed by the server"


@pytest.mark.torture
def test_hostile_requests_are_refused_and_nothing_else_happens(
    store_url: str, record_property: Record
) -> None:
    """No answer is a 5xx, the memory doesn't grow, and games continue."""
    with (
        tally(record_property, FIGURE) as numbers,
        Server(store_url, NOUGHTS_CACHED_GAMES="64") as server,
        server.client() as client,
    ):
        _play(server, WON)
        before = 0
        for part in range(PARTS):
            try:
                _a_part(server, part, numbers)
            finally:
                numbers["memory"] = memory_kb(server.pid)
            if part + 1 == WARM_PARTS:
                before = numbers["memory"]
            numbers["growth"] = numbers["memory"] - before
        _play(server, DRAWN)

        assert own_faults(client) == numbers["faults"] == 0
        assert numbers["unanswered"] == 0
        assert numbers["growth"] <= MAX_GROWTH_KB
        server.stop_cleanly()
        assert b'"level": "error"' not in server.errors


@pytest.mark.torture
@pytest.mark.parametrize("before", ["", "/games/{}", "/games/{}/events"])
def test_floods_of_requests_do_not_fill_memory(
    store_url: str, before: str, record_property: Record
) -> None:
    """The number of pipelined requests on a connection is limited."""
    with (
        tally(record_property, FLOOD) as numbers,
        Server(store_url) as server,
        server.client() as client,
        ExitStack() as stack,
    ):
        path = before.format(client.create("self")["id"])
        first = f"GET {BASE}{path} HTTP/1.1\r\nHost: x\r\n\r\n".encode() if path else b""
        usual = memory_kb(server.pid)
        for _ in range(FLOODS):
            connection = stack.enter_context(
                socket.create_connection((server.host, server.port), DEADLINE_SECONDS)
            )
            numbers.update(connections=1, asked=_flood(connection, first))
            assert client.get("/health").status == 200

        numbers["growth"] = memory_kb(server.pid, "VmHWM") - usual
        assert numbers["growth"] <= MAX_GROWTH_KB
        server.stop_cleanly()


def _flood(connection: socket.socket, first: bytes) -> int:
    """Send requests until the server stops reading, or enough are sent; return how many."""
    asked = 0
    with suppress(ConnectionError, TimeoutError):
        connection.sendall(first)
        connection.settimeout(1)  # a server that stops reading may keep the connection open
        for _ in range(FLOOD_SIZE):
            connection.sendall(b"GET / HTTP/1.1\r\n\r\n" * 1000)
            asked += 1000
    return asked


# The start of a request, and the piece that is then sent every second.
SLOW_REQUESTS = {
    "nothing": (b"", b""),
    "half a method": (b"GE", b""),
    "half a head": (b"GET / HTTP/1.1\r\nHos", b""),
    "a head byte by byte": (b"GET / HTTP/1.1\r\nX: ", b"x"),
    "headers without end": (b"GET / HTTP/1.1\r\n", b"X: y\r\n"),
    "empty lines": (b"", b"\r\n"),
    "a second request that is half": (b"GET /api/v1/health HTTP/1.1\r\n\r\nGET / HT", b""),
    "a second request byte by byte": (b"GET /api/v1/health HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nX: ", b"x"),
    "no body": (POST + b"Content-Length: 9\r\n\r\n", b""),
    "half a body": (POST + b"Content-Length: 99\r\n\r\n{", b""),
    "a body byte by byte": (POST + b"Content-Length: 999\r\n\r\n", b" "),
    "chunks without end": (POST + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "half a chunk": (POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{", b""),
    "half a move": (POST.replace(b"/games", b"/games/x/moves") + b"Content-Length: 99\r\n\r\n{", b""),
    "a move byte by byte": (
        POST.replace(b"/games", b"/games/x/moves") + b"Content-Length: 999\r\n\r\n",
        b" ",
    ),
    "half a body that nobody needs": (b"GET /api/v1/health HTTP/1.1\r\nContent-Length: 9\r\n\r\n{", b""),
    "a body byte by byte that nobody needs": (
        b"GET /api/v1/health HTTP/1.1\r\nContent-Length: 999\r\n\r\n",
        b" ",
    ),
}


@pytest.mark.torture
@pytest.mark.waits
def test_incomplete_requests_time_out(store_url: str, record_property: Record) -> None:
    """Whichever part is missing, the server closes the connection."""
    with (
        tally(record_property, SLOW) as numbers,
        Server(store_url) as server,
        ExitStack() as stack,
        selectors.DefaultSelector() as selector,
    ):
        connections: dict[str, socket.socket] = {}
        for what, (beginning, _) in SLOW_REQUESTS.items():
            connection = stack.enter_context(
                socket.create_connection((server.host, server.port), DEADLINE_SECONDS)
            )
            connection.sendall(beginning)
            connections[what] = connection
            selector.register(connection, selectors.EVENT_READ, what)
            numbers["slow"] += 1
        until = time.monotonic() + CLOSE_SECONDS
        tick = time.monotonic()

        while selector.get_map() and time.monotonic() < until:
            for key, _ in selector.select(1):
                numbers["closed"] += _is_closed(connections[key.data], selector)
            if time.monotonic() > tick + 1:
                tick = time.monotonic()
                for key in tuple(selector.get_map().values()):
                    with suppress(ConnectionError):  # closed: handled above
                        connections[key.data].sendall(SLOW_REQUESTS[key.data][1])

        left = ", ".join(key.data for key in selector.get_map().values())
        assert not left, f"still open: {left}"
        server.stop_cleanly()


def _is_closed(connection: socket.socket, selector: selectors.BaseSelector) -> bool:
    """Read what has arrived; return whether the connection is closed."""
    try:
        data = connection.recv(65536)
    except ConnectionError:
        data = b""
    assert b"HTTP/1.1 5" not in data
    if not data:
        selector.unregister(connection)
    return not data


def _a_part(server: Server, part: int, numbers: Counter[str]) -> None:
    """Attack the server from several threads, while others play."""
    over = Event()
    shares = [Counter[str]() for _ in range(ATTACKERS + 1)]

    def attack(number: int) -> None:
        try:
            seed, requests = part * ATTACKERS + number, REQUESTS // PARTS // ATTACKERS
            _attack(server, requests, Random(seed), shares[number])
        finally:
            over.set()

    def play() -> None:
        for number in range(MAX_GAMES):
            _play(server, (WON, DRAWN)[number % 2])
            shares[-1]["games"] += 1
            if over.is_set():
                return

    try:
        in_threads(*(lambda number=number: attack(number) for number in range(ATTACKERS)), play)
    finally:
        for share in shares:
            numbers.update(share)


def _play(server: Server, cells: Sequence[int]) -> None:
    """Play a whole game, with a spectator."""
    with two_players(server) as match, Reader((server.host, server.port), match.game) as reader:
        match.play(*cells)
        now = match.now
        assert now["over"]
        assert [event.data for event in reader.wait_version(now["version"])] == now["events"]
        assert not reader.wrong.total()
        assert reader.connections == 1


def _attack(server: Server, requests: int, chance: Random, numbers: Counter[str]) -> None:
    attacker = Attacker(chance, _target(server))
    left: deque[tuple[HostileRequest, socket.socket]] = deque()
    with PersistentConnection((server.host, server.port)) as connection, ExitStack() as stack:
        stack.callback(lambda: deque((cut(one, chance) for _, one in left), maxlen=0))
        for number in range(1, requests + 1):
            if number % TARGET_REQUESTS == 0:
                attacker.target = _target(server)
            hostile = attacker.draw()
            numbers["requests"] += 1
            if hostile.asks:
                statuses = connection.ask(hostile)
                numbers["unanswered"] += len(hostile.asks) - len(statuses)
            elif hostile.stays:
                left.append((hostile, leave_open(connection.place, hostile)))
                if len(left) <= MAX_OPEN:
                    continue
                hostile, oldest = left.popleft()
                statuses = cut(oldest, chance)
            else:
                statuses = send(connection.place, hostile)
            faults = [status for status in statuses if status >= 500]
            numbers.update(answers=len(statuses), faults=len(faults))
            assert not faults, hostile


def _target(server: Server) -> Target:
    with server.client() as client:
        first = client.create("friend")
        second = client.join(first["id"], first["invite"])
        return Target(first["id"], {**first["secrets"], **second["secrets"]}, first["invite"])
