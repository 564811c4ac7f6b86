"""Hundreds of millions of games on all cores, counted as they are played.

The work is always cut into the same pieces, each with random numbers of its own: the same seed plays the
same games, however many processes share them.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import ECHILD
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TypeAlias

import numpy as np

from noughts.bots.ladder import random
from noughts.bots.policy import Policy
from noughts.lab.alias_tables import AliasTables
from noughts.lab.backends import CPU_BATCH, Backend, RandomNumbers
from noughts.lab.batch_play import (
    NO_GAMES,
    Match,
    PolicyMatch,
    RandomMatch,
    Tally,
    batches,
    check_count,
    check_seed,
)

Piece: TypeAlias = tuple[int, np.random.SeedSequence]
"""A number of games, and their seed."""

PIECE_GAMES = 125 * CPU_BATCH
"""The largest piece of work: a fraction of a second."""
MIN_PIECES = 64
"""Used if each piece is then at least one batch."""


class Simulation:
    """Two policies and the number of games to play. X starts."""

    def __init__(self, x: Policy, o: Policy, games: int, seed: int | None = None) -> None:
        self._tables = None if x is random and o is random else AliasTables.build(x, o)
        self._games = check_count(games)
        self.seed = _random_seed() if seed is None else check_seed(seed)
        """The given seed, or the one that was drawn."""
        self._piece_games = min(PIECE_GAMES, max(CPU_BATCH, self._games // MIN_PIECES))

    def run(self, jobs: int | None = None) -> Iterator[Tally]:
        """Play, and yield the tally of each piece; all processes end with the iterator.

        More than a few million games are shared by processes that import the calling program, so guard
        it with `if __name__ == "__main__":`.
        """
        workers = min(jobs or available_cores(), self._games // PIECE_GAMES)
        if workers < 2:
            match = _match(self._tables)
            return (_play(match, *piece) for piece in self._pieces())
        return self._run_in_processes(workers)

    def _pieces(self) -> Iterator[Piece]:
        for number, size in enumerate(batches(self._games, self._piece_games)):
            yield size, np.random.SeedSequence(self.seed, spawn_key=(number,))

    def _run_in_processes(self, workers: int) -> Iterator[Tally]:
        """Share the pieces among processes, and kill them all at the end."""
        processes: dict[Connection, BaseProcess] = {}
        try:
            with _sigint_blocked():
                processes.update(_start(self._tables) for _ in range(workers))
            yield from _collect(list(processes), self._pieces())
        finally:
            for connection, process in processes.items():
                process.kill()
                process.join()
                connection.close()


@contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Delay Ctrl-C, here and in the processes that start meanwhile: their imports take a while."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _random_seed() -> int:
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))


def _play(match: Match, games: int, seed: np.random.SeedSequence) -> Tally:
    rng = RandomNumbers(seed)
    return sum((match.count(size, rng) for size in batches(games, CPU_BATCH)), NO_GAMES)


def _match(tables: AliasTables | None) -> Match:
    return RandomMatch(Backend()) if tables is None else PolicyMatch(Backend(), tables)


def available_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start(tables: AliasTables | None) -> tuple[Connection, BaseProcess]:
    spawn = get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_work, args=(theirs, tables), daemon=True)
    process.start()
    theirs.close()  # then ours reports when the process ends
    return ours, process


def _collect(connections: list[Connection], pieces: Iterator[Piece]) -> Iterator[Tally]:
    """Send a piece to each worker, and another when it is done; yield the results."""
    busy: list[Connection] = []
    try:
        for connection, piece in zip(connections, pieces, strict=False):
            connection.send(piece)
            busy.append(connection)
        while busy:
            ready = wait(busy)
            for connection in [one for one in busy if one in ready]:
                tally: Tally = connection.recv()
                next_piece = next(pieces, None)
                if next_piece is None:
                    busy.remove(connection)
                else:
                    connection.send(next_piece)
                yield tally
    except (EOFError, OSError) as error:
        raise ChildProcessError(ECHILD, "a worker process was killed") from error


def _work(connection: Connection, tables: AliasTables | None) -> None:
    """Play pieces in a worker process until the connection closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process handles Ctrl-C
    match = _match(tables)
    with suppress(EOFError, OSError):
        while True:
            connection.send(_play(match, *connection.recv()))
