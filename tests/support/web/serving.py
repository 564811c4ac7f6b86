"""Real servers, and clients that use HTTP as programs and browsers do.

Most servers are forked (`tests/support/forked.py`). Nothing here sleeps: a wait ends when data arrives,
when the server exits, or at a deadline, which fails the test.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, suppress
from http.client import HTTPConnection, HTTPException, HTTPMessage, HTTPResponse
from itertools import pairwise
from threading import Condition, Event, Lock, Thread
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urlsplit
from uuid import uuid4

from support.command import COMMAND, environment
from support.deadlines import DEADLINE_SECONDS
from support.forked import fork_server

Check: TypeAlias = Callable[[str, str, "Answer"], None]

CUT = (HTTPException, OSError, ValueError, AttributeError)
"""When a response is cut: http.client fails in odd ways if it is closed in the middle of a line."""

BASE = "/api/v1"

LIMITS = (
    "creates_per_minute", "joins_per_minute", "wrong_secrets_per_minute", "analyses_per_minute",
    "moves_per_minute", "streams_per_address",
)  # fmt: skip
UNLIMITED = {f"NOUGHTS_{limit.upper()}": "0" for limit in LIMITS}
"""All tests share one address, and few of them are about its limits."""

UVICORN = (
    "uvicorn --fd {fd} --timeout-keep-alive 75 --timeout-graceful-shutdown 5"
    " --factory noughts.web:create_app"
)
"""The socket that it gets is {fd}."""

RETRY_SECONDS = 0.02
"""How long a reader waits before it connects again."""


class Place:
    """Where a server can be reached: itself, or a proxy before it."""

    check: Check | None = None
    """Called with method, path and answer for each answer to a client."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port

    def client(self, secret: str | None = None, source: str | None = None) -> Client:
        """Return a client, maybe from another address such as 127.0.0.2."""
        return Client(self, secret, source)

    def socket(self, source: str = "") -> socket.socket:
        return socket.create_connection((self.host, self.port), DEADLINE_SECONDS, (source, 0))

    def connection(self, source: tuple[str, int] | None = None) -> HTTPConnection:
        return HTTPConnection(self.host, self.port, timeout=DEADLINE_SECONDS, source_address=source)


