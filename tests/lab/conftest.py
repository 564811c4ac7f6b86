"""Fixtures of the lab's tests."""

from __future__ import annotations

import pytest

from noughts.lab.arrays import Rules
from support.array_libraries import INSTALLED


@pytest.fixture(scope="module", params=INSTALLED)
def rules(request: pytest.FixtureRequest) -> Rules:
    """Return the rules on each installed backend."""
    return Rules(request.param)
