"""Proxies that cut, mute or delay connections."""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from threading import Event, Lock, Thread
from typing import Self, TypeAlias

from support.deadlines import LONG_DEADLINE_SECONDS

Filter: TypeAlias = Callable[[bytes], bytes]

POSTGRES_SOCKET = ".s.PGSQL.5432"
WRITES = b"INSERT INTO noughts_", b"INSERT INTO games", b"UPDATE games"
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER with this makes a close a reset."""


class Cut(Exception):
    """Raised by a filter to cut the connection."""


class Connection:
    """One connection through a proxy, with a thread for each direction."""

    def __init__(self, proxy: Proxy, client: socket.socket, server: socket.socket) -> None:
        self.client, self.server = client, server
        self.is_stream = self.is_reset = False
        self.is_muted = False
        """Whether to drop what the server sends."""
        self.answered = Event()
        """Set when a muted connection has dropped an answer, or is over."""
        self.is_over = False
        self._left = [client, server]
        self._is_flowing = proxy.is_flowing
        request, response = proxy.filters(self)
        ways = (client, server, request), (server, client, response)
        self._threads = [Thread(target=self._forward, args=way, daemon=True) for way in ways]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def cut(self) -> None:
        for side in (self.client, self.server):
            with suppress(OSError):  # it may be closed already
                if self.is_reset:
                    side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                socket.socket.shutdown(side, socket.SHUT_RD if self.is_reset else socket.SHUT_RDWR)

    def close(self) -> None:
        self.cut()
        for thread in self._threads:
            thread.join(LONG_DEADLINE_SECONDS)
            assert not thread.is_alive(), "the connection hangs"

    def _forward(self, source: socket.socket, sink: socket.socket, change: Filter) -> None:
        is_request_over = False
        with suppress(OSError, Cut):
            while not is_request_over and (data := source.recv(1 << 16)):
                self._is_flowing.wait(LONG_DEADLINE_SECONDS)
                self.is_stream |= b"content-type: text/event-stream" in data
                if self.is_muted and source is self.server:
                    self.answered.set()
                elif changed := change(data):
                    sink.sendall(changed)
                    is_request_over = isinstance(source, ssl.SSLSocket)  # unsafe to read meanwhile
        if not is_request_over:
            self.cut()
        self.answered.set()
        self._left.remove(source)
        if not self._left:
            self.is_over = True
            self.client.close()
            self.server.close()


class Proxy:
    """Forwards connections to a server; subclasses filter the bytes."""

    def __init__(
        self,
        server: str | tuple[str, int],
        listener: socket.socket | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._server = server
        self._tls = tls
        self.connections: list[Connection] = []
        self.is_flowing = Event()
        """While it is cleared, nothing is forwarded and nothing closed: neither end is told."""
        self.is_flowing.set()
        self._listener = listener or socket.create_server(("127.0.0.1", 0))
        self.place: tuple[str, int] = self._listener.getsockname()
        self._acceptor = Thread(target=self._accept, daemon=True)
        self._acceptor.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.is_flowing.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._acceptor.join(LONG_DEADLINE_SECONDS)
        for connection in self.connections:
            connection.close()

    @property
    def url(self) -> str:
        return "{}://{}:{}".format("https" if self._tls else "http", *self.place)

    @property
    def streams(self) -> list[Connection]:
        return [one for one in self.connections if one.is_stream and not one.is_over]

    def mute(self) -> None:
        """Keep the open streams open, but forward nothing more from the server."""
        for stream in self.streams:
            stream.is_muted = True

    def send(self, data: bytes) -> None:
        """Send data to the readers of the open streams."""
        for stream in self.streams:
            stream.client.sendall(data)

    def filters(self, _connection: Connection) -> tuple[Filter, Filter]:
        """Return the filters for a connection's requests and answers."""
        return bytes, bytes

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self._tls:  # the first read does the handshake
                client = self._tls.wrap_socket(client, server_side=True, do_handshake_on_connect=False)
            server = socket.socket(self._listener.family)
            try:
                server.connect(self._server)
            except OSError:
                client.close()
                server.close()
                continue
            connection = Connection(self, client, server)
            self.connections = [*(one for one in self.connections if not one.is_over), connection]
            connection.start()  # only now that it is listed: a test may cut it as soon as data arrives


class CuttingProxy(Proxy):
    """Cuts some connections after a random number of bytes: most in the answer, few in the request."""

    def __init__(self, server: tuple[str, int], cuts: int, chance: Random) -> None:
        self.cuts = 0
        self.cuts_left = cuts
        self._chance = chance
        self._lock = Lock()
        super().__init__(server)

    def start(self, cuts: int) -> None:
        """Cut the open connections, and this many later ones."""
        open_connections = [one for one in self.connections if not one.is_over]
        with self._lock:
            self.cuts_left = cuts
            self.cuts += len(open_connections)
        for connection in open_connections:
            connection.cut()

    def filters(self, connection: Connection) -> tuple[Filter, Filter]:
        is_reset, is_request = self._chance.random() < 0.5, self._chance.random() < 0.1
        left = self._chance.randrange(60 if is_request else 3000)

        def cut(data: bytes) -> bytes:
            nonlocal left
            if len(data) > left and self._may_cut():
                (connection.server if is_request else connection.client).sendall(data[:left])
                connection.is_reset = is_reset
                raise Cut
            left = max(0, left - len(data))
            return data

        return (cut, bytes) if is_request else (bytes, cut)

    def _may_cut(self) -> bool:
        with self._lock:
            may = self.cuts_left > 0
            self.cuts_left -= may
            self.cuts += may
            return may


class PostgresProxy(Proxy):
    """Cuts a connection at a message, on demand.

    `before`: the server never gets the message. `after`: the server executes it, but its answer is lost.
    `late`: the client is cut off first, and the server gets the message once the client writes again.
    """

    def __init__(self, server: Path) -> None:
        self._folder = TemporaryDirectory(prefix="noughts-")
        self.folder = Path(self._folder.name)
        self.cuts = 0
        self._matches: Callable[[bytes], bool] | None = None
        self._reconnected = Event()
        self._lock = Lock()
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self.folder / POSTGRES_SOCKET))
        listener.listen()
        super().__init__(str(server / POSTGRES_SOCKET), listener)

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self._folder.cleanup()

    def cut(self, matches: Callable[[bytes], bool], way: str) -> None:
        """Cut the connection at the next message that matches."""
        with self._lock:
            self._reconnected.clear()
            self._matches, self._way = matches, way

    def filters(self, connection: Connection) -> tuple[Filter, Filter]:
        def request(message: bytes) -> bytes:
            with self._lock:
                if self._matches is None and any(one in message for one in WRITES):
                    self._reconnected.set()
                if self._matches is None or not self._matches(message):
                    return message
                self._matches = None
                self.cuts += 1
                way = self._way
            connection.is_muted = True
            if way == "late":
                connection.client.shutdown(socket.SHUT_RDWR)
                assert self._reconnected.wait(LONG_DEADLINE_SECONDS), "the client did not reconnect"
            if way != "before":
                connection.server.sendall(message)
                assert connection.answered.wait(LONG_DEADLINE_SECONDS), "the server did not answer"
            raise Cut

        return request, bytes
