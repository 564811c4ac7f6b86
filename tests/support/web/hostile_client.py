"""Sends hostile requests: well-formed ones on a persistent connection, each of the others on its own."""

from __future__ import annotations

import re
import socket
import time
from contextlib import AbstractContextManager, suppress
from random import Random

from support.deadlines import DEADLINE_SECONDS
from support.proxy import RESET
from support.web.hostile_requests import HostileRequest
from support.web.stream_reader import Address


def leave_open(place: Address, hostile: HostileRequest) -> socket.socket:
    connection = socket.create_connection(place, DEADLINE_SECONDS)
    with suppress(ConnectionError):
        connection.sendall(hostile.data)
    return connection


def cut(connection: socket.socket, chance: Random) -> list[int]:
    """Close or reset the connection; return the statuses received so far."""
    response = b""
    with connection, suppress(BlockingIOError, ConnectionError):
        if chance.random() < 0.5:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        connection.settimeout(0)
        response = connection.recv(65536)
    return _statuses(response)


def send(place: Address, hostile: HostileRequest) -> list[int]:
    """Send bytes that may never be a complete request; return the statuses of the answers."""
    response = b""
    until = time.monotonic() + DEADLINE_SECONDS
    with socket.create_connection(place, DEADLINE_SECONDS) as connection, suppress(ConnectionError):
        connection.sendall(hostile.data)  # the server stops reading a request that it refuses
        with suppress(OSError):  # it may be shut down already
            connection.shutdown(socket.SHUT_WR)
        while data := connection.recv(65536):
            response += data
            assert time.monotonic() < until, hostile
    return _statuses(response)


def _statuses(response: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", response)]


class PersistentConnection(AbstractContextManager["PersistentConnection"]):
    """A persistent connection for well-formed requests."""

    def __init__(self, place: Address) -> None:
        self.place = place
        self._socket: socket.socket | None = None
        self._came = b""

    def __exit__(self, *_: object) -> None:
        self._close()

    def ask(self, hostile: HostileRequest) -> list[int]:
        """Send requests; return the status of each answer."""
        if self._socket is None:
            self._socket = socket.create_connection(self.place, DEADLINE_SECONDS)
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
        """Read one answer; return its status, and whether it is the last on this connection."""
        while b"\r\n\r\n" not in self._came:
            self._read()
        head, _, self._came = self._came.partition(b"\r\n\r\n")
        head = head.lower()
        status = int(head[9:12])
        is_problem = b"\r\ncontent-type: application/problem+json" in head
        is_unreadable = status == 400 and b"\r\nconnection: close" in head  # uvicorn's own answer
        assert status < 400 or is_problem or is_unreadable, head
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
            raise ConnectionError("the connection is closed")
        self._came += data

    def _close(self) -> None:
        if self._socket:
            self._socket.close()
        self._socket, self._came = None, b""
