"""Fixtures: stores of every kind, and a real PostgreSQL server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from noughts.store.base import EventStore
from noughts.store.urls import open_store
from support.postgres_server import Server
from support.proxy import PostgresProxy


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """Start a PostgreSQL server for the first test that needs it, one per test process."""
    server = Server()
    try:
        yield server
    finally:
        server.close()


@pytest.fixture
def postgres_url(postgres: Server) -> str:
    return postgres.place()


@pytest.fixture
def proxy(postgres: Server) -> Iterator[PostgresProxy]:
    with PostgresProxy(postgres.folder) as proxy:
        yield proxy


@pytest.fixture
def proxied_url(postgres_url: str, postgres: Server, proxy: PostgresProxy) -> str:
    """Return the URL of the same store as `postgres_url`, through the proxy."""
    return postgres_url.replace(str(postgres.folder), str(proxy.folder))


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path / 'games.db'}"


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    """Return the URL of an empty store that several store objects and processes can share."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
def open_again(url: str) -> Iterator[Callable[[], EventStore]]:
    """Return a function that opens another store object on the same URL."""
    opened: list[EventStore] = []

    def open_one_more() -> EventStore:
        opened.append(open_store(url))
        return opened[-1]

    yield open_one_more
    for store in opened:
        store.close()


@pytest.fixture(scope="session", params=["memory", "sqlite", "postgres"])
def new_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], str]:
    """Return a function that returns the URL of a new empty store, for each kind of store."""
    match request.param:
        case "memory":
            return lambda: "memory:"
        case "sqlite":
            return lambda: f"sqlite:{tmp_path_factory.mktemp('store') / 'games.db'}"
        case _:
            server: Server = request.getfixturevalue("postgres")
            return server.place


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[EventStore]:
    is_memory = request.param == "memory"
    with open_store("memory:" if is_memory else request.getfixturevalue(f"{request.param}_url")) as store:
        yield store
