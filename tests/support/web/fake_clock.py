"""The clock of an event loop that moves only when a test moves it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

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
