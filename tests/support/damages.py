"""Every kind of damage to a store: to its rows, its tables or its files.

Each kind is a function that damages a closed store and returns the affected games, if any, which a repair
may not be able to recover.
"""

# ruff: noqa: S608 - the values are the tests' own

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeAlias

import psycopg

from noughts.core.codec import loads
from noughts.core.events import GamePlacedCount, PlayerActive, PlayerPlacedToken
from noughts.store.appends import Append, CatalogueRow, catalogue_change
from noughts.store.base import EventStore
from noughts.store.documents import Document, Write, document_hash
from noughts.store.errors import StoreError
from noughts.store.records import GENESIS, Record, record_hash
from noughts.store.urls import open_store
from noughts.store.verify import examine
from support.store_games import Turn, turns

Damage: TypeAlias = Callable[["Place", Random], set[str] | None]

GAMES = 24
DELETED = 5
NOW = 1_900_000_000_000
COLUMNS = "game, version, at, key, events, hash"
IS_KEPT = "NOT (events = '' AND key = '' AND at = 0)"
"""The condition that a record is not one that a deletion has emptied."""


class Sound(NamedTuple):
    """The contents of a store before it is damaged."""

    games: dict[str, tuple[Record, ...]]
    documents: dict[str, Document]


def play(store: EventStore, chance: Random, names: str = "d") -> Iterator[int]:
    """Play interleaved games with documents, delete some, and yield the number of steps so far.

    Every other game has a document, written with its first record and sometimes again.
    """
    games = [f"{names}{number}" for number in range(GAMES)]
    playing = {game: [*turns(game, chance)][: chance.randrange(4, 15)] for game in games}
    doomed = games[:DELETED]
    step = 0
    while any(playing.values()):
        appends = [_append(store, playing[game].pop(0), chance) for game in games if playing[game]]
        store.record(appends)
        assert not any(append.refusal for append in appends)
        for game in [game for game in doomed if not playing[game]][:2]:
            doomed.remove(game)
            store.delete(game, at=NOW)
        step += 1
        yield step
    for game in doomed:
        store.delete(game, at=NOW)


def _append(store: EventStore, turn: Turn, chance: Random) -> Append:
    game, document = turn.game, None
    if int(game[1:]) % 2 and (not turn.expected or chance.random() < 0.2):
        before = store.document(game)
        revision = before.revision if before else 0
        label = chance.choice(("", "open"))
        document = Write(game, f"{game} {revision}", expected=revision, label=label)
    return turn.append(document)


def sound(store: EventStore) -> Sound:
    names = [row.id for row in store.games(limit=2 * GAMES)]
    documents = store.documents_named(names)
    return Sound(
        {name: store.read(name) for name in names}, {document.name: document for document in documents}
    )


def faults_of(url: str) -> list[str]:
    """Return the error from opening a store, or the errors that verifying it finds."""
    try:
        store = open_store(url, create=False)
    except StoreError as refusal:
        assert str(refusal)
        return [f"opening: {refusal}"]
    with store:
        return [*examine(store).faults]


