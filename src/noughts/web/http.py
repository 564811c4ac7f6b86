"""HTTP/1.1 for the application: what `noughts serve` runs, on httptools' parser.

A connection answers one request at a time. Until then nothing more is read, except requests that came in
the same piece.
"""

from __future__ import annotations

import asyncio
from collections import deque
from functools import lru_cache, partial
from http import HTTPStatus
from urllib.parse import unquote

import httptools

from noughts.web.problems import ApiError
from noughts.web.request import HEADERS_READ, MAX_BODY_BYTES, Header, Pending, Request, Response, problem
from noughts.web.routes import Result
from noughts.web.server import Server
from noughts.web.streams import EventStream

MAX_HEAD_BYTES = 16 * 1024
"""Of a request's first line and headers together."""

PIECE_BYTES = 4 * 1024
"""How much the parser gets at once: what it holds back is counted after each piece."""

TOO_LARGE = ApiError("tooLarge", f"a body has {MAX_BODY_BYTES} bytes at most")
HEAD_TOO_LARGE = ApiError("headersTooLarge", f"a request's head has {MAX_HEAD_BYTES} bytes at most")

REQUEST_TIMEOUT_SECONDS = 10.0
IDLE_TIMEOUT_SECONDS = 75.0

MAX_UNSENT_BYTES = 8 * 1024
"""How much may wait to be sent before a reader counts as too slow."""

MAX_PIPELINED = 64
"""How many requests may wait for the answer to the one before."""


