"""A program as a player: a child process that is asked for moves, one line at a time (docs/programs.md).

Anything other than a legal move forfeits the game (`Forfeit` says why). Then the process is killed, with
everything that it has started in its process group.
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

from noughts.bots.bot import Chooser
from noughts.bots.errors import CannotStartProgram, Forfeit
from noughts.core.board import AnyMark, Cell, as_mark, game_is_over
from noughts.core.errors import InvalidName, UnreadableCell, quoted
from noughts.core.notation import AnyBoard, as_board, parse_cell, why_not_typed
from noughts.core.player import clean_name

Wait: TypeAlias = Callable[[Iterable[int], float], Iterable[int]]
"""From descriptors and a timeout in seconds to those that are readable."""

PROTOCOL = 1
ANSWER_TIMEOUT_SECONDS = 5.0
EXIT_TIMEOUT_SECONDS = 1.0
"""For a program to exit after `bye`."""
POLL_INTERVAL_SECONDS = 0.01
MAX_LINE_BYTES = 1000
_MAX_POLL_SECONDS = 86_400  # some systems cannot wait for much longer
_SYSTEM_LIMITS = EAGAIN, EMFILE, ENFILE, ENOMEM


def poll(sources: Iterable[int], seconds: float) -> list[int]:
    """Wait until a descriptor is readable, and return those that are."""
    polling = select.poll()
    for source in sources:
        polling.register(source, select.POLLIN)
    return [source for source, _ in polling.poll(1000 * min(max(0.0, seconds), _MAX_POLL_SECONDS))]


class Program(Chooser):
    """A program that plays. Creating it starts the process; leaving its `with` block ends it."""

    def __init__(self, command: str, patience: float = ANSWER_TIMEOUT_SECONDS, wait: Wait = poll) -> None:
        self._command = command
        self._patience = patience
        self._wait = wait
        self._child: _Child | None = None
        self.name = ""
        """As the program calls itself."""
        try:
            self._start()
        except BaseException:  # the caller has nothing to close yet
            self._end()
            raise

    def __repr__(self) -> str:
        return f"Program({self._command!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.close(at_once=kind is not None)

    def new_game(self, mark: AnyMark) -> None:
        """Announce a game and the program's mark; a program that was ended is started again."""
        self._send(self._child or self._start(), f"new {as_mark(mark)}")

    def choose_or_resign(self, board: AnyBoard) -> Cell | None:
        """Ask for a move, and return the cell, or None if it resigns; a finished board is refused."""
        board = as_board(board)
        if board.is_over:
            raise game_is_over(board)
        answer = self._ask(self._child or self._start(), f"position {board} {board.turn}")
        if answer == "resign":
            return None
        word, _, text = answer.partition(" ")
        if word != "move":
            raise self._forfeit(f"answered {quoted(answer)} instead of 'move 1' to 'move 9' or 'resign'")
        try:
            cell = parse_cell(text)
        except UnreadableCell:
            raise self._forfeit(f"answered {quoted(answer)}, but cells are 1 to 9") from None
        if why := why_not_typed(board, cell):
            raise self._forfeit(f"answered {quoted(answer)}, which is illegal: {why}")
        return cell

    def close(self, *, at_once: bool = False) -> None:
        """Send `bye`, wait briefly for the process to exit (unless `at_once`), and kill what is left."""
        self._end("" if at_once else "bye")

    def _start(self) -> _Child:
        if not isinstance(self._command, str):
            raise Forfeit(
                f"a program is started by a command such as './mybot', not {quoted(self._command)}"
            )
        try:
            words = shlex.split(self._command)
        except ValueError as error:
            raise Forfeit(f"{quoted(self._command)} is not a command: {error}") from None
        if not words:
            raise Forfeit("program: needs a command, such as program:./mybot")
        try:
            child = self._child = _Child(words, self._wait)
        except OSError as error:
            if error.errno in _SYSTEM_LIMITS:
                raise CannotStartProgram(f"no program can be started now: {error.strerror}") from error
            raise Forfeit(f"{quoted(words[0])} cannot be started: {error.strerror}") from None
        except ValueError:  # a NUL, or half a character
            raise Forfeit(f"{quoted(words[0])} cannot be started: it is not a valid name") from None
        answer = self._ask(child, f"noughts {PROTOCOL}")
        word, _, name = answer.partition(" ")
        try:
            self.name = clean_name(name if word == "name" else "")
        except InvalidName:
            raise self._forfeit(f"answered {quoted(answer)} instead of 'name' and a name") from None
        return child

    def _ask(self, child: _Child, line: str) -> str:
        self._send(child, line)
        try:
            return child.receive(self._patience)
        except _Misbehaviour as error:
            raise self._forfeit(str(error)) from None

    def _send(self, child: _Child, line: str) -> None:
        try:
            child.send(line)
        except _Misbehaviour as error:
            raise self._forfeit(str(error)) from None

    def _end(self, last_line: str = "") -> None:
        child, self._child = self._child, None
        if child:
            child.end(last_line)

    def _forfeit(self, why: str) -> Forfeit:
        """End the program, and return the error to raise."""
        self._end()
        return Forfeit(f"{self.name or quoted(self._command)} {why}")


