"""The connections of a process: admission, deadlines and shutdown."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Callable
from email.utils import formatdate
from typing import Protocol

from noughts.web.app import App
from noughts.web.limits import network
from noughts.web.logging import details, log
from noughts.web.problems import ApiError
from noughts.web.request import bare_address

SEND_BUFFER_BYTES = 64 * 1024
"""The send buffer of a connection in the system."""

UNACKNOWLEDGED_MS = 25_000
"""How long what was sent may stay unacknowledged before the connection is given up."""

REPORT_SECONDS = 10
"""How often refused connections are logged at most."""

SHUTDOWN_SECONDS = 1.5
"""How long requests that are being answered may take at the end."""


class ServedConnection(Protocol):
    """What the server needs of a connection."""

    is_busy: bool

    def check_deadline(self, now: float) -> None: ...
    def shut_down(self) -> None: ...


class Server:
    """All connections of a process."""

    def __init__(
        self, app: App, protocol: Callable[[Server], asyncio.Protocol], max_connections: int
    ) -> None:
        self.app = app
        self._protocol = protocol
        self._loop = asyncio.get_running_loop()
        self.now = self._loop.time
        self.date = b""
        self._connections: dict[ServedConnection, None] = {}
        self._per_address: Counter[str] = Counter()
        self._max_connections = max_connections
        self._servers: list[asyncio.Server] = []
        self._refused = 0
        self._ticking = asyncio.ensure_future(self._tick())

    async def listen(self, listener: socket.socket, times: int) -> None:
        """Accept connections; libuv accepts one per listener and turn, so there may be several."""
        for _ in range(times):
            own = listener.dup()
            server = await self._loop.create_server(lambda: self._protocol(self), sock=own, backlog=4096)
            self._servers.append(server)

    def admit(self, connection: ServedConnection, peer: str) -> ApiError | None:
        """Count a connection, and refuse it if there are too many."""
        bare = bare_address(peer)
        address = network(bare)
        self._connections[connection] = None
        self._per_address[address] += 1
        most, here = self.app.settings.connections_per_address, self._per_address[address]
        if self._max_connections and len(self._connections) > self._max_connections:
            refusal = ApiError("tooBusy", "too many connections are open at this server", retry_after=5)
        elif most and here > most and not self.app.proxies & {bare, "*"}:
            refusal = ApiError("tooMany", f"one address may have {most} connections", retry_after=5)
        else:
            return None
        self._refused += 1
        self.app.metrics.connections_refused += 1
        return refusal

    def remove(self, connection: ServedConnection, peer: str) -> None:
        address = network(bare_address(peer))
        self._connections.pop(connection, None)
        self._per_address[address] -= 1
        if not self._per_address[address]:
            del self._per_address[address]

    async def _tick(self) -> None:
        second = next_report = 0
        while True:
            self.date = b"date: %b\r\n" % formatdate(usegmt=True).encode()
            await asyncio.sleep(1)
            second += 1
            now = self.now()
            for connection in tuple(self._connections):
                connection.check_deadline(now)
            if self._refused and second >= next_report:
                log.warning("connections refused", extra=details(connections=self._refused))
                self._refused, next_report = 0, second + REPORT_SECONDS

    async def close(self) -> None:
        """Accept nothing more, and finish the requests that are being answered."""
        for server in self._servers:
            server.close()
        for connection in tuple(self._connections):
            connection.shut_down()
        until = self.now() + SHUTDOWN_SECONDS
        while self.now() < until and any(one.is_busy for one in self._connections):
            await asyncio.sleep(0.02)
        self._ticking.cancel()


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket with small send buffers."""
    if not host:
        raise ValueError("the host is empty")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        for name, value in (("TCP_NODELAY", 1), ("TCP_USER_TIMEOUT", UNACKNOWLEDGED_MS)):
            if hasattr(socket, name):
                found.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        found.bind((host, port))
    except BaseException:
        found.close()
        raise
    found.set_inheritable(True)
    return found
