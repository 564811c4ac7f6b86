"""A program as a player: a child process that is asked for moves, a line at a time (docs/programs.md).

Whatever it does instead of moving, it loses by it (`Forfeit` says why), and the process is ended and
reaped, with all that it has started and that has not run away from it.
"""

from __future__ import annotations

import os
import select
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from errno import EAGAIN, EMFILE, ENFILE, ENOMEM
from typing import IO, Self, TypeAlias

from noughts.bots.errors import Forfeit
from noughts.core.board import Board, Cell, Mark, game_is_over
from noughts.core.errors import InvalidName, NoughtsError, UnreadableCell, quoted
from noughts.core.notation import parse_cell, why_not_typed
from noughts.core.player import clean_name

Wait: TypeAlias = Callable[[Iterable[int], float], Iterable[int]]
"""From descriptors and seconds to those that can be read; fewer than all, or none, if time is up."""

PROTOCOL = 1
ANSWER_TIMEOUT_SECONDS = 5.0
"""Seconds for an answer, unless the user says otherwise."""
EXIT_TIMEOUT_SECONDS = 1.0
"""Seconds for a program to end by itself, once it was told to."""
POLL_INTERVAL_SECONDS = 0.01
_SYSTEM_LIMITS = EAGAIN, EMFILE, ENFILE, ENOMEM
_MAX_POLL_SECONDS = 86_400  # some systems cannot wait for much longer than that
MAX_LINE_BYTES = 1000
"""In bytes."""


class CannotStartProgram(NoughtsError):
    """The system can't start another program now: nobody has lost by that."""

    exit_code = 1


def poll(sources: Iterable[int], seconds: float) -> list[int]:
    """Wait until something can be read, and return what."""
    polling = select.poll()
    for source in sources:
        polling.register(source, select.POLLIN)
    return [source for source, _ in polling.poll(1000 * min(max(0.0, seconds), _MAX_POLL_SECONDS))]


class Program:
    """A program that plays. It is started when it is made; leave its `with` block and it has ended."""

    def __init__(self, command: str, patience: float = ANSWER_TIMEOUT_SECONDS, wait: Wait = poll) -> None:
        self._command = command
        self._patience = patience
        self._wait = wait
        self._child: _Child | None = None
        self.name = ""
        """What it calls itself."""
        try:
            self._start()
        except BaseException:  # nobody has it yet who could close it
            self._end()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.close(at_once=kind is not None)

    def new_game(self, mark: Mark) -> None:
        """Tell it that a game begins, and which mark it has; if it had to be ended, it starts anew."""
        self._tell(self._child or self._start(), f"new {mark}")

    def choose(self, board: Board) -> Cell | None:
        """Ask for a move, and return the cell, or None if it resigns; a finished board is refused."""
        if board.is_over:
            raise game_is_over(board)
        answer = self._ask(self._child or self._start(), f"position {board} {board.turn}")
        if answer == "resign":
            return None
        word, _, text = answer.partition(" ")
        if word != "move":
            raise self._forfeit(f"said {quoted(answer)}, where 'move 1' to 'move 9' or 'resign' belongs")
        try:
            cell = parse_cell(text)
        except UnreadableCell:
            raise self._forfeit(
                f"said {quoted(answer)}, and there is no such cell: they are 1 to 9"
            ) from None
        if why := why_not_typed(board, cell):
            raise self._forfeit(f"said {quoted(answer)}, which is illegal: {why}")
        return cell

    def close(self, *, at_once: bool = False) -> None:
        """Say goodbye, wait a moment for it to end (or not even that), and see to it that it has."""
        self._end("" if at_once else "bye")

    def _start(self) -> _Child:
        """Start the process, and hear its name."""
        if not isinstance(self._command, str):
            raise Forfeit(
                f"a program is started by a command such as './mybot', not {quoted(self._command)}"
            )
        try:
            words = shlex.split(self._command)
        except ValueError as error:
            raise Forfeit(f"{quoted(self._command)} is no command: {error}") from None
        if not words:
            raise Forfeit("program: needs a command, such as program:./mybot")
        try:
            child = self._child = _Child(words)
        except (OSError, ValueError) as error:  # a character that no command has is a ValueError
            why = error.strerror if isinstance(error, OSError) else "no command is called so"
            if isinstance(error, OSError) and error.errno in _SYSTEM_LIMITS:
                raise CannotStartProgram(f"no program can be started now: {why}") from error
            raise Forfeit(f"{quoted(words[0])} cannot be started: {why}") from None
        answer = self._ask(child, f"noughts {PROTOCOL}")
        word, _, name = answer.partition(" ")
        try:
            self.name = clean_name(name if word == "name" else "")
        except InvalidName:
            raise self._forfeit(f"said {quoted(answer)}, where 'name' and a name belong") from None
        return child

    def _ask(self, child: _Child, line: str) -> str:
        """Say something, and return the answer."""
        self._tell(child, line)
        try:
            return child.hear(self._wait, self._patience)
        except _Trouble as trouble:
            raise self._forfeit(str(trouble)) from None

    def _tell(self, child: _Child, line: str) -> None:
        try:
            child.say(line, self._wait)
        except _Trouble as trouble:
            raise self._forfeit(str(trouble)) from None

    def _end(self, word: str = "") -> None:
        child, self._child = self._child, None
        if child:
            child.end(self._wait, word)

    def _forfeit(self, why: str) -> Forfeit:
        """End the program, which has lost by what it did, and return the reason."""
        self._end()
        return Forfeit(f"{self.name or quoted(self._command)} {why}")


