"""An event loop whose clock only moves when a test moves it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any, TypeVar

    Found = TypeVar("Found")


class FakeClockLoop(asyncio.SelectorEventLoop):
    """A loop that starts at 0 seconds."""

    now = 0.0

    def time(self) -> float:
        """Return the seconds that were skipped so far."""
        return self.now


def skip(seconds: float) -> None:
    """Move the clock of the running loop forward."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, FakeClockLoop)
    loop.now += seconds


def run(work: Callable[[], Coroutine[Any, Any, Found]]) -> Found:
    """Run something in such a loop."""
    with asyncio.Runner(loop_factory=FakeClockLoop) as runner:
        return runner.run(work())
