"""Writers that arrive during a commit share the next one, whatever its outcome."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from threading import Event, Lock, Thread
from typing import Any

import pytest

from noughts.store import group_commit
from noughts.store.errors import CorruptStore, StoreUnavailable
from noughts.store.group_commit import GroupCommit
from support.at_once import run_code
from support.deadlines import LONG_DEADLINE_SECONDS


class Gate:
    """A commit that waits until it is opened, once for each call, and then has the given outcome."""

    def __init__(self, *ends: Callable[[], None]) -> None:
        self.batches: list[list[str]] = []
        self.entered = [Event() for _ in ends]
        self.open = [Event() for _ in ends]
        self._ends = ends

    def commit(self, items: Sequence[str]) -> None:
        turn = len(self.batches)
        self.batches.append([*items])
        self.entered[turn].set()
        assert self.open[turn].wait(LONG_DEADLINE_SECONDS)
        self._ends[turn]()


class Queue:
    """Threads that record through one group commit, in an order that the test decides."""

    def __init__(self, *ends: Callable[[], None]) -> None:
        self.gate = Gate(*ends)
        self.group = GroupCommit(self.gate.commit)
        self.outcomes: dict[str, BaseException | str] = {}
        self._threads: list[Thread] = []

    def join(self, items: str, alone: Callable[[Sequence[str]], None] | None = None) -> None:
        """Start a writer for each letter, each when the last one waits or leads."""
        for item in items:
            thread = Thread(target=self._record, args=(item, alone), daemon=True)
            self._threads.append(thread)
            thread.start()
            while not self._is_queued(item):
                thread.join(0.001)
                assert thread.is_alive()

    def join_all(self, first: str, later: str) -> None:
        """Let some wait behind a first commit, and others behind the second."""
        self.join(first)
        self.gate.open[0].set()
        assert self.gate.entered[1].wait(LONG_DEADLINE_SECONDS)
        self.join(later)
        self.end()

    def end(self, *others: Gate) -> None:
        for gate in (self.gate, *others):
            for event in gate.open:
                event.set()
        for thread in self._threads:
            thread.join(LONG_DEADLINE_SECONDS)
            assert not thread.is_alive(), "it hangs"

    def _is_queued(self, item: str) -> bool:
        group = self.group
        there = [group._leader, *group._waiting]  # noqa: SLF001 - shows who waits
        return any(item in ticket.items for ticket in there if ticket)

    def _record(self, item: str, alone: Callable[[Sequence[str]], None] | None) -> None:
        try:
            self.group.record((item,), alone=alone)
            self.outcomes[item] = "recorded"
        except BaseException as failure:  # noqa: BLE001 - compared in the test
            self.outcomes[item] = failure


def fine() -> None:
    """Succeed."""


def fail(kind: type[BaseException]) -> None:
    raise kind("the disk is full")


def test_writers_that_arrive_meanwhile_share_the_next_commit() -> None:
    queue = Queue(fine, fine, fine)
    queue.join_all("abcd", "e")

    assert queue.gate.batches == [["a"], ["b", "c", "d"], ["e"]]
    assert queue.outcomes == dict.fromkeys("abcde", "recorded")


class CountedLock:
    """A lock that counts how often it was requested."""

    def __init__(self) -> None:
        self.tries = 0
        self._lock = Lock()
        self.release = self._lock.release

    def acquire(self, timeout: float = -1) -> bool:
        self.tries += 1
        return self._lock.acquire(timeout=timeout)

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


def test_no_writer_leaves_before_the_next_leader_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer may check for itself at any moment, also while the leader settles the commit."""

    def slow_pairwise(tickets: list[Any]) -> Any:  # noqa: ANN401 - the queue's own tickets
        tries = [ticket.turn.tries for ticket in tickets[1:]]
        end = time.monotonic() + LONG_DEADLINE_SECONDS
        while tries and time.monotonic() < end:
            is_checked = [
                ticket.turn.tries > one + 2 for one, ticket in zip(tries, tickets[1:], strict=True)
            ]
            if all(is_checked):
                break
        return pairwise(tickets)

    monkeypatch.setattr(group_commit, "RECHECK_SECONDS", 0.001)
    monkeypatch.setattr(group_commit, "Lock", CountedLock)
    monkeypatch.setattr(group_commit, "pairwise", slow_pairwise)
    queue = Queue(fine, fine, fine)
    queue.join_all("abcd", "e")

    assert queue.outcomes == dict.fromkeys("abcde", "recorded")


