"""Maintains a store in a loop, until it is killed at a step that a test has chosen.

It forks a child for each line on standard input, so that Python starts only once. The child prints a line
for everything it has done; the last line is its exit code. A step is a Python call that may change a
file, a statement in an SQLite transaction, or any statement sent to a server.
"""

from __future__ import annotations

import asyncio
import fcntl
import io
import json
import os
import select
import signal
import sqlite3
import sys
import traceback
from collections.abc import Callable
from itertools import count, cycle
from types import FrameType
from typing import Any, TypeVar, cast

from noughts.service import wall_clock
from noughts.store.appends import append_of
from noughts.store.backups import repair, restore
from noughts.store.base import EventStore
from noughts.store.documents import Write
from noughts.store.urls import open_store
from noughts.web.expiry import Expiry
from noughts.web.game import LiveGame
from noughts.web.games import Games
from noughts.web.room import Room, RoomSeat, write_room
from support.played import NOW, X_WINS, game_of

Result = TypeVar("Result")

EXPIRY_DAYS = 30
STEPS = {
    *(os.open, os.fsync, os.link, os.rename, os.replace, os.unlink, os.mkdir),
    *(io.open, fcntl.flock, fcntl.lockf),
}


def has_room(game: str) -> bool:
    """Return whether a game is played on the web, with a document."""
    return game.startswith("web")


def play(store: EventStore, game: str) -> str:
    """Record a whole game, dated years ago, in one commit; return the hash of its last record."""
    appends, version = [], 0
    for number, step in enumerate(game_of(X_WINS, "Ann", "Bob")):
        document = None
        if has_room(game) and number == 0:
            document = Write(game, write_room(Room(RoomSeat(), RoomSeat(), created=NOW)), expected=0)
        appends.append(append_of(game, version, step, key=f"k{number}", at=NOW, document=document))
        version += len(step)
    store.record(appends)
    return store.read(game)[-1].hash.hex()


def checkpoint(url: str, life: str) -> None:
    """Play, make a checkpoint, and close the store, which makes one that covers its documents too."""
    for number in count():
        with open_store(url) as store:
            for game in (f"kept_{life}_{number}", f"web_{life}_{number}"):
                report("played", game, play(store, game))
                store.checkpoint()
                report("checkpoint")


def delete(url: str, life: str) -> None:
    with open_store(url) as store:
        for number in count():
            for game in (f"kept_{life}_{number}", f"web_{life}_{number}"):
                report("played", game, play(store, game))
            report("deleting", game)
            store.delete(game, at=NOW)
            report("deleted", game)


def expire(url: str, life: str) -> None:
    with open_store(url) as store:
        expiry = Expiry(cast("Games", NoGames(store)), days=EXPIRY_DAYS)
        for number in count():
            old = [f"web_{life}_{number}_{one}" for one in range(2)]
            report("deleting", *old)
            for game in (f"kept_{life}_{number}", *old):
                report("played", game, play(store, game))
            asyncio.run(expiry.delete_expired())
            report("deleted", *old)


class NoGames:
    """The part of `Games` that expiry needs, with no game in memory and no threads."""

    def __init__(self, store: EventStore) -> None:
        self.store = store
        self.threads = self
        self.clock = wall_clock

    def all_known(self) -> list[LiveGame]:
        return []

    def known(self, _game: str) -> None:
        """Find nothing."""

    async def run(self, call: Callable[[], Result]) -> Result:
        """Call a function in this thread, where its steps are counted."""
        return call()


def put_back(url: str, *backups: str) -> None:
    """Restore alternating backups over a store."""
    for backup in cycle(backups):
        report("restored", str(restore(backup, url).replaced))


def put_new(url: str, backup: str) -> None:
    """Restore a backup in a loop, each time to a new place."""
    for number in count():
        restore(backup, f"{url}-{number}")
        report("restored")


def save(url: str, target: str) -> None:
    """Repair a store in a loop, each time into a new file."""
    for number in count():
        repair(url, f"{target}-{number}")
        report("repaired")


TASKS: dict[str, Callable[..., None]] = {
    "checkpoint": checkpoint,
    "delete": delete,
    "expire": expire,
    "restore": put_back,
    "first restore": put_new,
    "repair": save,
}


def report(*words: str) -> None:
    os.write(1, f"{json.dumps(words)}\n".encode())


class Steps:
    """Counts steps; at the last one it kills the process, or asks the test to kill it and goes on."""

    def __init__(self, last: int, asking: int | None) -> None:
        self.left = last
        self.asking = asking

    def __call__(self, frame: FrameType, event: str, called: Any) -> None:  # noqa: ANN401 - any function
        if not self._is_step(frame, event, called):
            return
        self.left -= 1
        if self.left == 0:
            sys.setprofile(None)
            if self.asking is None:
                os.kill(os.getpid(), signal.SIGKILL)
            else:
                os.write(self.asking, b".")

    def _is_step(self, frame: FrameType, event: str, called: Any) -> bool:  # noqa: ANN401 - any function
        if event != "c_call":
            return event == "call" and frame.f_code.co_name == "execute"
        match getattr(called, "__self__", None):
            case io.BufferedWriter():
                return called.__name__ in ("write", "flush", "close")
            case sqlite3.Connection() as store:
                return called.__name__ == "close" or (
                    called.__name__ == "execute" and store.in_transaction
                )
        return called in STEPS


def main() -> None:
    for line in sys.stdin:
        task, arguments, step, spin = json.loads(line)
        reading, asking = os.pipe()
        child = os.fork()
        if not child:
            _live(TASKS[task], arguments, Steps(step, None if spin is None else asking))
        os.close(asking)
        if os.read(reading, 1):
            select.select([reading], [], [], spin)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        os.close(reading)
        report("ended", str(os.waitstatus_to_exitcode(status)))


def _live(task: Callable[..., None], arguments: list[str], steps: Steps) -> None:
    try:
        sys.setprofile(steps)
        task(*arguments)
    except BaseException:  # noqa: BLE001 - a child must never continue as its parent
        traceback.print_exc()
    finally:
        os._exit(1)


if __name__ == "__main__":
    main()
