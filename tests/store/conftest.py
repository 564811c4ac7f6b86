"""Stores of every kind, and a real PostgreSQL server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from noughts.store.opening import open_store
from postgres_server import Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from noughts.store.base import EventStore


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """Start a PostgreSQL server when the first test asks for it, one for each process of tests."""
    server = Server()
    try:
        yield server
    finally:
        server.close()


@pytest.fixture
def postgres_url(postgres: Server) -> str:
    """Make an empty place on a server."""
    return postgres.place()


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """Name a place where there is no file yet."""
    return f"sqlite:{tmp_path / 'games.db'}"


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    """Name an empty place that several stores and several processes can share."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
def open_again(url: str) -> Iterator[Callable[[], EventStore]]:
    """Open as many stores on the same place as a test asks for."""
    opened: list[EventStore] = []

    def open_one_more() -> EventStore:
        opened.append(open_store(url))
        return opened[-1]

    yield open_one_more
    for store in opened:
        store.close()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[EventStore]:
    """Open an empty store of each kind."""
    is_memory = request.param == "memory"
    with open_store("memory:" if is_memory else request.getfixturevalue(f"{request.param}_url")) as store:
        yield store