class _Misbehaviour(Exception):
    """What a program did instead of answering, as the end of a sentence."""


class _Child:
    """The process: lines in, lines out, and the end of what it wrote to stderr."""

    def __init__(self, words: list[str], wait: Wait) -> None:
        self._wait = wait
        self._process = process = subprocess.Popen(  # noqa: S603 - the user's own command
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,  # Ctrl-C goes to us only, and its whole group can be killed
        )
        self._in: IO[bytes] = process.stdin  # type: ignore[assignment]  # a pipe, as requested
        self._out: IO[bytes] = process.stdout  # type: ignore[assignment]  # a pipe, as requested
        self._errors: IO[bytes] = process.stderr  # type: ignore[assignment]  # a pipe, as requested
        for pipe in (self._in, self._out, self._errors):
            os.set_blocking(pipe.fileno(), False)
        self._open = [self._out.fileno(), self._errors.fileno()]
        self._received = b""
        self._complaints = b""
        self._is_greeted = False

    def send(self, line: str) -> None:
        if self._is_greeted:  # it may say its name before it is asked
            self._read(0)
        self._is_greeted = True
        if self._received:
            raise _Misbehaviour(f"wrote without being asked: {quoted(_text(self._received))}")
        try:
            os.write(self._in.fileno(), f"{line}\n".encode())
        except BlockingIOError:
            raise _Misbehaviour("does not read its input") from None
        except OSError:
            pass  # it has exited or closed its input; `receive` finds out

    def receive(self, patience: float) -> str:
        """Return the next line."""
        deadline = time.monotonic() + patience
        while b"\n" not in self._received[: MAX_LINE_BYTES + 1]:
            if len(self._received) > MAX_LINE_BYTES:
                raise _Misbehaviour(f"wrote more than {MAX_LINE_BYTES} bytes in a line")
            if self._out.fileno() not in self._open:
                raise _Misbehaviour(self._describe_exit())
            left = deadline - time.monotonic()
            if left <= 0:
                what = "did not end its line" if self._received else "did not answer"
                raise _Misbehaviour(f"{what} within {patience:g} s")
            self._read(left)
        line, _, self._received = self._received.partition(b"\n")
        return _text(line.removesuffix(b"\r"))

    def end(self, last_line: str) -> None:
        """Kill the process group and reap the process; with a last line, it may exit by itself first."""
        try:
            if last_line:
                self._wait_for_exit(last_line)
        finally:
            self._kill()

    def _wait_for_exit(self, last_line: str) -> None:
        self._received = b""
        with suppress(_Misbehaviour):
            self.send(last_line)
        self._in.close()
        deadline = time.monotonic() + EXIT_TIMEOUT_SECONDS
        while self._out.fileno() in self._open and (left := deadline - time.monotonic()) > 0:
            self._read(left)
            self._received = b""

    def _kill(self) -> None:
        # Until the process is reaped, no other process can have its id or that of its group.
        with suppress(OSError):  # the group may be empty
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._in, self._out, self._errors):
            pipe.close()

    def _read(self, seconds: float) -> None:
        """Wait for output, and read what there is."""
        for source in {*self._wait(self._open, seconds)} & {*self._open}:
            try:
                more = os.read(source, 1 << 16)
            except BlockingIOError:
                continue
            if not more:
                self._open.remove(source)
            elif source == self._out.fileno():
                self._received += more
            else:
                self._complaints = (self._complaints + more)[-MAX_LINE_BYTES:]

    def _describe_exit(self) -> str:
        """Describe how the process ended, with its last line on stderr."""
        deadline = time.monotonic() + EXIT_TIMEOUT_SECONDS
        how = self._ending()
        while (self._errors.fileno() in self._open or not how) and time.monotonic() < deadline:
            self._read(POLL_INTERVAL_SECONDS)
            how = self._ending()
        lines = _text(self._complaints).strip().splitlines()
        complained = f", complaining: {lines[-1][:200]!r}" if lines else ""
        return f"{how or 'closed its output'}{complained}"

    def _ending(self) -> str:
        """Describe how the process ended, if it has, without reaping it."""
        try:
            ended = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except (AttributeError, ChildProcessError):
            return "ended"  # macOS before Python 3.13 cannot tell, nor a process that ignores SIGCHLD
        if ended is None:
            return ""
        if ended.si_code == os.CLD_EXITED:
            return f"ended with exit code {ended.si_status}"
        return f"was ended by signal {ended.si_status}"


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")
