"""Readers of streams that reconnect by themselves, as a browser does; and crowds of readers.

The bytes are parsed by hand: an incomplete message does not count.
"""

from __future__ import annotations

import json
import selectors
import socket
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from threading import Condition, Event, Lock, Thread
from typing import Any, NamedTuple, Self, TypeAlias

from support.deadlines import DEADLINE_SECONDS
from support.web.serving import BASE

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


class Refusal(Exception):
    """An answer that is not a stream."""


class EventStreamParser:
    r"""Parses the chunked bytes of a stream into messages, however they are cut.

    >>> parser = EventStreamParser()
    >>> for byte in b'HTTP/1.1 200 OK\r\n\r\nc\r\nid: 1\ndata: \r\n3\r\n7\n\n\r\n':
    ...     for message in parser.feed(bytes([byte])):
    ...         print(message)
    {'id': '1', 'data': '7'}
    """

    def __init__(self) -> None:
        self._raw = b""
        self._text = b""
        self._is_begun = False

    def feed(self, data: bytes) -> list[dict[str, str]]:
        """Parse more bytes; return the messages that they complete."""
        self._raw += data
        if not self._is_begun and not self._begin():
            return []
        while self._take_chunk():
            pass
        *whole, self._text = self._text.split(b"\n\n")
        return [_fields(message.decode()) for message in whole]

    @property
    def is_torn(self) -> bool:
        """Whether the last message is incomplete."""
        return self._is_begun and bool(self._raw or self._text)

    def _begin(self) -> bool:
        head, there, rest = self._raw.partition(b"\r\n\r\n")
        if not there:
            return False
        if not head.startswith(b"HTTP/1.1 200 "):
            raise Refusal(self._raw.decode(errors="replace"))
        self._raw, self._is_begun = rest, True
        return True

    def _take_chunk(self) -> bool:
        line, there, rest = self._raw.partition(b"\r\n")
        size = int(line, 16) if there else 0
        if not size or len(rest) < size + 2:
            return False
        assert rest[size : size + 2] == b"\r\n"
        self._text += rest[:size]
        self._raw = rest[size + 2 :]
        return True


def _fields(message: str) -> dict[str, str]:
    lines = [line.partition(": ") for line in message.split("\n") if not line.startswith(":")]
    return {name: value for name, _, value in lines}


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
        has_received = False
        parser = EventStreamParser()
        try:
            with socket.create_connection(self._address, DEADLINE_SECONDS) as connection:
                with self._lock:
                    self._socket = connection
                try:
                    connection.sendall(self._request())
                    while not self._stopped.is_set() and (data := connection.recv(65536)):
                        self.connections += not has_received
                        has_received = True
                        self._take(parser.feed(data))
                finally:
                    with self._lock:
                        self._socket = None
        except OSError:
            pass  # the next connection resumes
        except Refusal as refusal:
            if "HTTP/1.1 503 " not in str(refusal):
                raise
        self.torn += parser.is_torn and not self._stopped.is_set()
        return has_received

    def _request(self) -> bytes:
        query = f"?after={self.version}" if self._by_query else ""
        lines = [f"GET {BASE}/games/{self.game}/events{query} HTTP/1.1", "Host: noughts"]
        if self._secret:
            lines.append(f"Authorization: Bearer {self._secret}")
        if self.events and not self._by_query:
            lines.append(f"Last-Event-ID: {self.version}")
        return "\r\n".join([*lines, "", ""]).encode()

    def _take(self, messages: list[dict[str, str]]) -> None:
        with self._news:
            for message in messages:
                if message.get("event") == "room":
                    self.room = json.loads(message["data"])
                elif "id" in message:
                    self._note(ReceivedEvent(int(message["id"]), json.loads(message["data"])))
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
