"""Servers are killed, or connections cut, while clients play: nothing is lost or forgotten."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from random import Random

import pytest

from support.figures import Property, tally
from support.length import short_or_long
from support.proxy import CuttingProxy
from support.web.inspection import quiet_port
from support.web.persistent_players import Players
from support.web.serving import Place, Server

KILLS, MOST_COMMANDS = short_or_long((4, 60), (200, 700))
"""How often, and how many commands are at most acknowledged in between."""

BOT_MOVES = short_or_long(40, 40_000)
CUTS = short_or_long(50, 1_000)

TABLES, BOTS = 2, 6
"""Of two people each, and of one against a bot."""

FIGURE = (
    "{commands:,} acknowledged commands, {lost} lost, {doubled} doubled; "
    "{games:,} games with {moves:,} moves of bots, {unfinished} unfinished; "
    "{lines:,} streams resumed, {torn:,} within an event, {missed} events missed, {repeated} repeated; "
    "{again:,} commands sent again"
)
KILLED, CUT = f"{{kills:,}} kills and restarts of servers: {FIGURE}", f"{{cuts:,}} cuts: {FIGURE}"


@pytest.mark.torture
def test_nothing_is_lost_when_servers_are_killed(url: str, record_property: Property) -> None:
    """Every acknowledged command is there once, clients reconnect by themselves, and all games finish.

    On PostgreSQL there are two servers: whoever then looks at a game has its bot move.
    """
    players = Players()
    with tally(record_property, KILLED) as numbers:
        try:
            _play_and_kill(url, players)
        finally:
            players.compare(url)
            numbers.update(players.numbers)
        _check(numbers)
        assert numbers["moves"] >= BOT_MOVES


@pytest.mark.torture
def test_nothing_is_lost_when_connections_are_cut(store_url: str, record_property: Property) -> None:
    """At any byte of a request, an answer or a stream: who reconnects gets the rest, in order, once."""
    with (
        tally(record_property, CUT) as numbers,
        Server(store_url) as server,
        CuttingProxy((server.host, server.port), 0, Random(1)) as proxy,
        Players() as players,
    ):
        _seat(players, Place(*proxy.place))
        players.start()
        proxy.start(CUTS)
        while proxy.cuts_left:
            players.wait_for(10)
        players.finish()
        server.stop_cleanly()
        players.compare(store_url)
        numbers.update(players.numbers, cuts=proxy.cuts)
        _check(numbers)


def _check(numbers: Counter[str]) -> None:
    assert numbers["lost"] == numbers["doubled"] == numbers["unfinished"] == 0
    assert numbers["missed"] == numbers["repeated"] == 0


def _seat(players: Players, *places: Place) -> None:
    for number in range(TABLES):
        players.seat_friends(places[number % len(places)])
    for number in range(BOTS):
        client = places[number % len(places)].client()
        players.seat(client, client.create("bot", bot="club", first="random"))


def _play_and_kill(url: str, players: Players) -> None:
    """Let all play while servers are killed or stopped, then finish their games."""
    chance = Random(5)
    with ExitStack() as stack:
        ports = [("--port", str(quiet_port())) for _ in range(2 if url.startswith("postgres") else 1)]
        servers = [stack.enter_context(Server(url, *port)) for port in ports]
        stack.enter_context(players)
        _seat(players, *servers)
        players.start()
        for _ in range(KILLS):
            players.wait_for(chance.randrange(1, MOST_COMMANDS))
            players.has_failed.wait(chance.random() * 0.03)  # so that it may hit any moment
            number = chance.randrange(len(servers))
            if chance.random() < 0.7:
                servers[number].kill()
                assert b"Traceback" not in servers[number].errors
            else:
                servers[number].stop_cleanly()
            players.count(kills=1)
            servers[number] = stack.enter_context(Server(url, *ports[number]))
        players.finish()
        for server in servers:
            server.stop_cleanly()
