"""Kills the server repeatedly while clients play: nothing is lost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from random import Random
from typing import TypeAlias

import pytest

from noughts.core.events import PlayerPlacedToken, PlayerTookBack
from noughts.store.rows import game_of
from noughts.store.urls import open_store
from noughts.store.verify import verify
from support.figures import tally
from support.length import short_or_long
from support.web.inspection import quiet_port
from support.web.persistent_players import RECOVERY_SECONDS, Player, Players
from support.web.serving import Server
from support.web.stream_reader import ReceivedEvent

Record: TypeAlias = Callable[[str, object], None]

KILLS = short_or_long(4, 200)
TABLES, BOTS = 3, 2
"""Of two people each, and of one against a bot."""

FIGURE = (
    "{kills:,} kills of the server in play: {commands:,} acknowledged commands, {lost} lost, "
    "{doubled} doubled; {games:,} games, {unfinished} unfinished; {lines:,} streams resumed, "
    "{again:,} commands sent again"
)


@pytest.mark.torture
def test_nothing_is_lost_when_the_server_is_killed(store_url: str, record_property: Record) -> None:
    """Every acknowledged command is there once, clients reconnect by themselves, and all games finish."""
    players, chance = Players(), Random(5)
    with tally(record_property, FIGURE) as numbers:
        try:
            _play_and_kill(store_url, players, chance, numbers)
        finally:
            numbers.update(players.numbers, commands=len(players.acknowledged))

        _compare_with_store(store_url, players, numbers)

        assert numbers["lost"] == numbers["doubled"] == numbers["unfinished"] == 0


def _play_and_kill(store_url: str, players: Players, chance: Random, numbers: Counter[str]) -> None:
    """Let all play while the server is killed repeatedly, then finish their games."""
    with ExitStack() as stack:
        port = ("--port", str(quiet_port()))
        server = stack.enter_context(Server(store_url, *port))
        stack.callback(players.has_failed.set)  # stops all players, even on failure
        threads = _seat_players(server, players, chance)
        for thread in threads:
            thread.start()
        for _ in range(KILLS):
            players.wait_for(len(players.acknowledged) + chance.randrange(1, 60))
            players.has_failed.wait(chance.random() * 0.03)  # so that it may hit any moment
            server.kill()
            numbers["kills"] += 1
            assert b"Traceback" not in server.errors
            server = stack.enter_context(Server(store_url, *port))
        players.is_enough.set()
        for thread in threads:
            thread.join(RECOVERY_SECONDS)
        players.check()
        assert not any(thread.is_alive() for thread in threads), "a player hangs"
        server.stop_cleanly()


def _seat_players(server: Server, players: Players, chance: Random) -> list[Player]:
    """Seat people against each other and against bots."""
    place = server.host, server.port
    seats = []
    with server.client() as client:
        for _ in range(TABLES):
            first = client.create("friend", name="Ann")
            seats += [first, client.join(first["id"], first["invite"], name="Bob")]
        seats += [client.create("bot", bot="club", mark=mark) for mark in "XO" * (BOTS // 2)]
    return [Player(players, place, server.client(), seat, Random(chance.random())) for seat in seats]


def _compare_with_store(store_url: str, players: Players, numbers: Counter[str]) -> None:
    """Compare what was acknowledged with what is in the store; every game has its room."""
    with open_store(store_url, create=False) as opened:
        verify(opened)
        games = [game_of(row) for row in opened.rows()]
    assert all(game.room for game in games)
    over = {game.id for game in games if game.game.is_over}
    entries = [(game.id, entry) for game in games for entry in game.entries]
    found = {
        (game, entry.version + number): (entry.key, json.loads(line))
        for game, entry in entries
        for number, line in enumerate(entry.text.split("\n"), 1)
    }
    sizes = Counter((game, entry.key) for game, entry in entries for _ in entry.events)
    for command in players.acknowledged:
        versions = range(command.version - len(command.events) + 1, command.version + 1)
        there = [found.get((command.game, version)) for version in versions]
        numbers["lost"] += there != [(command.key, event) for event in command.events]
        numbers["doubled"] += sizes[command.game, command.key] > len(command.events)
    known = {(command.game, command.key) for command in players.acknowledged}
    commands = {
        (game, entry.key)
        for game, entry in entries
        if any(isinstance(event, PlayerPlacedToken | PlayerTookBack) for event in entry.events)
        and not entry.key.startswith("bot-")
    }
    numbers["doubled"] += len(commands - known)  # commands are sent until they are acknowledged
    followed = {reader.game for reader in players.readers}
    numbers.update(games=len(followed), unfinished=len(followed - over))
    for reader in players.readers:
        assert not reader.wrong.total()
        assert reader.events == [
            ReceivedEvent(version, found[reader.game, version][1])
            for version in range(1, reader.version + 1)
        ]
        assert (reader.game, reader.version + 1) not in found
