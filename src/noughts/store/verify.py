"""Checks a whole store: that nothing in it has changed, and that every game follows the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from noughts.core.errors import ImpossibleHistory, NoughtsError, quoted
from noughts.core.game import Game, replay
from noughts.store.base import Progress, Store
from noughts.store.errors import CorruptStore
from noughts.store.rows import Columns, Entry, Row, StoredGame, check_id, game_of


class VerifyReport(NamedTuple):
    games: int
    """The number of sound games."""
    events: int
    """The number of their events."""
    faults: tuple[str, ...]


def verify(store: Store) -> VerifyReport:
    """Check a store; raise `CorruptStore` with the first fault."""
    report = examine(store)
    for fault in report.faults:
        raise CorruptStore(fault)
    return report


def examine(store: Store, progress: Progress = lambda _share: None) -> VerifyReport:
    """Check every game, the columns for lists, the counter and the engine; others may play meanwhile."""
    games = events = 0
    faults: list[str] = []
    for row in readable_rows(store, faults.append, progress):
        try:
            stored = sound_game(row)
            is_listed_right = stored.columns == Columns._make(row[6:])
        except CorruptStore as error:
            faults.append(str(error))
            continue
        if is_listed_right:
            games += not stored.is_deleted
            events += stored.version
        else:
            faults.append(f"the columns for lists are wrong about game {quoted(stored.id)}")
    try:
        store.hours()
    except CorruptStore as error:
        faults.append(str(error))
    return VerifyReport(games, events, tuple(dict.fromkeys(faults)))


def readable_rows(
    store: Store, note: Callable[[str], None], progress: Progress = lambda _share: None
) -> Iterator[Row]:
    """Return every row that can be read, and note what the engine finds wrong."""
    damage: list[str] = []
    try:
        damage += store.integrity_errors()
        total = store.count()
    except CorruptStore as error:
        damage.append(str(error))
        total = 0
    for fault in damage:
        note(fault)
    try:
        # An index that is damaged may hide games, so then it is not used.
        for number, row in enumerate(store.salvage() if damage else store.rows()):
            progress(min(1, number / total) if total else 0)
            yield row
    except CorruptStore as error:
        note(str(error))


def sound_game(row: Row) -> StoredGame:
    """Return the game of a row, or raise `CorruptStore` if it was changed, or not played by the rules."""
    stored = game_of(row)
    try:
        check_id(stored.id)
        if not stored.is_deleted:
            checked_game(stored.entries)
    except NoughtsError as error:
        raise CorruptStore(f"game {quoted(stored.id)} is unsound: {error}") from error
    return stored


def checked_game(entries: Sequence[Entry]) -> Game:
    """Return the game of a record, or refuse one that was not played by the rules."""
    if len({entry.key for entry in entries}) < len(entries):
        raise ImpossibleHistory("two commands have the same key")
    return replay(event for entry in entries for event in entry.events)
