"""A real server for the tests of `noughts join`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.remote import HostedGame
from support.web.serving import Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """Start a server that saves nothing."""
    with Server("memory:") as running:
        yield running


@pytest.fixture
def game(server: Server) -> Iterator[HostedGame]:
    """Create a game in which bob plays X, starts, and waits for an O."""
    with HostedGame(server) as hosted:
        yield hosted
