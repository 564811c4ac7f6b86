"""Fixtures of the lab's tests."""

from __future__ import annotations

import pytest

from noughts.lab.arrays import Rules
from support.array_libraries import INSTALLED
from support.hostile_bots import started  # noqa: F401 - a fixture


@pytest.fixture(scope="module", params=INSTALLED)
def rules(request: pytest.FixtureRequest) -> Rules:
    """Return the rules on each installed backend."""
    return Rules(request.param)
