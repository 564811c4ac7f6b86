"""Connections of the HTTP server, byte by byte, without sockets."""

from __future__ import annotations

import asyncio
import gc
import json
import re
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from noughts.web.http import IDLE_TIMEOUT_SECONDS, REQUEST_TIMEOUT_SECONDS, Connection
from noughts.web.request import Request
from noughts.web.server import Server
from support.web.apps import open_app

BODY = b'{"opponent":"self"}'
JSON = b"Content-Type: application/json\r\n"
CREATE = b"POST /api/v1/games HTTP/1.1\r\nHost: x\r\n" + JSON
HEALTH = b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n"
UPGRADE = b"Connection: Upgrade\r\nUpgrade: h2c\r\n"


class Wire(asyncio.Transport):
    """The other end of a connection."""

    def __init__(self, server: Server, peer: str = "192.0.2.1") -> None:
        super().__init__()
        self._peer = peer
        self.received = b""
        self.is_closed = self.is_aborted = False
        self.connection = Connection(server)
        self.connection.connection_made(self)

    def send(self, data: bytes) -> None:
        self.connection.data_received(data)

    @property
    def statuses(self) -> list[int]:
        """The statuses of the responses so far."""
        return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+) ", self.received)]

    async def wait(self, number: int) -> None:
        async with asyncio.timeout(30):
            while len(self.statuses) < number:
                await asyncio.sleep(0)

    def write(self, data: bytes) -> None:  # type: ignore[override]  # it is given bytes
        self.received += data

    def close(self) -> None:
        self.is_closed = True

    def abort(self) -> None:
        self.is_closed = self.is_aborted = True

    def pause_reading(self) -> None:
        """Do nothing: tests send when they want to."""

    def resume_reading(self) -> None:
        """Do nothing."""

    def get_extra_info(self, name: str, default: object = None) -> Any:
        return (self._peer, 1) if name == "peername" else default

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Do nothing: everything is read immediately."""


@asynccontextmanager
async def serve(**settings: Any) -> AsyncIterator[Server]:
    async with open_app(**settings) as app:
        server = Server(app, Connection, 0)
        await asyncio.sleep(0)
        yield server
        await server.close()


def noting(server: Server) -> list[Request]:
    """Return a list that records every request of the application."""
    requests, handle = [], server.app.handle

    def note(request: Request) -> Any:
        requests.append(request)
        return handle(request)

    server.app.handle = note  # type: ignore[method-assign]  # for this test
    return requests


@pytest.mark.parametrize(
    ("framing", "body"),
    [
        (b"Content-Length: %d\r\n" % len(BODY), BODY),
        (b"Transfer-Encoding: chunked\r\n", b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY)),
    ],
    ids=["length", "chunked"],
)
@pytest.mark.parametrize("size", [1, 7, 10_000])
async def test_the_body_of_a_request_that_asks_for_an_upgrade_is_its_body(
    framing: bytes, body: bytes, size: int
) -> None:
    """Nothing in the body counts as a request, and the next request is answered."""
    async with serve() as server:
        requests, wire = noting(server), Wire(server)
        data = CREATE + UPGRADE + framing + b"\r\n" + body + HEALTH
        for start in range(0, len(data), size):
            wire.send(data[start : start + size])
        await wire.wait(2)
        assert wire.statuses == [201, 200]
        assert [(one.method, one.body) for one in requests] == [("POST", BODY), ("GET", b"")]


@pytest.mark.parametrize("method", [b"POST", b"CONNECT"])
@pytest.mark.parametrize(
    "framing",
    [
        b"Transfer-Encoding: gzip",
        b"Transfer-Encoding: chunked, gzip",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        b"Transfer-Encoding:",
        b"Content-Length: 5\r\nTransfer-Encoding: chunked",
        b"Content-Length: 5\r\nContent-Length: 5",
        b"Content-Length: +5",
        b"Content-Length: 5000",
    ],
)
async def test_a_body_of_unknown_length_is_refused_with_an_upgrade(framing: bytes, method: bytes) -> None:
    """And the connection is closed."""
    async with serve() as server:
        requests, wire = noting(server), Wire(server)
        wire.send(method + b" / HTTP/1.1\r\nHost: x\r\n" + UPGRADE + framing + b"\r\n\r\n" + HEALTH)
        assert wire.statuses in ([400], [413])
        assert wire.is_closed
        assert not requests


async def test_trailers_are_not_headers() -> None:
    async with serve() as server:
        requests, wire = noting(server), Wire(server)
        wire.send(CREATE + b"Transfer-Encoding: chunked\r\n\r\n")
        wire.send(b"%x\r\n%b\r\n0\r\n" % (len(BODY), BODY))
        wire.send(b"Host: y\r\nX-Forwarded-For: 192.0.2.9\r\nAuthorization: Bearer z\r\n\r\n")
        await wire.wait(1)
        assert wire.statuses == [201]
        assert requests[0].headers == {b"host": b"x", b"content-type": b"application/json"}


@pytest.mark.parametrize(
    "last",
    [HEALTH[:-2] + b"Connection: close\r\n\r\n", HEALTH.replace(b"1.1", b"1.0")],
    ids=["close", "HTTP/1.0"],
)
@pytest.mark.parametrize("more", [HEALTH, b"nonsense\r\n\r\n"])
async def test_nothing_is_answered_after_the_last_request(last: bytes, more: bytes) -> None:
    async with serve() as server:
        wire = Wire(server)
        wire.send(last + more)
        assert wire.statuses == [200]
        assert b"connection: close\r\n" in wire.received
        assert wire.is_closed


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (CREATE + b"Content-Length: 5000\r\n\r\n", 413),
        (CREATE + b"X: " + b"x" * 17_000 + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"nonsense\r\n\r\n", 400),
    ],
)
async def test_a_refused_request_leaves_nothing_in_memory(request_: bytes, status: int) -> None:
    async with serve() as server:
        wire = Wire(server)
        wire.send(request_)
        assert wire.statuses == [status]
        wire.connection.connection_lost(None)
        left = weakref.ref(wire)
        del wire
        gc.collect()
        assert left() is None


async def test_the_time_of_a_request_begins_after_the_answer_before_it() -> None:
    async with serve() as server:
        wire = Wire(server)
        wire.send(CREATE + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY + HEALTH[:10])
        wire.connection.check_deadline(server.now() + REQUEST_TIMEOUT_SECONDS + 1)
        assert wire.statuses == []
        await wire.wait(1)
        wire.connection.check_deadline(server.now() + REQUEST_TIMEOUT_SECONDS - 1)
        assert wire.statuses == [201]
        wire.connection.check_deadline(server.now() + REQUEST_TIMEOUT_SECONDS + 1)
        assert wire.statuses == [201, 408]
        assert wire.is_closed


async def test_an_answer_that_is_never_read_is_given_up() -> None:
    async with serve() as server:
        wire = Wire(server)
        wire.send(HEALTH)
        wire.connection.check_deadline(server.now() + IDLE_TIMEOUT_SECONDS + 1)
        assert wire.is_closed
        assert not wire.is_aborted
        wire.connection.check_deadline(server.now() + REQUEST_TIMEOUT_SECONDS + 1)
        assert wire.is_aborted


async def test_a_client_that_sends_nothing_more_gets_its_answer() -> None:
    async with serve() as server:
        wire = Wire(server)
        wire.send(CREATE + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY)
        assert wire.connection.eof_received()
        await wire.wait(1)
        assert wire.statuses == [201]
        assert wire.is_closed
        assert not Wire(server).connection.eof_received()


async def test_data_while_a_stream_is_opened_ends_the_connection() -> None:
    async with serve() as server:
        wire, follower = Wire(server), Wire(server)
        wire.send(CREATE + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY)
        await wire.wait(1)
        game = json.loads(wire.received.partition(b"\r\n\r\n")[2])["id"]
        server.app.games.known(game).mark_stale()  # type: ignore[union-attr]  # it was just created
        follower.send(HEALTH.replace(b"/health", f"/games/{game}/events".encode()) + b"\r\n")
        follower.send(b"\r\n")
        async with asyncio.timeout(30):
            while not follower.is_aborted:
                await asyncio.sleep(0)
        assert len(server.app.streams) == 0


@pytest.mark.parametrize("proxy", ["::1", "2001:DB8::7", "192.0.2.1"])
async def test_a_proxy_may_have_any_number_of_connections(proxy: str) -> None:
    async with serve(proxy=proxy, connections_per_address=1) as server:
        for _ in range(3):
            wire = Wire(server, proxy.lower())
            wire.send(HEALTH)
            assert wire.statuses == [200]
        assert Wire(server, "192.0.2.9").statuses == []
        assert Wire(server, "192.0.2.9").statuses == [429]