class Place:
    """A closed store, and the tools to damage it."""

    def __init__(self, url: str, older: Sequence[Path] = (), other: Path | None = None) -> None:
        self.url = url
        self.is_file = url.startswith("sqlite:")
        self.path = Path(url.removeprefix("sqlite:"))
        self.older = older
        """The same store's file as it was at earlier times."""
        self.other = other
        """Another store's file."""
        self.order = "sequence" if self.is_file else "generation, xid"
        """The columns that have a row's place in its feed."""

    def beside(self, ending: str) -> Path:
        """Return a file beside the store's, such as its checkpoint."""
        return self.path.with_name(self.path.name + ending)

    def do(self, *statements: str | tuple[object, ...]) -> None:
        """Execute statements, with or without values, in one transaction."""
        calls = [(one,) if isinstance(one, str) else one for one in statements]
        if self.is_file:
            with closing(sqlite3.connect(self.path)) as database, database:
                for statement, *values in calls:
                    database.execute(str(statement), values)
        else:
            with psycopg.connect(self.url) as session:
                for statement, *values in calls:
                    session.execute(str(statement).replace("?", "%s").encode(), values or None)

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        if self.is_file:
            with closing(sqlite3.connect(self.path)) as database:
                return database.execute(statement).fetchall()
        with psycopg.connect(self.url) as session:
            return session.execute(statement.encode()).fetchall()

    def feed(self) -> list[Record]:
        """Read all records of games that are not deleted, in the order of the feed."""
        order = f"{self.order}, game, version"
        rows = self.rows(f"SELECT {COLUMNS} FROM noughts_records WHERE {IS_KEPT} ORDER BY {order}")
        return [*map(Record._make, rows)]

    def games(self) -> dict[str, list[Record]]:
        games: dict[str, list[Record]] = {}
        for record in self.feed():
            if not record.is_deletion:
                games.setdefault(record.game, []).append(record)
        return games

    def a_game(self, chance: Random) -> list[Record]:
        return chance.choice([*self.games().values()])

    def a_document(self, chance: Random) -> tuple[Any, ...]:
        columns = "name, revision, label, text, key"
        return chance.choice(self.rows(f"SELECT {columns} FROM noughts_documents ORDER BY name"))

    def remove_records(self, records: Sequence[Record]) -> None:
        delete = "DELETE FROM noughts_records WHERE game = ? AND version = ?"
        self.do(*((delete, record.game, record.version) for record in records))

    def remove_games(self, games: Sequence[str]) -> None:
        for game in games:
            self.do(
                ("DELETE FROM noughts_records WHERE game = ?", game),
                ("DELETE FROM noughts_games WHERE id = ?", game),
                ("DELETE FROM noughts_documents WHERE name = ?", game),
            )

    def rewrite(self, records: Sequence[Record]) -> None:
        """Replace a game's records, with valid hashes and a matching catalogue."""
        game, link = records[0].game, GENESIS
        places = self.rows(
            f"SELECT {self.order} FROM noughts_records WHERE game = '{game}' ORDER BY version"
        )
        row = CatalogueRow(game, records[0].at)
        changes: list[tuple[object, ...]] = [("DELETE FROM noughts_records WHERE game = ?", game)]
        for place, (_, version, at, key, text, _) in zip(places, records, strict=True):
            link = record_hash(link, game, version, at, key, text)
            values = (game, version, at, key, text, link, *place)
            marks = ", ".join("?" * len(values))
            changes.append(
                (f"INSERT INTO noughts_records ({COLUMNS}, {self.order}) VALUES ({marks})", *values)
            )
            row = row.changed(catalogue_change(map(loads, text.split("\n"))))
        update = "UPDATE noughts_games SET started = ?, x = ?, o = ?, result = ? WHERE id = ?"
        self.do(*changes, (update, *row[1:], game))


# Rows


def remove_last_records(place: Place, chance: Random) -> set[str]:
    last = place.feed()[-chance.randrange(1, 20) :]
    place.remove_records(last)
    return {record.game for record in last}


def remove_last_games(place: Place, chance: Random) -> set[str]:
    last = [*place.games()][-chance.randrange(1, 6) :]
    place.remove_games(last)
    return {*last}


def remove_everything(place: Place, chance: Random) -> set[str]:
    """Remove all rows, with or without the store's id and counts."""
    games = {*place.games()}
    tables = ["noughts_records", "noughts_games", "noughts_documents"]
    if chance.random() < 0.5:
        tables += ["noughts_store", "sqlite_sequence" if place.is_file else "noughts_checkpoint"]
    place.do(*(f"DELETE FROM {table}" for table in tables))
    return games


