"""Random games for the hard tests of stores, and a check of everything that a store holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
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
)
from noughts.store.base import Change, GameSummary, Store, StoredGame, nothing
from noughts.store.rows import entries_of, game_of
from noughts.store.verify import verify
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
    """Check that a store is sound, and that each way to read it says the same; return its games.

    Deleted ones are among them.
    """
    verify(store)
    games = {row[0]: game_of(row) for row in store.rows()}
    assert [*games] == sorted(games)
    assert store.count() == len(games)
    assert store.hashes([*games]) == {game: stored.hash for game, stored in games.items()}
    for game, stored in games.items():
        found = store.look(game)
        assert found
        assert found.hash == stored.hash
        assert not (stored.is_deleted and stored.room)
    there = [stored for stored in games.values() if not stored.is_deleted]
    there.sort(key=lambda stored: (stored.entries[0].at, stored.id), reverse=True)
    assert store.games(limit=len(games) + 1) == tuple(
        GameSummary(
            *(stored.id, stored.entries[0].at, stored.version, stored.game),
            *(stored.entries[-1].at, bool(stored.room)),
        )
        for stored in there
    )
    return games


def hashes(store: Store) -> dict[str, bytes]:
    """Check that a store is intact; return the hash of each game, which says all about it."""
    return {game: stored.hash for game, stored in everything(store).items()}


@contextmanager
def one_batch(store: Store) -> Iterator[None]:
    """Commit together what is submitted meanwhile."""
    gate = Event()
    store._worker(partial(gate.wait, LONG_DEADLINE_SECONDS))  # noqa: SLF001 - the writer waits
    try:
        yield
    finally:
        gate.set()
