"""Runs the real `noughts` command, usually forked, in a pseudo-terminal or between pipes.

Nothing here sleeps: a wait ends when the text appears, when the command exits, or at a deadline, which
fails the test and shows the output so far.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence

from support.command import COMMAND, environment
from support.deadlines import DEADLINE_SECONDS
from support.forked import Forked, fork

CTRL_C, CTRL_D, CTRL_Z = b"\x03", b"\x04", b"\x1a"
CTRL_V = b"\x16"
"""Makes the terminal pass on the next key literally."""

# The first terminal that a session leader opens becomes its controlling terminal, the one that sends it
# SIGINT and SIGHUP. A shell does that in a tenth of the time that Python takes to start.
_IN_TERMINAL = ("/bin/sh", "-c", 'exec "$@" <> "$0" 1>&0 2>&0')


JOB_CONTROL = ("/bin/sh", "-mc", '"$@"; echo Stopped; read answer; fg', "sh")
"""A shell that a command can be stopped in by Ctrl-Z; any line continues it."""


class Session(contextlib.AbstractContextManager["Session"]):
    """One run of the command; leaving the `with` block kills and reaps the process."""

    def __init__(
        self,
        process: subprocess.Popen[bytes] | Forked,
        reading: int,
        writing: int,
        initial_settings: Sequence[object] = (),
    ) -> None:
        self._process = process
        self._reading: int | None = reading
        self._writing: int | None = writing
        self._seen = 0
        self.output = b""
        """The output so far, including the echo of the terminal if it is on."""
        self.initial_settings = [*initial_settings]
        """The terminal's settings before the command started."""
        self._settings: list[object] = []
        for descriptor in {reading, writing}:
            os.set_blocking(descriptor, False)

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self.close()

    def type(self, typed: str | bytes) -> None:
        """Type on the keyboard; ignored once the command has exited."""
        rest = memoryview(typed.encode() if isinstance(typed, str) else typed)
        deadline = time.monotonic() + DEADLINE_SECONDS
        while rest and self._writing is not None:
            self._wait(deadline, f"the command to read {len(rest)} more bytes", writing=True)
            rest = rest[self._write(rest) :]

    def wait_for(self, pattern: str) -> bool:
        """Wait for new output that matches; return False if the command exits first."""
        wanted = re.compile(pattern.encode())
        deadline = time.monotonic() + DEADLINE_SECONDS
        while True:
            if found := wanted.search(self.output, self._seen):
                self._seen = found.end()
                return True
            if self._reading is None:
                return False
            self._wait(deadline, f"{pattern!r} to appear")

    def wait_until(self, is_so: Callable[[bytes], bool], what: str) -> bool:
        """Wait for output after which this is so; return False if the command exits first."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not is_so(self.output):
            if self._reading is None:
                return False
            self._wait(deadline, what)
        return True

    def read_until(self, pattern: str) -> str:
        """Return the output since the last wait, up to the match or the command's exit."""
        start = self._seen
        if not self.wait_for(pattern):
            self._seen = len(self.output)
        return self.output[start : self._seen].decode()

    def expect(self, text: str) -> str:
        """Return the output since the last wait, up to this text; fail if it does not appear."""
        start = self._seen
        assert self.wait_for(re.escape(text)), f"the command exited without {text!r}:\n{self.output!r}"
        return self.output[start : self._seen].decode()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the command if it is still running."""
        self._process.send_signal(number)

    def end_by(self, way: str) -> int:
        """End the command by Ctrl-C, by hanging up or by a signal; return the exit code."""
        if way == "Ctrl-C":
            self.type(CTRL_C)
        elif way == "hang up":
            self.close()
        else:
            self.send(signal.Signals[way])
        return self.end()

    @property
    def process(self) -> int:
        """The process id of the command."""
        return self._process.pid

    def settings(self) -> list[object]:
        """Return the terminal's settings, now or when the command exited."""
        if self._reading is not None:
            self._settings = list(termios.tcgetattr(self._reading))
        return self._settings

    def resize(self, columns: int, rows: int) -> None:
        """Resize the terminal; the kernel sends SIGWINCH to the command."""
        if self._reading is not None:
            _set_size(self._reading, columns, rows)

    def end_input(self) -> None:
        if self._writing is not None:
            os.close(self._writing)
            self._writing = None

    def stop_reading(self) -> None:
        if self._reading is not None:
            os.close(self._reading)
            self._reading = None

    def close(self) -> None:
        for descriptor in {self._reading, self._writing}:
            if descriptor is not None:
                os.close(descriptor)
        self._reading = self._writing = None

    def end(self) -> int:
        """Read until the command exits; return the exit code as a shell reports it."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while self._reading is not None:
            self._wait(deadline, "the command to exit")
        try:
            code = self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise AssertionError(self._overdue("the command to exit")) from None
        return code if code >= 0 else 128 - code

    def _wait(self, deadline: float, what: str, *, writing: bool = False) -> None:
        """Wait until the output is readable, or the input writable; read what is available."""
        poll = select.poll()
        if self._reading is not None:
            poll.register(self._reading, select.POLLIN)
        if writing and self._writing is not None:
            both = self._writing == self._reading
            poll.register(self._writing, select.POLLIN | select.POLLOUT if both else select.POLLOUT)
        left = deadline - time.monotonic()
        ready = poll.poll(1000 * left) if left > 0 else []
        if not ready:
            raise AssertionError(self._overdue(what))
        if any(descriptor == self._reading and event != select.POLLOUT for descriptor, event in ready):
            self._read()

    def _read(self) -> None:
        assert self._reading is not None
        try:
            data = os.read(self._reading, 1 << 16)
        except BlockingIOError:
            return
        except OSError:  # a terminal that no process has open any more returns EIO
            data = b""
        self.output += data
        if not data:
            if os.isatty(self._reading):
                self.settings()
            self.close()

    def _write(self, typed: memoryview) -> int:
        """Return how many bytes were written; all of them if there is no reader."""
        try:
            return len(typed) if self._writing is None else os.write(self._writing, typed[: 1 << 16])
        except BlockingIOError:
            return 0
        except OSError:
            return len(typed)

    def _overdue(self, what: str) -> str:
        return f"waited {DEADLINE_SECONDS:.0f} s for {what}; output so far:\n{self.output!r}"


def in_terminal(
    *arguments: str | bytes,
    size: tuple[int, int] = (80, 24),
    echo: bool = False,
    env: Mapping[str, str] | None = None,
    shell: Sequence[str] = (),
) -> Session:
    """Run the command in a terminal with this number of columns and rows, perhaps by a shell.

    Without `echo`, all output is the command's own, and it receives every key except Ctrl-C, Ctrl-D,
    Ctrl-Z and those that edit a line.
    """
    _restore_signals()
    master, slave = os.openpty()
    try:
        _set_size(slave, *size)
        _keep_output(slave)
        if not echo:
            _disable_echo(slave)
        before = termios.tcgetattr(slave)
        settings, terminal = env or environment(PYTHONUNBUFFERED=""), os.ttyname(slave)
        forked = not shell and fork(
            *arguments, env=settings, streams=(slave, slave, slave), terminal=terminal
        )
        process = forked or subprocess.Popen(
            [*_IN_TERMINAL, terminal, *shell, *COMMAND, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=settings,
            start_new_session=True,
        )
    except BaseException:
        os.close(master)
        raise
    finally:
        os.close(slave)
    return Session(process, master, master, before)


def between_pipes(*arguments: str | bytes, env: Mapping[str, str] | None = None) -> Session:
    """Run the command between two pipes; standard error goes to the same pipe as standard output."""
    _restore_signals()
    with contextlib.ExitStack() as until_started:
        inside, writing = os.pipe()
        until_started.callback(os.close, inside)
        reading, outside = os.pipe()
        until_started.callback(os.close, outside)
        settings = env or environment(PYTHONUNBUFFERED="")
        process = fork(*arguments, env=settings, streams=(inside, outside, outside)) or subprocess.Popen(
            [*COMMAND, *arguments], stdin=inside, stdout=outside, stderr=outside, env=settings
        )
    return Session(process, reading, writing)


def _restore_signals() -> None:
    """Stop ignoring SIGINT and SIGHUP (as in the background or under nohup): children inherit it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda _number, _frame: None)  # the tests survive a hang-up


def _set_size(terminal: int, columns: int, rows: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def _keep_output(terminal: int) -> None:
    """Turn off flushing: Ctrl-C and Ctrl-Z would discard what the command has just written."""
    settings = termios.tcgetattr(terminal)
    settings[3] |= termios.NOFLSH
    termios.tcsetattr(terminal, termios.TCSANOW, settings)


def _disable_echo(terminal: int) -> None:
    """Turn off echo, flow control and the bell."""
    inward, outward, control, local, *speeds, keys = termios.tcgetattr(terminal)
    inward &= ~(termios.IXON | termios.IMAXBEL)
    local &= ~termios.ECHO
    keys[termios.VQUIT] = bytes([os.fpathconf(terminal, "PC_VDISABLE")])
    termios.tcsetattr(terminal, termios.TCSANOW, [inward, outward, control, local, *speeds, keys])
