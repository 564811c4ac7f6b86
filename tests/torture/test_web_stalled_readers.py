"""Readers that never read use little memory, are dropped soon, and don't affect others."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from typing import TypeAlias

import pytest

from support.at_once import in_threads
from support.figures import tally
from support.length import short_or_long
from support.web.inspection import figure, memory_kb, reset_peak
from support.web.matches import Match, two_players
from support.web.serving import Client, Server
from support.web.stream_reader import Crowd, Reader

Record: TypeAlias = Callable[[str, object], None]

READERS = short_or_long(10, 100)
GAMES = short_or_long(1, 5)
ROUNDS = 120
"""One and a half times what it takes until such a reader is too slow."""

LONG_GAME_EVENTS = 250
"""When to stop taking back, before the limit on events is reached."""

NAME = "\U0001d54f" * 32
"""The longest possible name, so that there is much to send."""

MAX_GROWTH_KB = 5_000

DROP_SECONDS = 30.0
"""All are dropped within this time."""

NOTICE_SECONDS = 1.0
"""Others are notified within this time that a reader has left."""

FIGURE = (
    "{stalled} stalled readers: {dropped} dropped, after {milliseconds:,} ms at most; the server grew by "
    "{growth:,} kB; {healthy} healthy readers missed {missed} of {events:,} events"
)
QUIET = (
    "{stalled} stalled readers of games that went quiet: {gone} gone after {milliseconds:,} ms at most"
)


@pytest.mark.torture
def test_readers_who_never_read_are_dropped(store_url: str, record_property: Record) -> None:
    """The baseline of the memory is the same games with readers that read."""
    with (
        tally(record_property, FIGURE) as numbers,
        Server(store_url) as server,
        server.client() as client,
    ):
        _play_with_readers(server, client, ROUNDS // 8, Counter(), is_reading=True)  # warm up
        usual = _play_with_readers(server, client, ROUNDS, Counter(), is_reading=True)

        most = _play_with_readers(server, client, ROUNDS, numbers, is_reading=False)

        numbers.update(stalled=READERS, growth=most - usual)
        assert numbers["dropped"] == READERS
        assert numbers["growth"] <= MAX_GROWTH_KB
        assert numbers["milliseconds"] <= DROP_SECONDS * 1000
        assert numbers["missed"] == 0
        server.stop_cleanly()


@pytest.mark.torture
@pytest.mark.waits
def test_stalled_readers_of_a_quiet_game_are_dropped(store_url: str, record_property: Record) -> None:
    """A reader that stopped reading is dropped in time, even if the game is quiet."""
    with (
        tally(record_property, QUIET) as numbers,
        Server(store_url) as server,
        server.client() as client,
        ExitStack() as stack,
    ):
        place = server.host, server.port
        readers = []
        for rounds in (1, 10, ROUNDS // 4, ROUNDS // 2):
            match = stack.enter_context(two_players(server, name=NAME))
            readers.append(stack.enter_context(Reader(place, match.game)))
            stack.enter_context(Crowd(place, match.game, READERS // 4, is_reading=False))
            readers[-1].wait(lambda now: now.room and now.room["watching"] == 1 + READERS // 4)
            _busy(match, rounds)
            numbers["stalled"] += READERS // 4
        begin = time.monotonic()

        for reader in readers:
            reader.wait(lambda now: now.room["watching"] == 1, 2 * DROP_SECONDS)

        numbers["milliseconds"] = int(1000 * (time.monotonic() - begin))
        numbers["gone"] = numbers["stalled"] + len(readers) - figure(client, "streams")
        assert numbers["milliseconds"] <= 1000 * (DROP_SECONDS + NOTICE_SECONDS)
        assert all(reader.connections == 1 for reader in readers)


def _play_with_readers(
    server: Server, client: Client, rounds: int, numbers: Counter[str], *, is_reading: bool
) -> int:
    """Play some games with many readers; return the server's peak memory."""
    place = server.host, server.port
    reset_peak(server.pid)
    with ExitStack() as stack:
        matches = [stack.enter_context(two_players(server, name=NAME)) for _ in range(GAMES)]
        readers = [stack.enter_context(Reader(place, match.game)) for match in matches]
        size = READERS // GAMES
        for match, reader in zip(matches, readers, strict=True):
            stack.enter_context(Crowd(place, match.game, size, is_reading=is_reading))
            reader.wait(lambda now: now.room and now.room["watching"] == 1 + size)
        begin = time.monotonic()

        in_threads(*(lambda match=match: _busy(match, rounds) for match in matches))

        for match, reader in zip(matches, readers, strict=True):
            if not is_reading:
                reader.wait(lambda now: now.room["watching"] == 1, 2 * DROP_SECONDS)
                numbers["milliseconds"] = int(1000 * (time.monotonic() - begin))
            now = match.now
            events = [event.data for event in reader.wait_version(now["version"])]
            numbers.update(healthy=1, events=len(events), **reader.wrong)
            assert events == now["events"]
            assert reader.connections == 1
        left = figure(client, "streams") - GAMES
        assert left == (READERS if is_reading else 0)
        numbers["dropped"] = READERS - left
    return memory_kb(server.pid, "VmHWM")


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
