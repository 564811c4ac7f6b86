"""A second process, which plays in stores, or owns one as a server does.

It reads lines such as `play URL`, and prints what it did, or the error. As `nobody` it drops its
privileges first.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import noughts.store.sqlite  # noqa: F401 - `nobody` may not be allowed to read it later
from noughts import NoughtsError
from noughts.store.urls import open_store
from support.command import script
from support.played import CREATED, play

DONE = "done"
NOBODY = 65534


class OtherProcess:
    """The process, and the pipes to it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin
        assert process.stdout
        self._process, self._input, self._output = process, process.stdin, process.stdout
        assert self.answer() == "ready"

    def ask(self, what: str, url: str) -> None:
        self._input.write(f"{what} {url}\n")
        self._input.flush()

    def answer(self) -> str:
        return self._output.readline().rstrip("\n")

    def do(self, what: str, url: str) -> str:
        self.ask(what, url)
        return self.answer()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@contextmanager
def other_process(name: str, user: str = "") -> Iterator[OtherProcess]:
    """Run the process; its games are called name-0, name-1 and so on."""
    with subprocess.Popen(
        [*script("other_process"), name, user], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield OtherProcess(process)


def do(what: str, url: str, game: str, held: ExitStack) -> str:
    """Do it; return the answer, or the error."""
    try:
        with ExitStack() as stack:
            store = stack.enter_context(open_store(url, create=what != "read"))
            match what:
                case "play":
                    play(store, game, [CREATED])
                case "read":
                    return f"{len(store.games())} games"
                case _:
                    store.hold()
                    held.push(stack.pop_all())
    except NoughtsError as refusal:
        return f"{type(refusal).__name__}: {refusal}"
    return DONE


def main(name: str, user: str = "") -> None:
    if user == "nobody" and os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    print("ready", flush=True)
    with ExitStack() as held:
        for number, line in enumerate(sys.stdin):
            what, _, url = line.rstrip("\n").partition(" ")
            print(do(what, url, f"{name}-{number}", held), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
