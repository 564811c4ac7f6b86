"""The one writer alone: what it commits together, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from unittest.mock import patch

import pytest

from noughts.store import writer as writing
from noughts.store.base import Change, nothing
from noughts.store.errors import CorruptStore, StaleVersion, StoreUnavailable
from noughts.store.writer import CROWDED_CHANGES, MAX_CHANGES, Writer
from support.played import CREATED, change_of


class Desk:
    """A writer whose work is done when the test says so, and a note of what it did."""

    def __init__(self) -> None:
        self.work: list[Callable[[], object]] = []
        self.batches: list[list[str]] = []
        self.settled: list[list[str]] = []
        self.pauses: list[float] = []
        self.fails: Exception | None = None
        self.writer = Writer(self._commit, self.work.append, self.pauses.append)
        self._settle = self.writer.on_settled
        self.writer.on_settled = self._note

    def submit(self, *games: str) -> list[Change]:
        return [self.writer.submit(change_of(nothing(game), CREATED)) for game in games]

    def do_next(self) -> None:
        self.work.pop(0)()

    def _commit(self, batch: Sequence[Change]) -> None:
        self.batches.append([change.id for change in batch])
        if self.fails:
            batch[0].failure = StaleVersion("somebody was faster")
            raise self.fails

    def _note(self, batch: Sequence[Change]) -> None:
        assert all(change.is_settled for change in batch)
        self.settled.append([change.id for change in batch])
        self._settle(batch)


def test_what_waits_is_committed_and_settled_together() -> None:
    """In the order of ids, one change of each game; what comes meanwhile, in the next commit."""
    desk = Desk()
    first = desk.submit("b", "a", "b")
    assert len(desk.work) == 1
    desk.do_next()
    desk.submit("c")
    assert [change.is_settled for change in first] == [True, True, False]
    desk.do_next()
    assert desk.batches == desk.settled == [["a", "b"], ["b", "c"]]
    assert first[0].result().id == "b"
    assert (desk.work, desk.writer.commits, desk.writer.waiting_seconds()) == ([], 2, 0.0)


def test_a_crowd_is_committed_in_several_batches_and_waited_for() -> None:
    desk = Desk()
    desk.submit(*(f"{number:03}" for number in range(MAX_CHANGES + CROWDED_CHANGES)))
    assert desk.writer.waiting_seconds() > 0
    while desk.work:
        desk.do_next()
    assert [*map(len, desk.batches)] == [MAX_CHANGES, CROWDED_CHANGES]
    assert desk.pauses == [writing.GATHER_SECONDS], "for company, and only if some waited"


@pytest.mark.parametrize("failure", [CorruptStore("the store is damaged"), RecursionError("too deep")])
def test_a_commit_that_fails_is_refused_to_each_and_the_next_goes_on(failure: Exception) -> None:
    """Each gets an error of its own; a change that had lost keeps its reason."""
    desk = Desk()
    desk.fails = failure
    changes = desk.submit("a", "b", "c")
    desk.do_next()
    assert isinstance(changes[0].failure, StaleVersion)
    for change in changes[1:]:
        kind = CorruptStore if isinstance(failure, CorruptStore) else StoreUnavailable
        with pytest.raises(kind, match=r"damaged|the writer has failed: RecursionError") as refusal:
            change.result()
        assert refusal.value.__cause__ is failure
    assert changes[1].failure is not changes[2].failure
    desk.fails = None
    (again,) = desk.submit("b")
    desk.do_next()
    assert again.result().id == "b"
    assert (desk.writer.commits, desk.writer.failed_commits) == (2, 1)


def test_a_writer_that_is_closed_refuses_what_waits_and_what_comes() -> None:
    """So nobody waits forever for a commit that never begins; one that has begun goes on."""
    desk = Desk()
    (begun,) = desk.submit("a")
    commit = desk.work.pop()
    waiting: list[Change] = []

    def close_meanwhile(_batch: object) -> None:
        waiting.extend(desk.submit("a", "b"))
        desk.writer.close()

    desk.writer._commit = close_meanwhile  # noqa: SLF001 - a commit that takes long
    commit()
    while desk.work:
        desk.do_next()
    assert begun.result().id == "a"
    for change in waiting:
        with pytest.raises(StoreUnavailable, match="the store is closed"):
            change.result()
    with pytest.raises(StoreUnavailable, match="the store is closed"):
        desk.submit("c")
    assert desk.settled == [["a", "b"], ["a"]]


def test_nobody_waits_longer_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a commit hangs, what comes is refused at once, and what waited too long is not recorded."""
    seconds = [0.0]
    monkeypatch.setattr(writing, "time", SimpleNamespace(monotonic=lambda: seconds[0]))
    desk = Desk()
    desk.writer.limit_seconds = 5.0
    (begun,) = desk.submit("a")
    commit = desk.writer._commit  # noqa: SLF001 - a commit that takes long
    waiting: list[Change] = []

    def hang(batch: list[Change]) -> None:
        waiting.extend(desk.submit("b"))
        seconds[0] += 6
        assert desk.writer.waiting_seconds() == 6
        with pytest.raises(StoreUnavailable, match="has not answered for seconds"):
            desk.submit("c")
        commit(batch)

    with patch.object(desk.writer, "_commit", hang):
        desk.do_next()
    (later,) = desk.submit("d")
    desk.do_next()
    assert begun.result().id == "a", "it was recorded, so those who still wait learn that"
    with pytest.raises(StoreUnavailable, match="nothing was recorded"):
        waiting[0].result()
    assert later.result().id == "d"
    assert desk.batches == [["a"], ["d"]]
