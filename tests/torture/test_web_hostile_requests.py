"""Hostile requests: none is answered with a 5xx status, and games continue."""

from __future__ import annotations

import socket
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from random import Random
from threading import Event
from typing import TypeAlias

import pytest

from support.at_once import in_threads
from support.figures import tally
from support.length import short_or_long
from support.web.hostile_client import PersistentConnection, cut, leave_open, send
from support.web.hostile_requests import Attacker, HostileRequest, Target
from support.web.inspection import faults as own_faults, memory_kb
from support.web.matches import two_players
from support.web.serving import Server
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

FIGURE = (
    "{requests:,} hostile requests: {answers:,} answers, {faults} of them 5xx, {unanswered} wanting; "
    "memory grew by {growth:,} kB to {memory:,} kB; {games:,} games played meanwhile"
)


@pytest.mark.torture
def test_hostile_requests_are_refused_and_nothing_else_happens(
    store_url: str, record_property: Record
) -> None:
    """No answer is a 5xx, the memory doesn't grow, and games continue."""
    with (
        tally(record_property, FIGURE) as numbers,
        Server(store_url, NOUGHTS_CACHE_MEGABYTES="1") as server,
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
