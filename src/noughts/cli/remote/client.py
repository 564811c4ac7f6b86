"""The HTTP client: JSON requests, and the event stream of a game.

Every call blocks, so run it in a thread. The server is not trusted: answers are limited in size and in
time, redirects are not followed, and certificates are checked.
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
REQUEST_TIMEOUT_SECONDS = 15.0
"""For a whole answer, and for the head of a stream."""
SILENCE_LIMIT_SECONDS = 25.0
"""A stream without a byte for this long is dead: servers send a ping every 15 s."""
MAX_ANSWER_BYTES = 1 << 20
MAX_MESSAGE_BYTES = 1 << 16
_MAX_DETAIL_CHARACTERS = 300
_MAX_RETRY_AFTER_SECONDS = 60.0
_JSON, _PROBLEM, _STREAM = "application/json", "application/problem+json", "text/event-stream"


class Unreachable(NoughtsError):
    """No answer, or a temporary failure: another try may succeed."""

    exit_code = 1
    retry_after_seconds = 0.0
    """How long the server asked to wait."""


class TimedOut(Unreachable):
    """No answer within the time limit."""


class NotANoughtsServer(Unreachable):
    """Something else answers at that address."""


class BadResponse(NoughtsError):
    """The server sent something invalid; another try would not help."""

    exit_code = 1


class RequestRefused(NoughtsError):
    """The server refused the request; `code` is the reason for programs."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


class GameNotFound(NoughtsError):
    """The server has no such game, or the invitation is invalid."""


class StreamMessage(Value):
    event: str
    id: str | None
    data: str


class _StreamCloser:
    """Closes a stream from another thread; for its reader that is a normal end of the stream."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._is_closed = False

    def __call__(self) -> None:
        self._is_closed = True
        _shut_down(self._connection)

    def read(self, response: http.client.HTTPResponse) -> bytes:
        """Return the next bytes; none at the end."""
        try:
            return response.read1(MAX_MESSAGE_BYTES)
        except (OSError, http.client.HTTPException):
            if self._is_closed:  # in the middle of a chunk, or answered with a reset
                return b""
            raise


class Client(Value):
    address: Address
    timeout_seconds: float = REQUEST_TIMEOUT_SECONDS
    silence_seconds: float = SILENCE_LIMIT_SECONDS

    def request(
        self, path: str, body: dict[str, object] | None = None, secret: str | None = None
    ) -> dict[str, object]:
        """GET a path, or POST to it if there is a body; return the JSON object of the answer."""
        headers = {"Accept": _JSON, **_authorization(secret)}
        with self._errors_translated(), self._connect() as (connection, _):
            if body is None:
                connection.request("GET", API + path, headers=headers)
            else:
                headers["Content-Type"] = _JSON
                connection.request("POST", API + path, json.dumps(body).encode(), headers)
            with connection.getresponse() as response:
                content = self._read_body(response)
                self._check_status(response, content)
                if _media_type(response) != _JSON:
                    raise self._not_a_noughts_server()
                return self._parse_object(content)

    def stream(
        self, game: str, after: int, secret: str | None, opened: Callable[[Callable[[], None]], None]
    ) -> Iterator[StreamMessage]:
        """Yield the messages of a game after a version; `opened` gets a function that ends the stream."""
        headers = {"Accept": _STREAM, "Last-Event-ID": str(after), **_authorization(secret)}
        with self._errors_translated(), self._connect() as (connection, deadline):
            connection.request("GET", f"{API}/games/{game}/events", headers=headers)
            sock = connection.sock  # http.client forgets it if the answer ends it
            with connection.getresponse() as response:
                if response.status != http.client.OK:
                    self._check_status(response, self._read_body(response))
                if _media_type(response) != _STREAM or response.status != http.client.OK:
                    raise self._not_a_noughts_server()
                sock.settimeout(self.silence_seconds)
                deadline.cancel()
                close = _StreamCloser(sock)
                opened(close)
                yield from parse_stream(iter(lambda: close.read(response), b""))

    @contextmanager
    def _connect(self) -> Iterator[tuple[http.client.HTTPConnection, Timer]]:
        """Open a connection for one request, with the timer that closes it when time is up."""
        host, port, seconds = self.address.host, self.address.port, self.timeout_seconds
        connection = http.client.HTTPConnection(host, port, timeout=seconds)
        if self.address.scheme == "https":
            context = ssl.create_default_context()
            connection = http.client.HTTPSConnection(host, port, timeout=seconds, context=context)
        try:
            connection.connect()
            # The socket's own timeout starts again with every byte, so it never ends a slow answer.
            deadline = Timer(seconds, _shut_down, [connection.sock])
            deadline.daemon = True
            deadline.start()
            try:
                yield connection, deadline
            finally:
                deadline.cancel()
        finally:
            connection.close()

    def _read_body(self, response: http.client.HTTPResponse) -> bytes:
        """Return the whole body; without a length, part of it could be missing unnoticed."""
        has_end = response.chunked or response.length is not None
        content = response.read(MAX_ANSWER_BYTES + 1)
        if len(content) > MAX_ANSWER_BYTES:
            raise BadResponse(f"{self.address.server} sent an answer that is too long")
        if response.length or not has_end:
            raise http.client.IncompleteRead(content, response.length)
        return content

    def _check_status(self, response: http.client.HTTPResponse, content: bytes) -> None:
        """Raise an error unless the status is a success; use the server's own message if it has one."""
        status, server = response.status, self.address.server
        if 200 <= status < 300:
            return
        if 300 <= status < 400:
            raise NotANoughtsServer(f"{server} redirects to another address, which is not followed")
        if _media_type(response) != _PROBLEM:
            if status >= 500:
                raise Unreachable(f"{server} failed with status {status}")
            raise self._not_a_noughts_server()
        code, detail = (self._parse_object(content).get(name) for name in ("code", "detail"))
        if not isinstance(code, str) or not isinstance(detail, str):
            raise BadResponse(f"{server} refused without giving a reason")
        reason = printable(detail[:_MAX_DETAIL_CHARACTERS]).removesuffix(".")
        reason = f"{reason[:1].lower()}{reason[1:]}"
        if status >= 500 or status == http.client.TOO_MANY_REQUESTS:
            temporary = Unreachable(reason)
            temporary.retry_after_seconds = _retry_after_seconds(response)
            raise temporary
        raise RequestRefused(code, reason)

    def _parse_object(self, content: bytes) -> dict[str, object]:
        try:
            parsed = read_json(content.decode())
        except (RecordError, UnicodeDecodeError):
            parsed = None
        if not isinstance(parsed, dict):
            raise BadResponse(f"{self.address.server} sent an answer that is not a JSON object")
        return parsed

    def _not_a_noughts_server(self) -> NotANoughtsServer:
        return NotANoughtsServer(f"{self.address.server} is not a noughts server")

    @contextmanager
    def _errors_translated(self) -> Iterator[None]:
        """Turn the errors of sockets, TLS and HTTP into our own."""
        host, server = quoted(self.address.host), self.address.server
        try:
            yield
        except socket.gaierror:
            raise Unreachable(f"the host {host} is unknown") from None
        except ssl.SSLCertVerificationError as error:
            why = printable(error.verify_message)
            raise Unreachable(f"the certificate of {host} is not trusted: {why}") from None
        except ssl.SSLError as error:
            why = printable(str(error.reason))
            raise Unreachable(f"no secure connection to {host}: {why}") from None
        except TimeoutError:
            raise TimedOut(f"{server} does not answer") from None
        except (http.client.RemoteDisconnected, http.client.IncompleteRead):
            raise Unreachable(f"lost the connection to {server}") from None
        except OSError as error:
            raise Unreachable(f"{server} cannot be reached: {error.strerror or error}") from None
        except (http.client.HTTPException, ValueError):
            raise self._not_a_noughts_server() from None


