"""Cuts the power at any moment: everything acknowledged is there afterwards.

The number of a share is its seed. The threads interleave freely, so a seed repeats the games and the
cuts, but not always at exactly the same moment.
"""

from __future__ import annotations

import shutil
from collections import Counter
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from noughts.store.base import Change, StoredGame, nothing
from noughts.store.sqlite import SQLiteStore
from support.at_once import in_threads
from support.failing_disk import CHECKPOINT, Disk, Outage
from support.figures import Property, tally
from support.length import short_or_long
from support.played import commit
from support.store_games import changes, everything, hashes, new_game

CUTS = short_or_long(80, 10_000)
SHARES = short_or_long(4, 20)
CUTS_A_LIFE = 20
LIVES_IN_A_ROW = 5

NAME = "games.db"

FIGURE = (
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


def what_is_left(files: dict[str, bytes], folder: Path) -> dict[str, StoredGame]:
    """Open the files that a cut left with an ordinary store, read everything, and play on."""
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
@pytest.mark.parametrize("share", range(SHARES))
def test_a_power_cut_loses_nothing_that_was_acknowledged(
    share: int, tmp_path: Path, record_property: Property
) -> None:
    """Whatever the disk had written by then; and a store that recovered can be cut off again.

    Record, room and columns of a game are stored together or not at all.
    """
    chance = Random(share)
    with tally(record_property, FIGURE) as numbers:
        files, found = dict[str, bytes](), dict[str, StoredGame]()
        for number in range(CUTS // SHARES // CUTS_A_LIFE):
            if number % LIVES_IN_A_ROW == 0:
                files, found = {}, {}
            folder = tmp_path / str(number)
            folder.mkdir()
            life = live(folder, files, found, chance)
            moments = sorted(chance.choices(range(len(life.disk.log) + 1), k=CUTS_A_LIFE))
            files, found = cut(life, moments, tmp_path / "left", chance, numbers)
            shutil.rmtree(folder)


@pytest.mark.parametrize("share", range(short_or_long(2, 50)))
def test_a_power_cut_at_any_moment_of_a_first_game_loses_nothing(share: int, tmp_path: Path) -> None:
    """From the creation of the file on, also after it was closed and opened again."""
    chance = Random(share)
    folder = tmp_path / "disk"
    folder.mkdir()
    life = Life(folder, {}, {})
    first, second, *_ = changes(nothing("w-game"), chance)
    with life.disk.watching_folder():
        for change in (first, second):
            with SQLiteStore(str(folder / NAME), open_file=life.disk.opener()) as store:
                life.change(store, change)
    life.disk.close()
    cut(life, [*range(share % 2, len(life.disk.log) + 1, 2)], tmp_path / "left", chance, Counter())


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