def remove_a_game(place: Place, chance: Random) -> set[str]:
    """Remove all rows of a game, and renumber the later records."""
    game = place.a_game(chance)[0].game
    place.remove_games([game])
    if place.is_file:
        rows = place.rows("SELECT sequence FROM noughts_records ORDER BY sequence")
        update = "UPDATE noughts_records SET sequence = ? WHERE sequence = ?"
        place.do(*((update, number, row[0]) for number, row in enumerate(rows, 1)))
        place.do(("UPDATE sqlite_sequence SET seq = ? WHERE name = 'noughts_records'", len(rows)))
    return {game}


def remove_a_record(place: Place, chance: Random) -> set[str]:
    record = chance.choice([record for record in place.feed() if not record.is_deletion])
    place.remove_records([record])
    return {record.game}


def forge_a_game(place: Place, chance: Random) -> set[str]:
    """Continue a game differently from some record on: legally, and with valid hashes."""
    new: list[Record] = []
    old: list[Record] = []
    while not old or len(new) < len(old):  # try again if this continuation ends too early
        old = place.a_game(chance)
        kept = old[: chance.randrange(len(old))]
        history = [event for record in kept for event in record.events]
        new = [*kept, *(Record(*turn.row, b"") for turn in turns(old[0].game, chance, history))]
    place.rewrite(new[: len(old)])
    return {old[0].game}


def forge_an_illegal_move(place: Place, chance: Random) -> set[str]:
    """Let a player mark an occupied cell, with valid hashes."""
    moves = [
        (game, [number for number, record in enumerate(game) if _is_plain_move(record)])
        for game in place.games().values()
    ]
    game, numbers = chance.choice([(game, numbers) for game, numbers in moves if len(numbers) > 1])
    first, second = sorted(chance.sample(numbers, 2))
    game[second] = game[second]._replace(text=game[first].text)
    place.rewrite(game)
    return {game[0].game}


def _is_plain_move(record: Record) -> bool:
    """Return whether a record is a move that didn't end the game."""
    return [type(event) for event in record.events] == [PlayerPlacedToken, GamePlacedCount, PlayerActive]


def swap_records(place: Place, chance: Random) -> set[str]:
    one, other = chance.sample(place.a_game(chance), 2)
    change = """UPDATE noughts_records SET at = ?, key = ?, events = ?, hash = ?
        WHERE game = ? AND version = ?"""
    place.do((change, *one[2:], one.game, other.version), (change, *other[2:], one.game, one.version))
    return {one.game}


def swap_places(place: Place, chance: Random) -> None:
    """Swap the positions of two records of a game in the feed; the game itself is unchanged."""
    one, other = chance.sample(place.a_game(chance), 2)
    swap_two_places(place, one, other)


def swap_two_places(place: Place, one: Record, other: Record) -> None:
    select = "SELECT {} FROM noughts_records WHERE game = '{}' AND version = {}"
    places = [place.rows(select.format(place.order, *record[:2]))[0] for record in (one, other)]
    columns = ", ".join(f"{column} = ?" for column in place.order.split(", "))
    move = f"UPDATE noughts_records SET {columns} WHERE game = ? AND version = ?"
    if place.is_file:  # numbers are unique
        place.do((move, 0, *one[:2]))
    place.do((move, *places[0], *other[:2]), (move, *places[1], *one[:2]))


def a_tombstone(place: Place, chance: Random) -> Record:
    return chance.choice([record for record in place.feed() if record.is_deletion])


def remove_a_tombstone(place: Place, chance: Random) -> None:
    place.remove_records([a_tombstone(place, chance)])


def forge_a_tombstone(place: Place, chance: Random) -> None:
    """Change what a deletion says it removed, with a valid hash."""
    game, version, at, key, text, _ = a_tombstone(place, chance)
    word, count, hashes = text.split(" ")
    if chance.random() < 0.5:
        count = str(int(count) + chance.choice((-1, 1, 5)))
    else:
        hashes = f"{int(hashes, 16) ^ (1 << chance.randrange(256)):064x}"
    new = f"{word} {count} {hashes}"
    link = record_hash(GENESIS, game, version, at, key, new)
    update = "UPDATE noughts_records SET events = ?, hash = ? WHERE game = ? AND version = ?"
    place.do((update, new, link, game, version))


