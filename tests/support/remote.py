"""A game on a real server for the tests of `noughts join`, behind a proxy that can replace answers."""

from __future__ import annotations

import json
import ssl
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple, Self, TypeAlias

from support.command import environment
from support.deadlines import LONG_DEADLINE_SECONDS
from support.proxy import Connection, Cut, Filter, Proxy
from support.pseudo_terminal import Session, in_terminal
from support.web.matches import Seat
from support.web.serving import Server

Rule: TypeAlias = Iterable[bytes] | Callable[[bytes], bytes]
"""An answer to send without asking the server, or a function that changes the server's answer."""

JSON = "application/json"


def home(folder: Path) -> dict[str, str]:
    """Return an environment that saves seats in this folder."""
    return environment(PYTHONUNBUFFERED="", HOME=str(folder), XDG_DATA_HOME=str(folder))


def seats(folder: Path) -> list[Path]:
    return sorted((folder / "noughts" / "seats").iterdir())


def text(status: int, body: bytes | str, kind: str = JSON, **headers: str) -> list[bytes]:
    """Return an HTTP response, as a rule."""
    content = body.encode() if isinstance(body, str) else body
    fields = {"Content_Type": kind, "Content_Length": str(len(content)), **headers}
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
    return [f"HTTP/1.1 {status} Status\r\n{head}\r\n".encode() + content]


def problem(status: int, code: str, detail: str, **headers: str) -> list[bytes]:
    body = json.dumps({"status": status, "code": code, "detail": detail})
    return text(status, body, "application/problem+json", **headers)


def changed(change: Callable[[dict[str, Any]], object]) -> Rule:
    """Return a rule that changes the JSON of an answer."""

    def rule(answer: bytes) -> bytes:
        parsed = json.loads(answer.partition(b"\r\n\r\n")[2])
        change(parsed)
        return text(200, json.dumps(parsed))[0]

    return rule


def lose(_answer: bytes) -> bytes:
    """Cut the connection instead of forwarding the answer."""
    raise Cut


class Stall:
    """Sends nothing until it is released, then cuts the connection."""

    def __init__(self) -> None:
        self.reached, self._released = Event(), Event()
        self.release = self._released.set

    def __iter__(self) -> Iterator[bytes]:
        self.reached.set()
        self._released.wait(LONG_DEADLINE_SECONDS)
        return iter(())


class Request(NamedTuple):
    """A request that the proxy received."""

    path: str
    headers: dict[str, str]
    body: Any


class AnswerProxy(Proxy):
    """Records requests, one per connection, and applies rules to their answers."""

    def __init__(self, server: tuple[str, int], tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[Request] = []
        self._rules: dict[str, deque[Rule]] = defaultdict(deque)
        self._stalls: list[Stall] = []
        super().__init__(server, tls=tls)

    def __exit__(self, *_: object) -> None:
        for stall in self._stalls:
            stall.release()
        super().__exit__()

    def replace(self, end: str, *rules: Rule) -> None:
        """Apply each rule to one of the next requests whose path ends like this."""
        self._rules[end].extend(rules)

    def stall(self, end: str) -> Stall:
        """Stall the next request whose path ends like this."""
        stall = Stall()
        self._stalls.append(stall)
        self.replace(end, stall)
        return stall

    def bodies(self, end: str) -> list[Any]:
        return [request.body for request in self.requests if request.path.endswith(end)]

    def cut_streams(self) -> None:
        for stream in self.streams:
            stream.cut()

    def send_message(self, message: bytes) -> None:
        """Send a message to the readers of the open streams, as a chunk."""
        with suppress(OSError):
            self.send(b"%x\r\n%b\r\n" % (len(message), message))

    def filters(self, connection: Connection) -> tuple[Filter, Filter]:
        received = answer = b""
        change: Callable[[bytes], bytes] | None = None

        def request(data: bytes) -> bytes:
            nonlocal received, change
            received += data
            if received.startswith((b"GET ", b"POST ")):
                if not _is_whole(received):
                    return b""
                rule = self._record(received)
                if callable(rule):
                    change = rule
                elif rule is not None:
                    for piece in rule:
                        connection.client.sendall(piece)
                    raise Cut
            return received

        def response(data: bytes) -> bytes:
            nonlocal answer
            if change is None:
                return data
            answer += data
            return change(answer) if _is_whole(answer) else b""

        return request, response

    def _record(self, received: bytes) -> Rule | None:
        head, _, body = received.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        path, headers = first.split()[1], dict(line.split(": ", 1) for line in lines)
        self.requests.append(Request(path, headers, json.loads(body) if body else None))
        found = (rules for end, rules in self._rules.items() if path.endswith(end) and rules)
        return next((rules.popleft() for rules in found), None)


def _is_whole(message: bytes) -> bool:
    """Return whether the body is as long as its header says."""
    head, end, body = message.partition(b"\r\n\r\n")
    length = head.lower().partition(b"\r\ncontent-length:")[2].split(b"\r\n")[0]
    return bool(end) and len(body) >= int(length or 0)


class HostedGame(Seat):
    """A game in which bob plays X and waits for an O; frank connects through a proxy."""

    def __init__(self, server: Server, kind: str = "friend", tls: ssl.SSLContext | None = None) -> None:
        with server.client() as client:
            created = client.create(kind, name="bob")
        super().__init__(server.client(created["secrets"]["X"]), created["id"])
        self.server = server
        self.invite: str = created["invite"]
        self.proxy = AnswerProxy((server.host, server.port), tls)

    def __enter__(self) -> Self:
        self._stack = ExitStack()
        self._stack.enter_context(self.client)
        self._stack.enter_context(self.proxy)
        self.come()
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()
        self._stack.close()

    @property
    def address(self) -> str:
        return f"{self.proxy.url}/game/{self.game}"

    @property
    def invitation(self) -> str:
        return f"{self.address}#{self.invite}"

    @property
    def moves(self) -> list[int]:
        return list(self.client.read(self.game)["moves"])

    def come(self) -> None:
        """Let bob follow the game, which makes him present."""
        self._stream = self.follow()

    def go(self) -> None:
        self._stream.close()

    def place(self, *cells: int) -> None:
        """Let bob place tokens on cells from 1 to 9."""
        for cell in cells:
            assert self.move(cell - 1).status == 200

    def seat_frank(self) -> Seat:
        """Let frank join as O, without a terminal."""
        seat = self.client.join(self.game, self.invite, name="frank")
        return Seat(self._stack.enter_context(self.server.client(seat["secrets"]["O"])), self.game)

    def frank(self, folder: Path) -> Seat:
        """Return a client with the seat that frank's terminal has taken."""
        (file,) = seats(folder)
        secret = json.loads(file.read_text())["secret"]
        return Seat(self._stack.enter_context(self.server.client(secret)), self.game)

    def terminal(self, folder: Path, *options: str) -> Session:
        """Join as O in a terminal, as frank."""
        arguments = "join", self.invitation, "--name", "frank", "--color", "never", *options
        return in_terminal(*arguments, env=home(folder))

    def asked(self, folder: Path, *options: str) -> Session:
        """Join as O, and let bob move to 5, so that it is frank's turn."""
        session = self.terminal(folder, *options)
        session.expect("Waiting for bob.")
        self.place(5)
        session.expect("frank, enter a position from 1 to 9: ")
        return session
