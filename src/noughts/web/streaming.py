"""A live stream: server-sent events over a connection that is written to directly.

Whatever is told to many is encoded once. A reader that does not keep up is dropped, and never has more
waiting for it than its connection holds: it comes back by itself, and goes on where it was.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from noughts.web.connection import Connection
    from noughts.web.live import Live
    from noughts.web.rooms import MarkName

HEADERS = (
    b"content-type: text/event-stream; charset=utf-8\r\n"
    b"cache-control: no-store\r\n"
    b"x-accel-buffering: no\r\n"
    b"x-content-type-options: nosniff\r\n"
    b"referrer-policy: no-referrer\r\n"
    b"content-security-policy: default-src 'none'; frame-ancestors 'none'\r\n"
    b"cross-origin-resource-policy: same-origin\r\n"
    b"transfer-encoding: chunked\r\n\r\n"
)

BEGINNING = b"retry: 1000\n\n"
LAST = b"0\r\n\r\n"


def event_frame(version: int, text: str) -> bytes:
    r"""Return an event of the game as it is sent.

    >>> event_frame(7, '{"event":"gameDraw"}')
    b'id: 7\ndata: {"event":"gameDraw"}\n\n'
    """
    return f"id: {version}\ndata: {text}\n\n".encode()


def room_frame(room: bytes) -> bytes:
    """Return what stands around the game as it is sent."""
    return b"event: room\ndata: " + room + b"\n\n"


def chunk(frame: bytes) -> bytes:
    """Return a frame as a piece of an answer whose length nobody knows."""
    return b"%x\r\n%b\r\n" % (len(frame), frame)


PING = chunk(b"event: ping\ndata: {}\n\n")
"""An event and not a comment, which a browser hides from the page: its absence shows a dead stream."""


class Stream:
    """One reader of a game: what is told goes straight into the connection."""

    __slots__ = ("_connection", "address", "is_closed", "live", "marks", "room", "was_dropped")

    def __init__(
        self, connection: Connection, live: Live, marks: tuple[MarkName, ...], address: str
    ) -> None:
        self._connection = connection
        self.live = live
        self.marks = marks
        self.address = address
        self.is_closed = False
        self.was_dropped = False
        self.room = b""
        """What stands around the game, as it was told last."""

    def begin(self, after: int) -> None:
        """Tell what there is to tell already, to a reader who knows the game up to that version."""
        connection = self._connection
        connection.stream = self
        self.live.streams.add(self)
        self.room = self.live.room_frame()
        connection.transport.write(
            b"HTTP/1.1 200 OK\r\n%b%b%b"
            % (connection.own_headers(), HEADERS, chunk(self.live.beginning(after)))
        )

    def push(self, piece: bytes) -> None:
        """Tell something, unless the reader is too slow to be told more: then it is dropped."""
        if self.is_closed or self._connection.transport.is_closing():
            return
        if self._connection.flow.write_paused:
            self.is_closed = self.was_dropped = True
            self._connection.transport.abort()
        else:
            self._connection.transport.write(piece)

    def end(self) -> None:
        """Tell that there is no more for now; the reader may come back."""
        if not self.is_closed and not self._connection.transport.is_closing():
            self.is_closed = True
            self._connection.transport.write(LAST)
            self._connection.transport.close()