class Connection(asyncio.Protocol):
    """One connection; also the transport of its stream, if it has one."""

    __slots__ = (
        "_app", "_body", "_framing", "_head_bytes", "_headers", "_held", "_hosts", "_is_closing",
        "_is_in_body", "_is_last", "_is_reading", "_is_slow", "_method", "_parser", "_peer",
        "_received", "_refusal", "_requests", "_server", "_stream", "_transport", "_unsent", "_url",
        "deadline", "is_busy",
    )  # fmt: skip

    def __init__(self, server: Server) -> None:
        self._server = server
        self._app = server.app
        self._parser = httptools.HttpRequestParser(self)
        self._requests: deque[Request | Response] = deque()
        """Complete requests to answer; a refusal of what can't be read is the last."""
        self._held = b""
        """What came while a request was being answered, before reading was paused."""
        self._stream: EventStream | None = None
        self._unsent = b""
        """The head of the stream's response, until its first frame."""
        self._refusal: ApiError | None = None
        self._is_last = False
        """True when nothing more is read: the connection is closed after the answers."""
        self._is_slow = False
        """True while the send buffer is full."""
        self._is_closing = False
        self.is_busy = False
        """True while a request is being answered."""
        self.deadline: float | None = None
        """When the connection is closed unless a complete request has come."""
        self._reset()

    def _reset(self) -> None:
        self._url = b""
        self._headers: dict[bytes, bytes] = {}
        self._body = b""
        self._framing = self._method = b""
        """The header that says how long the body is, and the method, if they are needed once more."""
        self._head_bytes = self._hosts = 0
        self._received = 0
        """How much has come of the head or the body, apart from its first piece."""
        self._is_reading = self._is_in_body = False

    # The connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # a socket's
        self._transport = transport
        peer = transport.get_extra_info("peername")
        self._peer = str(peer[0]) if peer else ""
        transport.set_write_buffer_limits(high=MAX_UNSENT_BYTES)
        self.deadline = self._server.now() + REQUEST_TIMEOUT_SECONDS
        if refusal := self._server.admit(self, self._peer):
            self._refuse(refusal)

    def connection_lost(self, _error: Exception | None) -> None:
        self._is_closing = True
        self._requests.clear()
        self._server.remove(self, self._peer)
        if self._stream:
            self._stream.close()

    def pause_writing(self) -> None:
        self._is_slow = True

    def resume_writing(self) -> None:
        self._is_slow = False
        self._answer_next()

    def check_deadline(self, now: float) -> None:
        """Close a connection on which no complete request has come for too long."""
        if self.deadline is None or now < self.deadline:
            return
        if self._is_closing:  # what was to be sent is not read
            self._transport.abort()
        elif self.is_busy or self._requests:
            pass  # the next request's time starts after the answers before it
        elif self._is_reading:
            seconds = f"{REQUEST_TIMEOUT_SECONDS:.0f} s"
            self._refuse(ApiError("timeout", f"the request was not complete within {seconds}"))
        else:
            self._close()

    def shut_down(self) -> None:
        """Close as soon as the current request is answered."""
        self._is_last = True
        if not self.is_busy and not self._stream:
            self._close()

    def eof_received(self) -> bool:
        """Answer the requests so far, and then close."""
        self._is_last = True
        return self.is_busy or bool(self._requests)

    def _close(self) -> None:
        self._is_closing = True
        self.deadline = self._server.now() + REQUEST_TIMEOUT_SECONDS
        self._transport.close()

    def _abort(self) -> None:
        self._is_closing = True
        self._requests.clear()
        self._transport.abort()

    # Reading

    def data_received(self, data: bytes) -> None:
        if self._is_last or self._is_closing:
            return
        if self._stream:  # nothing more is expected
            self._abort()
            return
        if self.is_busy or self._is_slow:
            self._held += data
            self._transport.pause_reading()
            return
        self._read(data)
        self._answer_next()

    def _read(self, data: bytes) -> None:
        for start in range(0, len(data), PIECE_BYTES):
            piece = data[start : start + PIECE_BYTES]
            if self._is_reading:
                self._received += len(piece)
            while piece and not self._is_last:
                piece = self._parse(piece)
            if self._is_reading and self._received > MAX_HEAD_BYTES and not self._is_last:
                # The parser holds back a header that never ends, and chunks that have no data.
                self._is_last = True
                self._refusal = TOO_LARGE if self._is_in_body else HEAD_TOO_LARGE
            if self._refusal:
                self._requests.append(problem(self._refusal))
            if self._is_last:
                return

    def _parse(self, data: bytes) -> bytes:
        """Feed the parser; return what to feed next after a request for an upgrade."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:  # declined by going on as before
            left = data[upgrade.args[0] :]
            if not self._framing:
                return left
            # The parser takes the body for another protocol: a new one reads it, after a head of its own.
            self._parser = httptools.HttpRequestParser(self)
            return b"POST / HTTP/1.1\r\n%b\r\n\r\n%b" % (self._framing, left)
        except httptools.HttpParserError:
            if not self._is_last:
                self._is_last = True
                self._refusal = ApiError("badRequest", "that is not an HTTP request")
        return b""

    def on_url(self, url: bytes) -> None:
        if self._is_last:  # nothing more is expected
            raise ValueError
        if self._is_in_body:
            return
        if not self._is_reading:
            self._is_reading = True
            self.deadline = self._server.now() + REQUEST_TIMEOUT_SECONDS
        self._url += url
        self._head_bytes += len(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_bytes += len(name) + len(value) + 4
        if self._head_bytes > MAX_HEAD_BYTES:
            self._stop(HEAD_TOO_LARGE)
        if self._is_in_body:  # a trailer
            return
        name = name.lower()
        if name in HEADERS_READ:
            self._headers[name] = value
            self._hosts += name == b"host"
        elif name in (b"content-length", b"transfer-encoding"):
            self._framing = b"%b: %b" % (name, value)
            if name == b"content-length" and int(value) > MAX_BODY_BYTES:
                self._stop(TOO_LARGE)
        elif name == b"expect" and value.lower() == b"100-continue" and not self._requests:
            self._headers[name] = value

    def on_headers_complete(self) -> None:
        if self._is_in_body:
            return
        if self._head_bytes > MAX_HEAD_BYTES:
            self._stop(HEAD_TOO_LARGE)
        if self._hosts > 1 or (not self._hosts and self._parser.get_http_version() == "1.1"):
            self._stop(ApiError("badRequest", "a request must have exactly one Host header"))
        self._is_in_body = True
        self._received = 0
        if b"expect" in self._headers and not self.is_busy:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        self._body += body
        if len(self._body) > MAX_BODY_BYTES:
            self._stop(TOO_LARGE)

    def on_message_complete(self) -> None:
        if self._framing and self._parser.should_upgrade():
            self._method = self._parser.get_method()
            return
        self.deadline = None
        if len(self._requests) >= MAX_PIPELINED:
            self._abort()  # it sends more and more, and doesn't wait for answers
            return
        parser, url = self._parser, self._url
        if not parser.should_keep_alive() or parser.get_http_version() != "1.1":
            self._is_last = True
        if not url.startswith(b"/"):
            url = _path_of(url)
        path, _, query = url.partition(b"#")[0].partition(b"?")
        request = Request(
            (self._method or parser.get_method()).decode(),
            unquote(path.decode("latin-1")) if b"%" in path else path.decode("latin-1"),
            query,
            self._headers,
            self._body,
            peer=self._peer,
            proxies=self._app.proxies,
        )
        self._requests.append(request)
        self._reset()

    def _stop(self, refusal: ApiError) -> None:
        """Refuse the request that is being read; the parser stops at the error."""
        self._refusal = refusal
        self._is_last = True
        raise ValueError  # not the refusal, which would keep all that is on the stack

    # Answering

    def _answer_next(self) -> None:
        while not (self._is_closing or self.is_busy or self._is_slow or self._stream):
            if self._requests:
                request = self._requests.popleft()
                if isinstance(request, Response):
                    self._respond(request, is_head=False)
                    continue
                result = self._app.handle(request)
                if isinstance(result, Pending):
                    self.is_busy = True
                    result.then(partial(self._answered, request.method))
                    return
                self._deliver(request.method, result)
            elif self._is_last:
                self._close()
            elif self._held:
                data, self._held = self._held, b""
                self._transport.resume_reading()
                self._read(data)
            else:
                return

    def _answered(self, method: str, result: Result) -> None:
        self.is_busy = False
        if not self._is_closing:
            self._deliver(method, result)
            self._answer_next()
        elif isinstance(result, EventStream):
            result.close()

    def _deliver(self, method: str, result: Result) -> None:
        if isinstance(result, Response):
            self._respond(result, is_head=method == "HEAD")
        elif self._parser.get_http_version() != "1.1":
            result.close()
            refusal = ApiError("badRequest", "streams need HTTP/1.1 or later")
            self._respond(problem(refusal), is_head=False)
        elif self._held:  # nothing more is expected
            result.close()
            self._abort()
        else:
            self._stream = result
            self._requests.clear()
            self._reset()
            self.deadline = None
            head = _head(result.status, result.headers), self._server.date
            self._unsent = b"%b%btransfer-encoding: chunked\r\n\r\n" % head
            result.start(self)

    def _respond(self, response: Response, *, is_head: bool) -> None:
        status, body, headers = response
        is_last = self._is_last and not self._requests
        ending = b"connection: close\r\n" if is_last else b""
        length = b"" if status in (204, 304) else b"content-length: %d\r\n" % len(body)
        self._transport.write(
            b"%b%b%b%b\r\n%b"
            % (_head(status, headers), self._server.date, ending, length, b"" if is_head else body)
        )
        if not is_last:
            seconds = REQUEST_TIMEOUT_SECONDS if self._is_reading else IDLE_TIMEOUT_SECONDS
            self.deadline = self._server.now() + seconds

    def _refuse(self, refusal: ApiError) -> None:
        """Refuse an incomplete request, and close."""
        self._is_last = True
        self._respond(problem(refusal), is_head=False)
        self._close()

    # The transport of a stream

    def send(self, frame: bytes) -> bool:
        if self._is_closing:
            return True  # that it is gone is noticed elsewhere
        if self._is_slow:
            self._stream = None
            self._abort()
            return False
        chunk = _chunk(frame)
        if self._unsent:
            chunk, self._unsent = self._unsent + chunk, b""
        self._transport.write(chunk)
        return True

    def end(self) -> None:
        self._stream = None
        if not self._is_closing:
            self._transport.write(self._unsent + b"0\r\n\r\n")
            self._close()


@lru_cache(maxsize=16)  # each goes to several connections
def _chunk(frame: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(frame), frame)


@lru_cache(maxsize=256)
def _head(status: int, headers: tuple[Header, ...]) -> bytes:
    """Return the first line and the headers of a response."""
    lines = [b"HTTP/1.1 %d %b\r\n" % (status, HTTPStatus(status).phrase.encode())]
    return b"".join([*lines, *(b"%b: %b\r\n" % header for header in headers)])


def _path_of(url: bytes) -> bytes:
    """Return the path of an absolute address; anything else is left, and not found."""
    if url.startswith((b"http://", b"https://")):
        return b"/" + url.partition(b"://")[2].partition(b"/")[2]
    return url
