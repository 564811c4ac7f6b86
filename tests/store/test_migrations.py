"""A store of an older schema is migrated; one that can't be is refused and left untouched."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from noughts.store import postgres_schema, sqlite_schema
from noughts.store.appends import Append
from noughts.store.errors import NotAStore, OldStore
from noughts.store.sql import OLDEST_SCHEMA
from noughts.store.urls import open_store
from noughts.store.verify import verify
from support.at_once import DEADLINE
from support.played import NOW, feed_of, fill

FUTURE = "CREATE TABLE noughts_future (note text)"

# Another process, which opens a store as soon as it gets a line.
OPENER = f"""
import sys
from importlib import import_module
from noughts.store.urls import open_store

def migrate(store, *_):
    store.execute("{FUTURE}")

engine = import_module(sys.argv[2])
engine.MIGRATIONS, engine.SCHEMA = (*engine.MIGRATIONS, migrate), engine.SCHEMA + 1
print("ready", flush=True)
sys.stdin.readline()
with open_store(sys.argv[1]) as store:
    print(len(store.games()))
"""


def engine_of(url: str) -> Any:  # noqa: ANN401 - either of two modules
    """Return the module that creates and migrates stores of that kind."""
    return sqlite_schema if url.startswith("sqlite:") else postgres_schema


def migrate(store: Any, *_: object) -> None:  # noqa: ANN401 - each engine passes its own connection
    """Migrate to a schema of the future; this fails if it was done before."""
    store.execute(FUTURE)


def set_version(url: str, version: int) -> None:
    """Set the version of the schema, in a store or where there is none yet."""
    if url.startswith("sqlite:"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:"))) as database:
            database.execute(f"PRAGMA application_id = {sqlite_schema.APPLICATION}")
            database.execute(f"PRAGMA user_version = {version}")
    else:
        with psycopg.connect(url) as database:
            database.execute("CREATE TABLE IF NOT EXISTS noughts_schema (version int PRIMARY KEY)")
            database.execute("INSERT INTO noughts_schema VALUES (%s)", (version,))


def content(url: str) -> object:
    """Return all tables and rows; for a file, its bytes and those of the files beside it."""
    if url.startswith("sqlite:"):
        folder = Path(url.removeprefix("sqlite:")).parent
        return {each.name: each.read_bytes() for each in folder.iterdir()}
    with psycopg.connect(url) as database:
        tables = database.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1"
        ).fetchall()
        rows = SQL("SELECT * FROM {} AS row ORDER BY row")
        return [(name, database.execute(rows.format(Identifier(name))).fetchall()) for (name,) in tables]


class Interrupted(BaseException):
    """An error that no store expects."""


@pytest.mark.parametrize("failure", [Interrupted, RuntimeError])
def test_a_store_is_migrated_once_and_as_a_whole(
    url: str, failure: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupted migration leaves the old version; the next one succeeds, and no more follow."""
    with open_store(url) as store:
        fill(store)
        records = feed_of(store)
    before, failures, engine = content(url), [failure], engine_of(url)

    def interrupted(store: Any, *_: object) -> None:  # noqa: ANN401 - see above
        migrate(store)
        if failures:
            raise failures.pop()("in the middle")

    monkeypatch.setattr(engine, "MIGRATIONS", (*engine.MIGRATIONS, interrupted))
    monkeypatch.setattr(engine, "SCHEMA", engine.SCHEMA + 1)
    with pytest.raises(failure, match="in the middle"):
        open_store(url)
    assert content(url) == before
    for _ in range(2):
        with open_store(url, create=False) as store:
            assert feed_of(store) == records
    monkeypatch.undo()
    with pytest.raises(NotAStore, match="was made by a newer noughts"):
        open_store(url)


def test_a_store_of_the_oldest_schema_gets_its_first_checkpoint(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Games that were deleted before, without a tombstone, were never counted."""
    engine = engine_of(url)
    with monkeypatch.context() as older:
        older.setattr(engine, "MIGRATIONS", engine.MIGRATIONS[:1])
        older.setattr(engine, "SCHEMA", OLDEST_SCHEMA)
        older.setattr(sqlite_schema, "FIRST_WITH_CHECKPOINTS", 0)
        with open_store(url) as store:
            fill(store)
            store.record([Append("won", 22, "", key="deletion", at=NOW)])
            records = feed_of(store)
    with open_store(url) as store:
        assert feed_of(store) == records
        assert verify(store).games == 5
        store.checkpoint()
        store.delete("lost", at=NOW)
        assert verify(store).games == 4
    with open_store(url) as store:
        assert verify(store).games == 4


@pytest.mark.parametrize("games", [0, 6])
def test_several_processes_migrate_a_store_once(url: str, games: int) -> None:
    """One of them creates or migrates it, and the others wait and find it done."""
    if games:
        with open_store(url) as store:
            fill(store)
    openers = [
        subprocess.Popen(
            [sys.executable, "-c", OPENER, url, engine_of(url).__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    assert [opener.stdout and opener.stdout.readline() for opener in openers] == ["ready\n"] * 3
    for opener in openers:
        assert opener.stdin
        opener.stdin.write("go\n")
        opener.stdin.flush()
    printed = [opener.communicate(timeout=DEADLINE) for opener in openers]
    assert printed == [(f"{games}\n", "")] * 3


@pytest.mark.parametrize(
    ("version", "refusal", "reason"),
    [
        *(
            (version, OldStore, "an older noughts: export .* noughts store import")
            for version in (1, 2, 3)
        ),
        (6, NotAStore, "a newer noughts: its schema is 6, and this one reads 5"),
    ],
)
def test_another_schema_is_refused_and_left_untouched(
    url: str, version: int, refusal: type[NotAStore], reason: str
) -> None:
    """The message says who made it and, for an old one, what to do; not a byte changes."""
    if refusal is not OldStore:
        open_store(url).close()
    set_version(url, version)
    before = content(url)
    for create in (True, False):
        with pytest.raises(NotAStore, match=f"was made by {reason}") as refused:
            open_store(url, create=create)
        assert type(refused.value) is refusal
    assert content(url) == before
