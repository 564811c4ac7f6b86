"""A second process, which opens stores and records a game in each.

It reads one URL per line, and prints `recorded` or the error. As `nobody` it drops its privileges first.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import noughts.store.sqlite  # noqa: F401 - `nobody` may not be allowed to read it later
from noughts import CreateGame, NoughtsError, decide
from noughts.store.urls import open_store
from support.command import script

RECORDED = "recorded"
NOBODY = 65534


class OtherProcess:
    """The pipes to the process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin
        assert process.stdout
        self._input, self._output = process.stdin, process.stdout
        assert self.receive() == "ready"

    def send(self, url: str) -> None:
        self._input.write(f"{url}\n")
        self._input.flush()

    def receive(self) -> str:
        return self._output.readline().rstrip("\n")


@contextmanager
def other_process(name: str, user: str = "") -> Iterator[OtherProcess]:
    """Run the process; its games are called name-0, name-1 and so on."""
    with subprocess.Popen(
        [*script("other_process"), name, user], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield OtherProcess(process)


def record(url: str, game: str) -> str:
    """Record the start of a game; return `recorded` or the error."""
    try:
        with open_store(url) as store:
            store.append(game, decide(None, CreateGame()), expected=0, key=game, at=0)
    except NoughtsError as refusal:
        return f"{type(refusal).__name__}: {refusal}"
    return RECORDED


def main(name: str, user: str = "") -> None:
    if user == "nobody" and os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    print("ready", flush=True)
    for number, url in enumerate(sys.stdin):
        print(record(url.rstrip("\n"), f"{name}-{number}"), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
