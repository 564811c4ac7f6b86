"""Games with programs, many at a time.

Each worker is a thread that runs its own child processes. It plays one series of games after another; the
plan and the random numbers are fixed in advance, so results do not depend on the number of workers.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from queue import Empty, SimpleQueue
from random import Random
from threading import Lock, Thread
from typing import Self, TypeAlias

from noughts.bots.bot import Bot
from noughts.bots.errors import Forfeit
from noughts.bots.program import Program, poll
from noughts.core.board import Board, Cell, Mark
from noughts.core.value import Value
from noughts.lab.tournament import Entrant, GameResult

Choose: TypeAlias = Callable[[Board], Cell | None]
"""Chooses a move; None resigns."""
NewGame: TypeAlias = Callable[[Mark, Random], Choose]

SERIES_GAMES = 25
"""How many games a program plays before it is restarted."""
MAX_WORKERS = 32
_FILES_PER_WORKER, _RESERVED_FILES = 12, 64
"""A worker has up to six pipes, and needs as many again while a program starts."""
_POLL_SECONDS = 0.1


def max_workers() -> int:
    """Return how many workers the limit on open files allows.

    >>> 1 <= max_workers() <= MAX_WORKERS
    True
    """
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MAX_WORKERS
    return max(1, min(MAX_WORKERS, (files - _RESERVED_FILES) // _FILES_PER_WORKER))


class Series(Value):
    """Consecutive games of the same two players in the same seats."""

    x: Entrant
    o: Entrant
    numbers: range


def plan_series(pairs: Sequence[tuple[Entrant, Entrant]], games: int) -> Iterator[Series]:
    """Split the games into series; all pairs advance evenly, in case of an early end."""
    for first in range(0, games, SERIES_GAMES):
        for x, o in pairs:
            yield Series(x, o, range(first, min(games, first + SERIES_GAMES)))


class MatchRunner:
    """Plays all series; leaving the `with` block stops the workers and ends every process.

    Workers record their games under a lock: Ctrl-C never loses a game or counts one twice. Iterate over
    the runner to wait for the games, in the order in which they end.
    """

    def __init__(
        self,
        planned: Iterator[Series],
        jobs: int,
        timeout_seconds: float,
        rng_for: Callable[[str], Random],
        record: Callable[[GameResult], None],
    ) -> None:
        self._planned = planned
        self._timeout_seconds = timeout_seconds
        self._rng_for = rng_for
        self._record = record
        self._lock = Lock()
        self._results: SimpleQueue[GameResult | BaseException | None] = SimpleQueue()
        self._stop_reader, self._stop_writer = os.pipe()
        self._threads = [Thread(target=self._work) for _ in range(min(jobs, max_workers()))]

    def __enter__(self) -> Self:
        try:
            for thread in self._threads:
                thread.start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def __iter__(self) -> Iterator[GameResult]:
        working = len(self._threads)
        while working:
            try:  # a short wait: a signal just before it would not interrupt it
                result = self._results.get(timeout=_POLL_SECONDS)
            except Empty:
                continue
            if isinstance(result, BaseException):
                raise result
            if result is None:
                working -= 1
            else:
                yield result

    def _stop(self) -> None:
        """Stop all workers, whatever they wait for, and join them."""
        os.write(self._stop_writer, b"!")
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()
        os.close(self._stop_writer)
        os.close(self._stop_reader)

    def _work(self) -> None:
        try:
            while series := self._next():
                self._play(series)
        except _Stopped:
            pass
        except BaseException as error:  # noqa: BLE001 - __iter__ raises it
            self._results.put(error)
        finally:
            self._results.put(None)

    def _next(self) -> Series | None:
        with self._lock:
            return next(self._planned, None)

    def _play(self, series: Series) -> None:
        x, o = series.x.name, series.o.name
        with ExitStack() as programs:
            seats = {
                mark: self._seat(bot, programs) for mark, bot in ((Mark.X, series.x), (Mark.O, series.o))
            }
            for number in series.numbers:
                self._wait((), 0)
                winner, forfeit = play_game(seats, self._rng_for(f"{x}\0{o}\0{number}"))
                result = GameResult(x, o, number, winner, forfeit)
                with self._lock:
                    self._record(result)
                self._results.put(result)

    def _seat(self, entrant: Entrant, programs: ExitStack) -> NewGame:
        """Return how a bot starts a game; a program that cannot be started loses it."""
        if policy := entrant.policy:
            return lambda _mark, rng: Bot(policy, rng).choose_or_resign
        started: list[Program] = []

        def new_game(mark: Mark, _rng: Random) -> Choose:
            if not started:
                program = Program(entrant.command, self._timeout_seconds, self._wait)
                started.append(programs.enter_context(program))
            started[0].new_game(mark)
            return started[0].choose_or_resign

        return new_game

    def _wait(self, sources: Iterable[int], seconds: float) -> list[int]:
        """Wait for a program's output, or raise if the runner stops."""
        ready = poll([self._stop_reader, *sources], seconds)
        if self._stop_reader in ready:
            raise _Stopped
        return ready


class _Stopped(Exception):
    """The runner is stopping."""


def play_game(seats: Mapping[Mark, NewGame], rng: Random) -> tuple[Mark | None, str]:
    """Play a game, and return the winner, and the loser's forfeit if there was one."""
    board, active = Board(), Mark.X
    choose: dict[Mark, Choose] = {}
    try:
        for active in Mark:
            choose[active] = seats[active](active, rng)
        while not board.is_over:
            active = board.turn
            cell = choose[active](board)
            if cell is None:
                return active.other, ""
            board = board.place(cell)
    except Forfeit as forfeit:
        return active.other, str(forfeit)
    return board.winner, ""
