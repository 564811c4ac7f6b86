"""Bots under load: every move is answered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from random import Random

import pytest

from support.figures import tally
from support.length import short_or_long
from support.web.bot_challengers import Challengers
from support.web.serving import Server

MOVES = short_or_long(400, 80_000)
PEOPLE = 64

FIGURE = (
    "{moves:,} moves of bots in {games:,} games, in {seconds:,} s: {forgotten} forgotten, "
    "{missed} late because only the check found them"
)


@pytest.mark.torture
def test_no_bot_forgets_its_turn_under_load(record_property: Callable[[str, object], None]) -> None:
    """The player's move triggers every bot move, never the check that runs every second."""
    with tally(record_property, FIGURE) as numbers, Server("memory:") as server:
        challengers = Challengers((server.host, server.port), PEOPLE, MOVES, Random(1))
        begin = time.monotonic()
        try:
            asyncio.run(challengers.play())
        finally:
            numbers.update(challengers.numbers, seconds=round(time.monotonic() - begin))
            numbers["missed"] = server.log().count(b"its turn was missed")

        assert numbers["moves"] >= MOVES
        assert numbers["forgotten"] == numbers["missed"] == 0
        server.stop_cleanly()
