"""A store of an older schema is migrated; one that can't be is refused and left untouched."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from noughts.store import postgres_schema, sqlite_schema
from noughts.store.errors import NotAStore, OldStore
from noughts.store.sql import OLDEST_SCHEMA
from noughts.store.urls import open_store
from support.at_once import in_processes
from support.played import feed_of, fill

OPENER = """
import sys
from importlib import import_module
from noughts.store.urls import open_store

engine = import_module(sys.argv[2])
migrate = lambda store, *_: store.execute("CREATE TABLE noughts_future (note text)")
engine.MIGRATIONS, engine.SCHEMA = (*engine.MIGRATIONS, migrate), engine.SCHEMA + 1
print("ready", flush=True)
sys.stdin.readline()
with open_store(sys.argv[1]) as store:
    print(len(store.games()))
"""


def engine_of(url: str) -> Any:  # noqa: ANN401 - one of two modules
    """Return the module that creates and migrates stores of that kind."""
    return sqlite_schema if url.startswith("sqlite:") else postgres_schema


def set_version(url: str, version: int) -> None:
    if url.startswith("sqlite:"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:"))) as database:
            database.execute(f"PRAGMA user_version = {version}")
    else:
        with psycopg.connect(url) as database:
            database.execute("UPDATE noughts_schema SET version = %s", (version,))


def content(url: str) -> object:
    """Return all tables and rows; for a file, the bytes of all files in its folder."""
    if url.startswith("sqlite:"):
        folder = Path(url.removeprefix("sqlite:")).parent
        return {each.name: each.read_bytes() for each in folder.iterdir()}
    with psycopg.connect(url) as database:
        tables = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1"
        rows = SQL("SELECT * FROM {} AS row ORDER BY row")
        return [
            (name, database.execute(rows.format(Identifier(name))).fetchall())
            for (name,) in database.execute(tables).fetchall()
        ]


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

    def migrate(store: Any, *_: object) -> None:  # noqa: ANN401 - each engine has its own connection
        store.execute("CREATE TABLE noughts_future (note text)")  # fails the second time
        if failures:
            raise failures.pop()("in the middle")

    monkeypatch.setattr(engine, "MIGRATIONS", (*engine.MIGRATIONS, migrate))
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


@pytest.mark.parametrize("games", [0, 6])
def test_several_processes_create_or_migrate_a_store_once(url: str, games: int) -> None:
    if games:
        with open_store(url) as store:
            fill(store)
    opener = [sys.executable, "-c", OPENER, url, engine_of(url).__name__]

    assert in_processes(*[opener] * 3) == [f"{games}\n"] * 3


@pytest.mark.parametrize(
    ("change", "refusal", "reason"),
    [
        *((-age, OldStore, "an older noughts: export .* noughts store import") for age in (1, 2, 3, 4)),
        (1, NotAStore, "a newer noughts: its schema is 6, and this one reads 5"),
    ],
)
def test_another_schema_is_refused_and_left_untouched(
    url: str, change: int, refusal: type[NotAStore], reason: str
) -> None:
    """The message says who made it and, for an old one, what to do."""
    open_store(url).close()
    set_version(url, OLDEST_SCHEMA + change)
    before = content(url)
    for create in (True, False):
        with pytest.raises(NotAStore, match=f"was made by {reason}") as refused:
            open_store(url, create=create)
        assert type(refused.value) is refusal
    assert content(url) == before
