"""The command, forked from a process that has loaded it: the same runs, without the start of Python.

A start takes longer than most of what the command is asked for here. So one process loads it, and for
each run forks a child that becomes the command: with streams, an environment, a folder and an end of its
own, as if it had been started. This is for tests of what the command says and does. Whoever asks how
Python starts, or that two processes do the same, takes `command.noughts`; what only a start can give is
started here too.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import pkgutil
import selectors
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from command import environment
from command import noughts as started

if TYPE_CHECKING:
    from collections.abc import Mapping

DEADLINE = 60.0
"""In seconds; reached only by a command that hangs."""

MOST = 60_000
"""In bytes: what a pipe takes at once, and a message."""

_LOADED = tuple(f"noughts.{room}" for room in ("core", "players", "terminal", "words"))
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
    asked = {"arguments": arguments, "environment": settings, "folder": str(cwd or Path.cwd())}
    message = json.dumps(asked).encode()
    is_usual = _heeded(settings) == _heeded(environment()) and max(len(keys), len(message)) < MOST
    if not is_usual or not _TURN.acquire(blocking=False):  # two at once need two processes
        return started(*arguments, typed=typed, env=env, cwd=cwd)
    try:
        return _run([*arguments], message, keys)
    finally:
        _TURN.release()


def _heeded(settings: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in settings.items() if value and name.startswith(_AT_THE_START)}


def _run(arguments: list[str], message: bytes, keys: bytes) -> subprocess.CompletedProcess[str]:
    forker = _forker()
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
def _forker() -> socket.socket:
    """Return the line to a process that forks the command; it ends when the tests do."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(DEADLINE)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())],
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


def main(line: socket.socket) -> int:
    """Fork a child for each run; the end of the line is the end, and a child ends as the command."""
    for room in _LOADED:
        for module in pkgutil.iter_modules(import_module(room).__path__, f"{room}."):
            import_module(module.name)
    import_module("noughts.store.sqlite")  # the other engines are seldom asked for, and large
    gc.freeze()  # a child that ends need not go through all that was loaded
    while True:
        message, given, *_ = socket.recv_fds(line, 2 * MOST, 3)
        if not message:
            return 0
        child = os.fork()
        if not child:
            line.close()
            return _become(json.loads(message), given)
        for descriptor in given:
            os.close(descriptor)
        line.send(str(os.waitpid(child, 0)[1]).encode())


def _become(asked: dict[str, object], given: list[int]) -> int:
    from noughts.__main__ import main as obey  # noqa: PLC0415 - it is loaded in the process that forks

    for number, descriptor in enumerate(given):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(asked["environment"])  # type: ignore[call-overload]  # it came as JSON
    time.tzset()
    os.chdir(str(asked["folder"]))
    sys.argv[1:] = asked["arguments"]  # type: ignore[call-overload]  # the same
    return obey()


if __name__ == "__main__":
    sys.exit(main(socket.socket(fileno=int(sys.argv[1]))))
