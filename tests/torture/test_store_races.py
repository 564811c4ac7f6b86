"""Eight writers in two processes who have read the same change the same game: one succeeds."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context

import pytest

from noughts.store.urls import open_store
from support.figures import Property, tally
from support.length import short_or_long
from support.played import commit
from support.rival_writers import change_wanted, created, open_here, race
from support.store_games import hashes

RACES = short_or_long(100, 5000)
SHARES = [RACES // 2] * 2
WRITERS = range(4), range(4, 8)
"""Of each process."""

FIGURE = (
    "{races:,} races of 2 × 4 threads in 2 processes ({engine}): {winners:,} winners, {stale:,} stale"
)


@pytest.mark.torture
@pytest.mark.parametrize("races", SHARES)
def test_one_of_eight_writers_wins(url: str, races: int, record_property: Property) -> None:
    """In races to create a game and to make its first move, in turn."""
    with (
        tally(record_property, FIGURE.replace("{engine}", url.partition(":")[0])) as numbers,
        open_store(url) as store,
        ExitStack() as stack,
    ):
        start = get_context("spawn")
        rivals = [
            stack.enter_context(ProcessPoolExecutor(1, start, initializer=open_here, initargs=(url,)))
            for _ in WRITERS
        ]
        expected = {}
        for number in range(races):
            game = f"{('new', 'begun')[number % 2]}-{number}"
            if number % 2:
                commit(store, created(game))
            running = [rival.submit(race, game, own) for rival, own in zip(rivals, WRITERS, strict=True)]
            outcomes = [outcome for one in running for outcome in one.result()]
            numbers.update(races=1, winners=outcomes.count("StoredGame"))
            numbers.update(stale=outcomes.count("StaleVersion"))
            assert sorted(outcomes) == ["StaleVersion"] * 7 + ["StoredGame"]
            expected[game] = change_wanted(game, outcomes.index("StoredGame")).after.hash
        assert hashes(store) == expected
