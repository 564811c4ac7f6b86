"""A disk that is full, fails or loses its power: what was acknowledged is stored, and nothing else."""

from __future__ import annotations

import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from noughts.store.base import Change, StoredGame, nothing
from noughts.store.errors import StoreUnavailable
from noughts.store.sqlite import SQLiteStore
from support.at_once import in_threads
from support.failing_disk import CHECKPOINT, Disk, Outage
from support.figures import Property, tally
from support.length import short_or_long
from support.played import commit
from support.store_games import changes, everything, hashes, new_game

NAME = "games.db"


def what_is_left(files: dict[str, bytes], folder: Path) -> dict[str, StoredGame]:
    """Open the files that are left with an ordinary store, read everything, and play on."""
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    with SQLiteStore(str(folder / NAME)) as store:
        found = everything(store)
        after = {game: stored.hash for game, stored in found.items()}
        kept = [stored for stored in found.values() if not stored.is_deleted]
        for before in (*kept[-1:], nothing("w-new")):
            for change in islice(changes(before, Random(len(found))), 2):
                after[change.id] = commit(store, change).hash
        assert hashes(store) == after
    shutil.rmtree(folder)
    return found


# A write or a sync fails
#
# Each in turn. Afterwards the disk works again, and so must the store, and a store on the files from the
# moment of the failure, as after a crash.

STEP = short_or_long(15, 1)
"""One in so many failures is tried."""

