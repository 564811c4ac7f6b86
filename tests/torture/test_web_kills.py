"""Kills and stops servers repeatedly while clients play: nothing is lost, and no bot forgets its turn."""

from __future__ import annotations

from contextlib import ExitStack
from random import Random

import pytest

from support.figures import Property, tally
from support.length import short_or_long
from support.web.inspection import quiet_port
from support.web.persistent_players import Players
from support.web.serving import Server

KILLS, MOST_COMMANDS = short_or_long((4, 60), (200, 700))
"""How often, and how many commands are at most acknowledged in between."""

BOT_MOVES = short_or_long(40, 40_000)
TABLES, BOTS = 2, 6
"""Of two people each, and of one against a bot."""

FIGURE = (
    "{kills:,} kills and restarts of servers in play: {commands:,} acknowledged commands, {lost} lost, "
    "{doubled} doubled; {games:,} games with {moves:,} moves of bots, {unfinished} unfinished; "
    "{lines:,} streams resumed, {missed} events missed, {repeated} repeated; "
    "{again:,} commands sent again"
)


@pytest.mark.torture
def test_nothing_is_lost_when_servers_are_killed(url: str, record_property: Property) -> None:
    """Every acknowledged command is there once, clients reconnect by themselves, and all games finish.

    On PostgreSQL there are two servers: whoever then looks at a game has its bot move.
    """
    players = Players()
    with tally(record_property, FIGURE) as numbers:
        try:
            _play_and_kill(url, players)
        finally:
            players.compare(url)
            numbers.update(players.numbers)

        assert numbers["lost"] == numbers["doubled"] == numbers["unfinished"] == 0
        assert numbers["missed"] == numbers["repeated"] == 0
        assert numbers["moves"] >= BOT_MOVES


def _play_and_kill(url: str, players: Players) -> None:
    """Let all play while servers are killed or stopped, then finish their games."""
    chance = Random(5)
    with ExitStack() as stack:
        ports = [("--port", str(quiet_port())) for _ in range(2 if url.startswith("postgres") else 1)]
        servers = [stack.enter_context(Server(url, *port)) for port in ports]
        stack.enter_context(players)
        for number in range(TABLES):
            players.seat_friends(servers[number % len(servers)])
        for number in range(BOTS):
            client = servers[number % len(servers)].client()
            players.seat(client, client.create("bot", bot="club", first="random"))
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