def remove_a_document(place: Place, chance: Random) -> set[str]:
    name = place.a_document(chance)[0]
    place.do(("DELETE FROM noughts_documents WHERE name = ?", name))
    return {f"document {name}"}


def forge_a_document(place: Place, chance: Random) -> set[str]:
    """Replace a document, with a valid hash."""
    name, revision, label, text, key = place.a_document(chance)
    new = chance.choice(
        [
            (revision + 1, label, text, key),
            (revision, "forged", text, key),
            (revision, label, f"{text} forged", key),
            (revision, label, text, "forged"),
        ]
    )
    update = "UPDATE noughts_documents SET revision = ?, label = ?, text = ?, key = ?, hash = ?"
    place.do((f"{update} WHERE name = ?", *new, document_hash(name, *new), name))
    return {f"document {name}"}


COLUMNS_OF = {
    "noughts_records": tuple(COLUMNS.split(", ")),
    "noughts_games": ("id", "started", "x", "o", "result"),
    "noughts_documents": ("name", "revision", "label", "text", "key", "hash"),
    "noughts_store": ("id",),
}


def flip_a_bit(place: Place, chance: Random) -> set[str]:
    """Flip one bit of one value, in SQLite's encoding of it."""
    table, columns = chance.choice([*COLUMNS_OF.items()])
    column = chance.choice(columns)
    where = IS_KEPT if table == "noughts_records" else "true"
    where += f" AND {column} IS NOT NULL AND {column} <> ''"
    name = columns[0]
    key = f"{name}, version" if table == "noughts_records" else f"{name}, 0"
    game, version, value = chance.choice(
        place.rows(f"SELECT {key}, {column} FROM {table} WHERE {where} ORDER BY 1, 2")
    )
    found = f"{name} = ?" + (" AND version = ?" if table == "noughts_records" else " AND 0 = ?")
    if isinstance(value, int):
        new: int | bytes = value ^ (1 << chance.randrange(40))
    else:
        changed = bytearray(value.encode() if isinstance(value, str) else value)
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        new = bytes(changed)
    cast = "CAST(? AS TEXT)" if isinstance(value, str) else "?"
    place.do((f"UPDATE {table} SET {column} = {cast} WHERE {found}", new, game, version))
    return _touched(table, {game})


def _touched(table: str, games: set[str]) -> set[str]:
    """Return the games affected by a change to these games' rows of a table."""
    if table == "noughts_documents":
        return {f"document {game}" for game in games}
    return games if table == "noughts_records" else set()


# Tables


INDEXES = {
    "noughts_games_by_start": "noughts_games (started, id)",
    "noughts_games_by_x": "noughts_games (x, started, id) WHERE x IS NOT NULL",
    "noughts_games_by_o": "noughts_games (o, started, id) WHERE o IS NOT NULL",
    "noughts_games_unfinished": "noughts_games (started, id) WHERE result IS NULL",
    "noughts_documents_by_label": "noughts_documents (label, sequence) WHERE label <> ''",
}


def drop_an_index(place: Place, chance: Random) -> None:
    place.do(f"DROP INDEX {chance.choice([*INDEXES])}")


def replace_an_index(place: Place, chance: Random) -> None:
    """Replace an index with one on other columns, or on other rows."""
    name, columns = chance.choice([*INDEXES.items()])
    table, _, rest = columns.partition(" ")
    other = {"noughts_games": "(result, id)", "noughts_documents": "(revision)"}[table]
    if "WHERE" in rest and chance.random() < 0.5:
        other = rest.partition(" WHERE")[0].replace("sequence", "revision")  # valid in every engine
    place.do(f"DROP INDEX {name}", f"CREATE INDEX {name} ON {table} {other}")


