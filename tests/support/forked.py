"""The command, forked from a process that has loaded it: the same runs, without the start of Python.

A start takes longer than most of what the command is asked for here. So one process loads it, and for
each run forks a child that becomes the command: with streams, an environment, a folder and an end of its
own, as if it had been started. This is for tests of what the command says and does. Whoever asks how
Python starts, or that two processes do the same, takes `command.noughts`; what only a start can give is
started here too. Sessions in terminals and servers are forked as well, and run beside the tests: another
child waits for each of them, and tells how it ended.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import pkgutil
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import cache
from importlib import import_module
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING

from noughts.cli.main import EXTRAS
from noughts.core.board import Mark, reachable
from support.command import environment, noughts as started

if TYPE_CHECKING:
    from collections.abc import Mapping

DEADLINE = 60.0
"""In seconds; reached only by a command that hangs."""

MOST = 60_000
"""In bytes: what a pipe takes at once, and a message."""

_LOADED = tuple(
    f"noughts.{package}"
    for package in (
        "analysis",
        "bots",
        "bots.menace",
        "cli",
        "cli.commands",
        "cli.remote",
        "core",
        "text",
    )
)
_NEED_EXTRAS = {f"noughts.cli.commands.{name}" for name in EXTRAS}
_SERVED = ("noughts.cli.commands.serve", "noughts.web.app", "uvloop")
"""What a server loads besides, where it is installed."""
_AT_THE_START = ("PYTHON", "LC_", "LANG")
"""How the names begin of what Python heeds when it starts, and never again."""

_TURN = threading.Lock()


def noughts(
    *arguments: str,
    typed: str | bytes = "",
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the command with what is typed on its standard input, and return all it said."""
    settings = dict(env or environment())
    keys = typed.encode() if isinstance(typed, str) else typed
    message = _message(arguments, settings, cwd or Path.cwd())
    if message is None or len(keys) >= MOST or not _TURN.acquire(blocking=False):  # two at once need two
        return started(*arguments, typed=typed, env=env, cwd=cwd)
    try:
        return _run([*arguments], message, keys)
    finally:
        _TURN.release()


class Forked:
    """A process that runs the command beside the tests; what is told of it is what `Popen` tells."""

    def __init__(self, forker: socket.socket, message: bytes, streams: tuple[int, int, int]) -> None:
        self.returncode: int | None = None
        self.stdout: FileIO | None = None
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._line.settimeout(DEADLINE)
        with theirs, _TURN:
            socket.send_fds(forker, [message], [*streams, theirs.fileno()])
        self.pid = int(self._line.recv(100))

    def poll(self) -> int | None:
        """Return the exit code, or nothing while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float = DEADLINE) -> int:
        """Wait until it is over, and return the exit code."""
        if self.returncode is None:
            self._line.settimeout(timeout)
            try:
                self.returncode = int(self._line.recv(100))
            except (TimeoutError, BlockingIOError):  # which of them depends on whether it waits at all
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout) from None
            self._line.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it as a power cut would."""
        self.send_signal(signal.SIGKILL)


def fork(
    *arguments: str | bytes,
    env: Mapping[str, str],
    streams: tuple[int, int, int],
    terminal: str | None = None,
) -> Forked | None:
    """Return a process of its own in a session of its own, or nothing if only a start can give it.

    A terminal that is named is the one whose Ctrl-C and hang-up count, and what the streams are of.
    """
    if arguments[:1] == ("simulate",):  # its processes are started anew by what Python ran
        return None
    message = _message(tuple(map(os.fsdecode, arguments)), env, Path.cwd(), terminal)
    return None if message is None else Forked(_forker(""), message, streams)


def fork_server(*arguments: str, env: Mapping[str, str], errors: int) -> Forked | None:
    """Return a process of its own that serves, or nothing if only a start can give it."""
    if "--workers" in arguments or "NOUGHTS_WORKERS" in env:  # they are started anew by what Python ran
        return None
    message = _message(("serve", *arguments), env, Path.cwd())
    if message is None:
        return None
    reading, out = os.pipe()
    nothing = os.open(os.devnull, os.O_RDONLY)
    forked = Forked(_forker("serve"), message, (nothing, out, errors))
    for given in (out, nothing):
        os.close(given)
    forked.stdout = FileIO(reading)
    return forked


def _message(
    arguments: tuple[str, ...], settings: Mapping[str, str], folder: Path, terminal: str | None = None
) -> bytes | None:
    """Return what is asked for as a message, if it fits into one and a fork can give it."""
    asked = {
        "arguments": arguments,
        "environment": dict(settings),
        "folder": str(folder),
        "terminal": terminal,
    }
    message = json.dumps(asked).encode()
    is_usual = _heeded(settings) == _heeded(environment()) and len(message) < MOST
    return message if is_usual else None


def _heeded(settings: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in settings.items() if value and name.startswith(_AT_THE_START)}