class _Trouble(Exception):
    """What a child did instead of answering, as the end of a sentence about it."""


class _Child:
    """The process: lines in, lines out, and the last words that it wrote as errors."""

    def __init__(self, words: list[str]) -> None:
        self._process = process = subprocess.Popen(  # noqa: S603 - the user's own command
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,  # Ctrl-C is ours to hear; and all that it starts is ended with it
        )
        self._in: IO[bytes] = process.stdin  # type: ignore[assignment]  # a pipe, as asked for
        self._out: IO[bytes] = process.stdout  # type: ignore[assignment]  # the same
        self._errors: IO[bytes] = process.stderr  # type: ignore[assignment]  # the same
        for pipe in (self._in, self._out, self._errors):
            os.set_blocking(pipe.fileno(), False)
        self._open = [self._out.fileno(), self._errors.fileno()]
        self._heard = b""
        self._complaints = b""
        self._is_known = False

    def say(self, line: str, wait: Wait) -> None:
        """Write a line; a program that has spoken unasked, or reads nothing, is in trouble."""
        if self._is_known:  # it may well say its name before it is asked
            self._read(wait(self._open, 0))
        self._is_known = True
        if self._heard:
            raise _Trouble(f"spoke without being asked: {quoted(_text(self._heard))}")
        try:
            os.write(self._in.fileno(), f"{line}\n".encode())
        except BlockingIOError:
            raise _Trouble("does not read what it is told") from None
        except OSError:
            pass  # it has ended, or will not listen; what it says to that is heard next

    def hear(self, wait: Wait, patience: float) -> str:
        """Return the next line, or tell in what trouble the program is."""
        deadline = time.monotonic() + patience
        while b"\n" not in self._heard[: MAX_LINE_BYTES + 1]:
            if len(self._heard) > MAX_LINE_BYTES:
                raise _Trouble(f"said more than {MAX_LINE_BYTES} bytes in a line")
            if self._out.fileno() not in self._open:
                raise _Trouble(self._last_words(wait))
            left = deadline - time.monotonic()
            if left <= 0:
                said = "did not end its line" if self._heard else "said nothing"
                raise _Trouble(f"{said} within {patience:g} s")
            self._read(wait(self._open, left))
        line, _, self._heard = self._heard.partition(b"\n")
        return _text(line.removesuffix(b"\r"))

    def end(self, wait: Wait, word: str = "") -> None:
        """End the process and all that is left of its group, and reap it; first it may end by itself."""
        try:
            if word:
                self._part(wait, word)
        finally:
            self._kill()

    def _part(self, wait: Wait, word: str) -> None:
        """Say a last word, and wait a moment until nothing more is said."""
        self._heard = b""
        with suppress(_Trouble):
            self.say(word, wait)
        self._in.close()
        deadline = time.monotonic() + EXIT_TIMEOUT_SECONDS
        while self._out.fileno() in self._open and (left := deadline - time.monotonic()) > 0:
            self._read(wait(self._open, left))
            self._heard = b""

    def _kill(self) -> None:
        # Until it is reaped, its number is its own, and so is the number of its group.
        with suppress(OSError):  # there may be nobody left of them
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._in, self._out, self._errors):
            pipe.close()

    def _read(self, ready: Iterable[int]) -> None:
        for source in set(ready) & {*self._open}:
            try:
                more = os.read(source, 1 << 16)
            except BlockingIOError:
                continue
            if not more:
                self._open.remove(source)
            elif source == self._out.fileno():
                self._heard += more
            else:
                self._complaints = (self._complaints + more)[-MAX_LINE_BYTES:]

    def _last_words(self, wait: Wait) -> str:
        """Tell how the process ended, and what it complained of last."""
        deadline = time.monotonic() + EXIT_TIMEOUT_SECONDS
        how = self._ending()
        while (self._errors.fileno() in self._open or not how) and time.monotonic() < deadline:
            self._read(wait(self._open, POLL_INTERVAL_SECONDS))
            how = self._ending()
        lines = _text(self._complaints).strip().splitlines()
        complained = f", complaining: {lines[-1][:200]!r}" if lines else ""
        return f"{how or 'closed its output'}{complained}"

    def _ending(self) -> str:
        """Tell how the process ended, if it has, and leave it to be reaped."""
        try:
            ended = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except AttributeError:  # macOS before Python 3.13
            return "ended"
        except ChildProcessError:  # whoever started us wants no children to be waited for
            return "ended"
        if ended is None:
            return ""
        if ended.si_code == os.CLD_EXITED:
            return f"ended with exit code {ended.si_status}"
        return f"was ended by signal {ended.si_status}"


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")
