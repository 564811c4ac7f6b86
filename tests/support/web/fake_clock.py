"""Clocks that move only when a test moves them: an event loop's, and the wall clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest

Found = TypeVar("Found")


class FakeClockLoop(asyncio.SelectorEventLoop):
    """A loop that starts at 0 seconds."""

    now = 0.0

    def time(self) -> float:
        return self.now


def skip(seconds: float) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, FakeClockLoop)
    loop.now += seconds


def run(work: Callable[[], Coroutine[Any, Any, Found]]) -> Found:
    with asyncio.Runner(loop_factory=FakeClockLoop) as runner:
        return runner.run(work())


class FakeWallClock:
    """Replaces the module `time` in `noughts.service.wall_clock`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._ms = 1_800_000_000_000
        monkeypatch.setattr("noughts.service.time", self)

    def time_ns(self) -> int:
        return self._ms * 1_000_000

    def skip(self, *, days: int = 0, ms: int = 0) -> None:
        self._ms += days * 24 * 3600 * 1000 + ms
