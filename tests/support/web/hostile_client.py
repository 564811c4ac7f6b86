"""How hostile requests are sent: in due form on a line that is kept, or just so on one that is not."""

from __future__ import annotations

import re
import socket
import struct
import time
from contextlib import suppress
from random import Random
from typing import Self

from support.web.hostile_requests import Hostile
from support.web.serving import DEADLINE
from support.web.stream_reader import Place

RESET = struct.pack("ii", 1, 0)
"""A line that is closed with this is reset, and does not end in order."""


def leave_open(place: Place, hostile: Hostile) -> socket.socket:
    """Send something, and wait for nothing."""
    line = socket.create_connection(place, DEADLINE)
    with suppress(ConnectionError):
        line.sendall(hostile.data)
    return line


def cut(line: socket.socket, chance: Random) -> list[int]:
    """Hang up without waiting any longer, and return what was answered until then."""
    said = b""
    with line, suppress(BlockingIOError, ConnectionError):
        if chance.random() < 0.5:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        line.settimeout(0)
        said = line.recv(65536)
    return _statuses(said)


def send(place: Place, hostile: Hostile) -> list[int]:
    """Send something of which nobody knows where it ends, and return how it was answered."""
    said = b""
    until = time.monotonic() + DEADLINE
    with socket.create_connection(place, DEADLINE) as line, suppress(ConnectionError):
        line.sendall(hostile.data)  # what is refused early is not read to its end
        with suppress(OSError):  # it may be down already
            line.shutdown(socket.SHUT_WR)
        while data := line.recv(65536):
            said += data
            assert time.monotonic() < until, hostile
    return _statuses(said)


def _statuses(said: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", said)]


class Line:
    """A line that is kept as long as the server keeps it, for what is asked in due form."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._socket: socket.socket | None = None
        self._came = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def ask(self, hostile: Hostile) -> list[int]:
        """Send requests, and return the status of each answer."""
        if self._socket is None:
            self._socket = socket.create_connection(self.place, DEADLINE)
        statuses = []
        try:
            self._socket.sendall(hostile.data)
            for method in hostile.asks:
                status, is_last = self._answer(method)
                statuses.append(status)
                if is_last:
                    self._close()
                    break
        except ConnectionError:
            self._close()
        return statuses

    def _answer(self, method: str) -> tuple[int, bool]:
        """Read one answer, and tell whether it is the last on this line."""
        while b"\r\n\r\n" not in self._came:
            self._read()
        head, _, self._came = self._came.partition(b"\r\n\r\n")
        head = head.lower()
        status = int(head[9:12])
        assert status < 400 or b"\r\ncontent-type: application/problem+json" in head
        length = re.search(rb"\r\ncontent-length: (\d+)", head)
        size = int(length[1]) if length and method != "HEAD" else 0
        while len(self._came) < size:
            self._read()
        self._came = self._came[size:]
        return status, b"\r\nconnection: close" in head

    def _read(self) -> None:
        assert self._socket
        data = self._socket.recv(65536)
        if not data:
            raise ConnectionError("the line is closed")
        self._came += data

    def _close(self) -> None:
        if self._socket:
            self._socket.close()
        self._socket, self._came = None, b""