def _run(arguments: list[str], message: bytes, keys: bytes) -> subprocess.CompletedProcess[str]:
    forker = _forker("serve" if arguments[:1] == ["serve"] else "")
    (inside, typing), (reading, out), (hearing, errors) = os.pipe(), os.pipe(), os.pipe()
    socket.send_fds(forker, [message], [inside, out, errors])
    for given in (inside, out, errors):
        os.close(given)
    with open(typing, "wb", buffering=0) as keyboard, suppress(BrokenPipeError):  # noqa: PTH123 - a pipe
        keyboard.write(keys)
    said = _read(reading, hearing)
    code = os.waitstatus_to_exitcode(int(forker.recv(100)))
    return subprocess.CompletedProcess(arguments, code, *said)


def _read(*pipes: int) -> list[str]:
    """Return all that comes out of some pipes until nobody holds their other ends."""
    said = dict.fromkeys(pipes, b"")
    deadline = time.monotonic() + DEADLINE
    with selectors.DefaultSelector() as waiting:
        for pipe in pipes:
            waiting.register(pipe, selectors.EVENT_READ)
        while waiting.get_map():
            ready = waiting.select(max(0.0, deadline - time.monotonic()))
            assert ready, f"it has not ended after {DEADLINE:.0f} s, and said {said}"
            for key, _ in ready:
                if more := os.read(key.fd, 1 << 16):
                    said[key.fd] += more
                else:
                    waiting.unregister(key.fd)
                    os.close(key.fd)
    return [text.decode() for text in said.values()]


@cache
def _forker(what: str) -> socket.socket:
    """Return the line to a process that forks the command, or servers; it ends when the tests do."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(DEADLINE)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno()), what],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.PIPE,  # Python sees only at its start that these are pipes
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(PYTHONPATH=os.pathsep.join(filter(None, sys.path))),
            start_new_session=True,
        )

    def end() -> None:
        ours.close()
        process.communicate(timeout=DEADLINE)

    atexit.register(end)
    return ours


def main(line: socket.socket, what: str) -> int:
    """Fork a child for each run; the end of the line is the end, and a child ends as the command."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # even if the tests run in the background
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # even if they run under nohup
    for room in _LOADED:
        for module in pkgutil.iter_modules(import_module(room).__path__, f"{room}."):
            if module.name not in _NEED_EXTRAS:
                import_module(module.name)
    import_module("noughts.store.sqlite")  # the other engines are seldom asked for, and large
    for name in _SERVED if what == "serve" else ():
        with suppress(ImportError):
            import_module(name)
    for first in Mark if what == "serve" else ():
        reachable(first)  # a server makes all boards before it answers
    gc.freeze()  # a child that ends need not go through all that was loaded
    while True:
        message, given, *_ = socket.recv_fds(line, 2 * MOST, 4)
        with suppress(ChildProcessError):  # those who waited for what is over by now
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not message:
            return 0
        is_beside = len(given) > 3
        child = os.fork()
        if not child:
            line.close()
            try:
                if is_beside:
                    _keep(socket.socket(fileno=given.pop()), given)
                return _end(_become(json.loads(message), given))
            except KeyboardInterrupt:  # before the command itself listens for it
                return 130
        for descriptor in given:
            os.close(descriptor)
        if not is_beside:
            line.send(str(os.waitpid(child, 0)[1]).encode())


def _keep(line: socket.socket, given: list[int]) -> None:
    """Fork a child, which alone returns; tell its number, and in the end its exit code."""
    child = os.fork()
    if not child:
        line.close()
        os.setsid()
        return
    for descriptor in (*given, 0, 1, 2):
        os.close(descriptor)
    line.send(str(child).encode())
    with suppress(OSError):  # the tests may be over before it is
        line.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())
    os._exit(0)


def _become(asked: dict[str, object], given: list[int]) -> int:
    from noughts.__main__ import main as obey  # noqa: PLC0415 - it is loaded in the process that forks

    terminal = os.open(str(asked["terminal"]), os.O_RDWR) if asked["terminal"] else None
    for number, descriptor in enumerate(given):
        os.dup2(terminal or descriptor, number)
        os.close(descriptor)
    if terminal:
        os.close(terminal)
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # as Python does at its start
    os.environ.clear()
    os.environ.update(asked["environment"])  # type: ignore[call-overload]  # it came as JSON
    time.tzset()
    os.chdir(str(asked["folder"]))
    sys.argv[1:] = asked["arguments"]  # type: ignore[call-overload]  # the same
    return obey()


def _end(code: int) -> int:
    """End the process as Python would, but leave what was loaded in place: clearing it copies it all.

    It returns the code only if the usual end has more to do: threads to wait for, or output to fail on.
    """
    gc.collect()  # an error in a finalizer still reaches standard error
    if threading.active_count() == 1:
        atexit._run_exitfuncs()  # noqa: SLF001 - there is no public name for it
        with suppress(OSError, ValueError, AttributeError):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(main(socket.socket(fileno=int(sys.argv[1])), sys.argv[2]))
