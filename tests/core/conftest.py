"""What the tests of the core share."""

from __future__ import annotations

import pytest


@pytest.fixture
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget every board there was, so that each is made anew."""
    monkeypatch.setattr("noughts.core.board._BOARDS", {})
