"""A disk that is full or that fails: what was acknowledged is stored, and nothing else is.

A failure comes at each write and at each sync in turn. Afterwards the disk works again, and so does the
store; and so does a store on a copy that was made at that moment, as if the program had crashed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from failing_disk import Disk
from noughts.core.errors import StoreUnavailable
from noughts.store.opening import open_store
from noughts.store.sqlite import SQLiteStore
from noughts.store.sqlite_file import connect
from store_games import Turn, everything, row_of, turns
from tally import tally

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from typing import TypeAlias

    from store_games import Row

    Record: TypeAlias = Callable[[str, object], None]

STEP = 1 if os.environ.get("NOUGHTS_TORTURE") else 15
"""One in so many failures is tried."""

SHARES = 2
NEVER = sys.maxsize
NAME = "games.db"
SENTENCE = re.compile(r"the store \S+ is unavailable: the disk (failed|is full) \(SQLITE_[A-Z_]+\)")
FIGURE = "{failures:,} disk failures: acknowledged = stored after {sound:,} of them"


class Trouble:
    """Failures that come when they are due: at the `first` write or sync, `times` times in a row."""

    def __init__(self, disk: Disk, first: int, times: int = 1) -> None:
        self.disk = disk
        self.seen = 0
        self.failures = 0
        self._due = range(first, first + times)

    def strikes(self) -> bool:
        """Count one more write or sync, and tell whether this one fails."""
        self.seen += 1
        is_due = self.seen - 1 in self._due
        self.failures += is_due
        return is_due

    @property
    def is_on(self) -> bool:
        """Whether there was a failure, and more are to come."""
        return self.failures > 0 and self.seen in self._due

    def end(self) -> None:
        """Mend the disk."""
        self._due = range(0)


def failing(trouble: Trouble) -> Callable[[], bool]:
    """Return syncs that fail when trouble strikes."""
    return lambda: not trouble.strikes()


def syncs_fail(disk: Disk, first: int) -> Trouble:
    """Let one sync fail."""
    trouble = Trouble(disk, first)
    disk.works = failing(trouble)
    return trouble


def no_room(disk: Disk, first: int) -> Trouble:
    """Let nothing of one write get through."""
    trouble = Trouble(disk, first)
    disk.room = lambda length: 0 if trouble.strikes() else length
    return trouble


def little_room(disk: Disk, first: int) -> Trouble:
    """Let a part of one write get through."""
    trouble = Trouble(disk, first)
    disk.room = lambda length: length * 2 // 3 if trouble.strikes() else length
    return trouble


def no_room_for_long(disk: Disk, first: int) -> Trouble:
    """Let nothing get through until somebody makes room."""
    trouble = Trouble(disk, first, times=NEVER - first)
    disk.room = lambda length: 0 if trouble.strikes() else length
    return trouble


def gone(disk: Disk, first: int) -> Trouble:
    """Let a sync fail, and everything after it until the disk is mended."""
    trouble = Trouble(disk, first, times=NEVER - first)
    disk.works = failing(trouble)
    disk.room = lambda length: 0 if trouble.is_on else length
    return trouble


TROUBLES = [syncs_fail, no_room, little_room, no_room_for_long]


class Session:
    """A few games, played over a disk; every turn is tried again until it is taken."""

    def __init__(self, trouble: Trouble, folder: Path) -> None:
        self.trouble = trouble
        self.acknowledged: list[Turn] = []
        self._failures = 0
        self._copies = folder / "copy"

    def play(self) -> None:
        """Play, close the store, open it again and play on."""
        disk = self.trouble.disk
        for number in range(2):
            with self._opened() as store:
                store.read("a-reader")  # keeps the file open beside the writer
                for game in range(2):
                    for turn in turns(f"game-{number}-{game}", Random(number)):
                        self._try(store, turn)
        self.trouble.end()
        with SQLiteStore(str(disk.folder / NAME), open_file=disk.opener()) as store:
            assert [row_of(record) for record in everything(store)] == self._rows

    def _opened(self) -> SQLiteStore:
        disk = self.trouble.disk
        path, open_file = str(disk.folder / NAME), disk.opener(checkpoint=8)
        try:
            return SQLiteStore(path, open_file=open_file)
        except StoreUnavailable as refusal:
            assert SENTENCE.fullmatch(str(refusal))
            self._look(None)
            self.trouble.end()
            return SQLiteStore(path, open_file=open_file)

    def _try(self, store: SQLiteStore, turn: Turn) -> None:
        try:
            turn.append_to(store)
        except StoreUnavailable as refusal:
            assert SENTENCE.fullmatch(str(refusal))
            assert self.trouble.failures > self._failures, "the disk has not failed"
            self._look(store)
            self.trouble.end()
            turn.append_to(store)
        self.acknowledged.append(turn)
        if self.trouble.failures > self._failures:  # where nobody needed to be told
            self._look(store)

    def _look(self, store: SQLiteStore | None) -> None:
        """Compare what is stored with what was acknowledged, after a crash and without one."""
        self._failures = self.trouble.failures
        self._copies.mkdir()
        self.trouble.disk.copy(self._copies)
        if store:
            assert [row_of(record) for record in everything(store)] == self._rows
        with SQLiteStore(str(self._copies / NAME)) as copy:
            assert [row_of(record) for record in everything(copy)] == self._rows
            for turn in turns("after-the-crash", Random(0)):
                turn.append_to(copy)
            assert [row_of(record) for record in everything(copy)][: len(self._rows)] == self._rows
        shutil.rmtree(self._copies)

    @property
    def _rows(self) -> list[Row]:
        return [row for turn in self.acknowledged for row in turn.rows]


def play(folder: Path, kind: Callable[[Disk, int], Trouble], first: int = NEVER) -> Trouble:
    """Play over a disk with that kind of trouble."""
    (folder / "disk").mkdir()
    disk = Disk(folder / "disk")
    trouble = kind(disk, first)
    with disk.watching_folder():
        Session(trouble, folder).play()
    disk.close()
    shutil.rmtree(folder / "disk")
    return trouble


@pytest.mark.torture
@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("kind", TROUBLES)
def test_what_was_acknowledged_is_stored_and_nothing_else(
    kind: Callable[[Disk, int], Trouble], share: int, tmp_path: Path, record_property: Record
) -> None:
    """At whichever write or sync the disk fails; whoever appends is told of it in a sentence."""
    with tally(record_property, FIGURE) as numbers:
        chances = play(tmp_path, kind).seen
        assert chances > 50
        for first in range(share * STEP, chances, SHARES * STEP):
            numbers.update(failures=1)
            assert play(tmp_path, kind, first).failures
            numbers.update(sound=1)


def test_an_outcome_that_nobody_knows_is_settled_by_trying_again(tmp_path: Path) -> None:
    """If even the way back fails, the turn may be stored or not; tried again, it is there once."""
    folder, outcomes = tmp_path / "disk", set()
    for first in range(10, 30):
        folder.mkdir()
        disk = Disk(folder)
        trouble = gone(disk, first)
        with disk.watching_folder(), SQLiteStore(str(folder / NAME), open_file=disk.opener()) as store:
            acknowledged: list[Row] = []
            for turn in turns("game", Random(0)):
                try:
                    turn.append_to(store)
                except StoreUnavailable:
                    (tmp_path / "copy").mkdir()
                    disk.copy(tmp_path / "copy")
                    with SQLiteStore(str(tmp_path / "copy" / NAME)) as copy:
                        stored = [row_of(record) for record in everything(copy)]
                        assert stored in (acknowledged, acknowledged + turn.rows)
                        outcomes.add(len(stored) - len(acknowledged))
                        assert turn.append_to(copy) == turn.expected + len(turn.events)
                        assert [row_of(record) for record in everything(copy)] == acknowledged + turn.rows
                    shutil.rmtree(tmp_path / "copy")
                    trouble.end()
                    turn.append_to(store)
                acknowledged += turn.rows
            assert [row_of(record) for record in everything(store)] == acknowledged
        disk.close()
        shutil.rmtree(folder)
    assert any(outcomes), "the trouble here is to be such that nobody knows"


@pytest.mark.parametrize("limit", [70_000, 100_000, 150_001])
def test_a_limit_that_the_kernel_keeps_is_a_full_disk(limit: int, tmp_path: Path) -> None:
    """The one turn that did not fit is refused, everything else is stored, and then there is room."""
    url = f"sqlite:{tmp_path / NAME}"
    script = Path(__file__).parent.parent / "small_disk.py"
    ran = subprocess.run(
        [sys.executable, script, url, str(limit)], capture_output=True, text=True, check=True
    )
    refusal, *rows = map(json.loads, ran.stdout.splitlines())
    assert SENTENCE.fullmatch(refusal)
    with open_store(url, create=False) as store:
        assert [list(row_of(record)) for record in everything(store)] == rows


def test_a_store_that_may_not_grow_is_a_full_disk(tmp_path: Path) -> None:
    """SQLite itself can be told how large a file may be; it is refused like any other full disk."""
    most = 20

    def open_file(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.execute(f"PRAGMA max_page_count = {most}")
        return connection

    acknowledged: list[Row] = []
    refused: list[Turn] = []
    with SQLiteStore(str(tmp_path / NAME), open_file=open_file) as store:
        for number in range(50):
            for turn in turns(f"game-{number}", Random(number)):
                try:
                    turn.append_to(store)
                except StoreUnavailable as refusal:
                    assert SENTENCE.fullmatch(str(refusal))
                    assert [row_of(record) for record in everything(store)] == acknowledged
                    refused.append(turn)
                    most = 1000
                    turn.append_to(store)
                acknowledged += turn.rows
        assert [row_of(record) for record in everything(store)] == acknowledged
    assert len(refused) == 1
