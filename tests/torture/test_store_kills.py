"""Kills a process repeatedly while it writes: its store keeps everything acknowledged."""

from __future__ import annotations

import signal
import subprocess
from collections import Counter
from random import Random

import pytest

from noughts import replay
from noughts.store.base import EventStore
from noughts.store.errors import NoSuchGame
from noughts.store.records import Record
from noughts.store.urls import open_store
from support.command import script
from support.figures import Property, tally
from support.length import short_or_long
from support.played import events_of
from support.store_changes import document_text, has_document, states
from support.store_games import row_of

KILLS = short_or_long(6, 500)
SHARES = 2

FIGURE = (
    "{kills:,} kills ({engine}): {changes:,} acknowledged changes, {lost} lost, {deleted:,} games deleted"
)


def kill_repeatedly(url: str, kills: int, seed: int, numbers: Counter[str]) -> None:
    """Repeatedly start a player, kill it after some changes, and check its store."""
    chance = Random(seed)
    acknowledged: set[str] = set()
    feed, cursor = dict[tuple[str, int], "Record"](), ""
    for number in range(kills):
        numbers.update(kills=1)
        lines = _life(url, str(seed * kills + number), chance.randrange(35, 90))
        assert acknowledged.isdisjoint(lines), "a change was acknowledged twice"
        assert len(set(lines)) == len(lines), "a change was acknowledged twice"
        acknowledged.update(lines)
        with open_store(url, create=False) as store:
            lost = [line for line in lines if not _is_there(store, line)]
            cursor = _read_on(store, cursor, feed)
        numbers.update(changes=len(lines), lost=len(lost))
        assert not lost
    with open_store(url, create=False) as store:
        lost = [line for line in acknowledged if not _is_there(store, line)]
        found = states(store)
    deleted = {game for game, state in found.items() if state.is_deleted}
    numbers.update(lost=len(lost), deleted=len(deleted))
    assert not lost
    for game, state in found.items():
        assert state.rows, "a document without its game"
        assert bool(state.document) == (has_document(game) and game not in deleted)
    # A server may still finish what it was sent, and delete a game after the feed was read.
    for (game, _), record in feed.items():
        assert game in deleted or row_of(record) in found[game].rows


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


def _is_there(store: EventStore, line: str) -> bool:
    """Return whether a store has an acknowledged change; check that its game is complete."""
    game, version, link, revision = line.split()
    document = store.document(game)
    try:
        store.read(game, 1)
    except NoSuchGame:
        assert document is None, "a game was deleted without its document"
        return True  # whatever the state before
    records = store.read(game)
    if not records:
        return False
    replay(events_of(records))  # no command is stored in part
    assert has_document(game) == (document is not None), "a record without its document"
    found = document.revision if document else 0
    assert not document or document.text == document_text(game, found)
    links = {record.next_version: record.hash.hex() for record in records}
    return links.get(int(version)) == link and int(revision) <= found


def _read_on(store: EventStore, cursor: str, feed: dict[tuple[str, int], Record]) -> str:
    """Append the new records to the feed; return the next cursor."""
    page, cursor = store.feed(cursor)
    while page:
        for record in page:
            assert (record.game, record.version) not in feed, "the feed has a record twice"
            feed[record.game, record.version] = record
        page, cursor = store.feed(cursor)
    return cursor


@pytest.mark.torture
@pytest.mark.parametrize("share", range(SHARES))
def test_a_killed_process_loses_nothing(url: str, share: int, record_property: Property) -> None:
    """SIGKILL at any moment leaves an intact store; a server finishes or undoes what it was sent."""
    engine = "SQLite" if url.startswith("sqlite:") else "PostgreSQL"
    with tally(record_property, FIGURE.replace("{engine}", engine)) as numbers:
        kill_repeatedly(url, KILLS // SHARES, share, numbers)
