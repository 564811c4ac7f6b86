"""Fixtures of the web tests: shared servers, a client, and stores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.web.in_process import InProcessServer
from support.web.openapi_check import OpenApiCheck
from support.web.serving import Client, Server

IN_PROCESS = {
    "test_analysis", "test_bodies", "test_cross_site", "test_games", "test_headers", "test_keys",
    "test_lobby", "test_seats", "test_streams",
}  # fmt: skip
"""Tests of the API alone: they need no sockets."""


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest) -> Server:
    """Return the shared server; its answers are checked against the OpenAPI document."""
    module = request.module.__name__.rpartition(".")[2]
    found: Server = request.getfixturevalue("in_process" if module in IN_PROCESS else "in_a_process")
    return found


@pytest.fixture(scope="session")
def in_a_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(f"sqlite:{tmp_path_factory.mktemp('served') / 'games.db'}") as server:
        yield from _checked(server)
        assert b"Traceback" not in server.errors
        assert b'"level": "error"' not in server.errors


@pytest.fixture(scope="session")
def in_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from _checked(InProcessServer(f"sqlite:{tmp_path_factory.mktemp('api') / 'games.db'}"))


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with server.client() as client:
        yield client


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path / 'games.db'}"


def _checked(server: Server) -> Iterator[Server]:
    """Check the answers of a server against its OpenAPI document; stop it at the end."""
    server.check = OpenApiCheck(server)
    yield server
    assert server.stop() == 0
