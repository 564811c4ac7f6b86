"""Every kind of damage to the rows of a store, noticed or not.

Each kind is a function that damages a closed store.
"""

# ruff: noqa: S608 - the values are the tests' own

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import psycopg

from noughts import Game
from noughts.store.base import Change, Store, StoredGame, nothing
from noughts.store.errors import StoreError
from noughts.store.rows import LISTED, ROW, Columns, game_of, row_hash
from noughts.store.urls import open_store
from noughts.store.verify import examine
from support.played import CREATED, NOW, change_of, commit
from support.store_games import changes

Damage: TypeAlias = Callable[["Place", Random], object]

GAMES = 24
COLUMNS = tuple(ROW.split(", "))
LISTED_COLUMNS = tuple(LISTED.split(", "))


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
        return chance.choice([stored for stored in self.games().values() if not stored.is_deleted])

    def put(self, game: str, **values: object) -> None:
        columns = ", ".join(f"{name} = ?" for name in values)
        self.do(f"UPDATE games SET {columns} WHERE id = ?", *values.values(), game)

    def rewrite(self, stored: StoredGame, columns: Columns | None = None) -> None:
        """Replace a row, with a valid hash and matching columns for lists."""
        values = {name: getattr(stored, name) for name in COLUMNS[1:]}
        self.put(stored.id, **values, **(columns or stored.columns)._asdict())


# What is noticed


def flip_a_bit(place: Place, chance: Random, columns: Sequence[str] = (*COLUMNS, *LISTED_COLUMNS)) -> str:
    """Flip a bit of a value, and return the id of its game; a text stays one, and an id unique."""
    column = chance.choice(columns)
    found = place.rows(f"SELECT id, {column} FROM games ORDER BY id")
    game, value = chance.choice([row for row in found if row[1] not in (None, "")])
    if isinstance(value, int):
        place.put(game, **{column: value ^ (1 << chance.randrange(40))})
    elif isinstance(value, str):
        at = chance.randrange(len(value))
        new = f"{value[:at]}{chr(ord(value[at]) ^ (1 << chance.randrange(5)))}{value[at + 1 :]}"
        if column == "id" and (new,) in place.rows("SELECT id FROM games"):
            return flip_a_bit(place, chance, columns)
        place.put(game, **{column: new})
    else:
        at = chance.randrange(len(value))
        changed = bytes([value[at] ^ (1 << chance.randrange(8))])
        place.put(game, **{column: value[:at] + changed + value[at + 1 :]})
    return str(game)


def cut_a_record(place: Place, chance: Random) -> None:
    """Remove the last commands of a record, or a part of one."""
    game = place.a_game(chance)
    ends = [len(game.record) - len(game.entries[-1].piece), chance.randrange(len(game.record))]
    place.put(game.id, record=game.record[: chance.choice(ends)])


def put_in_an_older_record(place: Place, chance: Random) -> None:
    """Leave the columns for lists as they were, with a valid hash."""
    game = chance.choice([each for each in place.games().values() if len(each.entries) > 1])
    first = nothing(game.id).followed_by(game.entries[:1])
    place.rewrite(first, game.columns)


def change_a_room(place: Place, chance: Random) -> None:
    game = chance.choice([each for each in place.games().values() if each.room])
    place.put(game.id, room=chance.choice(["", "{}", game.room[:-1], f"{game.room} "]))


def swap_columns(place: Place, chance: Random) -> None:
    """Swap one or all columns but the id of two games."""
    one, other = chance.sample([each for each in place.games().values() if not each.is_deleted], 2)
    names = chance.choice([["record"], ["hash"], COLUMNS[1:]])
    place.put(one.id, **{name: getattr(other, name) for name in names})
    place.put(other.id, **{name: getattr(one, name) for name in names})


def change_a_list(place: Place, chance: Random) -> None:
    """Change what a list says of a game, or let it say something of a deleted one."""
    games = place.games()
    column = chance.choice(LISTED_COLUMNS)
    game = chance.choice([*games.values()])
    old = getattr(game.columns, column)
    place.put(
        game.id, **{column: 7 if column in ("started", "played") else "seat" if old != "seat" else None}
    )


DAMAGES: dict[str, Damage] = {
    "a record cut": cut_a_record,
    "a record put back, but not the lists": put_in_an_older_record,
    "a room changed": change_a_room,
    "columns of two games swapped": swap_columns,
    "a column for lists changed": change_a_list,
}


# What is not noticed


def put_an_old_row_back(place: Place, chance: Random) -> None:
    game = chance.choice([each for each in place.games().values() if len(each.entries) > 1])
    place.rewrite(nothing(game.id).followed_by(game.entries[:-1], room=game.room))


def put_a_foreign_row_in(place: Place, _chance: Random) -> None:
    foreign = change_of(nothing("foreign"), CREATED).after
    values = [getattr(foreign, name) for name in COLUMNS]
    place.do(
        f"INSERT INTO games ({ROW}, started, played) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *values, NOW, NOW
    )


UNNOTICED: dict[str, Damage] = {
    "a row removed": lambda place, chance: place.do(
        "DELETE FROM games WHERE id = ?", place.a_game(chance).id
    ),
    "all rows removed": lambda place, _: place.do("DELETE FROM games"),
    "an old row put back": put_an_old_row_back,
    "a row of another store put in": put_a_foreign_row_in,
    "an old count put back": lambda place, _: place.do(
        "UPDATE counter SET hours = 0, hash = ?", row_hash("counter", 0, 0, "", "")
    ),
}
"""What a hash in each row cannot show."""


def main(url: str, seed: int) -> None:
    """Play, and die with everything in the write-ahead log only."""
    play(open_store(url), Random(seed))
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
