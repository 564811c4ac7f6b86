"""Cuts streams at any byte, repeatedly: their readers miss nothing."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from itertools import count
from random import Random

import pytest

from support.at_once import in_threads
from support.figures import Property, tally
from support.length import short_or_long
from support.proxy import CuttingProxy
from support.web.inspection import ROUND_EVENTS, keep_busy, recorded
from support.web.matches import Seat, one_player
from support.web.serving import Place, Server, Stream

CUTS = short_or_long(50, 1_000)
GAMES = 4
READERS = 4
"""Of each game."""

MAX_EVENTS = 280
"""A game goes on up to here, where nothing can be taken back any more soon, and then there are others."""

MAX_TURNS = 50

FIGURE = (
    "{cuts:,} cuts of streams, {torn:,} of them within an event: {events:,} events read, "
    "{missed} missed, {repeated} repeated"
)


@pytest.mark.torture
def test_readers_whose_connections_are_cut_miss_nothing(
    store_url: str, record_property: Property
) -> None:
    """A reader that reconnects gets the rest: complete, in order, and once."""
    readers: list[Stream] = []
    with tally(record_property, FIGURE) as numbers:
        with Server(store_url) as server:
            place = (server.host, server.port)
            with CuttingProxy(place, CUTS, Random(1)) as proxy:
                for _ in range(MAX_TURNS):
                    readers += _a_turn(server, proxy, numbers)
                    if not proxy.cuts_left:
                        break
                numbers["cuts"] = proxy.cuts
            server.stop_cleanly()

        games = recorded(store_url)
        assert proxy.cuts == CUTS
        assert numbers["missed"] == numbers["repeated"] == 0
        for reader in readers:
            assert reader.numbered == games[reader.game]


def _a_turn(server: Server, proxy: CuttingProxy, numbers: Counter[str]) -> list[Stream]:
    """Play some games while they are read through the proxy; return their readers."""
    with ExitStack() as stack:
        seats = [stack.enter_context(one_player(server, "self")) for _ in range(GAMES)]
        readers = [
            stack.enter_context(Place(*proxy.place).client().follow(seat.game, reconnects=True))
            for seat in seats
            for _ in range(READERS)
        ]
        try:
            in_threads(*(lambda seat=seat: _play(seat, proxy) for seat in seats))
            versions = {seat.game: seat.version for seat in seats}
            for reader in readers:
                reader.wait_version(versions[reader.game])
        finally:
            for reader in readers:
                numbers.update(events=len(reader.events), torn=reader.torn, **reader.wrong)
    return readers


def _play(seat: Seat, proxy: CuttingProxy) -> None:
    """Play while there are cuts left, up to the maximum length of a game."""
    for version in count(0, ROUND_EVENTS):
        if not proxy.cuts_left or version > MAX_EVENTS:
            return
        keep_busy(seat, 1)
