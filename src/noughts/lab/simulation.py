"""Games by the hundred million, on all cores: how they ended, as it becomes known.

The work is cut into pieces that are always the same, and each has random numbers of its own: so the same
seed plays the same games, however many processes share them.
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
from noughts.lab.alias_tables import Mixed, mix
from noughts.lab.backends import NEAR, Backend, Chance
from noughts.lab.batch_play import (
    NOTHING,
    Match,
    PolicyMatch,
    RandomMatch,
    Tally,
    checked_count,
    checked_seed,
)

Piece: TypeAlias = tuple[int, np.random.SeedSequence]
"""How many games, and which."""

PIECE = 125 * NEAR
"""How many games are one piece of the work at most: a fraction of a second."""
FEW = 64
"""Pieces that there are at least, if that leaves enough for each."""


class Simulation:
    """Two policies, and how many games they are to play. X starts."""

    def __init__(self, x: Policy, o: Policy, games: int, seed: int | None = None) -> None:
        self._mixed = None if x is random and o is random else mix(x, o)
        self._games = checked_count(games)
        self.seed = _drawn_seed() if seed is None else checked_seed(seed)
        """Which of all games are played; one that was drawn by lot can be told."""
        self._piece = min(PIECE, max(NEAR, self._games // FEW))

    def run(self, jobs: int | None = None) -> Iterator[Tally]:
        """Play, and return how the games of each piece ended; nothing is left running after that.

        More than a few million are shared by processes, which import the program that started them: so
        that is to begin with `if __name__ == "__main__":`.
        """
        workers = min(jobs or _cores(), self._games // PIECE)
        if workers < 2:
            match = _match(self._mixed)
            return (_played(match, *piece) for piece in self._pieces())
        return self._shared(workers)

    def _pieces(self) -> Iterator[Piece]:
        for place, begin in enumerate(range(0, self._games, self._piece)):
            seed = np.random.SeedSequence(self.seed, spawn_key=(place,))
            yield min(self._piece, self._games - begin), seed

    def _shared(self, workers: int) -> Iterator[Tally]:
        """Give each process a piece, and the next when it is done; whatever happens, none is left."""
        pieces = self._pieces()
        team: dict[Connection, BaseProcess] = {}
        try:
            with _without_ctrl_c():
                team.update(_start(self._mixed) for _ in range(workers))
            busy = [line for line, piece in zip(team, pieces, strict=False) if _told(line, piece)]
            while busy:
                ready = wait(busy)
                for line in [line for line in busy if line in ready]:
                    done = _heard(line)
                    piece = next(pieces, None)
                    if piece is None:
                        busy.remove(line)
                    else:
                        _told(line, piece)
                    yield done
        finally:
            for line, process in team.items():
                process.kill()
                process.join()
                line.close()


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Keep Ctrl-C for later, and from processes that are started here: they import for a while."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _drawn_seed() -> int:
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))


def _played(match: Match, games: int, seed: np.random.SeedSequence) -> Tally:
    chance, sizes = Chance(seed), [NEAR] * (games // NEAR) + [games % NEAR]
    return sum((match.count(size, chance) for size in sizes if size), NOTHING)


def _match(mixed: Mixed | None) -> Match:
    return RandomMatch(Backend()) if mixed is None else PolicyMatch(Backend(), mixed)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start(mixed: Mixed | None) -> tuple[Connection, BaseProcess]:
    """Start a process, and return the line to it."""
    spawn = get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_share, args=(theirs, mixed), daemon=True)
    process.start()
    theirs.close()  # so that the line ends when the process does
    return ours, process


def _told(line: Connection, piece: Piece) -> bool:
    with _lost_with_line():
        line.send(piece)
    return True


def _heard(line: Connection) -> Tally:
    with _lost_with_line():
        heard: Tally = line.recv()
    return heard


@contextmanager
def _lost_with_line() -> Iterator[None]:
    try:
        yield
    except (EOFError, OSError) as error:
        raise ChildProcessError(ECHILD, "a process that shared the work was ended") from error


def _share(line: Connection, mixed: Mixed | None) -> None:
    """Play one piece after the other, in a process of its own, until nobody asks for one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who waits for us
    match = _match(mixed)
    with suppress(EOFError, OSError):  # whoever waited is gone
        while True:
            line.send(_played(match, *line.recv()))
