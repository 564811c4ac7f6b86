"""Games with programs, at many tables at once.

A table is a thread that asks, and each has child processes of its own that answer. Whoever sits down
plays a few games in a row; which ones, and with which luck, is settled before, so that it does not matter
how many tables there are.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from queue import Empty, SimpleQueue
from random import Random
from threading import Lock, Thread
from typing import Self

from noughts.bots.bot import Bot
from noughts.bots.errors import Forfeit
from noughts.bots.policy import Policy
from noughts.bots.program import Program, poll
from noughts.core.board import Board, Cell, Mark
from noughts.core.value import Value
from noughts.lab.tournament import Entrant, Played

LENGTH = 25
"""How many games a program plays before it is started anew."""
MOST_TABLES = 32
_FILES_A_TABLE, _OTHER_FILES = 12, 64
"""A table has up to six pipes, and needs as many again while a program is started."""
_A_MOMENT = 0.1


def most_tables() -> int:
    """Return how many tables there is room for: there are fewer where few files may be open at once.

    >>> 1 <= most_tables() <= MOST_TABLES
    True
    """
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MOST_TABLES
    return max(1, min(MOST_TABLES, (files - _OTHER_FILES) // _FILES_A_TABLE))


class Sitting(Value):
    """Games of the same two in the same seats, one after the other."""

    x: Entrant
    o: Entrant
    numbers: range


def sittings(pairs: Sequence[tuple[Entrant, Entrant]], games: int) -> Iterator[Sitting]:
    """Share out the games; all pairs get on evenly, in case that it ends early."""
    for first in range(0, games, LENGTH):
        for x, o in pairs:
            yield Sitting(x, o, range(first, min(games, first + LENGTH)))


class Tables:
    """Tables that play all sittings; leave the `with` block and all is over, and every process has ended.

    Each game is recorded at its table, one at a time: whenever somebody presses Ctrl-C, none is lost or
    counted twice. Whoever wants to wait for the games goes through them, in the order in which they end.
    """

    def __init__(
        self,
        planned: Iterator[Sitting],
        jobs: int,
        patience: float,
        lots: Callable[[str], Random],
        record: Callable[[Played], None],
    ) -> None:
        self._planned = planned
        self._patience = patience
        self._lots = lots
        self._record = record
        self._one_at_a_time = Lock()
        self._heard: SimpleQueue[Played | BaseException | None] = SimpleQueue()
        self._stopping, self._stop = os.pipe()
        self._threads = [Thread(target=self._work) for _ in range(min(jobs, most_tables()))]

    def __enter__(self) -> Self:
        try:
            for thread in self._threads:
                thread.start()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def __iter__(self) -> Iterator[Played]:
        working = len(self._threads)
        while working:
            try:  # a signal may come just before the wait, which then goes on: it is a short one
                heard = self._heard.get(timeout=_A_MOMENT)
            except Empty:
                continue
            if isinstance(heard, BaseException):
                raise heard
            if heard is None:
                working -= 1
            else:
                yield heard

    def _end(self) -> None:
        """Tell all tables to stop, whatever they wait for, and wait until they have."""
        os.write(self._stop, b"!")
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()
        os.close(self._stop)
        os.close(self._stopping)

    def _work(self) -> None:
        """Play one sitting after the other, until there are no more."""
        try:
            while sitting := self._next():
                self._play(sitting)
        except _Stopped:
            pass
        except BaseException as error:  # noqa: BLE001 - it is raised where the games are heard of
            self._heard.put(error)
        finally:
            self._heard.put(None)

    def _next(self) -> Sitting | None:
        with self._one_at_a_time:
            return next(self._planned, None)

    def _play(self, sitting: Sitting) -> None:
        x, o = sitting.x.name, sitting.o.name
        with self._seat(sitting.x) as at_x, self._seat(sitting.o) as at_o:
            seats = {Mark.X: at_x, Mark.O: at_o}
            for number in sitting.numbers:
                self._wait((), 0)
                winner, forfeit = play_game(seats, self._lots(f"{x}\0{o}\0{number}"))
                played = Played(x, o, number, winner, forfeit)
                with self._one_at_a_time:
                    self._record(played)
                self._heard.put(played)

    def _seat(self, entrant: Entrant) -> Seat:
        if entrant.policy:
            return PolicySeat(entrant.policy)
        return ProgramSeat(lambda: Program(entrant.command, self._patience, self._wait))

    def _wait(self, sources: Iterable[int], seconds: float) -> list[int]:
        """Wait for an answer, or until all are told to stop."""
        ready = poll([self._stopping, *sources], seconds)
        if self._stopping in ready:
            raise _Stopped
        return ready


class _Stopped(Exception):
    """Somebody wants no more games to be played."""


def play_game(seats: Mapping[Mark, Seat], rng: Random) -> tuple[Mark | None, str]:
    """Play a game, and return who won, and why the loser lost if that was by what it did."""
    board, asked = Board(), Mark.X
    choose: dict[Mark, Callable[[Board], Cell | None]] = {}
    try:
        for asked in Mark:
            choose[asked] = seats[asked].sit_up(asked, rng)
        while not board.is_over:
            asked = board.turn
            cell = choose[asked](board)
            if cell is None:
                return asked.other, ""
            board = board.place(cell)
    except Forfeit as forfeit:
        return asked.other, str(forfeit)
    return board.winner, ""


class Seat:
    """Somebody at the table; leave the `with` block and nobody is there."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def sit_up(self, mark: Mark, rng: Random) -> Callable[[Board], Cell | None]:
        """Hear that a game begins, and return how to move in it; None is to resign."""
        raise NotImplementedError


class PolicySeat(Seat):
    """A policy at the table."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def sit_up(self, mark: Mark, rng: Random) -> Callable[[Board], Cell | None]:  # noqa: ARG002 - a board says whose turn it is
        """Return how it moves in this game: by lot."""
        return Bot(self._policy, rng).choose


class ProgramSeat(Seat):
    """A program at the table; it is started for its first game, since to fail at that is to lose it."""

    def __init__(self, start: Callable[[], Program]) -> None:
        self._start = start
        self._program: Program | None = None

    def __exit__(self, *error: object) -> None:
        if self._program:
            self._program.__exit__(*error)

    def sit_up(self, mark: Mark, rng: Random) -> Callable[[Board], Cell | None]:  # noqa: ARG002 - its luck is its own
        """Tell it that a game begins, and return how it moves: as it likes."""
        self._program = self._program or self._start()
        self._program.new_game(mark)
        return self._program.choose
