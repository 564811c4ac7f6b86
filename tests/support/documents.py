"""Shared by the tests of the five documents: parsing the screen, all possible moves, and Ctrl-C."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess
from threading import Timer
from typing import NamedTuple, TypeAlias

from noughts import Board, Cell, CreateGame, Event, Game, Mark, PlaceToken, decide, fold

Ran: TypeAlias = CompletedProcess[str]

_ROWS = re.compile(r"[XO_] [XO_] [XO_]|[XO\d ]\|[XO\d ]\|[XO\d]?")
_QUESTIONS = re.compile(
    r"\w+: Enter a number between 1 and 9 to make your move"
    r"|.+, enter a position from 1 to 9:"
    r"|.+, choose a free cell, 1 to 9:"
    r"|Play again\? \(y/n\)"
)


class Answer(NamedTuple):
    """The outcome of an attempt to place a token."""

    game: Game
    mark: Mark
    cell: Cell
    events: tuple[Event, ...]


def created(first: Mark = Mark.X) -> Game:
    game = fold(decide(None, CreateGame(first)))
    assert game is not None
    return game


@cache
def every_answer() -> tuple[Answer, ...]:
    """Try every cell, and one that does not exist, for both marks in every position."""
    games: dict[Board, Game] = {created().board: created()}
    waiting, answers = list(games.values()), []
    for game in waiting:  # grows during the loop
        for mark in Mark:
            for cell in range(10):
                events = decide(game, PlaceToken(mark, cell))
                answers.append(Answer(game, mark, cell, events))
                after = fold(events, game) if len(events) > 1 else game
                if after.board not in games:
                    games[after.board] = after
                    waiting.append(after)
    return tuple(answers)


def keys(moves: str | None, typed: str | None) -> str:
    r"""Return the input for a game given as digits, followed by the quoted lines.

    >>> keys("519", '"undo" ""')
    '5\n1\n9\nundo\n\n'
    """
    return "".join(f"{line}\n" for line in (*(moves or ""), *re.findall('"([^"]*)"', typed or "")))


def board_texts(lines: Iterable[str]) -> list[str]:
    """Return the boards on the screen, in any style, as text such as X_O/_X_/___.

    >>> board_texts(["X| |O", "-+-+-", " |X|", "-+-+-", " | |", "X _ O", "_ X _", "_ _ _"])
    ['X_O/_X_/___', 'X_O/_X_/___']
    """
    rows = [re.sub(r"[ \d]", "_", f"{line:5}"[::2]) for line in lines if _ROWS.fullmatch(line)]
    assert len(rows) % 3 == 0, "a board has three rows"
    return ["/".join(rows[start : start + 3]) for start in range(0, len(rows), 3)]


def questions(lines: Iterable[str]) -> list[str]:
    return [line for line in lines if _QUESTIONS.fullmatch(line)]


def interrupted(
    arguments: Sequence[str], is_time: Callable[[str], bool], env: Mapping[str, str], typed: str = ""
) -> Ran:
    """Run a command, type this, and press Ctrl-C once it has printed this line."""
    said = []
    with _ctrl_c_enabled():
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=env,
        )
    patience = Timer(60, process.kill)
    patience.start()
    with process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(typed)
        process.stdin.flush()
        for line in process.stdout:
            said.append(line)
            if is_time(line.rstrip("\n")):
                _wait_until_it_waits(process.pid)
                process.send_signal(signal.SIGINT)
        complaints = process.stderr.read()
    patience.cancel()
    return subprocess.CompletedProcess(arguments, process.returncode, "".join(said), complaints)


def _wait_until_it_waits(process: int) -> None:
    """Wait until a process sleeps: Python may lose a signal that comes just before the wait."""
    status = Path(f"/proc/{process}/stat")
    while status.exists() and status.read_text().rpartition(")")[2].split()[0] == "R":
        pass


@contextmanager
def _ctrl_c_enabled() -> Iterator[None]:
    """Start processes that handle Ctrl-C even if the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