def add_a_trigger(place: Place, chance: Random) -> None:
    """Add a trigger that changes or drops what is written."""
    table = chance.choice([*COLUMNS_OF])
    moment = chance.choice(("BEFORE INSERT", "AFTER INSERT", "AFTER UPDATE", "AFTER DELETE"))
    if place.is_file:
        place.do(f"CREATE TRIGGER extra {moment} ON {table} BEGIN SELECT 1; END")
    else:
        function = "RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"
        call = "FOR EACH ROW EXECUTE FUNCTION extra()"
        place.do(f"CREATE FUNCTION extra() {function}")
        place.do(f"CREATE TRIGGER extra {moment} ON {table} {call}")


def replace_a_table(place: Place, chance: Random) -> set[str]:
    table = chance.choice([*COLUMNS_OF])
    games = {*place.games()}
    place.do(f"ALTER TABLE {table} RENAME TO kept", f"CREATE VIEW {table} AS SELECT * FROM kept")
    return _touched(table, games)


def add_a_table(place: Place, chance: Random) -> None:
    place.do(f"CREATE TABLE noughts_{chance.choice(('moves', 'something', 'old'))} (id text)")


# Files


def truncate(place: Place, chance: Random) -> set[str]:
    """Truncate the file at a random place, so that SQLite cannot read it."""
    games = {*place.games()}
    os.truncate(place.path, chance.randrange(place.path.stat().st_size))
    return games | {f"document {game}" for game in games}


def put_older_back(place: Place, chance: Random) -> set[str]:
    games = place.games()
    shutil.copy(chance.choice(place.older), place.path)
    older = place.games()
    changed = {game for game in games if games[game] != older.get(game)}
    return changed | {f"document {game}" for game in games}


def put_other_in_place(place: Place, _chance: Random) -> set[str]:
    assert place.other
    games = {*place.games()}
    shutil.copy(place.other, place.path)
    return games | {f"document {game}" for game in games}


def remove_the_checkpoint(place: Place, _chance: Random) -> None:
    if place.is_file:
        place.beside("-checkpoint").unlink()
    else:
        place.do("DELETE FROM noughts_checkpoint")


def empty_the_checkpoint(place: Place, chance: Random) -> None:
    file = place.beside("-checkpoint")
    os.truncate(file, chance.choice((0, chance.randrange(file.stat().st_size - 1))))


def change_the_checkpoint(place: Place, chance: Random) -> None:
    """Change a byte of the checkpoint, but not the newline at its end."""
    file = place.beside("-checkpoint")
    content = bytearray(file.read_bytes())
    content[chance.randrange(len(content) - 1)] ^= chance.randrange(1, 256)
    file.write_bytes(content)


DAMAGES: dict[str, Damage] = {
    "the last records removed": remove_last_records,
    "the last games removed": remove_last_games,
    "everything removed": remove_everything,
    "a game removed, and the rest numbered again": remove_a_game,
    "a record removed": remove_a_record,
    "a game forged by the rules": forge_a_game,
    "an illegal move forged": forge_an_illegal_move,
    "two records of a game swapped": swap_records,
    "two records' places in the feed swapped": swap_places,
    "a tombstone removed": remove_a_tombstone,
    "a tombstone forged": forge_a_tombstone,
    "a document removed": remove_a_document,
    "a document forged": forge_a_document,
    "an index dropped": drop_an_index,
    "an index replaced": replace_an_index,
    "a trigger added": add_a_trigger,
    "a table replaced by a view": replace_a_table,
    "a table added": add_a_table,
    "the checkpoint removed": remove_the_checkpoint,
}
"""For every engine."""

FILE_DAMAGES: dict[str, Damage] = {
    "a bit of a row flipped": flip_a_bit,
    "the file truncated": truncate,
    "an older copy put back": put_older_back,
    "another store put in place": put_other_in_place,
    "the checkpoint cut": empty_the_checkpoint,
    "a byte of the checkpoint changed": change_the_checkpoint,
}
"""For a store in a file."""


def main(url: str, seed: int) -> None:
    """Play, make a checkpoint, and die, with everything in the write-ahead log only."""
    store = open_store(url)
    for _ in play(store, Random(seed)):
        pass
    store.checkpoint()
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
