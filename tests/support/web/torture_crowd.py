"""Many readers of a game at once: some read all that comes and forget it, some never read anything."""

from __future__ import annotations

import selectors
import socket
from threading import Thread
from typing import TYPE_CHECKING

from support.web.serving import BASE, DEADLINE

if TYPE_CHECKING:
    from typing import Self

    from support.web.torture_reading import Place

SMALLEST = 1024
"""How much a stalled reader's system takes in for them, in bytes; it makes a little more of it."""


class Crowd:
    """So many lines to a game, held open until the `with` block is left."""

    def __init__(self, place: Place, game: str, size: int, *, is_reading: bool) -> None:
        self._lines: list[socket.socket] = []
        self._selector = selectors.DefaultSelector()
        self._thread = Thread(target=self._read, daemon=True)
        try:
            for _ in range(size):
                self._lines.append(self._line(place, game, is_reading=is_reading))
        except BaseException:
            self._close()
            raise
        if is_reading:
            self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for line in self._lines:
            if self._thread.ident:
                line.shutdown(socket.SHUT_RDWR)
        if self._thread.ident:
            self._thread.join(DEADLINE)
            assert not self._thread.is_alive(), "a crowd hangs"
        self._close()

    def _line(self, place: Place, game: str, *, is_reading: bool) -> socket.socket:
        line = socket.socket()
        line.settimeout(DEADLINE)
        if not is_reading:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALLEST)
        line.connect(place)
        line.sendall(f"GET {BASE}/games/{game}/events HTTP/1.1\r\nHost: noughts\r\n\r\n".encode())
        self._selector.register(line, selectors.EVENT_READ)
        return line

    def _read(self) -> None:
        """Read until all lines are closed."""
        while self._selector.get_map():
            for key, _ in self._selector.select(DEADLINE):
                line = key.fileobj
                assert isinstance(line, socket.socket)
                if not line.recv(65536):
                    self._selector.unregister(line)

    def _close(self) -> None:
        self._selector.close()
        for line in self._lines:
            line.close()
