"""A proxy between a store and its PostgreSQL server that cuts a connection at the worst moment."""

from __future__ import annotations

import shutil
import socket
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

from support.at_once import DEADLINE

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

SOCKET = ".s.PGSQL.5432"
_MOST = 1 << 20


class Proxy:
    """Passes everything on, both ways, until it is to cut a connection at a message.

    `before`: the server never gets the message. `after`: the server does what the message says, but its
    answer is lost. `late`: the connection is cut first, and the server gets the message when the client
    has connected again and is about to write.
    """

    def __init__(self, server: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="noughts-"))
        self.cuts = 0
        self._server = server
        self._is_it: Callable[[bytes], bool] | None = None
        self._way = ""
        self._came_back = Event()
        self._lock = Lock()
        self._connections: list[_Connection] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.folder / SOCKET))
        self._listener.listen()
        self._acceptor = Thread(target=self._accept, daemon=True)
        self._acceptor.start()

    def cut(self, is_it: Callable[[bytes], bool], way: str) -> None:
        """Cut the connection at the next message of which that is true."""
        with self._lock:
            self._came_back.clear()
            self._is_it, self._way = is_it, way

    def way_of(self, message: bytes) -> str:
        """Return how to cut the connection at a message; nothing for nearly all of them."""
        with self._lock:
            if self._is_it is None:
                if b"INSERT INTO noughts_" in message:
                    self._came_back.set()
                return ""
            if not self._is_it(message):
                return ""
            self._is_it = None
            self.cuts += 1
            return self._way

    def wait_for_return(self) -> None:
        """Wait until the client is about to write again."""
        assert self._came_back.wait(DEADLINE), "the client did not come back"

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(str(self._server / SOCKET))
            except OSError:
                client.close()
                server.close()
                continue
            self._connections.append(_Connection(self, client, server))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._acceptor.join(DEADLINE)
        for connection in self._connections:
            connection.close()
        shutil.rmtree(self.folder)


class _Connection:
    """One connection, with a thread for each direction."""

    def __init__(self, proxy: Proxy, client: socket.socket, server: socket.socket) -> None:
        self._proxy = proxy
        self._client = client
        self._server = server
        self._is_mute = False
        self._answered = Event()
        self._threads = [Thread(target=each, daemon=True) for each in (self._send, self._receive)]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Cut it, and wait until nobody uses it."""
        _hang_up(self._client)
        _hang_up(self._server)
        for thread in self._threads:
            thread.join(DEADLINE)
        self._client.close()
        self._server.close()

    def _send(self) -> None:
        """Pass on what the client sends."""
        try:
            while message := self._client.recv(_MOST):
                way = self._proxy.way_of(message)
                self._is_mute = self._is_mute or bool(way)
                if way == "late":
                    _hang_up(self._client)
                    self._proxy.wait_for_return()
                if way != "before":
                    self._server.sendall(message)
                if way in ("after", "late"):
                    assert self._answered.wait(DEADLINE), "the server does not answer"
                if way:
                    break
        except OSError:
            pass  # the other side has cut it
        _hang_up(self._client)
        _hang_up(self._server)

    def _receive(self) -> None:
        """Pass on what the server sends, unless it is to be lost."""
        try:
            while message := self._server.recv(_MOST):
                if self._is_mute:
                    self._answered.set()
                else:
                    self._client.sendall(message)
        except OSError:
            pass  # the same
        self._answered.set()
        _hang_up(self._client)


def _hang_up(side: socket.socket) -> None:
    with suppress(OSError):  # it may be down already
        side.shutdown(socket.SHUT_RDWR)
