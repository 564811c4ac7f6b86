"""Something between readers and a server that cuts their lines at any byte, or lets streams go mute."""

from __future__ import annotations

import socket
import struct
from contextlib import suppress
from random import Random
from threading import Lock, Thread
from typing import Self

from support.web.serving import DEADLINE
from support.web.stream_reader import Address

MOST_ASKED, MOST_TOLD = 60, 3000
"""After how many bytes of a request, or of an answer, a line is cut at the latest."""

STREAM = b"content-type: text/event-stream"

RESET = struct.pack("ii", 1, 0)
"""A line that is closed with this is reset, and does not end in order."""


class CuttingProxy:
    """Passes everything on both ways, and cuts every line after a random number of bytes.

    Most lines are cut in what the server says, be it in the middle of the head, of a chunk or of an
    event; some in what the reader asks. After enough cuts the lines are left alone.
    """

    def __init__(self, server: Address, cuts: int, chance: Random) -> None:
        self._server = server
        self._left = cuts
        self._chance = chance
        self._lock = Lock()
        self._lines: list[_Line] = []
        self.cuts = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.place: Address = self._listener.getsockname()
        self._door = Thread(target=self._let_in, daemon=True)
        self._door.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._door.join(DEADLINE)
        for line in self._lines:
            line.close()

    @property
    def is_done(self) -> bool:
        """Whether there were enough cuts."""
        return not self._left

    def cut(self) -> bool:
        """Hear that a line is to be cut, and tell whether there is still one to be cut."""
        with self._lock:
            if not self._left:
                return False
            self._left -= 1
            self.cuts += 1
            return True

    @property
    def url(self) -> str:
        """Where a browser finds it."""
        return "http://{}:{}".format(*self.place)

    def mute(self) -> None:
        """Let nothing more through on the streams that are open, and keep them open."""
        for line in self._lines:
            line.is_mute = line.is_stream

    def send(self, data: bytes) -> None:
        """Send something to the readers of all streams that are open."""
        for line in self._lines:
            if line.is_stream:
                line.reader.sendall(data)

    def _let_in(self) -> None:
        while True:
            try:
                reader, _ = self._listener.accept()
            except OSError:
                return
            self._lines = [line for line in self._lines if not line.is_over]
            self._lines.append(self._line(reader))

    def _line(self, reader: socket.socket) -> _Line:
        """Draw how a line is cut: in which direction, after how many bytes, and whether in order."""
        server = socket.create_connection(self._server, DEADLINE)
        how = self._chance.choice([socket.SHUT_RDWR, socket.SHUT_RD])
        asked = told = 1 << 40
        if self._chance.random() < 0.1:
            asked = self._chance.randrange(MOST_ASKED)
        else:
            told = self._chance.randrange(MOST_TOLD)
        return _Line(self, (reader, server), (asked, told), how)


class _Line:
    """One line, with a thread for each direction."""

    def __init__(
        self,
        proxy: CuttingProxy,
        ends: tuple[socket.socket, socket.socket],
        most: tuple[int, int],
        how: int,
    ) -> None:
        self._proxy = proxy
        self._ends = ends
        self._how = socket.SHUT_RDWR
        self._how_cut = how
        self._lock = Lock()
        self._open = 2
        self.is_stream = self.is_mute = False
        reader, server = ends
        self.reader = reader
        ways = ((reader, server, most[0]), (server, reader, most[1]))
        self._threads = [Thread(target=self._pass_on, args=way, daemon=True) for way in ways]
        for thread in self._threads:
            thread.start()

    @property
    def is_over(self) -> bool:
        """Whether both directions are."""
        return not self._open

    def close(self) -> None:
        """Hang up."""
        self._hang_up()
        for thread in self._threads:
            thread.join(DEADLINE)
            assert not thread.is_alive(), "a line hangs"

    def _pass_on(self, one: socket.socket, other: socket.socket, most: int) -> None:
        """Pass on what one says to the other, up to where the line is cut."""
        try:
            while data := one.recv(65536):
                self.is_stream |= STREAM in data
                if self.is_mute:
                    continue
                if len(data) > most and self._proxy.cut():
                    other.sendall(data[:most])
                    self._how = self._how_cut
                    break
                other.sendall(data)
                most -= len(data)
        except OSError:
            pass  # it was cut the other way
        self._hang_up()
        with self._lock:
            self._open -= 1
            is_last = not self._open
        if is_last:
            for end in self._ends:
                end.close()

    def _hang_up(self) -> None:
        """Let both ends know, and the other direction; a line that is reset is closed without a word."""
        for end in self._ends:
            with suppress(OSError):  # it may be down already
                if self._how == socket.SHUT_RD:
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                end.shutdown(self._how)