class Server(Place, AbstractContextManager["Server"]):
    """A server that runs until it is stopped or killed, or its `with` block ends."""

    def __init__(self, store: str, *options: str, **settings: str) -> None:
        port = () if "--port" in options else ("--port", "0")
        self._log_file = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the server exits
        arguments = (*port, "--store", store, *options)
        env = environment(**{**UNLIMITED, **settings})
        self._process = fork_server(
            *arguments, env=env, errors=self._log_file.fileno()
        ) or subprocess.Popen(
            [*COMMAND, "serve", *arguments],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._log_file,
            start_new_session=True,
        )
        self._begin(store)
        try:
            self.url = self._address()
        except BaseException:
            self._end()
            raise
        place = urlsplit(self.url)
        super().__init__(place.hostname or "", place.port or 0)

    def _begin(self, store: str) -> None:
        self.store = store
        self.errors = b""
        """What it wrote to standard error; complete once it has ended."""
        # The guard kills the server if the tests themselves are killed.
        self._guard = subprocess.Popen(
            ["/bin/sh", "-c", 'cat > /dev/null; kill -s KILL -- "-$0"', str(self._process.pid)],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def __exit__(self, *_: object) -> None:
        if self.is_running:
            self.kill()

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def log(self) -> bytes:
        """Return what the server has written to standard error."""
        if self._log_file.closed:
            return self.errors
        return os.pread(self._log_file.fileno(), os.fstat(self._log_file.fileno()).st_size, 0)

    def stop(self, deadline: float = DEADLINE_SECONDS) -> int:
        return self.end(signal.SIGTERM, deadline)

    def stop_cleanly(self) -> None:
        assert self.stop() == 0
        assert b"Traceback" not in self.errors, self.errors[-3000:]

    def kill(self) -> int:
        return self.end(signal.SIGKILL)

    def end(self, how: signal.Signals, deadline: float = DEADLINE_SECONDS) -> int:
        """Send a signal; return the exit code."""
        if how == signal.SIGKILL:
            os.killpg(self._process.pid, how)
        else:
            self._process.send_signal(how)
        return self.wait(deadline)

    def wait(self, deadline: float = DEADLINE_SECONDS) -> int:
        """Wait until the server exits; return the exit code."""
        try:
            return self._process.wait(deadline)
        finally:
            self._end()

    def _end(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(DEADLINE_SECONDS)
        self._guard.kill()
        self._guard.communicate()
        if self._process.stdout:
            self._process.stdout.close()
        self.errors = self.log()
        self._log_file.close()

    def _address(self) -> str:
        assert self._process.stdout
        output, until = b"", time.monotonic() + DEADLINE_SECONDS
        while not output.endswith(b"\n"):
            ready, _, _ = select.select([self._process.stdout], [], [], max(0, until - time.monotonic()))
            assert ready, f"the server did not start: {self.log()!r}"
            more = os.read(self._process.stdout.fileno(), 4096)
            assert more, f"the server has exited: {self.log()!r}"
            output += more
        before, there, url = output.decode().strip().partition("Serving on ")
        assert there
        assert not before
        return url


class AsgiServer(Server):
    """The application under another server, on a socket of ours."""

    def __init__(self, store: str, command: str = UVICORN, send_buffer_bytes: int = 0) -> None:
        self._log_file = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the server exits
        with socket.create_server(("127.0.0.1", 0)) as listener:
            if send_buffer_bytes:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer_bytes)
            Place.__init__(self, *listener.getsockname())
            self._process = subprocess.Popen(
                [sys.executable, "-m", *command.format(fd=listener.fileno()).split()],
                env=environment(**UNLIMITED, NOUGHTS_STORE=store),
                stdin=subprocess.DEVNULL,
                stdout=self._log_file,
                stderr=self._log_file,
                pass_fds=(listener.fileno(),),
                start_new_session=True,
            )
        self._begin(store)

    def wait(self, deadline: float = DEADLINE_SECONDS) -> int:
        code = super().wait(deadline)
        return 0 if code == -signal.SIGTERM else code  # uvicorn ends itself with the signal


class Answer(NamedTuple):
    """The response of a server."""

    status: int
    headers: HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str | None:
        """The code of a problem; None if it isn't one."""
        kind = self.headers.get_content_type()
        return str(self.json["code"]) if kind == "application/problem+json" else None


class Client(AbstractContextManager["Client"]):
    """A client with a secret (like programs), with cookies (like browsers), or with neither.

    It keeps its connection open, and is not thread-safe.
    """

    def __init__(self, server: Place, secret: str | None = None, source: str | None = None) -> None:
        self.server = server
        self.source = (source, 0) if source else None
        self.secret = secret
        self.prefix = ""
        """The path at which the application is mounted."""
        self.cookies: dict[tuple[str, str], str] = {}
        """By path and name."""
        self._connection = server.connection(self.source)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        """Send a GET; the path is under /api/v1 unless it begins with //."""
        return self.ask("GET", path, None, **headers)

    def post(self, path: str, body: object, **headers: str) -> Answer:
        return self.ask(
            "POST", path, json.dumps(body).encode(), **{"content_type": "application/json", **headers}
        )

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        """Send any request; `last_event_id=3` is the header Last-Event-ID: 3."""
        whole = self.prefix + full_path(path)
        try:
            self._connection.request(method, whole, body, self.headers(whole, headers))
            response = self._connection.getresponse()
            answer = Answer(response.status, response.headers, response.read())
        except (HTTPException, OSError):
            self._connection.close()
            raise
        self._take_cookies(answer)
        if self.server.check:
            self.server.check(method, whole, answer)
        return answer

    def headers(self, path: str, others: Mapping[str, str]) -> dict[str, str]:
        found = {name.replace("_", "-"): value for name, value in others.items()}
        if self.secret is not None:
            found.setdefault("authorization", f"Bearer {self.secret}")
        cookies = [
            f"{name}={value}"
            for (under, name), value in self.cookies.items()
            if path == under or path.startswith((f"{under}/", f"{under}?"))
        ]
        if cookies:
            found.setdefault("cookie", "; ".join(cookies))
        return found

    def _take_cookies(self, answer: Answer) -> None:
        for line in answer.headers.get_all("set-cookie", []):
            pair, *attributes = line.split(";")
            name, _, value = pair.partition("=")
            path = next(one.strip()[5:] for one in attributes if one.strip().startswith("Path="))
            self.cookies[path, name] = value

    def follow(
        self,
        game: str,
        after: int = 0,
        *,
        reconnects: bool = False,
        news: Condition | None = None,
        **headers: str,
    ) -> Stream:
        """Open a game's stream; leave its `with` block to close it.

        Streams can share `news`; then messages of one stream also wake waits on the others.
        """
        return Stream(self, game, after, reconnects=reconnects, news=news, headers=headers)

    def create(self, opponent: str, **more: object) -> Any:
        """Create a game; return the seat."""
        answer = self.post("/games", {"opponent": opponent, "secret": True, **more})
        assert answer.status == 201, answer.body
        return answer.json

    def join(self, game: str, invite: str | None, **more: object) -> Any:
        """Join a game; return the seat."""
        answer = self.post(
            f"/games/{game}/join", {"invite": invite, "key": new_key(), "secret": True, **more}
        )
        assert answer.status == 200, answer.body
        return answer.json

    def move(self, game: str, cell: int, version: int, key: str | None = None, **more: object) -> Answer:
        body = {"cell": cell, "version": version, "key": key or new_key(), **more}
        return self.post(f"/games/{game}/moves", body)

    def read(self, game: str, version: int | None = None) -> Any:
        answer = self.get(f"/games/{game}" + ("" if version is None else f"?version={version}"))
        assert answer.status == 200, answer.body
        return answer.json


class Message(NamedTuple):
    """A message of a stream: an event of the game with its version, or a named one without."""

    event: str
    id: str | None
    data: Any


class Stream(AbstractContextManager["Stream"]):
    """A stream of a game, read by a thread that keeps all messages.

    If it reconnects, it goes on after the last event when the connection is cut, as a browser does.
    """

    def __init__(
        self,
        client: Client,
        game: str,
        after: int = 0,
        *,
        reconnects: bool = False,
        news: Condition | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.game = game
        self.messages: list[Message] = []
        self.refusal: Answer | None = None
        self.is_over = self.was_ended = False
        """The latter: whether the server ended it in order, and the connection wasn't cut."""
        self.connections = self.torn = 0
        """How many connections were answered, and how many of them broke in the middle of a message."""
        self._client, self._after, self._reconnects = client, after, reconnects
        self._headers = headers or {}
        self._connection: Any = None
        self._socket: Any = None
        self._failure: BaseException | None = None
        self._news, self._closing, self._lock = news or Condition(), Event(), Lock()
        opened = () if reconnects else (self._open(),)
        self.headers = opened[0].headers if opened else HTTPMessage()
        self._thread = Thread(target=self._run, args=opened, daemon=True)
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._closing.set()
        with self._lock, suppress(OSError):
            if self._socket:
                self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(DEADLINE_SECONDS)
        assert not self._thread.is_alive(), "the reader hangs"

    @property
    def events(self) -> list[Message]:
        return [message for message in tuple(self.messages) if not message.event]

    @property
    def version(self) -> int:
        last = next((one.id for one in reversed(tuple(self.messages)) if one.id), None)
        return int(last or self._after)

    @property
    def rooms(self) -> list[Any]:
        return self.named("room")

    @property
    def positions(self) -> list[Any]:
        return self.named("position")

    @property
    def numbered(self) -> list[tuple[int, Any]]:
        """Return the events with their versions."""
        return [(int(message.id or 0), message.data) for message in self.events]

    @property
    def wrong(self) -> Counter[str]:
        """Return how many events were missed, and how many came again."""
        versions = [self._after, *(version for version, _ in self.numbered)]
        steps = [now - before for before, now in pairwise(versions)]
        return Counter(
            missed=sum(max(0, step - 1) for step in steps), repeated=sum(step < 1 for step in steps)
        )

    def named(self, event: str) -> list[Any]:
        return [message.data for message in tuple(self.messages) if message.event == event]

    def wait(self, is_so: Callable[[Stream], object], deadline: float = DEADLINE_SECONDS) -> None:
        """Wait for a condition, checked after each message."""
        with self._news:
            came = self._news.wait_for(lambda: is_so(self) or self.is_over, deadline)
            if self._failure:
                raise self._failure
            assert is_so(self), "the stream is over" if came else f"not received: {self.messages}"

    def wait_version(self, version: int, deadline: float = DEADLINE_SECONDS) -> list[Message]:
        """Wait for the event of a version, and return all events."""
        self.wait(lambda _: self.version >= version, deadline)
        return self.events

    def wait_turn(self, mark: str, after: int = 0, deadline: float = DEADLINE_SECONDS) -> Any:
        """Wait until it is a mark's turn after a version, or the game is over; return the position."""

        def is_so(stream: Stream) -> bool:
            position: Any = stream.positions[-1] if stream.positions else {"version": -1}
            if position["version"] != stream.version or stream.version < after:
                return False  # more events of the same command may follow
            is_second = position["first"] != mark
            return bool(position["over"] or len(position["moves"]) % 2 == is_second)

        self.wait(is_so, deadline)
        return self.positions[-1]

    def wait_room(self, is_so: Callable[[Any], object], deadline: float = DEADLINE_SECONDS) -> Any:
        """Wait for a condition of the latest room, and return it."""
        self.wait(lambda _: self.rooms and is_so(self.rooms[-1]), deadline)
        return self.rooms[-1]

    def wait_over(self) -> None:
        with self._news:
            assert self._news.wait_for(lambda: self.is_over, DEADLINE_SECONDS), "the stream stays open"

    def _run(self, *opened: HTTPResponse) -> None:
        """Read a stream, or one after the other until this is closed."""
        try:
            for response in opened:
                self._read(response)
            while self._reconnects and not self._closing.wait(RETRY_SECONDS if self.connections else 0):
                with suppress(*CUT):
                    self._read(self._open())
        except BaseException as failure:  # noqa: BLE001 - raised by `wait`
            self._failure = failure
        with self._news:
            self.is_over = True
            self._news.notify_all()

    def _open(self) -> HTTPResponse:
        client, headers = self._client, {**self._headers}
        path = f"{client.prefix}{BASE}/games/{self.game}/events"
        if self.connections % 2:  # browsers send the header, and programs what they like
            headers["last_event_id"] = str(self.version)
        elif self.version:
            path += f"?after={self.version}"
        connection = client.server.connection(client.source)
        try:
            connection.request("GET", path, headers=client.headers(path, headers))
            with self._lock:
                self._connection, self._socket = connection, connection.sock
            response = connection.getresponse()
            if response.status == 200:
                self.connections += 1
                self.refusal = None
            else:
                self.refusal = Answer(response.status, response.headers, response.read())
                if client.server.check:
                    client.server.check("GET", path, self.refusal)
                assert response.status == 503 or not self._reconnects, self.refusal
        except BaseException:
            connection.close()
            raise
        return response

    def _read(self, response: HTTPResponse) -> None:
        last_line = b"\n"

        def lines() -> Iterator[bytes]:
            nonlocal last_line
            while not self._closing.is_set() and (line := response.readline()):
                last_line = line
                yield line

        with closing(self._connection):
            try:
                for message in () if self.refusal else read_messages(lines()):
                    with self._news:
                        self.messages.append(message)
                        if self._reconnects and message.event == "position":
                            assert message.data["version"] == self.version
                        self._news.notify_all()
                self.was_ended = True
            except CUT:
                pass  # the next connection goes on
        self.torn += last_line != b"\n" and not self._closing.is_set()


def read_messages(lines: Iterable[bytes]) -> Iterator[Message]:
    """Read the lines of a stream; an incomplete message does not count."""
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line[:-1].decode().partition(": ")
        if name:
            assert name in ("event", "id", "data", "retry")
            assert name not in fields
            fields[name] = value
            continue
        if "data" in fields:
            yield Message(fields.get("event", ""), fields.get("id"), json.loads(fields["data"]))
        else:
            assert fields == {"retry": "1000"}
        fields = {}


def full_path(path: str) -> str:
    """Return the whole path: under /api/v1, unless it begins with //.

    >>> full_path("/games"), full_path("//metrics")
    ('/api/v1/games', '/metrics')
    """
    return path[1:] if path.startswith("//") else BASE + path


def wait_until(is_so: Callable[[], object]) -> None:
    until = time.monotonic() + DEADLINE_SECONDS
    while not is_so():
        assert time.monotonic() < until, "the condition never became true"


def new_key() -> str:
    return uuid4().hex
