"""The application for any ASGI server.

It starts with the server's lifespan, or with the first request: a mounted application gets no lifespan.
Limits on heads, idle connections and connections per address are left to the server here.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, TypeAlias
from urllib.parse import quote

from noughts.core.errors import NoughtsError
from noughts.store.urls import default_store
from noughts.web.app import App, open_app
from noughts.web.bots import read_policies, split_offered
from noughts.web.logging import details, log
from noughts.web.problems import ApiError, api_error
from noughts.web.request import MAX_BODY_BYTES, Header, Pending, Request, Response, problem
from noughts.web.routes import Result
from noughts.web.settings import from_environment
from noughts.web.streams import EventStream

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

BODY_TIMEOUT_SECONDS = 10.0
MAX_QUEUED = 64
"""How many frames may wait for a slow reader before it is cut off."""

END = b""
"""Queued after the last frame."""


class AsgiApp:
    """An ASGI application with the settings in the environment."""

    def __init__(self) -> None:
        self._settings = from_environment(os.environ, store=default_store(os.environ))
        self._policies = read_policies(split_offered(self._settings.bots))
        self._opening: asyncio.Task[App] | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        else:  # a websocket, which is not supported
            await send({"type": "websocket.close", "code": 1000})

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            await self._app()
        except Exception as error:  # noqa: BLE001 - the server reports it
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await (await self._app()).close()
        self._opening = None
        await send({"type": "lifespan.shutdown.complete"})

    async def _app(self) -> App:
        """Return the running application, and start it if this is the first request."""
        if self._opening is None or (self._opening.done() and self._opening.exception()):
            self._opening = asyncio.ensure_future(open_app(self._settings, self._policies, self._end))
        return await asyncio.shield(self._opening)

    def _end(self, error: NoughtsError) -> None:
        """End the process; a server would wait for open streams."""
        log.error("ending", extra=details(problem=str(error)))
        if self._opening and self._opening.done():
            self._opening.result().streams.close()
        signal.raise_signal(signal.SIGTERM)

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        try:
            app = await self._app()
            body = await _read_body(receive)
        except NoughtsError as error:
            await _respond(send, problem(api_error(error)), is_head=False)
            return
        client, prefix = scope.get("client"), scope.get("root_path", "")
        request = Request(
            scope["method"],
            scope["path"].removeprefix(prefix) or "/",
            scope["query_string"],
            _headers(scope["headers"]),
            body,
            peer=client[0] if client else "",
            scheme=scope.get("scheme", "http"),
            prefix=quote(prefix, safe="/"),
            proxies=app.proxies,
        )
        result = await _settled(app.handle(request))
        if isinstance(result, EventStream):
            await _QueuedStream(result).run(receive, send)
        else:
            await _respond(send, result, is_head=scope["method"] == "HEAD")


class _QueuedStream:
    """The transport of a stream: a bounded queue, emptied by a task of its own."""

    def __init__(self, stream: EventStream) -> None:
        self._stream = stream
        self._queue: asyncio.Queue[bytes] = asyncio.Queue(MAX_QUEUED)
        self._sending: asyncio.Task[None] | None = None

    def send(self, frame: bytes) -> bool:
        if not self._queue.full():
            self._queue.put_nowait(frame)
            return True
        if self._sending:
            self._sending.cancel()
        return False

    def end(self) -> None:
        self.send(END)

    async def run(self, receive: Receive, send: Send) -> None:
        """Send the stream until it ends or the reader leaves; a reader that is too slow is cut off."""
        self._sending = asyncio.ensure_future(self._send_all(send))
        leaving = asyncio.ensure_future(_wait_for_disconnect(receive))
        self._stream.start(self)
        try:
            await asyncio.wait((self._sending, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._stream.close()
            self._sending.cancel()
            leaving.cancel()
            await asyncio.gather(self._sending, leaving, return_exceptions=True)

    async def _send_all(self, send: Send) -> None:
        await send(_start(200, self._stream.headers))
        while (frame := await self._queue.get()) is not END:
            await send({"type": "http.response.body", "body": frame, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _settled(result: Result | Pending[Result]) -> Result:
    if not isinstance(result, Pending):
        return result
    try:
        return await result
    except asyncio.CancelledError:
        result.then(_drop)
        raise


def _drop(result: Result) -> None:
    """Close a stream that came too late."""
    if isinstance(result, EventStream):
        result.close()


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _headers(pairs: Iterable[Header]) -> dict[bytes, bytes]:
    """Return the headers by name; HTTP/2 may send each cookie in a header of its own."""
    headers: dict[bytes, bytes] = {}
    for name, value in pairs:
        is_more = name == b"cookie" and name in headers
        headers[name] = b"%b; %b" % (headers[name], value) if is_more else value
    return headers


async def _read_body(receive: Receive) -> bytes:
    body, has_more = b"", True
    try:
        async with asyncio.timeout(BODY_TIMEOUT_SECONDS):
            while has_more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ApiError("badRequest", "the connection was closed before the body had come")
                body += message.get("body", b"")
                has_more = message.get("more_body", False)
                if len(body) > MAX_BODY_BYTES:
                    raise ApiError("tooLarge", f"a body has {MAX_BODY_BYTES} bytes at most")
    except TimeoutError:
        raise ApiError("timeout", f"the body did not come within {BODY_TIMEOUT_SECONDS:.0f} s") from None
    return body


async def _respond(send: Send, response: Response, *, is_head: bool) -> None:
    status, body, headers = response
    if status not in (204, 304):
        headers = (*headers, (b"content-length", str(len(body)).encode()))
    await send(_start(status, headers))
    await send({"type": "http.response.body", "body": b"" if is_head else body})


def _start(status: int, headers: tuple[Header, ...]) -> Message:
    return {"type": "http.response.start", "status": status, "headers": list(headers)}
