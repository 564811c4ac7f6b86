"""Fixtures of the command's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.command import environment
from support.remote import HostedGame
from support.web.serving import Server


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """Return an environment without a trained machine."""
    return environment(XDG_DATA_HOME=str(tmp_path), HOME=str(tmp_path))


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
