"""Simulated time, and event loops that run on it.

The callbacks of a loop run in the order in which they became ready. The simulation schedules everything
from outside (threads, networks, crashes) at times drawn from a seed.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Any

MAX_CALLBACKS = 100_000
"""More than a whole run needs; reached only by a loop that never becomes idle."""

MAX_ROUNDS_TO_BURY = 100


class Simulation:
    """The clock and the scheduled actions."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.now = 0.0
        self.loops: list[SimulatedLoop] = []
        self._agenda: list[tuple[float, int, Callable[[], object]]] = []
        self._numbers = count()
        self._ran = 0

    def after(self, seconds: float, action: Callable[[], object]) -> None:
        self.at(self.now + seconds, action)

    def at(self, when: float, action: Callable[[], object]) -> None:
        """Schedule an action, after those already scheduled for the same time."""
        heappush(self._agenda, (when, next(self._numbers), action))

    def run(self, until: float, is_done: Callable[[], object] = lambda: False) -> None:
        """Run until a time, or until a condition is true."""
        self._run_ready()
        while self._agenda and self._agenda[0][0] <= until:
            if is_done():
                return
            self.now, _, action = heappop(self._agenda)
            action()
            self._run_ready()
        self.now = max(self.now, until)

    def _run_ready(self) -> None:
        while ready := [loop for loop in self.loops if loop.ready]:
            for loop in ready:
                loop.run_ready()
            self._ran += 1
            assert self._ran < MAX_CALLBACKS, "the loops never become idle"


class SimulatedLoop(asyncio.AbstractEventLoop):
    """An event loop on simulated time; once killed, it runs nothing more."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self.ready: deque[asyncio.Handle] = deque()
        self.is_killed = False
        self.failures: list[dict[str, Any]] = []
        """Failures that were not handled."""
        simulation.loops.append(self)

    def run_ready(self) -> None:
        """Run the ready callbacks in order."""
        if not self.is_killed:
            self.start(self._run_callbacks)

    def _run_callbacks(self) -> None:
        for _ in range(len(self.ready)):
            handle = self.ready.popleft()
            if not handle.cancelled():
                handle._run()  # noqa: SLF001 - as every loop does
            if self.is_killed:
                break

    def start(self, action: Callable[[], Any]) -> Any:
        """Do something while this is the running loop."""
        asyncio._set_running_loop(self)  # noqa: SLF001 - documented for loops
        try:
            return action()
        finally:
            asyncio._set_running_loop(None)  # noqa: SLF001 - documented for loops

    def kill(self) -> None:
        """Stop for good, in the middle of anything."""
        if not self.is_killed:
            self.is_killed = True
            self._simulation.loops.remove(self)
            self._bury()

    def _bury(self) -> None:
        """End the tasks, which nobody notices any more: otherwise Python complains of them."""
        for _ in range(MAX_ROUNDS_TO_BURY):
            tasks = asyncio.all_tasks(self)
            for task in tasks:
                task.cancel()
            handles, self.ready = self.ready, deque()
            if not (tasks or handles):
                return
            for handle in handles:
                if not handle.cancelled():
                    self.start(handle._run)  # noqa: SLF001 - as every loop does
        raise AssertionError("a task does not end")

    def time(self) -> float:
        return self._simulation.now

    def call_soon(
        self, callback: Callable[..., object], *args: object, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self.ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: object, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[..., object], *args: object, context: Context | None = None
    ) -> asyncio.TimerHandle:
        timer = asyncio.TimerHandle(when, callback, args, self, context)

        def fire() -> None:
            if not timer.cancelled() and not self.is_killed:
                self.ready.append(timer)

        self._simulation.at(max(when, self.time()), fire)
        return timer

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(self, coro: Coroutine[Any, Any, Any], **_: object) -> asyncio.Task[Any]:  # type: ignore[override]  # as it is used
        return asyncio.Task(coro, loop=self)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if not self.is_killed:
            self.failures.append(context)

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Do nothing: a cancelled timer is skipped when it is due."""
