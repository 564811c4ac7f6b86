"""Eight writers in two processes who have read the same change the same game: one succeeds."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TypeAlias

import pytest

from noughts.store.urls import open_store
from support.command import script
from support.figures import Property, tally
from support.length import short_or_long
from support.played import commit
from support.rival_writers import STALE, WON, change_wanted, created
from support.store_games import hashes

Race: TypeAlias = Callable[[str], dict[int, str]]

RACES = short_or_long(100, 5000)
SHARES = [RACES // 2] * 2
WRITERS = 8

FIGURE = (
    "{races:,} races of 2 × 4 threads in 2 processes ({engine}): {winners:,} winners, {stale:,} stale"
)


@contextmanager
def processes(url: str) -> Iterator[Race]:
    half = WRITERS // 2
    with ExitStack() as stack:
        started = [
            stack.enter_context(
                subprocess.Popen(
                    [*script("rival_writers"), url, str(first), str(first + half)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for first in (0, half)
        ]

        def race(game: str) -> dict[int, str]:
            for process in started:
                assert process.stdin
                process.stdin.write(f"{game}\n")
                process.stdin.flush()
            outcomes: list[str] = []
            for process in started:
                assert process.stdout
                outcomes += process.stdout.readline().rstrip("\n").split("\t")
            return dict(enumerate(outcomes))

        yield race


@pytest.mark.torture
@pytest.mark.parametrize("races", SHARES)
def test_one_of_eight_writers_wins(url: str, races: int, record_property: Property) -> None:
    """In races to create a game and to make its first move, in turn."""
    with (
        tally(record_property, FIGURE.replace("{engine}", url.partition(":")[0])) as numbers,
        open_store(url) as store,
        processes(url) as race,
    ):
        expected = {}
        for number in range(races):
            game = f"{('new', 'begun')[number % 2]}-{number}"
            if number % 2:
                commit(store, created(game))
            outcomes = race(game)
            counts = Counter(outcomes.values())
            numbers.update(races=1, winners=counts[WON], stale=counts[STALE])
            assert counts == {WON: 1, STALE: WRITERS - 1}, outcomes
            (winner,) = (writer for writer, outcome in outcomes.items() if outcome == WON)
            expected[game] = change_wanted(winner, game).after.hash
        assert hashes(store) == expected
