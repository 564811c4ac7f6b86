"""What a server is asked, and what it tells: HTTP, and a stream of events.

Everything here waits, and is meant to be called in a thread of its own. Nothing is believed: an answer
has a limit in length and in time, nobody is sent elsewhere, and a certificate is checked.
"""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from threading import Timer

from noughts.cli.remote.address import Address
from noughts.core.codec import read_json
from noughts.core.errors import NoughtsError, RecordError, printable, quoted
from noughts.core.value import Value

API = "/api/v1"
PATIENCE = 15.0
"""Seconds for a whole answer."""
SILENCE_LIMIT_SECONDS = 25.0
"""After so long without a byte a stream is dead: a server sends a ping every 15 s."""
LONGEST_ANSWER = 1 << 20
LONGEST_MESSAGE = 1 << 16
_LONGEST_DETAIL = 300
_LONGEST_REST = 60.0
_JSON, _PROBLEM, _STREAM = "application/json", "application/problem+json", "text/event-stream"


class Unreachable(NoughtsError):
    """No answer, or one that says: not now. Later there may be another."""

    exit_code = 1
    rest = 0.0
    """How many seconds the server wants to be left alone for."""


class TimedOut(Unreachable):
    """Nothing came within the time limit."""


class NotAServer(Unreachable):
    """Somebody answers there, but no server of noughts."""


class Garbled(NoughtsError):
    """A server says what none can mean; asked again, it would say it again."""

    exit_code = 1


class Refused(NoughtsError):
    """The server will not do that; `code` says why, for programs."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


class Message(Value):
    """One message of a stream."""

    event: str
    id: str | None
    data: str


class _Call(Value):
    """A request under way: the line, and what cuts it off when time is up."""

    connection: http.client.HTTPConnection
    deadline: Timer


class _Ending:
    """Ends a stream from outside: whoever reads it then is at its end, and nothing is broken."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._is_ended = False

    def __call__(self) -> None:
        """Hang up."""
        self._is_ended = True
        _hang_up(self._line)

    def read(self, response: http.client.HTTPResponse) -> bytes:
        """Return what comes next, and nothing at the end."""
        try:
            return response.read1(LONGEST_MESSAGE)
        except (OSError, http.client.HTTPException):
            if self._is_ended:  # in the midst of a chunk, or answered with a reset
                return b""
            raise


