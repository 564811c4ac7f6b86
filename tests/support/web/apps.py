"""The application in the test's own event loop, on any store: without sockets, threads or a clock."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, MutableMapping
from contextlib import AsyncExitStack, asynccontextmanager
from types import MappingProxyType
from typing import Any, NamedTuple

from noughts.bots.policy import Policy
from noughts.core.errors import NoughtsError
from noughts.store.base import News, Store, StoredGame
from noughts.store.memory import Database, MemoryStore
from noughts.store.rows import Row
from noughts.store.urls import open_store
from noughts.web.app import App, Message
from noughts.web.request import Request, Response
from noughts.web.settings import Settings
from noughts.web.streams import Stream
from noughts.web.world import Runner, World
from support.deadlines import DEADLINE_SECONDS
from support.web.fake_clock import turns
from support.web.serving import Message as StreamMessage, full_path, read_messages


class ImmediateThreads:
    """Runs work at once."""

    def run(self, work: Callable[[], Any]) -> asyncio.Future[Any]:
        done = asyncio.get_running_loop().create_future()
        try:
            done.set_result(work())
        except Exception as error:  # noqa: BLE001 - it is raised where the result is awaited
            done.set_exception(error)
        return done

    def close(self) -> None:
        """There are no threads."""


def memory_store(database: Database | None = None, *, is_shared: bool = False) -> MemoryStore:
    """Return a store that commits at once, maybe of one of several processes."""
    store = MemoryStore(database, executor=lambda work: work())
    store.is_shared = is_shared
    return store


@asynccontextmanager
async def open_app(
    store: Store | str | None = None,
    *,
    end: Callable[[NoughtsError], None] = lambda _error: None,
    thinking: Runner | None = None,
    policies: Mapping[str, Policy] = MappingProxyType({}),
    **settings: Any,
) -> AsyncIterator[App]:
    """Open the application on a store, which it closes in the end; by default one in memory."""
    opened = open_store(store) if isinstance(store, str) else store or memory_store()
    threads = ImmediateThreads()
    world = World(
        settings=Settings(**settings),
        store=opened,
        reading=threads,
        attending=threads,
        thinking=thinking or threads,
        end=end,
    )
    app = App(world, policies)
    await app.start()
    try:
        yield app
    finally:
        await app.close()


async def get(app: App, path: str, secret: str = "") -> Response:
    return await ask(app, "GET", path, secret=secret)


async def ask(app: App, method: str, path: str, body: object = None, secret: str = "") -> Response:
    """Send a request, under /api/v1 unless the path begins with //; return the response."""
    response = await handle(app, method, path, body, secret)
    assert isinstance(response, Response)
    return response


async def handle(
    app: App, method: str, path: str, body: object = None, secret: str = ""
) -> Response | Stream:
    content = b"" if body is None else json.dumps(body).encode()
    place, _, query = path.partition("?")
    headers = {b"content-type": b"application/json", b"authorization": f"Bearer {secret}".encode()}
    return await app.handle(
        Request(method, full_path(place), query.encode(), headers, content, peer="127.0.0.1")
    )


async def create(app: App, opponent: str = "self", **more: object) -> Any:
    """Create a game; return the seat."""
    created = await ask(app, "POST", "/games", {"opponent": opponent, "secret": True, **more})
    assert created.status == 201, created.body
    return json.loads(created.body)


async def join(app: App, seat: Any, *, key: str = "k" * 16, **more: object) -> None:
    """Join a game; its seat gets the other secret, too."""
    body = {"key": key, "invite": seat["invite"], "secret": True, **more}
    joined = await ask(app, "POST", f"/games/{seat['id']}/join", body)
    assert joined.status == 200, joined.body
    seat["secrets"] |= json.loads(joined.body)["secrets"]


async def post(app: App, seat: Any, what: str, mark: str = "X", **body: Any) -> Response:
    """Send a command for a seat that `create` or joining has returned."""
    return await ask(app, "POST", f"/games/{seat['id']}/{what}", body, seat["secrets"].get(mark, ""))


async def move(app: App, seat: Any, cell: int, version: int, mark: str = "X") -> Response:
    """Place a mark; the key follows from the version."""
    return await post(app, seat, "moves", mark, cell=cell, version=version, key=f"k{version}")


class Follower:
    """Reads the stream of a game, unless it stops for a while."""

    def __init__(self, stream: Stream) -> None:
        self.text = b""
        self.is_over = False
        """Whether the server has ended the stream in order."""
        self.reading, self._leaving = asyncio.Event(), asyncio.Event()
        self.reading.set()
        self.task = asyncio.ensure_future(self._run(stream))

    async def _run(self, stream: Stream) -> None:
        await stream.run(self._receive, self._send)

    async def _receive(self) -> Message:
        await self._leaving.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: MutableMapping[str, Any]) -> None:
        await self.reading.wait()
        self.text += message.get("body", b"")
        self.is_over = not message.get("more_body", True)

    @property
    def messages(self) -> list[StreamMessage]:
        return [*read_messages(self.text.splitlines(keepends=True))]

    @property
    def versions(self) -> list[int]:
        return [int(message.id) for message in self.messages if message.id]

    def named(self, event: str) -> list[Any]:
        return [message.data for message in self.messages if message.event == event]

    async def leave(self) -> None:
        self._leaving.set()
        await asyncio.wait_for(self.task, DEADLINE_SECONDS)


async def follow(app: App, game: str, after: int = 0, secret: str = "") -> Follower:
    """Follow a game, and read what the stream begins with."""
    stream = await handle(app, "GET", f"/games/{game}/events?after={after}", secret=secret)
    assert isinstance(stream, Stream), stream
    follower = Follower(stream)
    await turns()
    return follower


class Process(NamedTuple):
    """An application, and what it reads."""

    app: App
    store: MemoryStore
    reads: list[list[str]]
    """The games of each read."""

    def known(self, seat: Any) -> StoredGame:
        found = self.app.games.known(seat["id"])
        assert found
        return found


class Cluster:
    """Processes that share a database in memory, and hear of each other's changes while `is_heard`."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self.database = Database()
        self.is_heard = True
        self.unheard: list[News] = []

    async def start(self, *, is_shared: bool = True, **settings: Any) -> Process:
        store = memory_store(self.database, is_shared=is_shared)
        rows, reads = store.read_rows, list[list[str]]()

        def read(games: Any) -> list[Row]:
            reads.append([*games])
            return rows(games)

        store.read_rows = read  # type: ignore[method-assign]  # to count
        app = await self._stack.enter_async_context(open_app(store, **settings))
        hear = app.games.apply_news
        app.games.apply_news = lambda news: (  # type: ignore[method-assign]  # to lose them
            hear(news) if self.is_heard else self.unheard.extend(news or ())
        )
        return Process(app, store, reads)


@asynccontextmanager
async def cluster() -> AsyncIterator[Cluster]:
    async with AsyncExitStack() as stack:
        yield Cluster(stack)
