"""A minimal HTTP client: it must cost much less than the server."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable

OK, CREATED = 200, 201

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_VERSION = re.compile(rb"^id: ?(\d+)$", re.MULTILINE)
_PLACED = b'"playerPlacedToken"'


class UnexpectedResponse(Exception):
    """An error from the server."""


class Exchange(asyncio.Protocol):
    """A keep-alive connection: one request at a time."""

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._failed = failed
        self._answered: Callable[[int, bytes], None] | None = None
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's own, which does not inherit

    def send(self, request: bytes, answered: Callable[[int, bytes], None]) -> None:
        """Send a request; `answered` is called with the status and the body."""
        self._answered = answered
        self._transport.write(request)

    async def ask(self, request: bytes) -> bytes:
        """Send a request and return the body of a successful response."""
        future: asyncio.Future[tuple[int, bytes]] = asyncio.get_running_loop().create_future()
        self.send(request, lambda status, body: future.set_result((status, body)))
        status, body = await future
        if status not in (OK, CREATED):
            raise UnexpectedResponse(f"{request!r} got {status}: {body!r}")
        return body

    def data_received(self, data: bytes) -> None:
        """Pass on a complete response."""
        received = self._received + data if self._received else data
        end = received.find(b"\r\n\r\n")
        length = _LENGTH.search(received, 0, end) if end > 0 else None
        if length is None or len(received) < end + 4 + int(length[1]):
            if end > 0 and length is None:
                self._failed(UnexpectedResponse(f"a response without a length: {received!r}"))
            self._received = received
            return
        self._received = b""
        answered, self._answered = self._answered, None
        assert answered  # noqa: S101 - set by send()
        answered(int(received[9:12]), received[end + 4 :])

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail if a response is missing."""
        if self._answered:
            self._failed(exc or UnexpectedResponse("the server closed a connection before its response"))

    def close(self) -> None:
        """Close the connection."""
        self._transport.close()


class Stream(asyncio.Protocol):
    """An event stream: counts the tokens of a game.

    `arrived` is called when version `since` has arrived, and then for each token.
    """

    def __init__(
        self, request: bytes, since: int, arrived: Callable[[], None], failed: Callable[[Exception], None]
    ) -> None:
        self._request = request
        self._since = since
        self._arrived = arrived
        self._failed = failed
        self._rest = b""
        self.received_count = 0
        self.placed = 0
        self.is_current = False
        self._is_closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Request the stream."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's own, which does not inherit
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        """Count the tokens in complete messages, and keep the rest."""
        self.received_count += 1
        received = self._rest + data if self._rest else data
        whole = received.rfind(b"\n\n") + 2
        if whole == 1:
            self._rest = received
            return
        self._rest = received[whole:].lstrip(b"\r\n")  # the end of a chunk is not a message
        if not self.is_current:
            self._catch_up(received[:whole])
            return
        placed = received.count(_PLACED, 0, whole)
        if placed:
            self.placed += placed
            self._arrived()

    def _catch_up(self, messages: bytes) -> None:
        if messages.startswith(b"HTTP/") and not messages.startswith(b"HTTP/1.1 200"):
            self._failed(UnexpectedResponse(f"{self._request!r} got {messages!r}"))
            return
        versions = _VERSION.findall(messages)
        if versions and int(versions[-1]) >= self._since:
            self.is_current = True
            self._arrived()

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail, unless it was closed here."""
        if not self._is_closed:
            self._failed(exc or UnexpectedResponse("the server closed a stream"))

    def close(self) -> None:
        """Close the stream."""
        self._is_closed = True
        self._transport.close()
