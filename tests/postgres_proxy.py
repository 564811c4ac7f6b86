"""Something between a store and its PostgreSQL server that cuts the line at the worst moment."""

from __future__ import annotations

import shutil
import socket
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

from at_once import DEADLINE

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

SOCKET = ".s.PGSQL.5432"
_MOST = 1 << 20


class Proxy:
    """Passes everything on, both ways, until it is told to cut the line at a message.

    `before`: the server never gets the message. `after`: the server has done what it says, but its
    answer is lost. `late`: the line is cut first, and the server gets the message when the client has
    connected once more and is about to write.
    """

    def __init__(self, server: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="noughts-"))
        self.cuts = 0
        self._server = server
        self._is_it: Callable[[bytes], bool] | None = None
        self._way = ""
        self._came_back = Event()
        self._lock = Lock()
        self._lines: list[_Line] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.folder / SOCKET))
        self._listener.listen()
        self._door = Thread(target=self._let_in, daemon=True)
        self._door.start()

    def cut(self, is_it: Callable[[bytes], bool], way: str) -> None:
        """Cut the line at the next message of which that is true."""
        with self._lock:
            self._came_back.clear()
            self._is_it, self._way = is_it, way

    def way_of(self, message: bytes) -> str:
        """Return how the line is to be cut at a message; nothing for nearly all of them."""
        with self._lock:
            if self._is_it is None:
                if b"pg_advisory_xact_lock" in message:
                    self._came_back.set()
                return ""
            if not self._is_it(message):
                return ""
            self._is_it = None
            self.cuts += 1
            return self._way

    def until_they_come_back(self) -> None:
        """Wait until somebody is about to write."""
        assert self._came_back.wait(DEADLINE), "nobody came back"

    def _let_in(self) -> None:
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
            self._lines.append(_Line(self, client, server))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._door.join(DEADLINE)
        for line in self._lines:
            line.close()
        shutil.rmtree(self.folder)


class _Line:
    """One connection, with a thread for each direction."""

    def __init__(self, proxy: Proxy, client: socket.socket, server: socket.socket) -> None:
        self._proxy = proxy
        self._client = client
        self._server = server
        self._is_mute = False
        self._answered = Event()
        self._threads = [Thread(target=each, daemon=True) for each in (self._ask, self._answer)]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Cut the line, and wait until nobody uses it."""
        _hang_up(self._client)
        _hang_up(self._server)
        for thread in self._threads:
            thread.join(DEADLINE)
        self._client.close()
        self._server.close()

    def _ask(self) -> None:
        """Pass on what the client says."""
        try:
            while message := self._client.recv(_MOST):
                way = self._proxy.way_of(message)
                self._is_mute = self._is_mute or bool(way)
                if way == "late":
                    _hang_up(self._client)
                    self._proxy.until_they_come_back()
                if way != "before":
                    self._server.sendall(message)
                if way in ("after", "late"):
                    assert self._answered.wait(DEADLINE), "the server does not answer"
                if way:
                    break
        except OSError:
            pass  # the line was cut elsewhere
        _hang_up(self._client)
        _hang_up(self._server)

    def _answer(self) -> None:
        """Pass on what the server says, unless nobody is to hear it."""
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


def _hang_up(line: socket.socket) -> None:
    with suppress(OSError):  # it may be down already
        line.shutdown(socket.SHUT_RDWR)
