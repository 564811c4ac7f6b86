"""The ASGI application in the test process, called as an ASGI server would call it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from http.client import HTTPMessage, IncompleteRead
from queue import Queue
from threading import Thread
from typing import Any
from unittest.mock import patch
from urllib.parse import unquote

from noughts.web import create_app
from support.deadlines import DEADLINE_SECONDS
from support.web.fake_clock import AdvancedLoop, skip
from support.web.serving import UNLIMITED, Server


class InProcessServer(Server):
    """The application with an event loop in a thread, instead of a server process."""

    def __init__(self, store: str, **settings: str) -> None:
        self.store = store
        self.check = None
        self.url, self.host, self.port = "http://127.0.0.1:8000", "127.0.0.1", 8000
        with patch.dict(os.environ, {**UNLIMITED, "NOUGHTS_STORE": store, **settings}):
            self.app = create_app()
        self.loop = AdvancedLoop()
        self._thread = Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()
        self._lifespan = InProcessConnection(self)
        self._lifespan.begin({"type": "lifespan"}, {"type": "lifespan.startup"})
        assert self._lifespan.next_message() == {"type": "lifespan.startup.complete"}

    def __exit__(self, *_: object) -> None:
        if self.is_running:
            self.stop()

    @property
    def is_running(self) -> bool:
        return self.loop.is_running()

    def skip(self, seconds: float) -> None:
        """Let so many seconds pass at once."""
        self.loop.call_soon_threadsafe(skip, seconds)

    def stop(self, deadline: float = DEADLINE_SECONDS) -> int:
        """Shut down; return 0, as an exit code."""
        self._lifespan.close("lifespan.shutdown")
        assert self._lifespan.next_message(deadline) == {"type": "lifespan.shutdown.complete"}
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(deadline)
        self.loop.close()
        return 0

    def connection(self, source: tuple[str, int] | None = None) -> Any:
        """Return a connection, through which a client calls the application."""
        return InProcessConnection(self, source)


class InProcessConnection:
    """Sends one request after another; it acts as an `HTTPConnection`."""

    def __init__(self, server: InProcessServer, source: tuple[str, int] | None = None) -> None:
        self._app = server.app
        self._loop = server.loop
        self._source = source or ("127.0.0.1", 1)
        self._incoming: asyncio.Queue[dict[str, object]] = asyncio.Queue()
        self._outgoing: Queue[dict[str, Any] | None] = Queue()
        self.sock = self

    def begin(self, scope: dict[str, object], first: dict[str, object]) -> None:
        """Call the application with the first message for it."""
        self._incoming, self._outgoing = asyncio.Queue(), Queue()
        asyncio.run_coroutine_threadsafe(
            self._run(scope, first, self._incoming, self._outgoing), self._loop
        )

    async def _run(
        self,
        scope: dict[str, object],
        first: dict[str, object],
        incoming: asyncio.Queue[dict[str, object]],
        outgoing: Queue[dict[str, Any] | None],
    ) -> None:
        async def send(message: Any) -> None:
            outgoing.put(dict(message))

        incoming.put_nowait(first)
        try:
            await self._app(scope, incoming.get, send)
        finally:
            outgoing.put(None)

    def next_message(self, deadline: float = DEADLINE_SECONDS) -> dict[str, Any]:
        """Wait for the next message; if none comes, the connection counts as cut."""
        message = self._outgoing.get(timeout=deadline)
        if message is None:
            raise IncompleteRead(b"")
        return message

    def request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        is_whole: bool = True,
    ) -> None:
        place, _, query = path.partition("?")
        pairs = {"host": "127.0.0.1:8000", **(headers or {})}
        self.begin(
            {
                "type": "http",
                "method": method,
                "scheme": "http",
                "path": unquote(place),
                "query_string": query.encode(),
                "root_path": "",
                "headers": [
                    (name.lower().encode(), text.encode("latin-1")) for name, text in pairs.items()
                ],
                "client": self._source,
            },
            {"type": "http.request", "body": body or b"", "more_body": not is_whole},
        )

    def getresponse(self) -> InProcessResponse:
        return InProcessResponse(self)

    def close(self, message: str = "http.disconnect") -> None:
        leaving: dict[str, object] = {"type": message}
        self._loop.call_soon_threadsafe(self._incoming.put_nowait, leaving)

    def shutdown(self, _how: int) -> None:
        self.close()


class InProcessResponse:
    """A response; it acts as an `HTTPResponse`."""

    def __init__(self, connection: InProcessConnection) -> None:
        self._connection = connection
        start = connection.next_message()
        self.status: int = start["status"]
        self.headers = HTTPMessage()
        for name, value in start["headers"]:
            self.headers.add_header(name.decode(), value.decode("latin-1"))
        self._buffer, self._has_more = b"", True

    def _read_more(self) -> None:
        message = self._connection.next_message()
        self._buffer += message.get("body", b"")
        self._has_more = message.get("more_body", False)

    def read(self) -> bytes:
        while self._has_more:
            self._read_more()
        return self._buffer

    def readline(self) -> bytes:
        while b"\n" not in self._buffer and self._has_more:
            self._read_more()
        line, newline, self._buffer = self._buffer.partition(b"\n")
        return line + newline
