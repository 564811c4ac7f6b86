"""Hostile requests: none is answered with a 5xx status, and games continue."""

from __future__ import annotations

import socket
from collections import Counter, deque
from contextlib import ExitStack, suppress
from random import Random

import pytest

from support.at_once import in_threads
from support.figures import Property, tally
from support.length import short_or_long
from support.proxy import RESET
from support.web.hostile_requests import Attacker, exchange, statuses
from support.web.inspection import faults as own_faults, memory_kb
from support.web.persistent_players import Players
from support.web.serving import Server

REQUESTS = short_or_long(1_000, 20_000)
"""Each of up to fifty on one connection."""
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

FIGURE = (
    "{requests:,} hostile requests: {answers:,} answers, {faults} of them 5xx, {unanswered} wanting; "
    "memory grew by {growth:,} kB to {memory:,} kB; {commands:,} commands of players meanwhile, "
    "{lost} lost, {again} sent again"
)


@pytest.mark.torture
def test_hostile_requests_are_refused_and_nothing_else_happens(
    store_url: str, record_property: Property
) -> None:
    """No answer is a 5xx, the memory doesn't grow, games continue, and nothing is half-written."""
    with (
        tally(record_property, FIGURE) as numbers,
        Server(store_url, NOUGHTS_CACHE_MEGABYTES="1") as server,
        server.client() as client,
        Players() as players,
    ):
        players.seat_friends(server)
        players.start()
        before = 0
        for part in range(PARTS):
            seeds = range(part * ATTACKERS, (part + 1) * ATTACKERS)
            found = in_threads(*(lambda seed=seed: _attack(server, Random(seed)) for seed in seeds))
            for share in found:
                assert isinstance(share, Counter)
                numbers.update(share)
            numbers["memory"] = memory_kb(server.pid)
            if part + 1 == WARM_PARTS:
                before = numbers["memory"]
            numbers["growth"] = numbers["memory"] - before
        players.finish()

        assert own_faults(client) == numbers["faults"] == 0
        assert numbers["unanswered"] == 0
        assert numbers["growth"] <= MAX_GROWTH_KB
        server.stop_cleanly()
        assert b'"level": "error"' not in server.errors
        players.compare(store_url)
        numbers.update({what: players.numbers[what] for what in ("commands", "lost", "again")})
        assert numbers["lost"] == numbers["again"] == 0
        assert all(stream.connections == 1 for stream in players.streams)


def _attack(server: Server, chance: Random) -> Counter[str]:
    numbers = Counter[str]()
    with ExitStack() as stack:
        left: deque[socket.socket] = deque()
        stack.callback(lambda: deque((_cut(one, chance) for one in left), maxlen=0))
        attacker = _attacker(server, chance)
        for number in range(1, REQUESTS // PARTS // ATTACKERS + 1):
            if number % TARGET_REQUESTS == 0:
                attacker = _attacker(server, chance)
            hostile = attacker.draw()
            numbers["requests"] += hostile.answers or 1
            said = b""
            if hostile.stays:
                left.append(_leave_open(server, hostile.data))
                if len(left) > MAX_OPEN:
                    said = _cut(left.popleft(), chance)
            else:
                is_whole = None if hostile.answers is None else lambda _said: False  # it is closed
                said = exchange(server, hostile.data, is_whole)
            found = statuses(said)
            numbers["unanswered"] += hostile.answers not in (None, len(found))
            faults = [status for status in found if status >= 500]
            numbers.update(answers=len(found), faults=len(faults))
            assert not faults, hostile
    return numbers


def _attacker(server: Server, chance: Random) -> Attacker:
    with server.client() as client:
        first = client.create("friend")
        second = client.join(first["id"], first["invite"])
    secrets = [first["secrets"]["X"], second["secrets"]["O"]]
    return Attacker(chance, first["id"], secrets, first["invite"])


def _leave_open(server: Server, request: bytes) -> socket.socket:
    connection = server.socket()
    with suppress(ConnectionError):
        connection.sendall(request)
    return connection


def _cut(connection: socket.socket, chance: Random) -> bytes:
    """Close or reset the connection; return what has come so far."""
    with connection, suppress(BlockingIOError, ConnectionError):
        if chance.random() < 0.5:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        connection.settimeout(0)
        return connection.recv(65536)
    return b""
