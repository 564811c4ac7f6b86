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
from typing import NamedTuple

import pytest

from noughts.store.documents import Write
from noughts.store.sqlite import SQLiteStore
from support.at_once import in_threads
from support.failing_disk import CHECKPOINT, Disk, Outage
from support.figures import Property, tally
from support.length import short_or_long
from support.store_changes import NOTHING, Change, State, changes, new_game, states

CUTS = short_or_long(80, 10_000)
SHARES = short_or_long(4, 20)
CUTS_A_LIFE = 20
LIVES_IN_A_ROW = 5

NAME = "games.db"

FIGURE = (
    "{cuts:,} power cuts: {changes:,} acknowledged changes, {lost} lost, {corrupt} corrupt,"
    " {deletions:,} deletions and {documents:,} documents among them"
)


class Left(NamedTuple):
    """What a power cut left: the files, and what a store finds in them."""

    files: dict[str, bytes]
    found: dict[str, State]


class Life:
    """The history of a store on a disk, and what it held at the start."""

    def __init__(self, disk: Disk, known: dict[str, State]) -> None:
        self.disk = disk
        self.tried: dict[str, list[State]] = {game: [state] for game, state in known.items()}
        """What a game was at the start, and after each change."""

    def change(self, store: SQLiteStore, change: Change) -> None:
        """Change the store, and log when that was acknowledged."""
        self.tried.setdefault(change.game, [NOTHING]).append(change.after)
        change.apply_to(store)
        self.disk.mark(change)


def live(folder: Path, left: Left, chance: Random) -> Life:
    """Open a store on what was left, play with several threads, close it and open it again."""
    disk = Disk(folder, left.files)
    life = Life(disk, left.found)
    open_file = disk.opener(checkpoint=chance.choice((4, 16, 64, CHECKPOINT)))
    with disk.watching_folder():
        for _ in range(chance.choice((1, 1, 2, 3))):
            with SQLiteStore(str(folder / NAME), open_file=open_file) as store:
                _play(store, life, chance)
    disk.close()
    return life


def _play(store: SQLiteStore, life: Life, chance: Random) -> None:
    """Continue or delete existing games, and play new ones; each game in one thread."""
    threads = chance.choice((0, 1, 2, 4))
    known = [each.id for each in store.games(limit=1000)]

    def play(number: int, seed: int) -> None:
        mine = Random(seed)
        games = [*known[number::threads], *(new_game(mine) for _ in range(20))]
        left = mine.randrange(1, 20)
        for game in games:
            before = life.tried.get(game, [NOTHING])[-1]
            for change in changes(game, mine, before):
                life.change(store, change)
                left -= 1
                if not left:
                    return

    players = [partial(play, number, chance.getrandbits(64)) for number in range(threads)]
    if players:
        assert not any(in_threads(*players)), "a change was refused"


def cut(life: Life, moments: list[int], folder: Path, chance: Random, numbers: Counter[str]) -> Left:
    """Cut the power at these moments of a life, check what is left each time, and return the last."""
    outage = Outage(life.disk)
    acknowledged: list[Change] = []
    left = Left({}, {})
    for moment in moments:
        acknowledged += (mark for mark in outage.go_on(moment) if isinstance(mark, Change))
        files = outage.left(chance)
        numbers.update(
            cuts=1,
            changes=len(acknowledged),
            deletions=sum(change.item is None for change in acknowledged),
            documents=sum(has_written_document(change) for change in acknowledged),
            corrupt=1,
        )
        left = Left(files, what_is_left(files, folder))
        lost = missing(life, left.found, acknowledged)
        numbers.update(lost=len(lost))
        assert not lost
        numbers["corrupt"] -= 1
    return left


def has_written_document(change: Change) -> bool:
    """Return whether a change writes a document, alone or with a record."""
    return isinstance(change.item, Write) or bool(change.item and change.item.document)


def what_is_left(files: dict[str, bytes], folder: Path) -> dict[str, State]:
    """Open the files that a cut left with an ordinary store, read everything, and play on."""
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    with SQLiteStore(str(folder / NAME)) as store:
        found = states(store)
        after = found | play_on(store, found)
        assert states(store) == after
    shutil.rmtree(folder)
    return found


def play_on(store: SQLiteStore, found: dict[str, State]) -> dict[str, State]:
    """Change a game that was left, and a new one; return their expected states."""
    chance = Random(len(found))
    kept = [game for game, state in found.items() if not state.is_deleted]
    after: dict[str, State] = {}
    for game in (*kept[-1:], "d-new"):
        for change in islice(changes(game, chance, found.get(game, NOTHING)), 2):
            change.apply_to(store)
            after[game] = change.after
    return after


def missing(life: Life, found: dict[str, State], acknowledged: list[Change]) -> set[str]:
    """Return the games whose state is older than the last acknowledged change."""
    assert found.keys() <= life.tried.keys()
    last = {change.game: change.after for change in acknowledged}
    lost = set()
    for game, tried in life.tried.items():
        first = tried.index(last[game]) if game in last else 0
        if found.get(game, NOTHING) not in tried[first:]:
            lost.add(game)
    return lost


@pytest.mark.torture
@pytest.mark.parametrize("share", range(SHARES))
def test_a_power_cut_loses_nothing_that_was_acknowledged(
    share: int, tmp_path: Path, record_property: Property
) -> None:
    """Whatever the disk had written by then; and a store that recovered can be cut off again.

    A record, its document and its row of the catalogue are stored together or not at all, and a deleted
    game is complete or gone.
    """
    chance = Random(share)
    with tally(record_property, FIGURE) as numbers:
        left = Left({}, {})
        for number in range(CUTS // SHARES // CUTS_A_LIFE):
            if number % LIVES_IN_A_ROW == 0:
                left = Left({}, {})
            folder = tmp_path / str(number)
            folder.mkdir()
            life = live(folder, left, chance)
            moments = sorted(chance.choices(range(len(life.disk.log) + 1), k=CUTS_A_LIFE))
            left = cut(life, moments, tmp_path / "left", chance, numbers)
            shutil.rmtree(folder)


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
def test_a_store_that_did_not_sync_would_lose_records(synchronous: str, tmp_path: Path) -> None:
    """This proves that the simulated power cuts expose a store that acknowledges too early."""
    folder = tmp_path / "disk"
    folder.mkdir()
    disk = Disk(folder)
    chance = Random(0)
    life = Life(disk, {})
    with (
        disk.watching_folder(),
        SQLiteStore(str(folder / NAME), open_file=disk.opener(synchronous=synchronous)) as store,
    ):
        for change in changes("d-game", chance):
            life.change(store, change)
        moment = len(disk.log)
    disk.close()
    outage = Outage(disk)
    acknowledged = [mark for mark in outage.go_on(moment) if isinstance(mark, Change)]
    found = what_is_left(outage.left(chance, share=0.0), tmp_path / "left")
    assert missing(life, found, acknowledged) == {"d-game"}
