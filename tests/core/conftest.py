"""Fixtures of the tests of the core."""

from __future__ import annotations

import pytest


@pytest.fixture
def empty_board_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clear the cache of boards, so that each is created again."""
    monkeypatch.setattr("noughts.core.board._BOARDS", {})
