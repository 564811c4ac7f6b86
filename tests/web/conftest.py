"""The fixtures of the web tests."""

from __future__ import annotations

import pytest

from support.web.browser import people  # noqa: F401 - a fixture
from support.web.fixtures import *  # noqa: F403 - fixtures


@pytest.fixture
def store(store_url: str) -> str:
    """Return the URL of a new store."""
    return store_url
