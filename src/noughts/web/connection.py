"""A connection: uvicorn's, with limits for what comes before a request is whole, and ways of its own.

A move may take the short way: it is answered without the ceremony that every other request has. It is
offered to the application whole, and if the application has nothing to say to it at once, it goes the
long way like all others.
"""

from __future__ import annotations

import socket
from hmac import compare_digest
from typing import TYPE_CHECKING, NamedTuple

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from noughts.web.asking import LARGEST_BODY
from noughts.web.problems import API_HEADERS, Refused

if TYPE_CHECKING:
    import asyncio
    from typing import Any, Never

    from uvicorn._types import ASGI3Application
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

    from noughts.web.app import Application
    from noughts.web.rooms import MarkName, Room
    from noughts.web.streaming import Stream

LARGEST_HEAD = 16 * 1024
"""Of a request's first line and headers together, in bytes."""

PATIENCE = 10.0
"""How long a request may take to come, in seconds."""

MOST_WAITING = 8 * 1024
"""How much may wait to be written before a reader counts as too slow, in bytes."""

SEND_BUFFER = 64 * 1024
"""How much the system may hold of what is not read, in bytes."""

MOST_PIPELINED = 64
"""How many requests may wait for the answer to the one before."""

DEAD_AFTER = 25_000
"""How long what was sent may stay unacknowledged before the line is given up, in milliseconds."""

_ENDS = {b"POST": b"/moves", b"GET": b"/events"}
"""How the addresses end of what may take the short way."""


class Pending:
    """A request on the short way, in the place where uvicorn has its own for the long way."""

    __slots__ = ("disconnected", "keep_alive", "response_complete")

    def __init__(self, *, keep_alive: bool) -> None:
        self.keep_alive = keep_alive
        self.disconnected = False
        self.response_complete = False

    @property
    def message_event(self) -> Pending:
        """What uvicorn wakes a request by: nobody sleeps here."""
        return self

    def set(self) -> None:
        """Hear that the connection is lost."""


class Seated(NamedTuple):
    """Whose secret came with a request: the same again, to the same room, is the same player."""

    authorization: bytes
    room: Room
    marks: tuple[MarkName, ...]

    def marks_of(self, authorization: bytes, room: Room) -> tuple[MarkName, ...]:
        """Return the seats, if it is the same again."""
        is_same = room is self.room and compare_digest(authorization, self.authorization)
        return self.marks if is_same else ()


class _Own:
    """The headers that every answer has, and how they are written."""

    headers: object = None
    written = b""


_own = _Own()


