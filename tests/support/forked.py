"""Runs the command in a fork of a process that has already loaded it, which saves starting Python.

Starting Python takes longer than most commands of the tests. So one process loads the command, and forks
a child for each run, with its own streams, environment, working directory and exit. Tests of start-up
itself use `command.noughts`; a child becomes a newly started Python where a fork would differ. Terminal
sessions, servers and the commands of shell scripts are forked too, and run in the background: another
child waits for each and reports its exit code.
"""

from __future__ import annotations

import atexit
import gc
import os
import pkgutil
import selectors
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from ast import literal_eval
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from io import FileIO
from pathlib import Path

from noughts.bots.menace.boxes import boxes
from noughts.cli.main import EXTRAS
from noughts.core.board import Mark, reachable
from support import fork_client
from support.command import COMMAND, environment, noughts as started, script, shell as run_shell
from support.deadlines import DEADLINE_SECONDS
from support.fork_client import MAX_BYTES

_PACKAGES = ("analysis", "bots", "bots.menace", "cli", "cli.commands", "cli.remote", "core", "text")
_COMMANDS = "noughts.cli.commands."
_LATE_MODULES = (
    "difflib",
    "encodings.idna",
    "importlib.metadata",
    "importlib.resources",
    "noughts.store.memory",
    "noughts.store.sqlite",  # but not that of PostgreSQL, which is large and rarely used
    "textwrap",
)
"""What many runs load only when they need it."""
_SERVER_MODULES = (
    "noughts.store.memory",
    "noughts.store.sqlite",
    "noughts.web.app",
    "uvicorn",
    "uvloop",
)
"""Loaded for servers, if installed."""
_STARTUP_PREFIXES = ("PYTHON", "LC_", "LANG")
"""Prefixes of the variables that Python reads only when it starts."""

_LOCK = threading.Lock()
_read_bytes = os.read


def noughts(
    *arguments: str,
    typed: str | bytes = "",
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    echo: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run the command with this input, and return its output.

    With `echo`, each typed line is in the output, after `> `, where the command read it.
    """
    settings = dict(env or environment())
    keys = typed.encode() if isinstance(typed, str) else typed
    message = _message(arguments, settings, cwd or Path.cwd(), echo=echo)
    if message is None or len(keys) >= MAX_BYTES or not _LOCK.acquire(blocking=False):
        return started(*arguments, typed=typed, env=env, cwd=cwd)
    try:
        return _run([*arguments], message, keys)
    finally:
        _LOCK.release()


def shell(script: str, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a shell script in which `noughts` is the command; its umask and limits do not reach it."""
    forker = _start_forker("").fileno()
    client = shlex.join([sys.executable, "-I", "-S", fork_client.__file__, str(forker)])
    return run_shell(f'noughts() {{ {client} "$@"; }}; {script}', env=env, pass_fds=(forker,))


class Forked:
    """A background process that runs the command; its methods are those of `Popen`."""

    def __init__(self, forker: socket.socket, message: bytes, streams: tuple[int, int, int]) -> None:
        self.returncode: int | None = None
        self.stdout: FileIO | None = None
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(DEADLINE_SECONDS)
        with theirs, _LOCK:
            socket.send_fds(forker, [message], [*streams, theirs.fileno()])
        self.pid = int(self._socket.recv(100))

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float = DEADLINE_SECONDS) -> int:
        if self.returncode is None:
            self._socket.settimeout(timeout)
            try:
                self.returncode = int(self._socket.recv(100))
            except (TimeoutError, BlockingIOError):  # the second if the timeout is 0
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout) from None
            self._socket.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal if it is still running."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def fork(
    *arguments: str | bytes,
    env: Mapping[str, str],
    streams: tuple[int, int, int],
    terminal: str | None = None,
) -> Forked | None:
    """Fork the command in a session of its own; return None if it has to be started instead.

    A `terminal` becomes the controlling terminal, and replaces the streams.
    """
    if arguments[:1] == ("simulate",):  # its processes start from `sys.argv`, not as forks
        return None
    message = _message(tuple(map(os.fsdecode, arguments)), env, Path.cwd(), terminal)
    return None if message is None else Forked(_start_forker(""), message, streams)


def fork_server(*arguments: str, env: Mapping[str, str], errors: int) -> Forked | None:
    """Fork a server; return None if it has to be started instead."""
    message = _message(("serve", *arguments), env, Path.cwd())
    if message is None:
        return None
    reading, out = os.pipe()
    nothing = os.open(os.devnull, os.O_RDONLY)
    forked = Forked(_start_forker(EXTRAS["serve"]), message, (nothing, out, errors))
    for descriptor in (out, nothing):
        os.close(descriptor)
    forked.stdout = FileIO(reading)
    return forked


def _message(
    arguments: tuple[str, ...],
    settings: Mapping[str, str],
    folder: Path,
    terminal: str | None = None,
    *,
    echo: bool = False,
) -> bytes | None:
    """Return the run as a message; None if it is too long."""
    message = ascii((arguments, dict(settings), str(folder), terminal, echo)).encode()
    return message if len(message) < MAX_BYTES else None


def _startup_variables(settings: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value for name, value in settings.items() if value and name.startswith(_STARTUP_PREFIXES)
    }


def _run(arguments: list[str], message: bytes, keys: bytes) -> subprocess.CompletedProcess[str]:
    forker = _start_forker(EXTRAS.get(arguments[0], "") if arguments else "")
    (inside, typing), (reading, out), (reading_errors, errors) = os.pipe(), os.pipe(), os.pipe()
    socket.send_fds(forker, [message], [inside, out, errors])
    for descriptor in (inside, out, errors):
        os.close(descriptor)
    with open(typing, "wb", buffering=0) as keyboard, suppress(BrokenPipeError):  # noqa: PTH123 - a pipe
        keyboard.write(keys)
    output = _read(reading, reading_errors)
    code = os.waitstatus_to_exitcode(int(forker.recv(100)))
    return subprocess.CompletedProcess(arguments, code, *output)


