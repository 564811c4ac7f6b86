"""Eight writers want the same version of the same game: one gets it, and seven are told so."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from noughts.core.codec import dumps
from noughts.store.opening import open_store
from racers import STALE, WON, Racers, wanted
from store_games import everything
from tally import tally

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable
    from typing import TypeAlias

    Record: TypeAlias = Callable[[str, object], None]
    Race: TypeAlias = Callable[[str, int], dict[int, str]]

RACES = 5000 if os.environ.get("NOUGHTS_TORTURE") else 100
SHARES = [RACES // 2] * 2
WRITERS = 8
SCRIPT = Path(__file__).parent.parent / "racers.py"

THREADS = "{races:,} races of 8 threads ({engine}): {winners:,} winners, {stale:,} stale versions"
PROCESSES = THREADS.replace("8 threads", "2 × 4 threads in 2 processes")


def in_one_process(url: str, races: int, numbers: Counter[str]) -> None:
    """Let eight threads race in this process."""
    with open_store(url) as store:
        racers = Racers(store, range(WRITERS))
        _race_again_and_again(url, racers.race, races, numbers)
        racers.stop()


def in_two_processes(url: str, races: int, numbers: Counter[str]) -> None:
    """Let two processes with four threads each race against each other."""
    open_store(url).close()
    half = WRITERS // 2
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, SCRIPT, url, str(first), str(first + half)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for first in (0, half)
        ]

        def race(game: str, version: int) -> dict[int, str]:
            for process in processes:
                assert process.stdin
                process.stdin.write(f"{game} {version}\n")
                process.stdin.flush()
            outcomes: list[str] = []
            for process in processes:
                assert process.stdout
                outcomes += process.stdout.readline().rstrip("\n").split("\t")
            return dict(enumerate(outcomes))

        _race_again_and_again(url, race, races, numbers)


def _race_again_and_again(url: str, race: Race, races: int, numbers: Counter[str]) -> None:
    """Race for the start of a game and for its first move, in turn; then look at the store."""
    expected = []
    for number in range(races):
        game, version = f"game-{number // 2}", (0, 3)[number % 2]
        outcomes = race(game, version)
        winners = [racer for racer, outcome in outcomes.items() if outcome == WON]
        stale = [racer for racer, outcome in outcomes.items() if outcome == STALE]
        numbers.update(races=1, winners=len(winners), stale=len(stale))
        assert (len(winners), len(stale)) == (1, WRITERS - 1), outcomes
        (winner,) = winners
        expected += [
            (game, place, winner, f"racer-{winner}", dumps(event))
            for place, event in enumerate(wanted(winner, version), start=version + 1)
        ]
    with open_store(url, create=False) as store:
        assert [tuple(record[1:6]) for record in everything(store)] == expected


@pytest.mark.torture
@pytest.mark.parametrize("races", SHARES)
def test_one_of_eight_threads_wins_in_a_file(
    races: int, sqlite_url: str, record_property: Record
) -> None:
    """Each race has one winner, seven are refused, and only the winner's events are in the store."""
    with tally(record_property, THREADS.replace("{engine}", "SQLite")) as numbers:
        in_one_process(sqlite_url, races, numbers)


@pytest.mark.torture
@pytest.mark.parametrize("races", SHARES)
def test_one_of_eight_threads_in_two_processes_wins_in_a_file(
    races: int, sqlite_url: str, record_property: Record
) -> None:
    """The same across processes, which know nothing of each other but the file."""
    with tally(record_property, PROCESSES.replace("{engine}", "SQLite")) as numbers:
        in_two_processes(sqlite_url, races, numbers)


@pytest.mark.torture
@pytest.mark.parametrize("races", SHARES)
def test_one_of_eight_threads_wins_on_a_server(
    races: int, postgres_url: str, record_property: Record
) -> None:
    """The same where a server keeps the games."""
    with tally(record_property, THREADS.replace("{engine}", "PostgreSQL")) as numbers:
        in_one_process(postgres_url, races, numbers)


@pytest.mark.torture
@pytest.mark.parametrize("races", SHARES)
def test_one_of_eight_threads_in_two_processes_wins_on_a_server(
    races: int, postgres_url: str, record_property: Record
) -> None:
    """And across processes, which know nothing of each other but the server."""
    with tally(record_property, PROCESSES.replace("{engine}", "PostgreSQL")) as numbers:
        in_two_processes(postgres_url, races, numbers)
