"""Servers that are tried here, ours and the peer's: each fresh, and each on a core of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

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
        "CONNECTIONS_PER_ADDRESS",
    )
}
"""All load comes from one address."""

_SAID = "Serving on http://127.0.0.1:"
_PATIENCE = 600

Told: TypeAlias = dict[str, float]
"""What a load tells of one run: see load.py."""


class Serving(NamedTuple):
    """A server that answers."""

    port: int
    pid: int


class Shape(NamedTuple):
    """How many matches at once, how many games in the place of each, and how long one thinks."""

    matches: int
    games: int
    think: int = 0
    """Milliseconds, on average; half as long at least, and half as long again at most."""


def pinned(place: int, command: Sequence[str]) -> list[str]:
    """Return a command that keeps to the first core (0) or to the last one (-1)."""
    if not shutil.which("taskset"):
        return list(command)
    return ["taskset", "-c", str(sorted(os.sched_getaffinity(0))[place]), *command]


@contextmanager
def serving(command: Sequence[str], log: Path, **environment: str) -> Iterator[Serving]:
    """Run a server until it is no longer needed; what it logs is added to a file."""
    with (
        log.open("a") as logged,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=logged,
            text=True,
            env={**os.environ, **environment},
        ) as process,
    ):
        assert process.stdout  # noqa: S101 - it was asked for above
        try:
            for line in process.stdout:
                if line.startswith(_SAID):
                    yield Serving(int(line.removeprefix(_SAID)), process.pid)
                    break
            else:
                raise RuntimeError(f"{command} ended before it served: {log} says why")
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


def peer_serving(modules: Path, kind: str, folder: Path) -> list[str]:
    """Return the command of the peer's server, with its games in memory or in files."""
    return pinned(0, ["node", f"{HERE / 'boardgame_server.js'}", f"{modules}", kind, f"{folder}"])


def load(name: str, *arguments: object, pin: bool = True) -> Told:
    """Run a load of ours and return what it tells."""
    return _told([sys.executable, "-m", f"benchmarks.web.{name}", *map(str, arguments)], pin=pin)


def peer_load(modules: Path, server: Serving, shape: Shape) -> Told:
    """Run the peer's load and return what it tells."""
    arguments = (modules, server.port, server.pid, *shape)
    return _told(["node", f"{HERE / 'boardgame_load.js'}", *map(str, arguments)], pin=True)


def _told(command: Sequence[str], *, pin: bool) -> Told:
    ran = subprocess.run(
        pinned(-1, command) if pin else command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=_PATIENCE,
    )
    told: Told = json.loads(ran.stdout)
    return told


def disk_of(folder: Path) -> str:
    """Return what kind of file system holds a folder."""
    mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()]
    holding = [(len(at), kind) for at, kind in mounts if folder.resolve().is_relative_to(at)]
    return max(holding)[1]
