"""Games for the hostile tests of stores: how they are played, and what must be there afterwards."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from noughts import CreateGame, JoinGame, Mark, PlaceToken, Resign, TakeBack, decide, fold, replay
from noughts.core.codec import dumps, loads
from noughts.store.base import Wanted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from random import Random
    from typing import TypeAlias

    from noughts import Command, Event, Game
    from noughts.store.base import EventStore
    from noughts.store.chain import Recorded

    Row: TypeAlias = tuple[str, int, int, str, str]
    """What was recorded: game, version, time, key and text."""

NAMES = ("Ann", "Bob", "Zo\u00eb", "\u540d" * 32)


class Turn(NamedTuple):
    """What one command led to, to be appended at a version of a game."""

    game: str
    expected: int
    key: str
    at: int
    events: tuple[Event, ...]

    @property
    def rows(self) -> list[Row]:
        """What a store must say of it."""
        return [
            (self.game, version, self.at, self.key, dumps(event))
            for version, event in enumerate(self.events, start=self.expected + 1)
        ]

    def append_to(self, store: EventStore) -> int:
        """Append it, and return the version."""
        return store.append(self.game, self.events, expected=self.expected, key=self.key, at=self.at)


def row_of(record: Recorded) -> Row:
    """Return what was recorded there."""
    return record.game, record.version, record.at, record.key, record.text


def turns(game: str, chance: Random, history: Iterable[Event] = ()) -> Iterator[Turn]:
    """Play a game to its end, from nothing or from where it stands, one turn after the other."""
    so_far = tuple(history)
    version, state = len(so_far), fold(so_far)
    while state is None or not state.is_over:
        told = decide(state, _command(state, chance))
        key = f"{chance.getrandbits(64):016x}"
        yield Turn(game, version, key, chance.randrange(2_000_000_000_000), told)
        version, state = version + len(told), fold(told, state)


def _command(game: Game | None, chance: Random) -> Command:
    if game is None:
        return CreateGame(chance.choice((Mark.X, Mark.O)), open_seats=chance.random() < 0.3)
    mark = game.board.turn
    lot = chance.random()
    if lot < 0.02:
        return Resign(mark)
    if lot < 0.05 and len(game.moves) >= 2:
        return TakeBack(mark)
    if lot < 0.2 and game.player(mark) is None:
        taken = game.player(mark.other)
        return JoinGame(mark, chance.choice([name for name in NAMES if not taken or name != taken.name]))
    free = [cell for cell in range(9) if cell not in game.moves]
    return PlaceToken(mark, chance.choice(free))


def everything(store: EventStore) -> list[Recorded]:
    """Return all that is in a store, in order, having made sure that it is sound.

    Positions have no gaps, every event follows from the one before it, no command is there by half, the
    list of games tells the same, and the engine itself has no complaints.
    """
    assert list(store.complaints()) == []
    records: list[Recorded] = []
    while page := store.feed(after=len(records)):
        records += page
    assert [record.position for record in records] == list(range(1, len(records) + 1))
    games: dict[str, list[Recorded]] = {}
    for record in records:
        games.setdefault(record.game, []).append(record)
    ends = {}
    for game, found in games.items():
        assert store.read(game) == tuple(found)
        ends[game] = _end(tuple(record.text for record in found))
    listed = store.games(limit=len(games) + 1)
    assert {each.id: (each.version, each.game) for each in listed} == {
        game: (len(games[game]), end) for game, end in ends.items()
    }
    unfinished = store.games(Wanted(is_over=False), limit=len(games) + 1)
    assert {each.id for each in unfinished} == {game for game, end in ends.items() if not end.is_over}
    return records


@lru_cache(maxsize=100_000)
def _end(texts: tuple[str, ...]) -> Game:
    """Return what a whole history leads to; one that stops within a command is refused."""
    return replay(map(loads, texts))
