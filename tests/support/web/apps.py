"""The application in the test process, without sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from noughts import CreateGame, JoinGame, Mark, decide, fold
from noughts.core.errors import NoughtsError
from noughts.core.events import Event
from noughts.store.base import EventStore
from noughts.web import app as application
from noughts.web.app import App
from noughts.web.request import Request, Response
from noughts.web.room import MarkName
from noughts.web.settings import Settings
from noughts.web.streams import EventStream
from noughts.web.world import Runner, World


class FakeStream:
    """A subscriber of a game."""

    marks: tuple[MarkName, ...] = ()
    room = b""
    is_ended = False

    def send(self, frame: bytes) -> None:
        """Take a frame."""

    def end(self) -> None:
        self.is_ended = True


class ImmediateThreads:
    """Runs work at once; after `hold`, results are returned on `release`."""

    def __init__(self) -> None:
        self._held: list[tuple[asyncio.Future[Any], Any]] | None = None

    def run(self, work: Callable[[], Any]) -> asyncio.Future[Any]:
        done = asyncio.get_running_loop().create_future()
        try:
            found = work()
        except NoughtsError as error:
            done.set_exception(error)
            return done
        if self._held is None:
            done.set_result(found)
        else:
            self._held.append((done, found))
        return done

    def hold(self) -> None:
        self._held = []

    def release(self) -> None:
        held, self._held = self._held or [], None
        for done, found in held:
            done.set_result(found)


def beginning(first: Mark = Mark.X, X: str = "Ann", O: str = "Bob") -> list[Event]:  # noqa: N803 - marks
    """Return the first events of a game between two players."""
    events = list(decide(None, CreateGame(first, open_seats=True)))
    for mark, name in ((Mark.X, X), (Mark.O, O)):
        events += decide(fold(events), JoinGame(mark, name))
    return events


async def _nothing() -> Any:
    """Do nothing."""


def make_world(
    store: EventStore, threads: Runner, thinking: Runner | None = None, **settings: int
) -> World:
    """Return a world without background tasks."""
    return World(
        settings=Settings(**settings),  # type: ignore[arg-type]  # those that are numbers
        store=store,
        reading=threads,
        writing=threads,
        thinking=thinking or threads,
        changes=_nothing,
        documents_cursor="",
        end=lambda _error: None,
        close=_nothing,
    )


@asynccontextmanager
async def open_app(
    store: str = "memory:", *, end: Callable[[NoughtsError], None] = lambda _error: None, **settings: Any
) -> AsyncIterator[App]:
    app = await application.open_app(Settings(store=store, **settings), {}, end)
    try:
        yield app
    finally:
        await app.close()


async def get(app: App, path: str) -> Response:
    return await ask(app, "GET", path)


async def ask(app: App, method: str, path: str, body: object = None) -> Response:
    """Send a request under /api/v1, maybe with a JSON body; return the response."""
    response = await handle(app, method, path, body)
    assert isinstance(response, Response)
    return response


async def handle(app: App, method: str, path: str, body: object = None) -> Response | EventStream:
    content = b"" if body is None else json.dumps(body).encode()
    headers = {b"content-type": b"application/json"}
    result = app.handle(Request(method, f"/api/v1{path}", b"", headers, content, peer="127.0.0.1"))
    return await result if isinstance(result, Awaitable) else result
