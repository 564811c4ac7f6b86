"""Load for noughts: many matches at once, each played by two clients.

Usage: python -m benchmarks.web.load create PORT PLAN MATCHES GAMES
       python -m benchmarks.web.load play PORT PLAN SERVER_PID THINK_MS DATABASE_PID

`create` makes the games, GAMES for each match, both seats taken, and writes them to the file PLAN.
`play` plays them, one after the other in each match. A client has its own stream for each game, and its
own connection for its moves. A move counts when the response is 200 and both streams have sent it; its
latency is the time until then. Prints one line of JSON. DATABASE_PID is 0 without a database server.
"""

from __future__ import annotations

import asyncio
import gc
import json
import random
import sys
import time
from functools import partial
from pathlib import Path
from typing import TypedDict

import msgspec
import uvloop

from benchmarks.web.http_client import OK, Exchange, Stream, UnexpectedResponse
from benchmarks.web.usage import usage

HOST = "127.0.0.1"
MAX_SECONDS = 60.0
STALL_SECONDS = 30.0
CREATING_CONNECTIONS = 32
CONNECTING_PAIRS = 50
"""How many pairs connect at a time before the clock starts."""


class Game(TypedDict):
    """A game to play: who moves first is X."""

    id: str
    version: int
    secrets: list[str]


class Moved(msgspec.Struct):
    """The part of the response to a move that the next move needs."""

    version: int


_moved = msgspec.json.Decoder(Moved)


def request(method: str, path: str, port: int, secret: str = "", body: bytes | None = None) -> bytes:
    """Return the bytes of a request."""
    head = [f"{method} /api/v1{path} HTTP/1.1", f"Host: {HOST}:{port}"]
    if secret:
        head.append(f"Authorization: Bearer {secret}")
    if body is not None:
        head += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*head, "\r\n"]).encode() + (body or b"")


def fresh_key() -> str:
    """Return a unique key."""
    return f"{random.getrandbits(128):032x}"


