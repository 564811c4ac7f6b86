"""Readers that never read are cut, use little memory, and don't affect others."""

from __future__ import annotations

import socket
import time
from collections import Counter
from contextlib import ExitStack

import pytest

from support.at_once import in_threads
from support.deadlines import DEADLINE_SECONDS
from support.figures import Property, tally
from support.length import short_or_long
from support.web.inspection import figure, memory_kb, reset_peak
from support.web.matches import Match, two_players
from support.web.serving import BASE, AsgiServer, Client, Server

READERS = short_or_long(10, 100)
GAMES = short_or_long(2, 5)
ROUNDS = 120
"""Much more than what small buffers take of a stream that nobody reads."""

LONG_GAME_EVENTS = 250
"""When to stop taking back: a game's record is limited, and what is offered is not."""

NAME = "\U0001d54f" * 32
"""The longest possible name, so that there is much to send."""

CUT_SECONDS = 50.0
"""All that do not read are gone by then, on a busy machine."""

MAX_GROWTH_KB, MAX_READER_KB = 5_000, 300
"""The second for each reader: uvicorn holds a write once 64 kB wait, and these are many small objects."""

SEND_BUFFER_BYTES, RECEIVE_BUFFER_BYTES = 4096, 1024
"""Of a connection; it may have megabytes otherwise, and then nothing ever waits for a reader."""

FIGURE = (
    "{stalled} readers that never read: {cut} cut WHOM, after {milliseconds:,} ms at most; "
    "the server grew by {growth:,} kB; {healthy} healthy readers missed {missed} of {events:,} events"
)


@pytest.mark.torture
@pytest.mark.waits
@pytest.mark.parametrize("is_busy", [True, False])
def test_readers_that_never_read_are_cut(
    store_url: str, record_property: Property, *, is_busy: bool
) -> None:
    """By the server, if a write does not end; by the system, if little is written to them.

    The baseline of the memory is the same games with readers that read.
    """
    rounds, by = (ROUNDS, "by the server") if is_busy else (1, "by the system")
    with (
        tally(record_property, FIGURE.replace("WHOM", by)) as numbers,
        AsgiServer(store_url, send_buffer_bytes=SEND_BUFFER_BYTES)
        if is_busy
        else Server(store_url) as server,
        server.client() as client,
    ):
        _play_with_readers(server, client, rounds // 4, Counter(), is_reading=True)  # warm up
        usual = _play_with_readers(server, client, rounds, Counter(), is_reading=True)

        most = _play_with_readers(server, client, rounds, numbers, is_reading=False)

        numbers.update(stalled=READERS, growth=most - usual)
        assert numbers["cut"] == READERS
        assert figure(client, "streams_ended_total") == (READERS if is_busy else 0)
        assert numbers["growth"] <= MAX_GROWTH_KB + READERS * MAX_READER_KB
        assert numbers["missed"] == 0
        server.stop_cleanly()


def _play_with_readers(
    server: Server, client: Client, rounds: int, numbers: Counter[str], *, is_reading: bool
) -> int:
    """Play games with many readers; return the server's peak memory."""
    reset_peak(server.pid)
    with ExitStack() as stack:
        matches = [stack.enter_context(two_players(server, name=NAME)) for _ in range(GAMES)]
        readers = [stack.enter_context(client.follow(match.game, reconnects=True)) for match in matches]
        for match, reader in zip(matches, readers, strict=True):
            for _ in range(READERS // GAMES):
                stack.enter_context(
                    client.follow(match.game) if is_reading else _stalled(server, match.game)
                )
            reader.wait_room(lambda room: room["watching"] == 1 + READERS // GAMES)
        begin = time.monotonic()

        in_threads(*(lambda match=match: _busy(match, rounds) for match in matches))

        for match, reader in zip(matches, readers, strict=True):
            if not is_reading:
                reader.wait_room(lambda room: room["watching"] == 1, CUT_SECONDS)
                numbers["milliseconds"] = int(1000 * (time.monotonic() - begin))
            now = match.now
            events = reader.wait_version(now["version"])
            numbers.update(healthy=1, events=len(events))
            numbers["missed"] += [event.data for event in events] != now["events"]
            assert reader.connections == 1
        left = figure(client, "streams") - GAMES
        assert left == (READERS if is_reading else 0)
        numbers["cut"] = READERS - left
    return memory_kb(server.pid, "VmHWM")


def _stalled(server: Server, game: str) -> socket.socket:
    """Open a stream that nobody reads."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
    connection.settimeout(DEADLINE_SECONDS)
    connection.connect((server.host, server.port))
    connection.sendall(f"GET {BASE}/games/{game}/events HTTP/1.1\r\nHost: noughts\r\n\r\n".encode())
    return connection


def _busy(match: Match, rounds: int) -> None:
    """Place a token, offer to take it back, and take it back.

    Once the game is long, the offer is declined.
    """
    answer = match.X.move(0)
    for _ in range(rounds):
        assert answer.status == 200, answer.body
        version = answer.json["version"]
        assert match.X.take_back(version).status == 202
        answer = match.O.answer(accept=version < LONG_GAME_EVENTS)
        if version < LONG_GAME_EVENTS:
            assert answer.status == 200, answer.body
            answer = match.X.move(0, answer.json["version"])