class Connection(HttpToolsProtocol):
    """One line to a client."""

    stream: Stream | None = None
    seated: Seated | None = None
    """Whose secret came last with a move, and opened a seat."""
    _head = 0
    _is_refused = False
    _held: bytes | None = None
    """The body of a request that may take the short way, as far as it has come."""
    _answered: RequestResponseCycle | None = None
    """The request that is being answered the long way, or was the last to be."""
    _is_whole = False
    """Whether the last request has come to its end."""
    _patient_until: float | None = None
    """When the line is given up, if no whole request has come by then."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """Begin, as uvicorn does, but for what nobody asks for; and set the limits."""
        self.connections.add(self)
        self.transport = transport
        self.flow = FlowControl(transport)
        peer = transport.get_extra_info("peername")
        self.client = (str(peer[0]), int(peer[1])) if peer else None
        self.scheme = "http"  # whoever speaks TLS for us says so in a header
        transport.set_write_buffer_limits(high=MOST_WAITING)
        self._application.house.connections = self.connections  # type: ignore[assignment] # all of them ours
        self._patient_until = self.loop.time() + PATIENCE
        most = self._application.house.settings.most_connections
        if most and len(self.connections) > most:
            full = Refused("tooBusy", "the server has as many connections as it can hold", retry_after=5)
            self.refuse(Pending(keep_alive=False), full)

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go."""
        if self._answered is not None or self.pipeline:
            self._tell_those_who_answer()
        super().connection_lost(exc)
        if self.stream is not None:
            self._application.house.readers.leave(self.stream)
            self.stream = None

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        """Start to answer a request the long way, and remember which one it is."""
        self._answered = cycle
        super()._start_asgi_task(cycle, app)

    def _tell_those_who_answer(self) -> None:
        """Let nobody write to a line that is gone; uvicorn tells the request that came last only."""
        for cycle in (self._answered, *(waiting for waiting, _ in self.pipeline)):
            if cycle is not None and not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()
        self.pipeline.clear()

    def _cut(self) -> None:
        """Cut the line, with all that waits in it."""
        self._tell_those_who_answer()
        self.transport.abort()

    @property
    def _application(self) -> Application:
        return self.app  # type: ignore[no-any-return] # there is no other

    def check_patience(self, now: float) -> None:
        """Close a line on which nothing whole has come for too long."""
        if self._patient_until is not None and now > self._patient_until:
            self.transport.close()

    def on_message_begin(self) -> None:
        """Begin to count, and to wait for the rest."""
        self._head = 0
        self._held = None
        self._is_whole = False
        self._patient_until = self.loop.time() + PATIENCE + 1  # so that there is time to say so
        self.url, self.headers, self.expect_100_continue = b"", [], False

    def on_url(self, url: bytes) -> None:
        """Read the address that is asked for, up to a length."""
        self.url += url
        self._head += len(url)
        if self._head > LARGEST_HEAD:
            self._refuse_head()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Read a header, up to a length."""
        self._head += len(name) + len(value) + 4
        if self._head > LARGEST_HEAD:
            self._refuse_head()
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Start to answer, or hold back what may take the short way."""
        if self.stream is not None or len(self.pipeline) >= MOST_PIPELINED:
            self._cut()  # who asks on and on, and does not wait for answers
        elif self._may_take_short_way():
            self._held = b""
        else:
            self._begin_long_way()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        if self._held is None:
            super().on_body(body)
            return
        self._held += body
        if len(self._held) > LARGEST_BODY:
            self._go_long_way(self._held)

    def on_message_complete(self) -> None:
        """Answer at once if that can be."""
        self._is_whole, self._patient_until = True, None
        if self._held is None:
            super().on_message_complete()
            return
        body, existing = self._held, self.cycle
        self._held = None
        version = self.parser.get_http_version()
        pending = Pending(keep_alive=version != "1.0" and self.parser.should_keep_alive())
        self.cycle = pending  # type: ignore[assignment] # as far as it is looked at
        path, _, query = self.url.partition(b"?")
        scope = {
            "http_version": version,
            "method": self.parser.get_method().decode(),
            "query_string": query,
            "headers": self.headers,
            "client": self.client,
            "scheme": self.scheme,
        }
        if not self._application.short_way(self, pending, scope, path, body):
            self.cycle = existing
            self._go_long_way(body)
            super().on_message_complete()

    def own_headers(self) -> bytes:
        """Return the headers that every answer has; they change every second, with the date."""
        now = self.server_state.default_headers
        if now is not _own.headers:
            _own.headers, _own.written = now, b"".join([b"%b: %b\r\n" % header for header in now])
        return _own.written

    def answer(self, cycle: Pending, status: int, headers: bytes, body: bytes) -> None:
        """Answer a request that took the short way."""
        cycle.response_complete = True
        if cycle.disconnected or self.transport.is_closing():
            return
        if self.flow.write_paused:  # who does not read is not answered without end
            self._cut()
            return
        closing = b"" if cycle.keep_alive else b"connection: close\r\n"
        self.transport.write(
            b"%b%b%b%bcontent-length: %d\r\n\r\n%b"
            % (STATUS_LINE[status], self.own_headers(), headers, closing, len(body), body)
        )
        if not cycle.keep_alive:
            self.transport.close()
        self.on_response_complete()

    def refuse(self, cycle: Pending, refused: Refused) -> None:
        """Answer a request that took the short way with a problem."""
        headers = b"".join([b"%b: %b\r\n" % header for header in (*refused.headers, *API_HEADERS)])
        self.answer(cycle, refused.status, headers, refused.body())

    def on_response_complete(self) -> None:
        """Go on with what has come meanwhile, or wait for the next request; but not for ever."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            cycle, app = self.pipeline.pop()
            self._start_asgi_task(cycle, app)
        elif self._is_whole:
            self._patient_until = self.loop.time() + self.timeout_keep_alive

    def _may_take_short_way(self) -> bool:
        end = _ENDS.get(self.parser.get_method())
        if end is None or not self.url.partition(b"?")[0].endswith(end):
            return False
        return self._is_free() and not self.expect_100_continue and not self.parser.should_upgrade()

    def _go_long_way(self, body: bytes) -> None:
        self._held = None
        self._begin_long_way()
        if body:
            super().on_body(body)

    def _begin_long_way(self) -> None:
        """Begin a request as uvicorn does, with what has come of it."""
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()
        self.url, self.expect_100_continue = url, expects
        self.headers += headers
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Take what came; a request that never gets whole is not waited for."""
        super().data_received(data)
        if self._patient_until is not None and self._is_free():
            # What does not even make a header has been counted nowhere yet.
            self._head += len(data)
            if self._head > 2 * LARGEST_HEAD and not self.transport.is_closing():
                self._is_refused = True
                self.send_400_response("")

    def _is_free(self) -> bool:
        """Tell whether no request is being answered."""
        cycle: object = self.cycle  # which uvicorn says is never None, and it is
        return cycle is None or self.cycle.response_complete

    def _is_body_missing(self) -> bool:
        """Tell whether the request that is being answered has not come whole yet, nor been answered."""
        cycle: object = self.cycle
        return bool(getattr(cycle, "more_body", False)) and not getattr(cycle, "response_started", True)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's words, and ours are better
        """Answer what is no request, as everything else that is refused."""
        if not self._is_free() and not self._is_body_missing():
            self.transport.close()  # an answer is on its way, and this would be taken for it
            return
        if self._is_refused:
            refused = Refused("headersTooLarge", f"a request's head has {LARGEST_HEAD} bytes at most")
        else:
            refused = Refused("badRequest", "that is no request of HTTP's")
        self.refuse(Pending(keep_alive=False), refused)

    def shutdown(self) -> None:
        """End the stream that is open, if there is one, so that its reader comes back elsewhere."""
        super().shutdown()
        if self.stream is not None:
            self.stream.end()

    def _refuse_head(self) -> Never:
        self._is_refused = True
        raise ValueError("the head is too large")


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that connections come in by, with little room for what is not read."""
    if not host:
        raise ValueError("there is no such address")
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(kind, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        options: dict[str, Any] = {"TCP_NODELAY": 1, "TCP_USER_TIMEOUT": DEAD_AFTER}
        for name, value in options.items():
            if hasattr(socket, name):
                found.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        found.bind((host, port))
    except BaseException:
        found.close()
        raise
    found.set_inheritable(True)
    return found
