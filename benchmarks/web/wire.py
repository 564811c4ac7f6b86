"""HTTP as far as the load needs it: it must cost much less than the server that it is for."""

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


class Refused(Exception):
    """The server answered something else than what was hoped for."""


class Exchange(asyncio.Protocol):
    """A connection that is kept: one request at a time, and then its answer."""

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._failed = failed
        self._answered: Callable[[int, bytes], None] | None = None
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where to write."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's own, which does not inherit

    def send(self, request: bytes, answered: Callable[[int, bytes], None]) -> None:
        """Send a request; `answered` is called with the status and the body."""
        self._answered = answered
        self._transport.write(request)

    async def ask(self, request: bytes) -> bytes:
        """Send a request and return the body of the answer, if all is well."""
        future: asyncio.Future[tuple[int, bytes]] = asyncio.get_running_loop().create_future()
        self.send(request, lambda status, body: future.set_result((status, body)))
        status, body = await future
        if status not in (OK, CREATED):
            raise Refused(f"{request!r} was answered with {status}: {body!r}")
        return body

    def data_received(self, data: bytes) -> None:
        """Hand on an answer that is complete."""
        received = self._received + data if self._received else data
        end = received.find(b"\r\n\r\n")
        length = _LENGTH.search(received, 0, end) if end > 0 else None
        if length is None or len(received) < end + 4 + int(length[1]):
            if end > 0 and length is None:
                self._failed(Refused(f"an answer without a length: {received!r}"))
            self._received = received
            return
        self._received = b""
        answered, self._answered = self._answered, None
        assert answered  # noqa: S101 - nothing comes unasked
        answered(int(received[9:12]), received[end + 4 :])

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail, if an answer was still to come."""
        if self._answered:
            self._failed(exc or Refused("the server closed a connection that waited for an answer"))

    def close(self) -> None:
        """Close the connection."""
        self._transport.close()


class Stream(asyncio.Protocol):
    """One live stream: counts what arrives of a game.

    `arrived` is called when version `since` is there, and then each time a token was placed.
    """

    def __init__(
        self, request: bytes, since: int, arrived: Callable[[], None], failed: Callable[[Exception], None]
    ) -> None:
        self._request = request
        self._since = since
        self._arrived = arrived
        self._failed = failed
        self._rest = b""
        self.heard = 0
        self.placed = 0
        self.is_current = False
        self._is_closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the stream."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's own, which does not inherit
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        """Count the tokens in what is complete, and keep the rest."""
        self.heard += 1
        received = self._rest + data if self._rest else data
        whole = received.rfind(b"\n\n") + 2
        if whole == 1:
            self._rest = received
            return
        self._rest = received[whole:].lstrip(b"\r\n")  # what ends a chunk is no message
        if not self.is_current:
            self._catch_up(received[:whole])
            return
        placed = received.count(_PLACED, 0, whole)
        if placed:
            self.placed += placed
            self._arrived()

    def _catch_up(self, messages: bytes) -> None:
        if messages.startswith(b"HTTP/") and not messages.startswith(b"HTTP/1.1 200"):
            self._failed(Refused(f"{self._request!r} was answered with {messages!r}"))
            return
        versions = _VERSION.findall(messages)
        if versions and int(versions[-1]) >= self._since:
            self.is_current = True
            self._arrived()

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail, unless it was closed here."""
        if not self._is_closed:
            self._failed(exc or Refused("the server closed a stream"))

    def close(self) -> None:
        """Close the stream."""
        self._is_closed = True
        self._transport.close()
