"""The power is cut at any moment, and everything that was acknowledged is there afterwards.

The number of a share is its seed. Threads take turns as they please, so a seed repeats what is played
and how the power is cut, but not always the very same moment.
"""

from __future__ import annotations

import os
import shutil
from random import Random
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple

import pytest

from failing_disk import CHECKPOINT, Disk, Outage
from noughts.store.base import Wanted
from noughts.store.sqlite import SQLiteStore
from store_games import Turn, everything, row_of, turns
from tally import tally

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable
    from pathlib import Path
    from typing import TypeAlias

    from noughts.store.chain import Recorded
    from store_games import Row

    Record: TypeAlias = Callable[[str, object], None]

CUTS = 10_000 if os.environ.get("NOUGHTS_TORTURE") else 80
SHARES = 20 if os.environ.get("NOUGHTS_TORTURE") else 4
CUTS_A_LIFE = 20
LIVES_IN_A_ROW = 5

NAME = "games.db"


FIGURE = "{cuts:,} power cuts: {events:,} acknowledged events, {lost} lost, {corrupt} corrupt"


class Left(NamedTuple):
    """What a power cut left: files, and what a store finds in them."""

    files: dict[str, bytes]
    records: list[Recorded]


class Life(NamedTuple):
    """What a store lived through over a disk, and what it held at the beginning."""

    disk: Disk
    known: list[Recorded]
    tried: list[Turn]


def live(folder: Path, left: Left, chance: Random) -> Life:
    """Let a store begin from what was left, play with several threads, close it and open it again."""
    disk = Disk(folder, left.files)
    life = Life(disk, left.records, [])
    open_file = disk.opener(checkpoint=chance.choice((4, 16, 64, CHECKPOINT)))
    with disk.watching_folder():
        for _ in range(chance.choice((1, 1, 2, 3))):
            with SQLiteStore(str(folder / NAME), open_file=open_file) as store:
                _play(store, life, chance)
    disk.close()
    return life


def _play(store: SQLiteStore, life: Life, chance: Random) -> None:
    """Play on what is unfinished, and new games, each game in one thread."""
    threads = chance.choice((0, 1, 2, 4))
    unfinished = [listed.id for listed in store.games(Wanted(is_over=False), limit=1000)]
    failures: list[BaseException] = []

    def play(number: int, seed: int) -> None:
        try:
            mine = Random(seed)
            games = [*unfinished[number::threads], *(f"g{mine.getrandbits(64):x}" for _ in range(20))]
            left = mine.randrange(1, 15)
            for game in games:
                for turn in turns(game, mine, [record.event for record in store.read(game)]):
                    life.tried.append(turn)
                    turn.append_to(store)
                    life.disk.mark(turn)
                    left -= 1
                    if not left:
                        return
        except BaseException as failure:  # noqa: BLE001 - it is raised where it is seen
            failures.append(failure)

    players = [Thread(target=play, args=(number, chance.getrandbits(64))) for number in range(threads)]
    for player in players:
        player.start()
    for player in players:
        player.join()
    if failures:
        raise failures[0]


def cut(life: Life, moments: list[int], folder: Path, chance: Random, numbers: Counter[str]) -> Left:
    """Cut the power at those moments of a life, look what is left each time, and return the last."""
    outage = Outage(life.disk)
    tried = {row for turn in life.tried for row in turn.rows}
    acknowledged: list[Turn] = []
    left = Left({}, [])
    for moment in moments:
        acknowledged += (mark for mark in outage.go_on(moment) if isinstance(mark, Turn))
        files = outage.left(chance)
        numbers.update(cuts=1, events=sum(len(turn.events) for turn in acknowledged), corrupt=1)
        left = Left(files, what_is_left(files, folder))
        lost = missing(left.records, acknowledged)
        numbers.update(lost=len(lost))
        assert not lost
        assert left.records[: len(life.known)] == life.known, "what was there before has changed"
        assert {row_of(record) for record in left.records[len(life.known) :]} <= tried
        numbers["corrupt"] -= 1
    return left


def what_is_left(files: dict[str, bytes], folder: Path) -> list[Recorded]:
    """Open what a cut has left with an ordinary store, read everything, and play on."""
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    with SQLiteStore(str(folder / NAME)) as store:
        found = everything(store)
        play_on(store, found)
        assert everything(store)[: len(found)] == found
    shutil.rmtree(folder)
    return found


def play_on(store: SQLiteStore, found: list[Recorded]) -> None:
    """Append to the game that was played last, and to a new one."""
    chance = Random(len(found))
    last = found[-1].game if found else "first"
    for game in (last, "new"):
        history = [record.event for record in found if record.game == game]
        for turn in list(turns(game, chance, history))[:2]:
            assert turn.append_to(store) == turn.expected + len(turn.events)


def missing(records: list[Recorded], acknowledged: list[Turn]) -> set[Row]:
    """Return what had been acknowledged and is not there."""
    return {row for turn in acknowledged for row in turn.rows} - {row_of(record) for record in records}


@pytest.mark.torture
@pytest.mark.parametrize("share", range(SHARES))
def test_a_power_cut_loses_nothing_that_was_acknowledged(
    share: int, tmp_path: Path, record_property: Record
) -> None:
    """Whatever the disk had written by then; and a store that was cut off can be cut off again."""
    chance = Random(share)
    with tally(record_property, FIGURE) as numbers:
        left = Left({}, [])
        for number in range(CUTS // SHARES // CUTS_A_LIFE):
            if number % LIVES_IN_A_ROW == 0:
                left = Left({}, [])
            folder = tmp_path / str(number)
            folder.mkdir()
            life = live(folder, left, chance)
            moments = sorted(chance.choices(range(len(life.disk.log) + 1), k=CUTS_A_LIFE))
            left = cut(life, moments, tmp_path / "left", chance, numbers)
            shutil.rmtree(folder)


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
def test_a_store_that_did_not_sync_would_lose_events(synchronous: str, tmp_path: Path) -> None:
    """So the power cuts here are real ones: they show a store that acknowledges too early."""
    folder = tmp_path / "disk"
    folder.mkdir()
    disk = Disk(folder)
    chance = Random(0)
    with (
        disk.watching_folder(),
        SQLiteStore(str(folder / NAME), open_file=disk.opener(synchronous=synchronous)) as store,
    ):
        for turn in turns("game", chance):
            turn.append_to(store)
            disk.mark(turn)
        moment = len(disk.log)
    disk.close()
    outage = Outage(disk)
    acknowledged = [mark for mark in outage.go_on(moment) if isinstance(mark, Turn)]
    found = what_is_left(outage.left(chance, share=0.0), tmp_path / "left")
    assert missing(found, acknowledged)
