"""Games as they are played into a store: what each command led to, and how it is appended."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from noughts import CreateGame, JoinGame, Mark, PlaceToken, Resign, decide, fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from noughts import Command, Event
    from noughts.store.base import EventStore
    from noughts.store.chain import Recorded

NOW = 1_700_000_000_000
"""When everything here is recorded, unless a test says otherwise."""

X_WINS, O_WINS, DRAW = "15263", "152496", "153246879"
"""Cells, counted from 1, that the players mark in turn."""


def told(commands: Iterable[Command]) -> list[tuple[Event, ...]]:
    """Return what each command led to, one after the other."""
    history: list[Event] = []
    steps = []
    for command in commands:
        step = decide(fold(history), command)
        history += step
        steps.append(step)
    return steps


def game_of(
    moves: str, x: str = "", o: str = "", *, resigns: Mark | None = None
) -> list[tuple[Event, ...]]:
    """Return a game, command by command, in which these cells were marked in turn."""
    names = [JoinGame(mark, name) for mark, name in ((Mark.X, x), (Mark.O, o)) if name]
    turns = (Mark.X, Mark.O) * 5
    tokens = [PlaceToken(mark, int(cell) - 1) for mark, cell in zip(turns, moves, strict=False)]
    end = [Resign(resigns)] if resigns else []
    return told([CreateGame(), *names, *tokens, *end])


def play(store: EventStore, game: str, steps: Sequence[Sequence[Event]], version: int = 0) -> int:
    """Append a game, or the rest of one, command by command."""
    for step in steps:
        version = store.append(game, step, expected=version, key=f"k{version}", at=NOW + version)
    return version


def feed_of(store: EventStore) -> list[Recorded]:
    """Read the whole feed, in small pages."""
    found: list[Recorded] = []
    while page := store.feed(found[-1].position if found else 0, 97):
        found += page
    return found


def fill(store: EventStore) -> None:
    """Play some games of every kind, two of them in turns."""
    play(store, "won", game_of(X_WINS, "Ann", "Bob"))
    play(store, "lost", game_of(O_WINS, "Ann", "Zo\u00eb"))
    first, second = game_of(DRAW, "Bob", "\u540d\u524d"), game_of("5", "Ann")
    version = play(store, "drawn", first[:3])
    play(store, "unfinished", second)
    play(store, "drawn", first[3:], version)
    play(store, "given-up", game_of("51", resigns=Mark.X))
    play(store, "Empty_1", game_of(""))


def check_whole(records: Sequence[Recorded]) -> None:
    """See that a feed has no gaps, no doubles and the right hashes, worked out anew."""
    assert [record.position for record in records] == list(range(1, len(records) + 1))
    ends: dict[str, tuple[int, bytes]] = {}
    for record in records:
        version, previous = ends.get(record.game, (0, b""))
        assert record.version == version + 1
        sealed = "\n".join((record.game, str(record.version), str(record.at), record.key, record.text))
        assert record.hash == sha256(previous + sealed.encode()).digest()
        ends[record.game] = record.version, record.hash
