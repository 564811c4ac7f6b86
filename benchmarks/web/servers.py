"""The servers, ours and the peer's: each is new, and has its own core."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from urllib.request import urlopen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
NO_LIMITS = {
    f"NOUGHTS_{name}": "0"
    for name in (
        "CREATES_PER_MINUTE",
        "JOINS_PER_MINUTE",
        "WRONG_SECRETS_PER_MINUTE",
        "MOVES_PER_MINUTE",
        "STREAMS_PER_ADDRESS",
    )
}
"""All load comes from one address."""

HOST = "127.0.0.1"
_READY_TRIES = 300
_READY_LINE = "Serving on http://127.0.0.1:"
_LOAD_TIMEOUT_SECONDS = 600

Figures: TypeAlias = dict[str, float]
"""The figures of one run: see load.py."""


class Serving(NamedTuple):
    """A running server."""

    port: int
    pid: int


class Shape(NamedTuple):
    """Concurrent matches, games in each, and the time to think."""

    matches: int
    games: int
    think: int = 0
    """Mean in milliseconds; uniform between half and one and a half times that."""


def pinned(place: int, command: Sequence[str]) -> list[str]:
    """Pin a command to the first core (0) or to the last one (-1)."""
    if not shutil.which("taskset"):
        return list(command)
    return ["taskset", "-c", str(sorted(os.sched_getaffinity(0))[place]), *command]


@contextmanager
def serving(command: Sequence[str], log: Path, **environment: str) -> Iterator[Serving]:
    """Run a server, and append its log to a file."""
    with (
        log.open("a") as logged,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=logged, text=True, env={**os.environ, **environment}
        ) as process,
    ):
        assert process.stdout  # noqa: S101 - stdout is a pipe
        try:
            for line in process.stdout:
                if line.startswith(_READY_LINE):
                    yield Serving(int(line.removeprefix(_READY_LINE)), process.pid)
                    break
            else:
                raise RuntimeError(f"{command} ended before it was ready: see {log}")
        finally:
            _end(process)


@contextmanager
def sharing(store: str, workers: int, log: Path) -> Iterator[Serving]:
    """Run several processes of ours on one port, by `uvicorn --workers`."""
    with socket.create_server((HOST, 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "--factory", "noughts.web:create_app", "--no-access-log"]
    command += ["--log-level", "warning", "--timeout-graceful-shutdown", "5", "--no-proxy-headers"]
    command += ["--port", f"{port}", "--workers", f"{workers}"]
    environment = {**os.environ, **NO_LIMITS, "NOUGHTS_STORE": store, "NOUGHTS_LOG": "warning"}
    with log.open("a") as logged, subprocess.Popen(command, stderr=logged, env=environment) as process:
        try:
            for _ in range(_READY_TRIES):
                time.sleep(0.1)
                with suppress(OSError), urlopen(f"http://{HOST}:{port}/api/v1/ready"):
                    break
            time.sleep(workers)  # until the others are ready, too
            yield Serving(port, process.pid)
        finally:
            _end(process)


def _end(process: subprocess.Popen[Any]) -> None:
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def peer_serving(modules: Path, kind: str, folder: Path) -> list[str]:
    """Return the command of the peer's server, with its games in memory or in files."""
    return pinned(0, ["node", f"{HERE / 'boardgame_server.js'}", f"{modules}", kind, f"{folder}"])


def load(name: str, *arguments: object, pin: bool = True) -> Figures:
    """Run our load and return its figures."""
    return _run_load([sys.executable, "-m", f"benchmarks.web.{name}", *map(str, arguments)], pin=pin)


def peer_load(modules: Path, server: Serving, shape: Shape) -> Figures:
    """Run the peer's load and return its figures."""
    arguments = (modules, server.port, server.pid, *shape)
    return _run_load(["node", f"{HERE / 'boardgame_load.js'}", *map(str, arguments)], pin=True)


def _run_load(command: Sequence[str], *, pin: bool) -> Figures:
    ran = subprocess.run(
        pinned(-1, command) if pin else command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=_LOAD_TIMEOUT_SECONDS,
    )
    figures: Figures = json.loads(ran.stdout)
    return figures


def disk_of(folder: Path) -> str:
    """Return the type of a folder's file system."""
    mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()]
    holding = [(len(at), kind) for at, kind in mounts if folder.resolve().is_relative_to(at)]
    return max(holding)[1]
