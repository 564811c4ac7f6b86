"""What the tests of the core share."""

from __future__ import annotations

import pytest


@pytest.fixture
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget all boards, so that each is created again."""
    monkeypatch.setattr("noughts.core.board._BOARDS", {})
