"""The application in the process of the tests, without sockets."""

from __future__ import annotations

import json
from collections.abc import Awaitable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from noughts.web.request import Request, Response
from noughts.web.runtime import Runtime
from noughts.web.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from noughts.core.errors import NoughtsError
    from noughts.web.app import App
    from noughts.web.room import MarkName
    from noughts.web.streams import Stream


class FakeStream:
    """A subscriber of a game."""

    marks: tuple[MarkName, ...] = ()
    room = b""
    is_ended = False

    def send(self, frame: bytes) -> None:
        """Take a frame."""

    def end(self) -> None:
        """End."""
        self.is_ended = True


@asynccontextmanager
async def open_app(
    store: str = "memory:",
    *,
    end: Callable[[NoughtsError], None] = lambda _error: None,
    **settings: Any,  # noqa: ANN401 - any setting
) -> AsyncIterator[App]:
    """Open the application, and close it in the end."""
    runtime = await Runtime.open(Settings(store=store, **settings), {}, end)
    try:
        yield runtime.app
    finally:
        await runtime.close()


async def get(app: App, path: str) -> Response:
    """Return the response to a GET under /api/v1."""
    return await ask(app, "GET", path)


async def ask(app: App, method: str, path: str, body: object = None) -> Response:
    """Return the response to a request under /api/v1, with a body of JSON maybe."""
    response = await handle(app, method, path, body)
    assert isinstance(response, Response)
    return response


async def handle(app: App, method: str, path: str, body: object = None) -> Response | Stream:
    """Return whatever comes of a request."""
    content = b"" if body is None else json.dumps(body).encode()
    headers = {b"content-type": b"application/json"}
    result = app.handle(Request(method, f"/api/v1{path}", b"", headers, content, peer="127.0.0.1"))
    return await result if isinstance(result, Awaitable) else result
