"""Servers for the tests of the web game: one that most of them share, and what the others start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from postgres_server import Server as Postgres
from web.agreement import Agreement
from web.serving import Client, Server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start a server for all tests that need no own; whatever it answers has to be as documented."""
    yield from _serving(f"sqlite:{tmp_path_factory.mktemp('served') / 'games.db'}")


@pytest.fixture(scope="session")
def quick() -> Iterator[Server]:
    """Start a server that keeps nothing, for tests that do very much."""
    yield from _serving("memory:")


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    """Ask it things as nobody in particular."""
    with server.client() as client:
        yield client


@pytest.fixture
def store(tmp_path: Path) -> str:
    """Name a place for a server's own games, where there is nothing yet."""
    return f"sqlite:{tmp_path / 'games.db'}"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Start a PostgreSQL server when the first test asks for it, one for each process of tests."""
    server = Postgres()
    try:
        yield server
    finally:
        server.close()


def _serving(store: str) -> Iterator[Server]:
    with Server(store) as server:
        server.check = Agreement(server)
        yield server
        assert server.stop() == 0
        assert b"Traceback" not in server.errors
        assert b'"level": "error"' not in server.errors
