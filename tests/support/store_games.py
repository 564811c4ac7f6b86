"""Random games for the hard tests of stores, and a check of everything that a store holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import pairwise
from random import Random
from threading import Event

from noughts import (
    Command,
    CreateGame,
    Game,
    JoinGame,
    Mark,
    PlaceToken,
    Resign,
    TakeBack,
    decide,
    replay,
)
from noughts.core.codec import loads
from noughts.store.base import Change, Store, StoredGame, nothing
from noughts.store.rows import Columns, entries_of, game_of
from support.deadlines import LONG_DEADLINE_SECONDS

NAMES = ("Ann", "Bob", "Zo\u00eb", "\u540d" * 32)


def new_game(chance: Random) -> StoredGame:
    """Return a game of the terminal or of the web that is to be created."""
    return nothing(f"{chance.choice('tw')}{chance.getrandbits(64):x}")


def changes(before: StoredGame, chance: Random) -> Iterator[Change]:
    """Play a game to its end, one change at a time, and perhaps delete it.

    The room of a game of the web, which begins with `w`, changes together with its record or alone. It
    may fill a page of a database.
    """
    now, is_on_web = before, before.id.startswith("w")
    while not now.entries or not now.game.is_over:
        state = now.game if now.entries else None
        step = decide(state, _command(state, chance))
        key, at = f"{chance.getrandbits(64):016x}", chance.randrange(2_000_000_000_000)
        is_new_room = is_on_web and (state is None or chance.random() < 0.3)
        room = _room(now, chance) if is_new_room else None
        hour = now.hour + (chance.random() < 0.1)
        now = now.followed_by(entries_of([(key, at, step)], now.version), room=room, hour=hour)
        yield Change(before, now)
        before = now
        if is_on_web and chance.random() < 0.2:
            now = now.followed_by(room=_room(now, chance))
            yield Change(before, now)
            before = now
    if chance.random() < 0.4:
        yield Change(now, now.deleted())


def _room(now: StoredGame, chance: Random) -> str:
    is_open = chance.choice((None, "seat", "play"))
    filling = "\u00eb" * chance.choice((0, 0, 2500))
    return json.dumps(
        {"open": is_open, "code": chance.choice((None, "c0de")), "n": now.revision, "filling": filling},
        ensure_ascii=False,
    )


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


def everything(store: Store) -> dict[str, StoredGame]:
    """Check that a store is intact; return its games, deleted ones included.

    Each row has its hash and follows the rules, no command is recorded in part, the columns for lists
    follow from record and room, and each way to read them says the same.
    """
    assert list(store.integrity_errors()) == []
    rows = [*store.rows()]
    assert all(one[0] < other[0] for one, other in pairwise(rows))
    assert store.count() == len(rows)
    games = {row[0]: game_of(row) for row in rows}
    there = {}
    for game, *_, listed in ((row[0], Columns._make(row[6:])) for row in rows):
        stored = games[game]
        found = store.look(game)
        assert found
        assert found.hash == stored.hash
        assert stored.columns == listed
        assert not stored.is_deleted or not stored.room
        if not stored.is_deleted:
            there[game] = stored, _end(tuple(entry.text for entry in stored.entries))
    assert store.hashes([*games]) == {game: stored.hash for game, stored in games.items()}
    by_start = store.games(limit=len(games) + 1)
    assert [(each.started, each.id) for each in by_start] == sorted(
        ((stored.entries[0].at, game) for game, (stored, _) in there.items()), reverse=True
    )
    assert {each.id: each[2:] for each in by_start} == {
        game: (stored.version, end, stored.entries[-1].at, bool(stored.room), None)
        for game, (stored, end) in there.items()
    }
    assert store.hours() >= 0
    return games


def hashes(store: Store) -> dict[str, bytes]:
    """Check that a store is intact; return the hash of each game, which says all about it."""
    return {game: stored.hash for game, stored in everything(store).items()}


@lru_cache(maxsize=100_000)
def _end(texts: tuple[str, ...]) -> Game:
    """Return the result of a complete history; fail if it stops within a command."""
    return replay(loads(line) for text in texts for line in text.split("\n"))


@contextmanager
def one_batch(store: Store) -> Iterator[None]:
    """Commit together what is submitted meanwhile."""
    gate = Event()
    store._worker(partial(gate.wait, LONG_DEADLINE_SECONDS))  # noqa: SLF001 - the writer waits
    try:
        yield
    finally:
        gate.set()
