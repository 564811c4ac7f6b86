"""Readers of streams that reconnect by themselves, as a browser does; and crowds of readers."""

from __future__ import annotations

import selectors
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, suppress
from http.client import HTTPConnection, HTTPResponse
from threading import Condition, Event, Lock, Thread
from typing import Any, NamedTuple, Self, TypeAlias

from support.deadlines import DEADLINE_SECONDS
from support.web.serving import BASE, CUT, Message, read_messages

Address: TypeAlias = tuple[str, int]
"""A host and a port."""

RETRY_SECONDS = 0.02
"""How long a reader waits before it reconnects."""

MAX_CONNECTIONS = 100_000
"""Far more than any test needs."""

SMALL_BUFFER_BYTES = 1024
"""The receive buffer of a stalled reader; the system rounds it up."""


class ReceivedEvent(NamedTuple):
    """An event of a game, received on a stream."""

    version: int
    data: Any


class Reader(AbstractContextManager["Reader"]):
    """Follows a game over any number of connections until it is stopped, and keeps all messages."""

    def __init__(
        self, address: Address, game: str, secret: str | None = None, *, by_query: bool = False
    ) -> None:
        self._address = address
        self._by_query = by_query
        self._secret = secret
        self._socket: socket.socket | None = None
        self._lock = Lock()
        self._stopped = Event()
        self._news = Condition()
        self.game = game
        self.events: list[ReceivedEvent] = []
        self.room: Any = None
        self.position: Any = None
        self.wrong: Counter[str] = Counter()
        """How many events were missed, and how many repeated."""
        self.connections = 0
        """How many connections were opened and answered."""
        self.torn = 0
        """How many of them broke in the middle of a message."""
        self.failure: BaseException | None = None
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def version(self) -> int:
        return self.events[-1].version if self.events else 0

    def stop(self) -> None:
        self._stopped.set()
        with self._lock:
            if self._socket:
                with suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(DEADLINE_SECONDS)
        assert not self._thread.is_alive(), "the reader hangs"

    def wait(self, is_so: Callable[[Self], object], deadline: float = DEADLINE_SECONDS) -> None:
        """Wait for a condition, checked after each message."""
        with self._news:
            self._news.wait_for(lambda: self.failure or is_so(self), deadline)
        if self.failure:
            raise self.failure
        assert is_so(self), f"this never happened in {self.game}: {self.version}, {self.room}"

    def wait_version(self, version: int, deadline: float = DEADLINE_SECONDS) -> list[ReceivedEvent]:
        self.wait(lambda reader: reader.version >= version, deadline)
        return self.events

    def _run(self) -> None:
        try:
            for _ in range(MAX_CONNECTIONS):
                if self._stopped.is_set():
                    return
                if not self._follow():
                    self._stopped.wait(RETRY_SECONDS)
            assert self._stopped.is_set(), "the reader reconnects forever"
        except BaseException as failure:  # noqa: BLE001 - raised by `wait`
            with self._news:
                self.failure = failure
                self._news.notify_all()

    def _follow(self) -> bool:
        """Follow the game until the connection breaks; return whether anything came."""
        connection = HTTPConnection(*self._address, timeout=DEADLINE_SECONDS)
        before = len(self.events)
        self._last_line = b"\n"
        with closing(connection):
            try:
                connection.connect()
                with self._lock:
                    self._socket = connection.sock
                path, headers = self._request()
                connection.request("GET", path, headers=headers)
                response = connection.getresponse()
                assert response.status in (200, 503), (response.status, response.read())
                if response.status == 200:
                    self.connections += 1
                    for message in read_messages(self._lines(response)):
                        self._take(message)
            except CUT:
                pass  # the next connection resumes
            finally:
                with self._lock:
                    self._socket = None
        self.torn += self._last_line != b"\n" and not self._stopped.is_set()
        return len(self.events) > before

    def _lines(self, response: HTTPResponse) -> Iterator[bytes]:
        while not self._stopped.is_set() and (line := response.readline()):
            self._last_line = line
            yield line

    def _request(self) -> tuple[str, dict[str, str]]:
        query = f"?after={self.version}" if self._by_query else ""
        headers = {"Authorization": f"Bearer {self._secret}"} if self._secret else {}
        if self.events and not self._by_query:
            headers["Last-Event-ID"] = str(self.version)
        return f"{BASE}/games/{self.game}/events{query}", headers

    def _take(self, message: Message) -> None:
        with self._news:
            if message.event == "room":
                self.room = message.data
            elif message.event == "position":
                self.position = message.data
                assert self.position["version"] == self.version
            elif message.id:
                self._note(ReceivedEvent(int(message.id), message.data))
            self._news.notify_all()

    def _note(self, event: ReceivedEvent) -> None:
        if event.version <= self.version:
            self.wrong["repeated"] += 1
        self.wrong["missed"] += max(0, event.version - self.version - 1)
        self.events.append(event)


class Crowd(AbstractContextManager["Crowd"]):
    """Many streams of a game, open until the `with` block is left."""

    def __init__(self, address: Address, game: str, size: int, *, is_reading: bool) -> None:
        self._connections: list[socket.socket] = []
        self._selector = selectors.DefaultSelector()
        self._thread = Thread(target=self._read, daemon=True)
        try:
            for _ in range(size):
                self._connections.append(self._connect(address, game, is_reading=is_reading))
        except BaseException:
            self._close()
            raise
        if is_reading:
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        for connection in self._connections:
            if self._thread.ident:
                connection.shutdown(socket.SHUT_RDWR)
        if self._thread.ident:
            self._thread.join(DEADLINE_SECONDS)
            assert not self._thread.is_alive(), "the crowd hangs"
        self._close()

    def _connect(self, address: Address, game: str, *, is_reading: bool) -> socket.socket:
        connection = socket.socket()
        connection.settimeout(DEADLINE_SECONDS)
        if not is_reading:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER_BYTES)
        connection.connect(address)
        connection.sendall(f"GET {BASE}/games/{game}/events HTTP/1.1\r\nHost: noughts\r\n\r\n".encode())
        self._selector.register(connection, selectors.EVENT_READ)
        return connection

    def _read(self) -> None:
        while self._selector.get_map():
            for key, _ in self._selector.select(DEADLINE_SECONDS):
                connection = key.fileobj
                assert isinstance(connection, socket.socket)
                if not connection.recv(65536):
                    self._selector.unregister(connection)

    def _close(self) -> None:
        self._selector.close()
        for connection in self._connections:
            connection.close()
