"""A closed store that is to be damaged, and what is noticed of that."""

# ruff: noqa: S608 - the values are the tests' own

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import Any

import psycopg

from noughts import Game
from noughts.store.base import Change, Store, StoredGame, nothing
from noughts.store.errors import StoreError
from noughts.store.rows import ROW, Columns, game_of
from noughts.store.urls import open_store
from noughts.store.verify import examine
from support.played import commit
from support.store_games import changes

GAMES = 24
COLUMNS = tuple(ROW.split(", "))


def play(store: Store, chance: Random) -> None:
    """Play games of the terminal and of the web, each to some moment, and delete two."""
    for number in range(GAMES):
        played = [*changes(nothing(f"{'tw'[number % 2]}{number}"), chance)][: chance.randrange(5, 15)]
        for change in played:
            commit(store, change)
        now = played[-1].after
        if number < 2 and not now.is_deleted:
            commit(store, Change(now, now.deleted()))
    store.count_hour(0)


def faults_of(url: str) -> list[str]:
    """Return the error from opening a store, or the errors that verifying it finds."""
    try:
        with open_store(url, create=False) as store:
            return [*examine(store).faults]
    except StoreError as refusal:
        assert str(refusal)
        return [f"opening: {refusal}"]


def wrongly_shown(url: str, sound: dict[str, StoredGame]) -> list[str]:
    """Return the games that a store shows, but not as they were."""
    shown = []
    states: list[Game | None] = [None, *(each.game for each in sound.values() if not each.is_deleted)]
    with suppress(StoreError), open_store(url, create=False) as store:
        for game, stored in sound.items():
            with suppress(StoreError):
                found = store.look(game)
                if found and found.hash != stored.hash:
                    shown.append(game)
        shown += [each.id for each in store.games(limit=2 * GAMES) if each.game not in states]
    return shown


class Place:
    """A closed store, and the tools to damage it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.is_file = url.startswith("sqlite:")
        self.path = Path(url.removeprefix("sqlite:"))

    def do(self, statement: str, *values: object) -> None:
        """Execute a statement; it must change something."""
        if self.is_file:
            with closing(sqlite3.connect(self.path)) as database, database:
                assert database.execute(statement, values).rowcount
        else:
            with psycopg.connect(self.url) as session:
                assert session.execute(statement.replace("?", "%s").encode(), values or None).rowcount

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        if self.is_file:
            with closing(sqlite3.connect(self.path)) as database:
                return database.execute(statement).fetchall()
        with psycopg.connect(self.url) as session:
            return session.execute(statement.encode()).fetchall()

    def games(self) -> dict[str, StoredGame]:
        """Return all games, also deleted ones; none may be damaged yet."""
        return {row[0]: game_of(row) for row in self.rows(f"SELECT {ROW} FROM games ORDER BY id")}

    def a_game(self, chance: Random) -> StoredGame:
        return chance.choice([stored for stored in self.games().values() if len(stored.entries) > 1])

    def put(self, game: str, **values: object) -> None:
        columns = ", ".join(f"{name} = ?" for name in values)
        self.do(f"UPDATE games SET {columns} WHERE id = ?", *values.values(), game)

    def rewrite(self, stored: StoredGame, columns: Columns | None = None) -> None:
        """Replace a row, with a valid hash and matching columns for lists."""
        values = {name: getattr(stored, name) for name in COLUMNS[1:]}
        self.put(stored.id, **values, **(columns or stored.columns)._asdict())