class Server:
    """A server, and how long it is waited for."""

    def __init__(
        self, address: Address, patience: float = PATIENCE, silence: float = SILENCE_LIMIT_SECONDS
    ) -> None:
        self.address = address
        self._patience = patience
        self._silence = silence

    def ask(
        self, path: str, body: dict[str, object] | None = None, secret: str | None = None
    ) -> dict[str, object]:
        """Ask for something, or with a body for something to be done, and return the answer."""
        headers = {"Accept": _JSON, **_authorized(secret)}
        with self._translated(), self._call() as call:
            if body is None:
                call.connection.request("GET", API + path, headers=headers)
            else:
                headers["Content-Type"] = _JSON
                call.connection.request("POST", API + path, json.dumps(body).encode(), headers)
            with call.connection.getresponse() as response:
                written = self._body(response)
                self._check(response, written)
                if _kind(response) != _JSON:
                    raise self._stranger()
                return self._object(written)

    def listen(
        self, game: str, after: int, secret: str | None, opened: Callable[[Callable[[], None]], None]
    ) -> Iterator[Message]:
        """Tell all that happens in a game after a version; `opened` is given what ends that."""
        headers = {"Accept": _STREAM, "Last-Event-ID": str(after), **_authorized(secret)}
        with self._translated(), self._call() as call:
            call.connection.request("GET", f"{API}/games/{game}/events", headers=headers)
            line = call.connection.sock  # a connection that ends with its answer forgets it
            with call.connection.getresponse() as response:
                if response.status != http.client.OK:
                    self._check(response, self._body(response))
                if _kind(response) != _STREAM or response.status != http.client.OK:
                    raise self._stranger()
                line.settimeout(self._silence)
                call.deadline.cancel()
                ending = _Ending(line)
                opened(ending)
                yield from parse_stream(iter(lambda: ending.read(response), b""))

    @contextmanager
    def _call(self) -> Iterator[_Call]:
        """Open a line for one request; what is not answered in time is cut off."""
        address = self.address
        if address.scheme == "https":
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                address.host,
                address.port,
                timeout=self._patience,
                context=ssl.create_default_context(),
            )
        else:
            connection = http.client.HTTPConnection(address.host, address.port, timeout=self._patience)
        try:
            connection.connect()
            # A byte now and then would keep the socket's own limit from ever being reached.
            deadline = Timer(self._patience, _hang_up, [connection.sock])
            deadline.daemon = True
            deadline.start()
            try:
                yield _Call(connection, deadline)
            finally:
                deadline.cancel()
        finally:
            connection.close()

    def _body(self, response: http.client.HTTPResponse) -> bytes:
        """Return what was answered, to its end: one that does not tell its length may be cut anywhere."""
        has_end = response.chunked or response.length is not None
        written = response.read(LONGEST_ANSWER + 1)
        if len(written) > LONGEST_ANSWER:
            raise Garbled(f"{self.address.server} gives an answer without an end")
        if response.length or not has_end:
            raise http.client.IncompleteRead(written, response.length)
        return written

    def _check(self, response: http.client.HTTPResponse, written: bytes) -> None:
        """Refuse what is no good answer, in the server's own words where it has some."""
        status = response.status
        if 200 <= status < 300:
            return
        if 300 <= status < 400:
            raise NotAServer(f"{self.address.server} sends us elsewhere, and we do not go there")
        if _kind(response) != _PROBLEM:
            if status >= 500:
                raise Unreachable(f"{self.address.server} is in trouble: it answers {status}")
            raise self._stranger()
        code, detail = (self._object(written).get(name) for name in ("code", "detail"))
        if not isinstance(code, str) or not isinstance(detail, str):
            raise Garbled(f"{self.address.server} refuses, and does not say why")
        words = printable(detail[:_LONGEST_DETAIL]).removesuffix(".")
        words = f"{words[:1].lower()}{words[1:]}"
        if status >= 500 or status == http.client.TOO_MANY_REQUESTS:
            not_now = Unreachable(words)
            not_now.rest = _rest(response)
            raise not_now
        raise Refused(code, words)

    def _object(self, written: bytes) -> dict[str, object]:
        try:
            read = read_json(written.decode())
        except (RecordError, UnicodeDecodeError):
            read = None
        if not isinstance(read, dict):
            raise Garbled(f"{self.address.server} gives an answer that cannot be read")
        return read

    def _stranger(self) -> NotAServer:
        return NotAServer(f"no server of noughts answers at {self.address.server}")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Tell what can go wrong with a line in a sentence; nothing foreign gets past."""
        host, server = quoted(self.address.host), self.address.server
        try:
            yield
        except socket.gaierror:
            raise Unreachable(f"no host is known as {host}") from None
        except ssl.SSLCertVerificationError as error:
            why = printable(error.verify_message)
            raise Unreachable(f"the certificate of {host} is not trusted: {why}") from None
        except ssl.SSLError as error:
            raise Unreachable(
                f"there is no secure line to {host}: {printable(str(error.reason))}"
            ) from None
        except TimeoutError:
            raise TimedOut(f"{server} does not answer") from None
        except (http.client.RemoteDisconnected, http.client.IncompleteRead):
            raise Unreachable(f"the line to {server} broke") from None
        except OSError as error:
            raise Unreachable(f"{server} cannot be reached: {error.strerror or error}") from None
        except (http.client.HTTPException, ValueError):
            raise self._stranger() from None


def parse_stream(chunks: Iterable[bytes]) -> Iterator[Message]:
    r"""Read a stream of messages; one that is not whole at the end is none.

    >>> [*parse_stream([b"id: 7\nda", b"ta: {}\n", b"\n: still here\n\ndata: lost"])]
    [Message(event='message', id='7', data='{}')]
    """
    fields: dict[str, str] = {}
    size = 0
    for line in _lines(chunks):
        if line:
            size += len(line)
            if size > LONGEST_MESSAGE:
                raise Garbled("the stream has a message without an end")
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            fields[name] = f"{fields[name]}\n{value}" if name == "data" and name in fields else value
            continue
        if "data" in fields:
            yield Message(fields.get("event") or "message", fields.get("id"), fields["data"])
        fields, size = {}, 0


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    begun = b""
    for chunk in chunks:
        *lines, begun = (begun + chunk).split(b"\n")
        if len(begun) > LONGEST_MESSAGE:
            raise Garbled("the stream has a line without an end")
        for line in lines:
            try:
                yield line.removesuffix(b"\r").decode()
            except UnicodeDecodeError:
                raise Garbled("the stream is no text") from None


def _authorized(secret: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"} if secret else {}


def _kind(response: http.client.HTTPResponse) -> str:
    return (response.getheader("Content-Type") or "").partition(";")[0].strip().lower()


def _rest(response: http.client.HTTPResponse) -> float:
    text = response.getheader("Retry-After") or ""
    return min(float(text), _LONGEST_REST) if text.isascii() and text.isdecimal() else 0.0


def _hang_up(line: socket.socket) -> None:
    """End a line under whoever waits on it; a secured one has no time for courtesies either."""
    with suppress(OSError):
        socket.socket.shutdown(line, socket.SHUT_RDWR)
