"""The process is killed while it writes, again and again, and its store keeps what it acknowledged."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from noughts import replay
from noughts.store.opening import open_store
from store_games import everything
from tally import tally

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable
    from typing import TypeAlias

    from noughts.store.base import EventStore
    from noughts.store.chain import Recorded

    Record: TypeAlias = Callable[[str, object], None]

KILLS = 500 if os.environ.get("NOUGHTS_TORTURE") else 6
SHARES = 2
SCRIPT = Path(__file__).parent.parent / "player_to_kill.py"

FIGURE = "{kills:,} kills ({engine}): {events:,} acknowledged events, {lost} lost"


def kill_again_and_again(url: str, kills: int, seed: int, numbers: Counter[str]) -> None:
    """Start a player, kill it after some number of turns, look at its store; and so on."""
    chance = Random(seed)
    acknowledged: dict[tuple[str, int], str] = {}
    found: dict[tuple[str, int], str] = {}
    for number in range(kills):
        numbers.update(kills=1)
        told = _life(url, str(seed * kills + number), chance.randrange(35, 90))
        new = {(game, int(version)): link for game, version, link in map(str.split, told)}
        assert not new.keys() & acknowledged.keys(), "a version was acknowledged twice"
        acknowledged |= new
        with open_store(url, create=False) as store:
            found |= _by_version(_news(store, after=len(found)))
        lost = new.items() - found.items()
        numbers.update(events=len(new), lost=len(lost))
        assert not lost
    with open_store(url, create=False) as store:
        everything_there = _by_version(everything(store))
    lost = acknowledged.items() - everything_there.items()
    numbers.update(lost=len(lost))
    assert found.items() <= everything_there.items()  # a server may still finish what it was told
    assert not lost


def _life(url: str, seed: str, turns: int) -> list[str]:
    """Let a player play so many turns and a little longer, and return what it said it had recorded."""
    with subprocess.Popen(
        [sys.executable, SCRIPT, url, seed], stdout=subprocess.PIPE, text=True
    ) as player:
        assert player.stdout
        told = [player.stdout.readline() for _ in range(turns)]
        player.kill()
        told += player.stdout  # what was said before the kill was heard
    assert player.returncode == -signal.SIGKILL
    return [line for turn in told for line in turn.split(";") if line.strip()]


def _news(store: EventStore, after: int) -> list[Recorded]:
    """Return what was recorded after that position, having made sure that it is sound."""
    news: list[Recorded] = []
    while page := store.feed(after + len(news)):
        news += page
    assert [record.position for record in news] == list(range(after + 1, after + len(news) + 1))
    for game in {record.game for record in news}:
        replay(record.event for record in store.read(game))  # none of its commands is there by half
    return news


def _by_version(records: list[Recorded]) -> dict[tuple[str, int], str]:
    return {(record.game, record.version): record.hash.hex() for record in records}


@pytest.mark.torture
@pytest.mark.parametrize("share", range(SHARES))
def test_a_killed_process_loses_nothing_in_a_file(
    share: int, sqlite_url: str, record_property: Record
) -> None:
    """SIGKILL at any moment leaves a store in which all is well, and the next process plays on."""
    with tally(record_property, FIGURE.replace("{engine}", "SQLite")) as numbers:
        kill_again_and_again(sqlite_url, KILLS // SHARES, share, numbers)


@pytest.mark.torture
@pytest.mark.parametrize("share", range(SHARES))
def test_a_killed_process_loses_nothing_on_a_server(
    share: int, postgres_url: str, record_property: Record
) -> None:
    """The server outlives the process, and finishes or undoes what it was told."""
    with tally(record_property, FIGURE.replace("{engine}", "PostgreSQL")) as numbers:
        kill_again_and_again(postgres_url, KILLS // SHARES, share, numbers)