SHARES = 2
SEEDS = (23, 12)
"""In the first, both games are deleted at their end; in the second, the one of the terminal."""
NEVER = sys.maxsize
SENTENCE = re.compile(r"the store \S+ is unavailable: the disk (failed|is full) \(SQLITE_[A-Z_]+\)")
FAILURES_FIGURE = (
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
        self._folder = folder

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
        if store:
            assert hashes(store) == self.acknowledged
        left = what_is_left(self.trouble.disk.left(), self._folder / "left")
        after = {game: stored.hash for game, stored in left.items()}
        if refused and self.trouble.is_on and after != self.acknowledged:
            # All of the commit is in the log, and it can't be taken back while the trouble lasts.
            self.unknown += 1
            assert after == self.acknowledged | {refused.id: refused.after.hash}
        else:
            assert after == self.acknowledged


def played(number: int) -> Iterator[Change]:
    for game in ("t", "w"):
        yield from changes(nothing(f"{game}-{number}"), Random(SEEDS[number]))


def play_with(folder: Path, kind: str, first: int = NEVER) -> Session:
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
    with tally(record_property, FAILURES_FIGURE) as numbers:
        chances = play_with(tmp_path, kind).trouble.seen
        assert chances > 50
        for first in range(share * STEP, chances, SHARES * STEP):
            numbers.update(failures=1)
            session = play_with(tmp_path, kind, first)
            assert session.trouble.failures
            numbers.update(sound=not session.unknown, unknown=session.unknown)
        assert (numbers["unknown"] > 0) == (kind == "the disk is gone")


# The power is cut at any moment
#
# The number of a share is its seed. The threads interleave freely, so a seed repeats the games and the
# cuts, but not always at exactly the same moment.

CUTS = short_or_long(80, 10_000)
CUT_SHARES = short_or_long(4, 20)
CUTS_A_LIFE = 20
LIVES_IN_A_ROW = 5
CUTS_FIGURE = (
    "{cuts:,} power cuts: {changes:,} acknowledged changes, {lost} lost, {corrupt} corrupt,"
    " {deletions:,} deletions and {rooms:,} rooms among them"
)


class Life:
    """The history of a store on a disk, and what it held at the start."""

    def __init__(self, folder: Path, files: dict[str, bytes], known: dict[str, StoredGame]) -> None:
        self.disk = Disk(folder, files)
        self.tried = {game: [stored] for game, stored in known.items()}
        """What a game was at the start, and after each change."""

    def now(self, game: str) -> StoredGame:
        return self.tried[game][-1]

    def change(self, store: SQLiteStore, change: Change) -> None:
        """Change the store, and log when that was acknowledged."""
        self.tried.setdefault(change.id, [change.before]).append(change.after)
        commit(store, change)
        self.disk.mark(change)


def live(folder: Path, files: dict[str, bytes], found: dict[str, StoredGame], chance: Random) -> Life:
    """Open a store on what was left, play with several threads, close it and open it again."""
    life = Life(folder, files, found)
    open_file = life.disk.opener(checkpoint=chance.choice((4, 16, 64, CHECKPOINT)))
    with life.disk.watching_folder():
        for _ in range(chance.choice((1, 1, 2, 3))):
            with SQLiteStore(str(folder / NAME), open_file=open_file) as store:
                _play(store, life, chance)
    life.disk.close()
    return life


def _play(store: SQLiteStore, life: Life, chance: Random) -> None:
    """Continue or delete existing games, and play new ones; each game in one thread."""
    threads = chance.choice((0, 1, 2, 4))
    known = [each.id for each in store.games(limit=1000)]

    def play(number: int, seed: int) -> None:
        mine = Random(seed)
        games = [*map(life.now, known[number::threads]), *(new_game(mine) for _ in range(20))]
        for change in islice(
            (change for game in games for change in changes(game, mine)), mine.randrange(1, 20)
        ):
            life.change(store, change)

    players = [partial(play, number, chance.getrandbits(64)) for number in range(threads)]
    if players:
        assert not any(in_threads(*players)), "a change was refused"


def cut(
    life: Life, moments: list[int], folder: Path, chance: Random, numbers: Counter[str]
) -> tuple[dict[str, bytes], dict[str, StoredGame]]:
    """Cut the power at these moments of a life, check what is left each time, and return the last."""
    outage = Outage(life.disk)
    acknowledged: dict[str, Change] = {}
    files: dict[str, bytes] = {}
    found: dict[str, StoredGame] = {}
    for moment in moments:
        new = [mark for mark in outage.go_on(moment) if isinstance(mark, Change)]
        acknowledged |= {change.id: change for change in new}
        files = outage.left(chance)
        numbers.update(
            cuts=1,
            corrupt=1,
            changes=len(new),
            deletions=sum(change.after.is_deleted for change in new),
            rooms=sum(change.before.room != change.after.room for change in new),
        )
        found = what_is_left(files, folder)
        lost = missing(life, found, acknowledged)
        numbers.update(lost=len(lost))
        assert not lost
        numbers["corrupt"] -= 1
    return files, found


def missing(life: Life, found: dict[str, StoredGame], acknowledged: dict[str, Change]) -> set[str]:
    """Return the games that are older than their last acknowledged change."""
    assert found.keys() <= life.tried.keys()
    lost = set()
    for game, tried in life.tried.items():
        first = tried.index(acknowledged[game].after) if game in acknowledged else 0
        stored = found.get(game, nothing(game))
        if stored.hash not in [each.hash for each in tried[first:]]:
            lost.add(game)
    return lost


@pytest.mark.torture
@pytest.mark.parametrize("share", range(CUT_SHARES))
def test_a_power_cut_loses_nothing_that_was_acknowledged(
    share: int, tmp_path: Path, record_property: Property
) -> None:
    """Whatever the disk had written by then; and a store that recovered can be cut off again.

    Record, room and columns of a game are stored together or not at all.
    """
    chance = Random(share)
    with tally(record_property, CUTS_FIGURE) as numbers:
        files, found = dict[str, bytes](), dict[str, StoredGame]()
        for number in range(CUTS // CUT_SHARES // CUTS_A_LIFE):
            if number % LIVES_IN_A_ROW == 0:
                files, found = {}, {}
            folder = tmp_path / str(number)
            folder.mkdir()
            life = live(folder, files, found, chance)
            moments = sorted(chance.choices(range(len(life.disk.log) + 1), k=CUTS_A_LIFE))
            files, found = cut(life, moments, tmp_path / "left", chance, numbers)
            shutil.rmtree(folder)


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
def test_a_store_that_did_not_sync_would_lose_changes(synchronous: str, tmp_path: Path) -> None:
    """This proves that the simulated power cuts expose a store that acknowledges too early."""
    folder = tmp_path / "disk"
    folder.mkdir()
    life = Life(folder, {}, {})
    with (
        life.disk.watching_folder(),
        SQLiteStore(str(folder / NAME), open_file=life.disk.opener(synchronous=synchronous)) as store,
    ):
        for change in changes(nothing("w-game"), Random(0)):
            life.change(store, change)
        moment = len(life.disk.log)
    life.disk.close()
    outage = Outage(life.disk)
    acknowledged = {mark.id: mark for mark in outage.go_on(moment) if isinstance(mark, Change)}
    found = what_is_left(outage.left(Random(0), share=0.0), tmp_path / "left")
    assert missing(life, found, acknowledged) == {"w-game"}