def test_a_writer_that_wants_to_be_alone_shares_with_nobody() -> None:
    """It has its own commit function, and the order of the queue is kept."""
    alone = Gate(fine, fine, fine)
    queue = Queue(fine, fine, fine)
    queue.join("abc")
    queue.join("xy", alone.commit)
    queue.join("de")
    queue.join("z", alone.commit)
    queue.end(alone)

    assert queue.gate.batches == [["a"], ["b", "c"], ["d", "e"]]
    assert alone.batches == [["x"], ["y"], ["z"]]
    assert queue.outcomes == dict.fromkeys("abcdexyz", "recorded")


def test_a_first_writer_that_wants_to_be_alone_leads() -> None:
    """Its function commits it, and those that wait behind it share a commit of their own."""
    alone = Gate(fine)
    queue = Queue(fine)
    queue.join("x", alone.commit)
    queue.join("ab")
    queue.end(alone)

    assert (alone.batches, queue.gate.batches) == ([["x"]], [["a", "b"]])


@pytest.mark.parametrize("kind", [StoreUnavailable, CorruptStore, OSError])
def test_a_commit_that_fails_fails_for_all_that_share_it(kind: type[Exception]) -> None:
    queue = Queue(fine, partial(fail, kind), fine)
    queue.join_all("abcd", "e")

    assert {item for item, outcome in queue.outcomes.items() if outcome == "recorded"} == {"a", "e"}
    failures = [queue.outcomes[item] for item in "bcd"]
    assert [(type(failure), str(failure)) for failure in failures] == [(kind, "the disk is full")] * 3
    assert len(set(map(id, failures))) == 3, "one error raised by several threads is changed by each"


class Uncopied(Exception):
    """An error that can't be created from its own arguments."""

    def __init__(self, message: str, *, code: int = 1) -> None:
        super().__init__(message, code)


def test_an_error_that_cannot_be_copied_is_raised_as_it_is() -> None:
    queue = Queue(fine, partial(fail, Uncopied))
    queue.join_all("abc", "")

    assert {type(queue.outcomes[item]) for item in "bc"} == {Uncopied}


def test_a_first_writer_that_fails_passes_the_lead_on() -> None:
    queue = Queue(partial(fail, StoreUnavailable), fine)
    queue.join("ab")
    queue.end()

    assert isinstance(queue.outcomes["a"], StoreUnavailable)
    assert queue.outcomes["b"] == "recorded"


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("interrupted", [0, 1])
def test_an_interrupted_writer_does_not_block_the_others(
    kind: type[BaseException], interrupted: int
) -> None:
    """Those that shared its commit are committed again with the next."""
    ends = [fine, fine, fine]
    ends[interrupted] = partial(fail, kind)
    queue = Queue(*ends)
    queue.join_all("abc", "d")

    assert isinstance(queue.outcomes["ab"[interrupted]], kind)
    assert queue.outcomes["c"] == queue.outcomes["d"] == "recorded"
    assert queue.gate.batches[1:] == [["b", "c"], ["c", "d"] if interrupted else ["d"]]


# The main thread waits in the queue behind another when Ctrl-C arrives. What it waited with may or may
# not be recorded, but everything later must be.
INTERRUPTED = f"""
import os, signal, threading
from noughts.store import group_commit
from noughts.store.group_commit import GroupCommit

entered, leave = threading.Event(), threading.Event()
batches = []

def commit(batch):
    batches.append(batch)
    entered.set()
    leave.wait()

group = GroupCommit(commit)

def record(item):
    group.record((item,))

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
last.join({LONG_DEADLINE_SECONDS} / 10)
print("hangs" if last.is_alive() else "recorded" if "last" in batches[-1] else batches)
"""


def test_a_writer_interrupted_while_it_waits_does_not_block_the_queue() -> None:
    ran = run_code(INTERRUPTED)

    assert ran.stdout.splitlines() == ["interrupted", "recorded"], ran.stderr


# Python delivers Ctrl-C where a function starts, after a call, and where a loop begins again. Each of
# these places in turn is where it arrives.
EVERYWHERE = f"""
import sys, threading
sys.path[:0] = {sys.path!r}
from noughts.store import group_commit
from support.interrupts import Interrupt

def others(group, count):
    threads = []
    for one in range(count):
        threads.append(threading.Thread(target=group.record, args=([one],), daemon=True))
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
        group = group_commit.GroupCommit(commit)
        threads = others(group, crowd)
        if crowd:
            under_way.wait()
        threading.Timer(0.01 if crowd else 0, go_on.set).start()
        interrupt = Interrupt(group_commit, moment)
        try:
            group.record(["main"])
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


def test_an_interrupt_at_any_moment_blocks_nobody_else() -> None:
    ran = run_code(EVERYWHERE)

    assert ran.stdout.splitlines() == ["True []"] * 3, ran.stderr
