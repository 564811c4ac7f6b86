"""Hold many idle streams open, and print what each costs the server.

Usage: python -m benchmarks.web.streams PORT PLAN SERVER_PID

Opens a stream for each seat of each game of a plan of load.py. The memory is read when all have
received the game so far, and again after a keep-alive on each. Prints one line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import uvloop

from benchmarks.web.http_client import Stream
from benchmarks.web.load import HOST, request, unless
from benchmarks.web.usage import usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.web.load import Game

OPENING_CONNECTIONS = 100
SEATS_PER_ADDRESS = 5_000
"""An address has too few ports for all."""


async def hold(port: int, games: list[Game], pid: int) -> dict[str, float]:
    """Open all streams, wait for a keep-alive on each, and return the figures."""
    loop = asyncio.get_running_loop()
    failed: asyncio.Future[None] = loop.create_future()
    seats = [(game, secret) for game in games for secret in game["secrets"]]
    streams: list[Stream] = []
    left = iter(enumerate(seats))

    async def worker() -> None:
        for number, (game, secret) in left:
            current = loop.create_future()
            asked = request("GET", f"/games/{game['id']}/events", port, secret)
            watching = partial(Stream, asked, game["version"], _once(current), _first(failed))
            source = f"127.0.0.{1 + number // SEATS_PER_ADDRESS}", 0
            _, stream = await loop.create_connection(watching, HOST, port, local_addr=source)
            streams.append(stream)
            await current

    before, start = usage(pid), time.perf_counter()
    await unless(failed, asyncio.gather(*(worker() for _ in range(OPENING_CONNECTIONS))))
    opened, took = usage(pid), time.perf_counter() - start
    received_count = [stream.received_count for stream in streams]
    while any(
        stream.received_count == count for stream, count in zip(streams, received_count, strict=True)
    ):
        await asyncio.wait((failed,), timeout=0.5)
        if failed.done():
            failed.result()
    settled = usage(pid)
    for stream in streams:
        stream.close()
    return {
        "streams": len(streams),
        "opened": len(streams) / took,
        "stream": (opened.memory - before.memory) / len(streams),
        "kept": (settled.memory - before.memory) / len(streams),
        "memory": settled.memory,
    }


def _once(current: asyncio.Future[None]) -> Callable[[], None]:
    return lambda: None if current.done() else current.set_result(None)


def _first(failed: asyncio.Future[None]) -> Callable[[Exception], None]:
    return lambda error: None if failed.done() else failed.set_exception(error)


def main() -> None:
    """Hold the streams, and print one line."""
    port, path, pid = sys.argv[1:]
    plan: list[list[Game]] = json.loads(Path(path).read_text())
    print(json.dumps(uvloop.run(hold(int(port), [game for games in plan for game in games], int(pid)))))


if __name__ == "__main__":
    main()
