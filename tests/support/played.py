"""Games recorded in a store: the events of each command, and how to append them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import TypeVar

from noughts import Command, CreateGame, Event, JoinGame, Mark, PlaceToken, Resign, decide, events, fold
from noughts.store.base import EventStore, GameFilter
from noughts.store.documents import Document
from noughts.store.records import Record
from noughts.store.verify import examine

Row = TypeVar("Row")

NOW = 1_700_000_000_000
"""When everything here is recorded, unless a test says otherwise."""

X_WINS, O_WINS, DRAW = "15263", "152496", "153246879"
"""Cells, counted from 1, that the players mark in turn."""

CREATED = (events.GameCreated(), events.GameReady(), events.PlayerActive(Mark.X))


def steps_of(commands: Iterable[Command]) -> list[tuple[Event, ...]]:
    """Return the events of each of these commands."""
    history: list[Event] = []
    steps = []
    for command in commands:
        steps.append(decide(fold(history), command))
        history += steps[-1]
    return steps


def game_of(
    moves: str, x: str = "", o: str = "", *, resigns: Mark | None = None
) -> list[tuple[Event, ...]]:
    """Return the events of each command of a game with these moves."""
    names = [JoinGame(mark, name) for mark, name in ((Mark.X, x), (Mark.O, o)) if name]
    turns = (Mark.X, Mark.O) * 5
    tokens = [PlaceToken(mark, int(cell) - 1) for mark, cell in zip(turns, moves, strict=False)]
    end = [Resign(resigns)] if resigns else []
    return steps_of([CreateGame(), *names, *tokens, *end])


def play(
    store: EventStore, game: str, steps: Sequence[Sequence[Event]], version: int = 0, at: int = NOW
) -> int:
    """Append a game, or the rest of one, one command at a time."""
    for step in steps:
        version = store.append(game, step, expected=version, key=f"k{version}", at=at + version)
    return version


def feed_of(store: EventStore, cursor: str = "", limit: int = 97) -> list[Record]:
    """Read the whole feed after a cursor, page by page."""
    return _read_pages(store.feed, cursor, limit)


def documents_of(store: EventStore, cursor: str = "", limit: int = 7) -> list[Document]:
    """Read all documents that changed after a cursor, page by page."""
    return _read_pages(store.changed_documents, cursor, limit)


def _read_pages(
    read: Callable[[str, int], tuple[Sequence[Row], str]], cursor: str, limit: int
) -> list[Row]:
    found: list[Row] = []
    while True:
        page, cursor = read(cursor, limit)
        if not page:
            return found
        assert len(page) <= limit
        found += page


def listed(store: EventStore, limit: int, wanted: GameFilter | None = None) -> list[tuple[int, str]]:
    """Return the start time and id of each game, as the store lists them page by page."""
    found: list[tuple[int, str]] = []
    while page := store.games(wanted or GameFilter(), limit=limit, before=found[-1] if found else None):
        assert len(page) <= limit
        found += [(each.started, each.id) for each in page]
    return found


def events_of(records: Iterable[Record]) -> tuple[Event, ...]:
    return tuple(event for record in records for event in record.events)


def fill(store: EventStore) -> None:
    """Record some games of every kind, two of them interleaved; each starts a second after the last."""
    play(store, "won", game_of(X_WINS, "Ann", "Bob"), at=NOW)
    play(store, "lost", game_of(O_WINS, "Ann", "Zo\u00eb"), at=NOW + 1000)
    first, second = game_of(DRAW, "Bob", "\u540d\u524d"), game_of("5", "Ann")
    version = play(store, "drawn", first[:3], at=NOW + 2000)
    play(store, "unfinished", second, at=NOW + 3000)
    play(store, "drawn", first[3:], version, at=NOW + 2000)
    play(store, "given-up", game_of("51", resigns=Mark.X), at=NOW + 4000)
    play(store, "Empty_1", game_of(""), at=NOW + 5000)


def check_recorded(store: EventStore) -> None:
    """Check that a store is intact, but not that its games follow the rules."""
    faults = examine(store).faults
    assert [fault for fault in faults if "was not played by the rules" not in fault] == []


def check_whole(records: Iterable[Record]) -> None:
    """Check that a feed has every record of each game once and in order; recompute the hashes."""
    ends: dict[str, tuple[int, bytes]] = {}
    for game, version, at, key, text, link in records:
        # Only the deletion is left of a deleted game.
        count = text.count("\n") + 1 if text.startswith("{") else 0
        expected, previous = ends.get(game, (0 if count else version, b""))
        assert version == expected
        row = "\n".join((game, str(version), str(at), key, text))
        assert link == sha256(previous + row.encode()).digest()
        ends[game] = version + count, link
