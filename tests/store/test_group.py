"""Those who come while a commit is under way share the next one, whatever becomes of it."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

from at_once import DEADLINE
from noughts import events
from noughts.core.errors import CorruptStore, NoughtsError, StoreUnavailable
from noughts.store.group import Group
from noughts.store.ledger import Append, entries
from played import NOW

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def append_to(game: str) -> Append:
    """Return something to be recorded."""
    return Append(game, 0, entries([events.GameReady()], "key", NOW))


class Door:
    """A commit that waits to be let through, once for each time it is called."""

    def __init__(self, *ends: Callable[[], None]) -> None:
        self.batches: list[list[str]] = []
        self.entered = [Event() for _ in ends]
        self.let_through = [Event() for _ in ends]
        self._ends = ends

    def commit(self, batch: Sequence[Append]) -> None:
        """Tell that it was called, wait, and end as it was told to."""
        turn = len(self.batches)
        self.batches.append([append.game for append in batch])
        self.entered[turn].set()
        assert self.let_through[turn].wait(DEADLINE)
        self._ends[turn]()


class Queue:
    """Threads that record through one group, in an order that the test decides."""

    def __init__(self, door: Door) -> None:
        self.door = door
        self.group = Group(door.commit)
        self.outcomes: dict[str, BaseException | str] = {}
        self._threads: list[Thread] = []

    def join(self, game: str) -> None:
        """Let one more come, and return when it stands in the queue or at the door."""
        before = self._standing()
        thread = Thread(target=self._record, args=(game,), daemon=True)
        self._threads.append(thread)
        thread.start()
        while self._standing() == before:
            thread.join(0.001)
            assert thread.is_alive()

    def end(self) -> None:
        """Let everybody through."""
        for event in self.door.let_through:
            event.set()
        for thread in self._threads:
            thread.join(DEADLINE)
            assert not thread.is_alive(), "it hangs"

    def _standing(self) -> int:
        waiting = len(self.group._waiting)  # noqa: SLF001 - there is no other way to see who waits
        return waiting + sum(map(len, self.door.batches))

    def _record(self, game: str) -> None:
        try:
            self.group.record((append_to(game),))
            self.outcomes[game] = "recorded"
        except BaseException as failure:  # noqa: BLE001 - what they are told is what is tested
            self.outcomes[game] = failure


def fine() -> None:
    """End well."""


def fail(kind: type[BaseException]) -> None:
    """End badly."""
    raise kind("the door is stuck")


def test_those_who_come_meanwhile_share_the_next_commit() -> None:
    """The first writes alone; all who came while it did are written together, in their order."""
    door = Door(fine, fine, fine)
    queue = Queue(door)
    for game in "abcd":
        queue.join(game)
    door.let_through[0].set()
    assert door.entered[1].wait(DEADLINE)
    queue.join("e")
    queue.end()

    assert door.batches == [["a"], ["b", "c", "d"], ["e"]]
    assert queue.outcomes == dict.fromkeys("abcde", "recorded")


@pytest.mark.parametrize("kind", [StoreUnavailable, CorruptStore, OSError])
def test_a_commit_that_fails_fails_for_all_who_share_it(kind: type[Exception]) -> None:
    """Each of them is told, with an error of their own kind; those who come after are written."""
    door = Door(fine, partial(fail, kind), fine)
    queue = Queue(door)
    for game in "abcd":
        queue.join(game)
    door.let_through[0].set()
    assert door.entered[1].wait(DEADLINE)
    queue.join("e")
    queue.end()

    assert {game for game, outcome in queue.outcomes.items() if outcome == "recorded"} == {"a", "e"}
    failures = [queue.outcomes[game] for game in "bcd"]
    assert [(type(failure), str(failure)) for failure in failures] == [(kind, "the door is stuck")] * 3
    if kind is StoreUnavailable:
        assert len(set(map(id, failures))) == 3, "one error raised by several threads is changed by each"


def test_a_first_writer_that_fails_leaves_the_door_to_the_next() -> None:
    """Those who came meanwhile are none the worse for it."""
    door = Door(partial(fail, StoreUnavailable), fine)
    queue = Queue(door)
    queue.join("a")
    queue.join("b")
    queue.end()

    assert isinstance(queue.outcomes["a"], StoreUnavailable)
    assert queue.outcomes["b"] == "recorded"


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("interrupted", [0, 1])
def test_an_interrupted_writer_does_not_keep_the_others_waiting(
    kind: type[BaseException], interrupted: int
) -> None:
    """They hear that the store was unavailable, for nobody knows better, and the queue goes on."""
    ends = [fine, fine, fine]
    ends[interrupted] = partial(fail, kind)
    door = Door(*ends)
    queue = Queue(door)
    for game in "abc":
        queue.join(game)
    door.let_through[0].set()
    assert door.entered[1].wait(DEADLINE)
    queue.join("d")
    queue.end()

    assert isinstance(queue.outcomes["ab"[interrupted]], kind)
    assert queue.outcomes["d"] == "recorded"
    if interrupted:
        assert isinstance(queue.outcomes["c"], StoreUnavailable)
    else:
        assert queue.outcomes["b"] == queue.outcomes["c"] == "recorded"


# The main thread waits in the queue behind another when Ctrl-C comes. What it waited with may or may not
# be recorded; but all who come later must be.
INTERRUPTED = f"""
import os, signal, threading
from noughts.store.group import Group
from noughts.store.ledger import Append, entries
from noughts.core.events import GameReady

entered, leave = threading.Event(), threading.Event()
batches = []

def commit(batch):
    batches.append([append.game for append in batch])
    entered.set()
    leave.wait()

group = Group(commit)

def record(game):
    group.record((Append(game, 0, entries([GameReady()], "key", 0)),))

def interrupt():
    while not group._waiting:
        pass
    os.kill(os.getpid(), signal.SIGINT)

first = threading.Thread(target=record, args=("first",), daemon=True)
first.start()
entered.wait()
threading.Thread(target=interrupt, daemon=True).start()
try:
    record("interrupted")
except KeyboardInterrupt:
    print("interrupted")
leave.set()
first.join()
last = threading.Thread(target=record, args=("last",), daemon=True)
last.start()
last.join({DEADLINE} / 10)
print("hangs" if last.is_alive() else "recorded" if "last" in batches[-1] else batches)
"""


def test_whoever_is_interrupted_while_waiting_does_not_stop_the_queue() -> None:
    """Ctrl-C reaches somebody who only waits for their turn: the turn goes to the next."""
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=DEADLINE, check=False
    )

    assert ran.stdout.splitlines() == ["interrupted", "recorded"], ran.stderr


def test_what_is_raised_is_a_refusal_of_ours() -> None:
    """Nobody who only wrote along with others has to know what went wrong inside."""
    door = Door(fine, partial(fail, KeyboardInterrupt))
    queue = Queue(door)
    for game in "abc":
        queue.join(game)
    queue.end()

    assert isinstance(queue.outcomes["c"], NoughtsError)
    assert "interrupted" in str(queue.outcomes["c"])
