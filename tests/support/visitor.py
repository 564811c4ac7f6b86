"""Another process that visits stores: it opens one, records a game there and closes it again.

Its input is a URL a line, its output how each visit went: `recorded`, or what was refused. With `nobody`
for its second argument it gives up all rights first, if it has any to give up.
"""

from __future__ import annotations

import os
import sys

import noughts.store.sqlite  # noqa: F401 - while there is the right to read it
from noughts import CreateGame, NoughtsError, decide
from noughts.store.urls import open_store

RECORDED = "recorded"
NOBODY = 65534


def visit(url: str, game: str) -> str:
    """Record the start of a game, and tell how it went."""
    try:
        with open_store(url) as store:
            store.append(game, decide(None, CreateGame()), expected=0, key=game, at=0)
    except NoughtsError as refusal:
        return f"{type(refusal).__name__}: {refusal}"
    return RECORDED


def main(name: str, who: str = "") -> None:
    """Visit one store after the other."""
    if who == "nobody" and os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    print("here", flush=True)
    for number, url in enumerate(sys.stdin):
        print(visit(url.rstrip("\n"), f"{name}-{number}"), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
