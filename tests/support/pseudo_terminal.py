"""Runs the real `noughts` command, mostly forked, where a person would: in a terminal, or between pipes.

Nothing here sleeps: every wait ends when the text comes, when the command ends, or at a deadline, which
fails the test and shows all that the command had written by then.
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
from typing import TYPE_CHECKING

from support.command import COMMAND, environment
from support.forked import fork

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType
    from typing import Self

    from support.forked import Forked

DEADLINE = 60.0
"""In seconds: long enough for the slowest machine, and reached only by a command that hangs."""

CTRL_C, CTRL_D, CTRL_Z = b"\x03", b"\x04", b"\x1a"
CTRL_V = b"\x16"
"""Before a key that means something to the terminal, hands it to the command as it is."""

# A terminal is the controlling one, the one whose Ctrl-C and hang-up count, for the first in a session
# that opens it. A shell does that in a tenth of the time that Python takes to start.
_IN_TERMINAL = ("/bin/sh", "-c", 'exec "$@" <> "$0" 1>&0 2>&0')


class Session:
    """One run of the command; leave its `with` block and the process is over and reaped."""

    def __init__(
        self,
        process: subprocess.Popen[bytes] | Forked,
        reading: int,
        writing: int,
        before: Sequence[object] = (),
    ) -> None:
        self._process = process
        self._reading: int | None = reading
        self._writing: int | None = writing
        self._heard = 0
        self.output = b""
        """All that the command, and a terminal that echoes, have written so far."""
        self.before = [*before]
        """The settings of the terminal before the command started."""
        self._settings: list[object] = []
        for descriptor in {reading, writing}:
            os.set_blocking(descriptor, False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self.close()

    def type(self, typed: str | bytes) -> None:
        """Type on the keyboard; what comes after the end of the command is typed in vain."""
        rest = memoryview(typed.encode() if isinstance(typed, str) else typed)
        deadline = time.monotonic() + DEADLINE
        while rest and self._writing is not None:
            self._wait(deadline, f"the command to read {len(rest)} bytes more", writing=True)
            rest = rest[self._write(rest) :]

    def wait_for(self, pattern: str) -> bool:
        """Wait until something new matches; False if the command ended without it."""
        wanted = re.compile(pattern.encode())
        deadline = time.monotonic() + DEADLINE
        while True:
            if found := wanted.search(self.output, self._heard):
                self._heard = found.end()
                return True
            if self._reading is None:
                return False
            self._wait(deadline, f"{pattern!r} to appear")

    def hear(self, pattern: str) -> str:
        """Return what was written since the last wait, up to what matches or the command's end."""
        start = self._heard
        if not self.wait_for(pattern):
            self._heard = len(self.output)
        return self.output[start : self._heard].decode()

    def expect(self, text: str) -> str:
        """Return what was written since the last wait, up to this text, which must come."""
        start = self._heard
        assert self.wait_for(re.escape(text)), f"it ended without {text!r}:\n{self.output!r}"
        return self.output[start : self._heard].decode()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the command, if it still runs."""
        self._process.send_signal(number)

    @property
    def process(self) -> int:
        """The number of the command's process."""
        return self._process.pid

    def settings(self) -> list[object]:
        """Return the settings of the terminal as they are, or as the command left them at its end."""
        if self._reading is not None:
            self._settings = list(termios.tcgetattr(self._reading))
        return self._settings

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the terminal; the kernel tells the command so (SIGWINCH)."""
        if self._reading is not None:
            _set_size(self._reading, columns, rows)

    def end_input(self) -> None:
        """Close the pipe that the command reads from."""
        if self._writing is not None:
            os.close(self._writing)
            self._writing = None

    def stop_reading(self) -> None:
        """Close the pipe that the command writes to."""
        if self._reading is not None:
            os.close(self._reading)
            self._reading = None

    def close(self) -> None:
        """Go away: close the terminal, or both pipes."""
        for descriptor in {self._reading, self._writing}:
            if descriptor is not None:
                os.close(descriptor)
        self._reading = self._writing = None

    def end(self) -> int:
        """Wait for the command to end, reading on, and return the exit code as a shell tells it."""
        deadline = time.monotonic() + DEADLINE
        while self._reading is not None:
            self._wait(deadline, "the command to end")
        try:
            code = self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise AssertionError(self._overdue("the command to end")) from None
        return code if code >= 0 else 128 - code

    def _wait(self, deadline: float, what: str, *, writing: bool = False) -> None:
        """Wait until there is something to read, or room to write; take in what can be read."""
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
            more = os.read(self._reading, 1 << 16)
        except BlockingIOError:
            return
        except OSError:  # a terminal says EIO when nobody has it open any more
            more = b""
        self.output += more
        if not more:
            if os.isatty(self._reading):
                self.settings()
            self.close()

    def _write(self, typed: memoryview) -> int:
        """Write what there is room for; if nobody is there to read it, all of it."""
        try:
            return len(typed) if self._writing is None else os.write(self._writing, typed[: 1 << 16])
        except BlockingIOError:
            return 0
        except OSError:
            return len(typed)

    def _overdue(self, what: str) -> str:
        return f"waited {DEADLINE:.0f} s for {what}; written so far:\n{self.output!r}"


def in_terminal(
    *arguments: str | bytes,
    size: tuple[int, int] = (80, 24),
    echo: bool = False,
    env: Mapping[str, str] | None = None,
) -> Session:
    """Run the command in a terminal of so many columns and rows.

    Without `echo`, all output is the command's own, and every key but Ctrl-C, Ctrl-D, Ctrl-Z and those
    that edit a line reaches it.
    """
    _heed_signals()
    master, slave = os.openpty()
    try:
        _set_size(slave, *size)
        if not echo:
            _hush(slave)
        before = termios.tcgetattr(slave)
        settings, terminal = env or environment(PYTHONUNBUFFERED=""), os.ttyname(slave)
        process = fork(
            *arguments, env=settings, streams=(slave, slave, slave), terminal=terminal
        ) or subprocess.Popen(
            [*_IN_TERMINAL, terminal, *COMMAND, *arguments],
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
    """Run the command between two pipes; its errors come out where its words do."""
    _heed_signals()
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


def _heed_signals() -> None:
    """Let Ctrl-C and a hang-up count for what is started here, in the background and under nohup too."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda _number, _frame: None)  # the tests themselves go on


def _set_size(terminal: int, columns: int, rows: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def _hush(terminal: int) -> None:
    """Let the terminal itself say nothing, stop nothing, and throw nothing away."""
    inward, outward, control, local, *speeds, keys = termios.tcgetattr(terminal)
    inward &= ~(termios.IXON | termios.IMAXBEL)
    local = local & ~termios.ECHO | termios.NOFLSH
    keys[termios.VQUIT] = bytes([os.fpathconf(terminal, "PC_VDISABLE")])
    termios.tcsetattr(terminal, termios.TCSANOW, [inward, outward, control, local, *speeds, keys])
