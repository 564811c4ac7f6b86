"""Games for the torture tests of stores: random play, and checks of the result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from random import Random
from typing import NamedTuple, TypeAlias

from noughts import (
    Command,
    CreateGame,
    Event,
    Game,
    JoinGame,
    Mark,
    PlaceToken,
    Resign,
    TakeBack,
    decide,
    fold,
    replay,
)
from noughts.core.codec import dumps, loads
from noughts.store.appends import Append, append_of
from noughts.store.base import EventStore, GameFilter
from noughts.store.documents import Write
from noughts.store.memory import MemoryStore
from noughts.store.records import Record
from noughts.store.watch import ANYTHING, Subscription, Watch
from support.deadlines import LONG_DEADLINE_SECONDS
from support.played import check_whole, feed_of

Row: TypeAlias = tuple[str, int, int, str, str]
"""What was recorded: game, version, time, key and text."""

NAMES = ("Ann", "Bob", "Zo\u00eb", "\u540d" * 32)


class Turn(NamedTuple):
    """The events of one command, to be appended at a version of a game."""

    game: str
    expected: int
    key: str
    at: int
    events: tuple[Event, ...]

    @property
    def row(self) -> Row:
        return self.game, self.expected, self.at, self.key, "\n".join(map(dumps, self.events))

    @property
    def next_version(self) -> int:
        return self.expected + len(self.events)

    def append(self, document: Write | None = None) -> Append:
        """Return what to record, maybe together with a document."""
        return append_of(
            self.game, self.expected, self.events, key=self.key, at=self.at, document=document
        )

    def append_to(self, store: EventStore) -> int:
        return store.append(self.game, self.events, expected=self.expected, key=self.key, at=self.at)


def row_of(record: Record) -> Row:
    return record[:5]


def turns(game: str, chance: Random, history: Iterable[Event] = ()) -> Iterator[Turn]:
    """Play a game to its end, from the start or after a history, one command at a time."""
    so_far = tuple(history)
    version, state = len(so_far), fold(so_far)
    while state is None or not state.is_over:
        new = decide(state, _command(state, chance))
        key = f"{chance.getrandbits(64):016x}"
        yield Turn(game, version, key, chance.randrange(2_000_000_000_000), new)
        version, state = version + len(new), fold(new, state)


def _command(game: Game | None, chance: Random) -> Command:
    if game is None:
        return CreateGame(chance.choice((Mark.X, Mark.O)), open_seats=chance.random() < 0.3)
    mark = game.board.turn
    share = chance.random()
    if share < 0.02:
        return Resign(mark)
    if share < 0.05 and len(game.moves) >= 2:
        return TakeBack(mark)
    if share < 0.2 and game.player(mark) is None:
        taken = game.player(mark.other)
        return JoinGame(mark, chance.choice([name for name in NAMES if not taken or name != taken.name]))
    free = [cell for cell in range(9) if cell not in game.moves]
    return PlaceToken(mark, chance.choice(free))


def everything(store: EventStore) -> list[Record]:
    """Check that a store is intact; return the whole feed.

    Every game's chain is valid and in order, no command is recorded in part, the feed has every record
    exactly once, the catalogue matches the records, and the engine finds no errors.
    """
    assert list(store.integrity_errors()) == []
    assert list(store.checkpoint_errors()) == []
    records = feed_of(store, limit=1000)
    check_whole(records)
    games: dict[str, list[Record]] = {}
    for record in records:
        games.setdefault(record.game, []).append(record)
    deleted = {game for game, found in games.items() if found[0].is_deletion}
    for game in deleted:
        assert len(games.pop(game)) == 1
        assert store.read(game) == ()
    ends = {}
    for game, found in games.items():
        assert store.read(game) == tuple(found)
        ends[game] = _end(tuple(record.text for record in found))
    versions = {game: found[-1].next_version for game, found in games.items()}
    assert store.versions([*games, *deleted]) == versions
    listed = store.games(limit=len(games) + 1)
    assert [(each.started, each.id) for each in listed] == sorted(
        ((found[0].at, game) for game, found in games.items()), reverse=True
    )
    assert {each.id: (each.version, each.game, each.last_played) for each in listed} == {
        game: (versions[game], end, games[game][-1].at) for game, end in ends.items()
    }
    assert {row.game: row[2:] for row in store.catalogue(GameFilter(), len(games) + 1)} == {
        game: _catalogued(end) for game, end in ends.items()
    }
    return records


@lru_cache(maxsize=100_000)
def _end(texts: tuple[str, ...]) -> Game:
    """Return the result of a complete history; fail if it stops within a command."""
    return replay(loads(line) for text in texts for line in text.split("\n"))


def _catalogued(game: Game) -> tuple[str | None, str | None, str | None]:
    x, o = (player.name if (player := game.player(mark)) else None for mark in Mark)
    result = (game.winner.value if game.winner else "draw") if game.is_over else None
    return x, o, result


def listen(store: EventStore) -> Subscription:
    """Subscribe to changes by others; return once the store is listening."""
    changes = store.changes()
    if not isinstance(store, MemoryStore):
        assert changes.wait(LONG_DEADLINE_SECONDS) is ANYTHING
    return changes


def follow(watch: Watch, count: int) -> tuple[Record, ...]:
    """Return this number of records as they arrive; hang if nothing wakes the watch."""
    seen: list[Record] = []
    while len(seen) < count:
        seen += watch.wait()
    assert watch.wait(0) == ()
    return tuple(seen)