def parse_stream(chunks: Iterable[bytes]) -> Iterator[StreamMessage]:
    r"""Parse server-sent events; an incomplete message at the end is dropped.

    >>> [*parse_stream([b"id: 7\nda", b"ta: {}\n", b"\n: comment\n\ndata: lost"])]
    [StreamMessage(event='message', id='7', data='{}')]
    """
    fields: dict[str, str] = {}
    size = 0
    for line in _lines(chunks):
        if line:
            size += len(line)
            if size > MAX_MESSAGE_BYTES:
                raise BadResponse("the stream has a message that is too long")
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            fields[name] = f"{fields[name]}\n{value}" if name == "data" and name in fields else value
            continue
        if "data" in fields:
            yield StreamMessage(fields.get("event") or "message", fields.get("id"), fields["data"])
        fields, size = {}, 0


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > MAX_MESSAGE_BYTES:
            raise BadResponse("the stream has a line that is too long")
        for line in lines:
            try:
                yield line.removesuffix(b"\r").decode()
            except UnicodeDecodeError:
                raise BadResponse("the stream is not text") from None


def _authorization(secret: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"} if secret else {}


def _media_type(response: http.client.HTTPResponse) -> str:
    return (response.getheader("Content-Type") or "").partition(";")[0].strip().lower()


def _retry_after_seconds(response: http.client.HTTPResponse) -> float:
    text = response.getheader("Retry-After") or ""
    return min(float(text), _MAX_RETRY_AFTER_SECONDS) if text.isascii() and text.isdecimal() else 0.0


def _shut_down(connection: socket.socket) -> None:
    """Close a connection that another thread reads from; TLS gets no closing handshake."""
    with suppress(OSError):
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