def _read(*pipes: int) -> list[str]:
    """Read some pipes until every writer has closed its end."""
    output = dict.fromkeys(pipes, b"")
    deadline = time.monotonic() + DEADLINE_SECONDS
    with selectors.DefaultSelector() as waiting:
        for pipe in pipes:
            waiting.register(pipe, selectors.EVENT_READ)
        while waiting.get_map():
            ready = waiting.select(max(0.0, deadline - time.monotonic()))
            assert ready, (
                f"the command has not exited after {DEADLINE_SECONDS:.0f} s; output so far: {output}"
            )
            for key, _ in ready:
                if more := os.read(key.fd, 1 << 16):
                    output[key.fd] += more
                else:
                    waiting.unregister(key.fd)
                    os.close(key.fd)
    return [text.decode() for text in output.values()]


@cache
def _start_forker(extra: str) -> socket.socket:
    """Start the process that forks commands with this extra, until the tests end; return its socket."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(DEADLINE_SECONDS)
    with theirs:
        process = subprocess.Popen(
            [*script("forked"), str(theirs.fileno()), extra],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.PIPE,  # Python checks only at start-up whether these are pipes
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
            start_new_session=True,
        )

    def end() -> None:
        ours.close()
        process.communicate(timeout=DEADLINE_SECONDS)

    atexit.register(end)
    return ours


def _prepare(extra: str) -> None:
    """Load and compute what a run would."""
    for package in (f"noughts.{name}" for name in _PACKAGES):
        for module in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
            if EXTRAS.get(module.name.removeprefix(_COMMANDS), extra) == extra:
                import_module(module.name)
    for name in _LATE_MODULES:
        import_module(name)
    for first in Mark:
        reachable(first)
    boxes()
    if extra == EXTRAS["serve"]:
        for name in _SERVER_MODULES:
            with suppress(ImportError):
                import_module(name)
        if assets := sys.modules.get("noughts.web.assets"):
            assets.load()
    gc.freeze()  # a child that exits need not collect all that was loaded


def main(connection: socket.socket, extra: str) -> int:
    """Fork a child for each message, until the socket is closed; a child returns its exit code."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # even if the tests run in the background
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # even if they run under nohup
    _prepare(extra)
    while True:
        message, descriptors, *_ = socket.recv_fds(connection, 2 * MAX_BYTES, 4)
        with suppress(ChildProcessError):  # reap the children that waited for background processes
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not message:
            return 0
        is_background = len(descriptors) > 3
        child = os.fork()
        if not child:
            connection.close()
            try:
                if is_background:
                    _run_in_background(socket.socket(fileno=descriptors.pop()), descriptors)
                return _exit(_run_child(descriptors, *literal_eval(message.decode())))
            except KeyboardInterrupt:  # before the command handles it
                return 130
        for descriptor in descriptors:
            os.close(descriptor)
        if not is_background:
            connection.send(str(os.waitpid(child, 0)[1]).encode())


def _run_in_background(connection: socket.socket, descriptors: list[int]) -> None:
    """Fork a child; only the child returns. The parent sends its process id, and later its exit code."""
    child = os.fork()
    if not child:
        connection.close()
        os.setsid()
        return
    for descriptor in (*descriptors, 0, 1, 2):
        os.close(descriptor)
    connection.send(str(child).encode())
    with suppress(OSError):  # the tests may finish first
        connection.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())
    os._exit(0)


def _run_child(
    descriptors: list[int],
    arguments: tuple[str, ...],
    settings: dict[str, str],
    folder: str,
    tty: str | None,
    echo: bool,  # noqa: FBT001 - from a message
) -> int:
    from noughts.__main__ import main as run_command  # noqa: PLC0415 - already loaded in the parent

    terminal = os.open(tty, os.O_RDWR) if tty else None
    for number, descriptor in enumerate(descriptors):
        os.dup2(terminal or descriptor, number)
        os.close(descriptor)
    if terminal:
        os.close(terminal)
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # as Python does at start-up
    os.chdir(folder)
    if _startup_variables(settings) != _startup_variables(os.environ):
        os.execve(sys.executable, [*COMMAND, *arguments], settings)  # noqa: S606 - no shell is needed
    os.environ.clear()
    os.environ.update(settings)
    time.tzset()
    sys.argv[1:] = arguments
    if echo:
        os.read = _read_and_echo
    return run_command()


def _read_and_echo(descriptor: int, size: int) -> bytes:
    """Read one line, as if the user had typed no more yet, and print it."""
    if descriptor != sys.stdin.fileno():
        return _read_bytes(descriptor, size)
    line = b""
    while not line.endswith(b"\n") and (byte := _read_bytes(descriptor, 1)):
        line += byte
    if line:
        sys.stdout.flush()
        os.write(sys.stdout.fileno(), b"> " + line)
    return line


def _exit(code: int) -> int:
    """Exit as Python would, but without clearing the loaded modules, which would copy their memory.

    Return the code if Python has to exit in the usual way: other threads are running, or a flush failed.
    """
    gc.collect()  # an error in a finalizer still reaches standard error
    if threading.active_count() == 1:
        atexit._run_exitfuncs()  # noqa: SLF001 - no public equivalent
        with suppress(OSError, ValueError, AttributeError):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(main(socket.socket(fileno=int(sys.argv[1])), sys.argv[2]))
