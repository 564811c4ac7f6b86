"""Threads for blocking work."""

from __future__ import annotations

import asyncio
from functools import partial
from threading import Event

import pytest

from noughts.web.world import Threads


async def test_any_failure_is_raised_where_the_result_is_awaited() -> None:
    """Also StopIteration, which a future refuses."""

    def stop() -> None:
        raise StopIteration

    threads = Threads("test")
    with pytest.raises(RuntimeError, match="StopIteration"):
        await asyncio.wait_for(threads.run(stop), 30)
    assert await asyncio.wait_for(threads.run(lambda: 5), 30) == 5
    threads.close()


async def test_cancelled_work_is_not_done() -> None:
    done: list[int] = []
    threads, goes_on = Threads("test"), Event()
    first = threads.run(goes_on.wait)
    cancelled, last = (threads.run(partial(done.append, number)) for number in (1, 2))
    cancelled.cancel()
    goes_on.set()
    await asyncio.wait_for(asyncio.gather(first, last), 30)
    threads.close()
    assert done == [2]
