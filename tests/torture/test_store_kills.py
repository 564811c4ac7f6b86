"""Kills a process repeatedly while it writes: its store keeps everything acknowledged."""

from __future__ import annotations

import signal
import subprocess
from collections import Counter
from random import Random

import pytest

from noughts.store.base import Store
from noughts.store.urls import open_store
from support.command import script
from support.figures import Property, tally
from support.length import short_or_long
from support.store_games import everything

KILLS = short_or_long(6, 500)
SHARES = 2

ENGINES = ["sqlite", "postgres", *short_or_long([], ["pooled"])]
"""The last is PostgreSQL behind a pgbouncer, which only `make torture` installs."""

FIGURE = (
    "{kills:,} kills ({engine}): {changes:,} acknowledged changes, {lost} lost, {deleted:,} games deleted"
)


def kill_repeatedly(url: str, kills: int, seed: int, numbers: Counter[str]) -> None:
    """Repeatedly start a player, kill it after some changes, and check its store."""
    chance = Random(seed)
    acknowledged: dict[tuple[str, ...], str] = {}
    for number in range(kills):
        numbers.update(kills=1)
        lines = _life(url, str(seed * kills + number), chance.randrange(35, 90))
        changes = {tuple(line.split()[:2]): line for line in lines}
        assert len(changes) == len(lines), "a change was acknowledged twice"
        assert changes.keys().isdisjoint(acknowledged), "a change was acknowledged twice"
        acknowledged |= changes
        with open_store(url, create=False) as store:
            lost = [line for line in lines if not _is_there(store, line)]
        numbers.update(changes=len(lines), lost=len(lost))
        assert not lost
    with open_store(url, create=False) as store:
        lost = [line for line in acknowledged.values() if not _is_there(store, line)]
        deleted = [game for game in everything(store).values() if game.is_deleted]
    numbers.update(lost=len(lost), deleted=len(deleted))
    assert not lost


def _life(url: str, seed: str, changes: int) -> list[str]:
    """Let a player make at least this many changes; return those it printed."""
    with subprocess.Popen(
        [*script("endless_player"), url, seed], stdout=subprocess.PIPE, text=True
    ) as player:
        assert player.stdout
        lines = [player.stdout.readline() for _ in range(changes)]
        player.kill()
        lines += player.stdout  # printed before the kill arrived
    assert player.returncode == -signal.SIGKILL
    return lines


def _is_there(store: Store, line: str) -> bool:
    """Return whether a store has an acknowledged change, or what came after it.

    What came after it was made of that change: it names its hash.
    """
    game, revision, row = line.split()
    found = store.look(game)
    if not found or found.revision != int(revision):
        return found is not None and found.revision > int(revision)
    return found.hash.hex() == row


@pytest.mark.torture
@pytest.mark.parametrize("url", ENGINES, indirect=True)
@pytest.mark.parametrize("share", range(SHARES))
def test_a_killed_process_loses_nothing(url: str, share: int, record_property: Property) -> None:
    """SIGKILL at any moment leaves an intact store; a server finishes or undoes what it was sent."""
    with tally(record_property, FIGURE.replace("{engine}", url.partition(":")[0])) as numbers:
        kill_repeatedly(url, KILLS // SHARES, share, numbers)
