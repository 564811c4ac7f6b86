"""A full or failing disk: what was acknowledged is stored, and nothing else.

Each write and each sync fails in turn. Afterwards the disk works again, and so must the store, and a
store on a copy of the files from the moment of the failure, as after a crash.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from noughts.store.base import Change, nothing
from noughts.store.errors import StoreUnavailable
from noughts.store.sqlite import SQLiteStore
from support.failing_disk import Disk
from support.figures import Property, tally
from support.length import short_or_long
from support.played import commit
from support.store_games import changes, hashes

STEP = short_or_long(15, 1)
"""One in so many failures is tried."""

SHARES = 2
SEEDS = (23, 12)
"""In the first, both games are deleted at their end; in the second, the one of the terminal."""
NEVER = sys.maxsize
NAME = "games.db"
SENTENCE = re.compile(r"the store \S+ is unavailable: the disk (failed|is full) \(SQLITE_[A-Z_]+\)")
FIGURE = (
    "{failures:,} disk failures: acknowledged = stored after {sound:,}, outcome unknown after {unknown}"
)


TROUBLES = {
    "a sync fails": ("sync", 1, 0),
    "no room for a write": ("write", 1, 0),
    "little room for a write": ("write", 1, 2),
    "no room for long": ("write", NEVER, 0),
    "the disk is gone": ("all", NEVER, 0),
}
"""What fails, how often in a row, and after how many thirds of what is to be written."""


class Trouble:
    """Makes writes or syncs fail, starting with the `first`."""

    def __init__(self, disk: Disk, kind: str, first: int) -> None:
        self.disk = disk
        self._what, times, self._thirds = TROUBLES[kind]
        self.seen = 0
        self.failures = 0
        self._due = range(first, min(first + times, NEVER))
        disk.works, disk.room = self._works, self._room

    @property
    def is_on(self) -> bool:
        return self.failures > 0 and self.seen in self._due

    def end(self) -> None:
        self._due = range(0)

    def _works(self) -> bool:
        return self._what == "write" or not self._strikes()

    def _room(self, length: int) -> int:
        if self._what == "all":
            return 0 if self.is_on else length
        return length * self._thirds // 3 if self._what == "write" and self._strikes() else length

    def _strikes(self) -> bool:
        """Count a write or sync; return whether it fails."""
        is_due = self.seen in self._due
        self.seen += 1
        self.failures += is_due
        return is_due


class Session:
    """A few games on a failing disk; each change is retried until it is accepted."""

    def __init__(self, trouble: Trouble, folder: Path) -> None:
        self.trouble = trouble
        self.acknowledged: dict[str, bytes] = {}
        self.unknown = 0
        self._failures = 0
        self._copies = folder / "copy"

    def play(self) -> None:
        disk = self.trouble.disk
        for number in range(2):
            with self._opened() as store:
                store.read("a-reader")  # keeps the file open
                for change in played(number):
                    self._try(store, change)
        self.trouble.end()
        with SQLiteStore(str(disk.folder / NAME), open_file=disk.opener()) as store:
            assert hashes(store) == self.acknowledged

    def _opened(self) -> SQLiteStore:
        disk = self.trouble.disk
        path, open_file = str(disk.folder / NAME), disk.opener(checkpoint=8)
        try:
            return SQLiteStore(path, open_file=open_file)
        except StoreUnavailable as refusal:
            assert SENTENCE.fullmatch(str(refusal))
            self._check()
            self.trouble.end()
            return SQLiteStore(path, open_file=open_file)

    def _try(self, store: SQLiteStore, change: Change) -> None:
        try:
            commit(store, change)
        except StoreUnavailable as refusal:
            assert SENTENCE.fullmatch(str(refusal))
            is_new = self.trouble.failures > self._failures
            assert is_new or self.trouble.is_on, "refused although the disk did not fail"
            self._check(store, change)
            self.trouble.end()
            commit(store, Change(change.before, change.after))
        self.acknowledged[change.id] = change.after.hash
        if self.trouble.failures > self._failures:  # and nothing was refused
            self._check(store)

    def _check(self, store: SQLiteStore | None = None, refused: Change | None = None) -> None:
        """Compare what is stored with what was acknowledged, with and without a crash."""
        self._failures = self.trouble.failures
        self._copies.mkdir()
        self.trouble.disk.copy(self._copies)
        if store:
            assert hashes(store) == self.acknowledged
        with SQLiteStore(str(self._copies / NAME)) as copy:
            after = hashes(copy)
            if refused and self.trouble.is_on and after != self.acknowledged:
                # All of the commit is in the log, and it can't be taken back while the trouble lasts.
                self.unknown += 1
                assert after == self.acknowledged | {refused.id: refused.after.hash}
            else:
                assert after == self.acknowledged
            if refused:  # a retry settles it
                after[refused.id] = commit(copy, Change(refused.before, refused.after)).hash
            for change in changes(nothing("w-after-the-crash"), Random(0)):
                after[change.id] = commit(copy, change).hash
            assert hashes(copy) == after
        shutil.rmtree(self._copies)


def played(number: int) -> Iterator[Change]:
    for game in ("t", "w"):
        yield from changes(nothing(f"{game}-{number}"), Random(SEEDS[number]))


def play(folder: Path, kind: str, first: int = NEVER) -> Session:
    (folder / "disk").mkdir()
    disk = Disk(folder / "disk")
    session = Session(Trouble(disk, kind, first), folder)
    with disk.watching_folder():
        session.play()
    disk.close()
    shutil.rmtree(folder / "disk")
    return session


@pytest.mark.torture
@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("kind", TROUBLES)
def test_what_was_acknowledged_is_stored_and_nothing_else(
    kind: str, share: int, tmp_path: Path, record_property: Property
) -> None:
    """Whichever write or sync fails, the writer gets an error that says so; a retry counts once.

    Only of a disk that is gone it is unknown whether it has the last change.
    """
    with tally(record_property, FIGURE) as numbers:
        chances = play(tmp_path, kind).trouble.seen
        assert chances > 50
        for first in range(share * STEP, chances, SHARES * STEP):
            numbers.update(failures=1)
            session = play(tmp_path, kind, first)
            assert session.trouble.failures
            numbers.update(sound=not session.unknown, unknown=session.unknown)
        assert (numbers["unknown"] > 0) == (kind == "the disk is gone")
