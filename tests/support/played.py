"""Games recorded in a store: the events of each command, and how to record them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from noughts import Command, CreateGame, Event, JoinGame, Mark, PlaceToken, Resign, decide, fold
from noughts.store.base import Change, Entry, GameFilter, Store, StoredGame, nothing
from noughts.store.rows import entries_of

NOW = 1_700_000_000_000
"""When everything here is recorded, unless a test says otherwise."""

X_WINS, O_WINS, DRAW = "15263", "152496", "153246879"
"""Cells, counted from 1, that the players mark in turn."""

ROOM = '{"open":"seat","code":"c0de","name":"Zo\u00eb"}'
"""The room of a game on the web."""


def game_of(
    moves: str, x: str = "", o: str = "", *, resigns: Mark | None = None
) -> list[tuple[Event, ...]]:
    """Return the events of each command of a game with these moves."""
    names = [JoinGame(mark, name) for mark, name in ((Mark.X, x), (Mark.O, o)) if name]
    turns = (Mark.X, Mark.O) * 5
    tokens = [PlaceToken(mark, int(cell) - 1) for mark, cell in zip(turns, moves, strict=False)]
    end = [Resign(resigns)] if resigns else []
    history: list[Event] = []
    steps = []
    commands: list[Command] = [CreateGame(), *names, *tokens, *end]
    for command in commands:
        steps.append(decide(fold(history), command))
        history += steps[-1]
    return steps


CREATED, PLACED = game_of("5")
"""The events of the first two commands of a game."""


def change_of(
    before: StoredGame,
    *steps: Sequence[Event],
    key: str = "",
    at: int = NOW,
    room: str | None = None,
    hour: int | None = None,
) -> Change:
    """Return the change that adds the events of these commands, and perhaps another room and hour."""
    entries: tuple[Entry, ...] = ()
    version = before.version
    for step in steps:
        entries += entries_of([(key or f"k{version}", at + version, step)], version)
        version = entries[-1].next_version
    return Change(before, before.followed_by(entries, room=room, hour=hour))


def commit(store: Store, change: Change) -> StoredGame:
    return store.submit(change).result()


def play(
    store: Store, game: str, steps: Iterable[Sequence[Event]], *, at: int = NOW, room: str | None = None
) -> StoredGame:
    """Record a game, or the rest of one, with a commit for each command."""
    now = store.look(game) or nothing(game)
    for step in steps:
        now = commit(store, change_of(now, step, at=at, room=room))
    return now


def found(store: Store, game: str) -> StoredGame:
    """Return a game that must be there."""
    stored = store.read(game)
    assert stored, f"{game} is not there"
    return stored


def fill(store: Store) -> None:
    """Record some games of every kind; each starts a second after the last."""
    play(store, "won", game_of(X_WINS, "Ann", "Bob"), at=NOW)
    play(store, "lost", game_of(O_WINS, "Ann", "Zo\u00eb"), at=NOW + 1000)
    play(store, "drawn", game_of(DRAW, "Bob", "\u540d\u524d"), at=NOW + 2000, room=ROOM)
    play(store, "unfinished", game_of("5", "Ann"), at=NOW + 3000, room=ROOM)
    play(store, "given-up", game_of("51", resigns=Mark.X), at=NOW + 4000)
    play(store, "Empty_1", game_of(""), at=NOW + 5000)
    play(store, "deleted", game_of("5", "Ann"), at=NOW + 6000, room=ROOM)
    store.delete("deleted")


def listed(store: Store, limit: int, wanted: GameFilter | None = None) -> list[tuple[int, str]]:
    """Return the start time and id of each game, as the store lists them page by page."""
    games: list[tuple[int, str]] = []
    while page := store.games(wanted or GameFilter(), limit=limit, before=games[-1] if games else None):
        assert len(page) <= limit
        games += [(each.started, each.id) for each in page]
    return games
