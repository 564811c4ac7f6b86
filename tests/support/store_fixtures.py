"""Fixtures: stores of every kind, and a real PostgreSQL server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from noughts.store.appends import append_of
from noughts.store.base import EventStore
from noughts.store.documents import Write
from noughts.store.urls import open_store
from support.played import NOW, game_of
from support.postgres_server import Server
from support.proxy import PostgresProxy


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """Start a PostgreSQL server for the first test that needs it, one per test process."""
    with closing(Server()) as server:
        yield server


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
def meeting(proxied_url: str, postgres_url: str) -> Iterator[tuple[EventStore, EventStore]]:
    """Open a store behind the proxy, and another one; they have a game with a document."""
    with open_store(proxied_url) as store, open_store(postgres_url) as rival:
        document = Write("game", "", expected=0)
        store.record([append_of("game", 0, game_of("")[0], key="key", at=NOW, document=document)])
        yield store, rival


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
    with ExitStack() as stack:
        yield lambda: stack.enter_context(open_store(url))


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
