"""Clocks of event loops that a test moves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

Found = TypeVar("Found")
Given = ParamSpec("Given")

LOOP_TURNS = 40
"""More turns of the loop than anything takes that needs no time."""


class AdvancedLoop(asyncio.SelectorEventLoop):
    """A loop whose clock runs, and can be put forward."""

    ahead = 0.0

    def time(self) -> float:
        return super().time() + self.ahead


class FakeClockLoop(asyncio.SelectorEventLoop):
    """A loop whose clock stands still."""

    ahead = 1000.0

    def time(self) -> float:
        return self.ahead


def skip(seconds: float) -> None:
    """Put the clock forward."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, AdvancedLoop | FakeClockLoop)
    loop.ahead += seconds


async def turns() -> None:
    """Let everything happen that needs no time."""
    for _ in range(LOOP_TURNS):
        await asyncio.sleep(0)


async def wait(seconds: int) -> None:
    """Let time pass, second by second."""
    for _ in range(seconds):
        skip(1)
        await turns()


def run(work: Callable[[], Coroutine[Any, Any, Found]]) -> Found:
    with asyncio.Runner(loop_factory=FakeClockLoop) as runner:
        return runner.run(work())


def in_fake_time(test: Callable[Given, Coroutine[Any, Any, None]]) -> Callable[Given, None]:
    """Run a coroutine test in a loop whose clock only the test moves."""

    @wraps(test)
    def run_it(*args: Given.args, **kwargs: Given.kwargs) -> None:
        run(lambda: test(*args, **kwargs))

    return run_it