class Tally:
    """The latencies of all moves, and when to stop."""

    def __init__(self) -> None:
        self.latencies: list[float] = []
        self.is_late = False
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._watch: asyncio.TimerHandle | None = None
        self._seen = 0
        self._moved_at = self._start = time.perf_counter()

    def fail(self, error: Exception) -> None:
        """End everything with an error; the first counts."""
        if not self.failed.done():
            self.failed.set_exception(error)

    def watch(self) -> None:
        """Stop after the time limit, and fail when no moves are accepted."""
        now = time.perf_counter()
        if len(self.latencies) > self._seen:
            self._seen, self._moved_at = len(self.latencies), now
        if now - self._moved_at > STALL_SECONDS:
            self.fail(UnexpectedResponse("no move was accepted for too long"))
        self.is_late = now - self._start > MAX_SECONDS
        self._watch = asyncio.get_running_loop().call_later(0.5, self.watch)

    def close(self) -> None:
        """Stop watching."""
        if self._watch:
            self._watch.cancel()

    def quantile(self, part: float) -> float:
        """Return a quantile of the latencies."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


class MatchPlayers:
    """The two clients of a match, and their games."""

    def __init__(self, port: int, games: list[Game], think: float, tally: Tally) -> None:
        self._loop = asyncio.get_running_loop()
        self._port = port
        self._games = games
        self._think = think
        self._tally = tally
        self._posts: list[Exchange] = []
        self._streams: list[Stream] = []
        self._opening: asyncio.Task[None] | None = None
        self._is_waiting = False
        self._has_begun = False
        self.ready = self._loop.create_future()
        self.played = self._loop.create_future()

    async def connect(self) -> None:
        """Connect both clients, and follow the first game; `begin` starts it."""
        for _ in range(2):
            _, post = await self._loop.create_connection(
                lambda: Exchange(self._tally.fail), HOST, self._port
            )
            self._posts.append(post)
        await self._open()
        await self.ready

    def begin(self) -> None:
        """Start playing."""
        self._has_begun = True
        self._turn()

    def close(self) -> None:
        """Close all connections."""
        for post in self._posts:
            post.close()
        for stream in self._streams:
            stream.close()

    async def _open(self) -> None:
        self._game = self._games.pop()
        self._version = self._game["version"]
        self._free = list(range(9))
        random.shuffle(self._free)
        self._placed = 0
        path = f"/games/{self._game['id']}"
        self._heads = [
            request("POST", f"{path}/moves", self._port, secret).removesuffix(b"\r\n")
            + b"Content-Type: application/json\r\nContent-Length: "
            for secret in self._game["secrets"]
        ]
        streams = []
        for secret in self._game["secrets"]:
            asked = request("GET", f"{path}/events", self._port, secret)
            watching = partial(Stream, asked, self._version, self._arrived, self._tally.fail)
            _, stream = await self._loop.create_connection(watching, HOST, self._port)
            streams.append(stream)
        self._streams = streams
        self._look()

    def _arrived(self) -> None:
        if self._is_waiting:
            self._check()
        elif len(self._streams) == 2:
            self._look()

    def _look(self) -> None:
        """Continue when both clients have the new game."""
        if not all(stream.is_current for stream in self._streams):
            return
        if self._has_begun:
            self._turn()
        elif not self.ready.done():
            self.ready.set_result(None)

    def _turn(self) -> None:
        if self._tally.is_late:
            self.played.set_result(None)
        elif self._think:
            self._loop.call_later(self._think * (0.5 + random.random()), self._move)
        else:
            self._move()

    def _move(self) -> None:
        seat = self._placed % 2
        body = b'{"cell":%d,"version":%d,"key":"%s"}' % (
            self._free.pop(),
            self._version,
            fresh_key().encode(),
        )
        self._placed += 1
        self._is_answered = self._is_over = False
        self._is_waiting = True
        self._since = time.perf_counter()
        self._posts[seat].send(b"%s%d\r\n\r\n%s" % (self._heads[seat], len(body), body), self._answered)

    def _answered(self, status: int, body: bytes) -> None:
        if status != OK:
            self._tally.fail(UnexpectedResponse(f"the response to a move was {status}: {body!r}"))
            return
        self._version = _moved.decode(body).version
        self._is_over = b'"gameCompleted"' in body
        self._is_answered = True
        self._check()

    def _check(self) -> None:
        """Count the move once the response and both streams have it."""
        one, other = self._streams
        if not (self._is_answered and one.placed == other.placed == self._placed):
            return
        self._is_waiting = False
        self._tally.latencies.append(time.perf_counter() - self._since)
        if not self._is_over:
            self._turn()
            return
        for stream in self._streams:
            stream.close()
        self._streams = []
        if self._games and not self._tally.is_late:
            self._opening = self._loop.create_task(self._open())
            self._opening.add_done_callback(self._opened)
        else:
            self.played.set_result(None)

    def _opened(self, task: asyncio.Task[None]) -> None:
        if error := task.exception():
            self._tally.fail(error if isinstance(error, Exception) else UnexpectedResponse(repr(error)))


async def create(port: int, count: int) -> tuple[list[Game], float]:
    """Create games with both seats taken; return them, and their rate per second."""
    loop = asyncio.get_running_loop()
    failed: asyncio.Future[None] = loop.create_future()
    games: list[Game] = []
    left = iter(range(count))

    async def worker() -> None:
        _, exchange = await loop.create_connection(lambda: Exchange(failed.set_exception), HOST, port)
        for _ in left:
            body = b'{"opponent":"friend","secret":true}'
            made = json.loads(await exchange.ask(request("POST", "/games", port, body=body)))
            body = json.dumps({"invite": made["invite"], "key": fresh_key(), "secret": True}).encode()
            path = f"/games/{made['id']}/join"
            joined = json.loads(await exchange.ask(request("POST", path, port, body=body)))
            secrets = [made["secrets"]["X"], joined["secrets"]["O"]]
            games.append({"id": made["id"], "version": joined["game"]["version"], "secrets": secrets})
        exchange.close()

    start = time.perf_counter()
    work = asyncio.gather(*(worker() for _ in range(CREATING_CONNECTIONS)))
    await unless(failed, work)
    return games, count / (time.perf_counter() - start)


async def play(
    port: int, plan: list[list[Game]], pid: int, think: float, database: int
) -> dict[str, float]:
    """Play all games of a plan, and return the figures."""
    tally = Tally()
    pairs = [MatchPlayers(port, games, think, tally) for games in plan]
    before = usage(pid)
    for at in range(0, len(pairs), CONNECTING_PAIRS):
        connecting = asyncio.gather(*(pair.connect() for pair in pairs[at : at + CONNECTING_PAIRS]))
        await unless(tally.failed, connecting)
    connected = usage(pid)
    stored = usage(database).cpu if database else 0.0
    gc.collect()
    gc.freeze()
    gc.disable()  # a pause here would look like one of the server
    own, start = time.process_time(), time.perf_counter()
    tally.watch()
    for pair in pairs:
        pair.begin()
    await unless(tally.failed, asyncio.gather(*(pair.played for pair in pairs)))
    wall = time.perf_counter() - start
    own = time.process_time() - own
    after = usage(pid)
    tally.close()
    for pair in pairs:
        pair.close()
    return {
        "moves": len(tally.latencies),
        "rate": len(tally.latencies) / wall,
        "p50": tally.quantile(0.5),
        "p99": tally.quantile(0.99),
        "worst": tally.quantile(1),
        "server": (after.cpu - connected.cpu) / wall,
        "client": own / wall,
        "database": (usage(database).cpu - stored) / wall if database else 0.0,
        "memory": after.memory,
        "idle_pair": (connected.memory - before.memory) / len(plan),
        "pair": (after.memory - before.memory) / len(plan),
    }


async def unless(failed: asyncio.Future[None], work: asyncio.Future[list[None]]) -> None:
    """Wait for work, or for the first failure."""
    await asyncio.wait((failed, work), return_when=asyncio.FIRST_COMPLETED)
    if failed.done():
        work.cancel()
        failed.result()
    await work


def main() -> None:
    """Create or play, and print one line."""
    action, port, path, *rest = sys.argv[1:]
    file = Path(path)
    if action == "create":
        matches, games = map(int, rest)
        made, rate = uvloop.run(create(int(port), matches * games))
        file.write_text(json.dumps([made[at::matches] for at in range(matches)]))
        print(json.dumps({"created": rate}))
        return
    pid, think, database = map(int, rest)
    plan = json.loads(file.read_text())
    figures = uvloop.run(play(int(port), plan, pid, think / 1e3, database))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
