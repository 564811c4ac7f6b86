"""Fixtures: stores of every kind, and a real PostgreSQL server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TypeAlias

import pytest

from noughts.store.base import Store
from noughts.store.memory import Database, MemoryStore
from noughts.store.urls import open_store
from support.postgres_server import Server

Opening: TypeAlias = Callable[[], Store]
"""Opens a store object on the same games each time."""


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """Start a PostgreSQL server for the first test that needs it, one per test process."""
    with closing(Server()) as server:
        yield server


@pytest.fixture
def postgres_url(postgres: Server) -> str:
    return postgres.place()


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path / 'games.db'}"


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    """Return the URL of an empty store that several processes can share."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture(scope="session", params=["memory", "sqlite", "postgres"])
def new_place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], Opening]:
    """Return a function that makes an empty place for games, of each kind, and returns how to open it."""

    def empty_place() -> Opening:
        match request.param:
            case "memory":
                database = Database()
                return lambda: MemoryStore(database)
            case "sqlite":
                url = f"sqlite:{tmp_path_factory.mktemp('store') / 'games.db'}"
            case _:
                server: Server = request.getfixturevalue("postgres")
                url = server.place()
        return lambda: open_store(url)

    return empty_place


@pytest.fixture
def open_again(new_place: Callable[[], Opening]) -> Iterator[Opening]:
    """Return a function that opens store objects on the same games, on each engine."""
    opening = new_place()
    with ExitStack() as stack:
        yield lambda: stack.enter_context(opening())


@pytest.fixture
def store(open_again: Opening) -> Store:
    return open_again()
