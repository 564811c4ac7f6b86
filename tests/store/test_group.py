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
from noughts.core.errors import CorruptStore, StoreUnavailable
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

    def join(
        self, game: str, commit: Callable[[Sequence[Append]], None] | None = None, *, alone: bool = False
    ) -> None:
        """Let one more come, and return when it stands in the queue or at the door."""
        record = partial(self.group.record, (append_to(game),), alone=alone, commit=commit)
        thread = Thread(target=self._record, args=(game, record), daemon=True)
        self._threads.append(thread)
        thread.start()
        while not self._is_waiting(game):
            thread.join(0.001)
            assert thread.is_alive()

    def end(self, *others: Door) -> None:
        """Let everybody through, at whichever door."""
        for door in (self.door, *others):
            for event in door.let_through:
                event.set()
        for thread in self._threads:
            thread.join(DEADLINE)
            assert not thread.is_alive(), "it hangs"

    def _is_waiting(self, game: str) -> bool:
        group = self.group
        there = [group._leader, *group._waiting]  # noqa: SLF001 - there is no other way to see who waits
        return any(append.game == game for ticket in there if ticket for append in ticket.appends)

    def _record(self, game: str, record: Callable[[], None]) -> None:
        try:
            record()
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


def test_those_who_are_committed_in_another_way_share_commits_of_their_own() -> None:
    """The first in the queue says which way is next, and takes along all who go the same."""
    door, other = Door(*[fine] * 5), Door(fine)
    queue = Queue(door)
    for game in "abc":
        queue.join(game)
    for game in "pq":
        queue.join(game, other.commit)
    queue.join("d")
    for game in "xy":
        queue.join(game, alone=True)
    queue.join("e")
    queue.end(other)

    assert door.batches[:2] == [["a"], ["b", "c", "d"]]
    assert other.batches == [["p", "q"]]
    assert door.batches[2:] == [["x"], ["y"], ["e"]]
    assert queue.outcomes == dict.fromkeys("abcdepqxy", "recorded")


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
    """Whoever shared the commit is written again with the next: what stood already stands once."""
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
    assert queue.outcomes["c"] == "recorded"
    assert door.batches[1:] == [["b", "c"], ["c", "d"] if interrupted else ["d"]]


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


# Ctrl-C is heard where a function starts, where a call has returned, and where a loop begins again. One
# after the other, each of these places in a recording is where it comes.
EVERYWHERE = """
import dis, sys, threading
from noughts.store import group as door
from noughts.store.ledger import Append, entries
from noughts.core.events import GameReady

HEARING = ("RESUME", "CALL", "JUMP_BACKWARD")

def append(game):
    return (Append(game, 0, entries([GameReady()], "key", 0)),)

class Interrupt:
    def __init__(self, moment):
        self.left = moment
        self.last = {}

    def __call__(self, frame, event, _):
        if frame.f_code.co_filename != door.__file__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            heard = self.last.get(id(frame), "").startswith(HEARING)
            self.last[id(frame)] = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            if heard:
                self.left -= 1
                if self.left == 0:
                    sys.settrace(None)
                    raise KeyboardInterrupt
        return self

def others(group, count):
    threads = []
    for one in range(count):
        threads.append(threading.Thread(target=group.record, args=(append(str(one)),), daemon=True))
        threads[-1].start()
    return threads

moment, hang = 0, []
for crowd in (0, 1, 3):
    moment = 0
    while True:
        moment += 1
        under_way, go_on = threading.Event(), threading.Event()
        def commit(batch):
            under_way.set()
            go_on.wait()
        group = door.Group(commit)
        threads = others(group, crowd)
        if crowd:
            under_way.wait()
        threading.Timer(0.01 if crowd else 0, go_on.set).start()
        interrupt = Interrupt(moment)
        sys.settrace(interrupt)
        try:
            group.record(append("main"))
        except KeyboardInterrupt:
            pass
        sys.settrace(None)
        go_on.set()
        threads += others(group, 2)
        for thread in threads:
            thread.join(10)
            if thread.is_alive():
                hang.append((crowd, moment))
        if interrupt.left > 0:
            break
    print(moment > 5, hang)
"""


def test_an_interrupt_at_any_moment_stops_nobody_else() -> None:
    """Alone or in a crowd, leading or waiting: those who come later, and those who were there, go on."""
    ran = subprocess.run(
        [sys.executable, "-c", EVERYWHERE], capture_output=True, text=True, timeout=DEADLINE, check=False
    )

    assert ran.stdout.splitlines() == ["True []"] * 3, ran.stderr
