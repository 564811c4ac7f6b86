"""Invalid and strange requests, and an attacker that changes them and valid ones at random."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable
from contextlib import suppress
from random import Random
from ssl import SSLError
from typing import Any, NamedTuple

from support.web.serving import BASE, Place

END = b"Host: x\r\n\r\n"
CREATE = b'{"opponent":"self"}'
POST = b"POST /api/v1/games HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
SIZED = POST + b"Content-Length: %d\r\n\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
HEALTH = b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\n"
GOOD, LAST = HEALTH + b"\r\n", HEALTH + b"Connection: close\r\n\r\n"

# These are no requests: the server refuses them before the application sees anything.
INVALID_REQUESTS = {
    "rubbish": b"\x00\xff\x16\x03\x01 rubbish\r\n\r\n",
    "the beginning of TLS": bytes.fromhex("16030100c8010000c40303") + bytes(190),
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "an unknown method": b"FETCH / HTTP/1.1\r\n" + END,
    "HTTP/9.9": b"GET / HTTP/9.9\r\n\r\n",
    "a space in the path": b"GET /a b HTTP/1.1\r\n" + END,
    "a bare path": b"GET games HTTP/1.1\r\n" + END,
    "a nul in a header": b"GET / HTTP/1.1\r\nHost: a\x00b\r\n\r\n",
    "a header without a colon": b"GET / HTTP/1.1\r\nHost\r\n\r\n",
    "a space before the colon": b"POST / HTTP/1.1\r\nContent-Length : 3\r\n\r\nabc",
    "a folded header": b"GET / HTTP/1.1\r\nHost: x\r\n y\r\n\r\n",
    "a negative length": b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    "a length with a plus": b"POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
    "two lengths": b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "a length and chunks": POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "an encoding nobody knows": POST + b"Transfer-Encoding: chunked, nonesuch\r\n\r\n",
    "a name that is no ASCII": b"GET /\xc3\xa9 HTTP/1.1\r\n" + END,
}

# Requests, with the status that they get.
STRANGE_REQUESTS = {
    "an absolute address": (b"GET http://evil.example/api/v1/health HTTP/1.1\r\n" + END, 200),
    "a star": (b"OPTIONS * HTTP/1.1\r\n" + END, 404),
    "two slashes": (b"GET //api/v1/health HTTP/1.1\r\n" + END, 404),
    "dots": (b"GET /static/../../../../etc/passwd HTTP/1.1\r\n" + END, 404),
    "hidden dots": (b"GET /static/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n" + END, 404),
    "hidden slashes": (b"GET /static/..%2f..%2fapp.py HTTP/1.1\r\n" + END, 404),
    "backslashes": (b"GET /static/..\\..\\app.py HTTP/1.1\r\n" + END, 404),
    "a nul in the path": (b"GET /api/v1/games/%00 HTTP/1.1\r\n" + END, 404),
    "a nul in a file's name": (b"GET /static/app.js%00.css HTTP/1.1\r\n" + END, 404),
    "bad escapes": (b"GET /api/v1/games/%zz%f HTTP/1.1\r\n" + END, 404),
    "bytes that are no text": (b"GET /api/v1/games/%ff%fe HTTP/1.1\r\n" + END, 404),
    "lone surrogates": (b"GET /api/v1/games/%ed%a0%80/events HTTP/1.1\r\n" + END, 404),
    "line ends in the path": (b"GET /api/v1/games/%0d%0aX:y HTTP/1.1\r\n" + END, 404),
    "a long id": (b"GET /api/v1/games/" + b"a" * 10_000 + b" HTTP/1.1\r\n" + END, 404),
    "a slash at the end": (b"GET /api/v1/health/ HTTP/1.1\r\n" + END, 404),
    "a fragment": (b"GET /api/v1/health#x HTTP/1.1\r\n" + END, 200),
    "HTTP/1.0": (b"GET /api/v1/health HTTP/1.0\r\n\r\n", 200),
    "many headers": (HEALTH + b"a: b\r\n" * 5000 + b"\r\n", 200),
    "a websocket": (
        HEALTH
        + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        + b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        200,
    ),
    "HTTP/2 by upgrade": (
        HEALTH
        + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
        200,
    ),
    "a body where none is needed": (HEALTH + b"Content-Length: 3\r\n\r\nabc", 200),
    "an expectation": (POST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}", 400),
    "an expectation nobody knows": (HEALTH + b"Expect: the unexpected\r\n\r\n", 200),
    "a body in chunks": (
        CHUNKED + b"5\r\n" + CREATE[:5] + b"\r\n%x;x=1\r\n" % len(CREATE[5:]) + CREATE[5:] + b"\r\n0\r\n"
        b"Trailer: x\r\n\r\n",
        201,
    ),
    "a body that would be too large": (SIZED % 1_000_000, 413),
    "a body too large in chunks": (
        CHUNKED + (b"400\r\n" + b" " * 1024 + b"\r\n") * 6 + b"0\r\n\r\n",
        413,
    ),
    "a moves route with slashes": (
        POST.replace(b"/games ", b"/games/a/b/c/moves ")
        + b'Content-Length: 34\r\n\r\n{"cell":4,"version":5,"key":"abc"}',
        404,
    ),
}

CELLS = (0, 4, 8)
"""What is placed in earnest: few, so that a server that remembers positions soon knows them all."""

VALUES: tuple[Any, ...] = (
    None, True, -1, 9, 2**31, 2**64, 10**400, 0.5, 1e308, [], {}, [[]], [4], {"cell": 4}, "X", "4", "",
    "random", "bot:perfect", "program:/bin/sh", "../../etc/passwd", "A" * 3900, "\u202egnihton", "\x00",
    "a\r\nid: 9\r\ndata: x", "\ud800", "'; DROP TABLE games; --",
)  # fmt: skip
NOT_JSON = (
    b"", b" ", b"{", b"{}}", b"\xff\xfe{\x00}\x00", b'{"opponent":"friend"', b'{"opponent":"friend"} x',
    b"{'opponent':'friend'}", b'{"opponent":"fri\x00end"}', b"opponent=self", b"<xml/>", b" " * 4096,
    b'{"opponent":"friend","name":"\\ud800"}', b'{"opponent":"friend","name":"\xff"}',
    b'{"opponent":"friend","name":"\xed\xa0\x80"}', b'\xef\xbb\xbf{"opponent":"friend"}',
    b"[" * 4000, b"[" * 2000 + b"]" * 2000, b'{"a":' * 700, b"NaN", b"1e999", b"-", b'"' + b"a" * 4000,
)  # fmt: skip
HEADERS = (
    b"Origin: https://evil.example", b"Origin: \xff\xff", b"Sec-Fetch-Site: cross-site", b"Host: [::1]:9",
    b"Content-Type: multipart/form-data; boundary=" + b"x" * 300, b"Content-Encoding: gzip",
    b"Accept-Encoding: gzip;q=0, *;q=0", b"If-None-Match: *", b"Range: bytes=0-0,-1,5-2",
    b"X-Forwarded-For: 127.0.0.1, ::1, evil, " + b"1.1.1.1," * 100, b"Cookie: X=a; O=b; ; =; X=;",
    b"Cookie: X=\xff\x80", b"Cookie: " + b";" * 2000, b"Authorization: Bearer \xff\xfe",
    b"Authorization: Bearer " + b"A" * 5000, b"Last-Event-ID: -1", b"Keep-Alive: timeout=999999",
    b"Content-Length: 100000", b"Content-Length: 99999999999999999999999", b"Transfer-Encoding: chunked",
    b"Expect: 100-continue", b": b", b"X: " + b"a" * 17_000, b"\r\n".join([b"a: b"] * 3000),
)  # fmt: skip


class HostileRequest(NamedTuple):
    """What to send, and what to expect."""

    data: bytes
    answers: int | None = None
    """How many there must be, if it is certain where each request ends."""
    stays: bool = False
    """Whether the connection is left open with nothing more to come."""


class Attacker:
    """Draws random requests to a game; the same seed gives the same requests."""

    def __init__(self, random: Random, game: str, secrets: list[str], invite: str) -> None:
        self._random = random
        self._game = f"{BASE}/games/{game}"
        self._secrets = [secret.encode() for secret in secrets]
        self._invite = invite

    def draw(self) -> HostileRequest:
        random = self._random
        known = *INVALID_REQUESTS.values(), *(request for request, _ in STRANGE_REQUESTS.values())
        valid = [self._valid() for _ in range(random.choice([1, 2, 5, 20, 50]))]
        strange = random.choice([valid[0], random.choice(known)])
        match random.randrange(7):
            case 0 | 1:
                return HostileRequest(b"".join(valid) + LAST, answers=len(valid) + 1)
            case 2:
                return HostileRequest(self._changed(strange))
            case 3:
                return HostileRequest(
                    strange[: random.randrange(len(strange))], stays=random.random() < 0.5
                )
            case 4:
                return HostileRequest(random.randbytes(random.choice([1, 10, 100, 1000, 40_000])))
            case 5:
                place = valid[0].index(b"\r\n") + 2
                odd = b"".join(
                    one + b"\r\n" for one in random.choices(HEADERS, k=random.choice([1, 2, 3]))
                )
                return HostileRequest(valid[0][:place] + odd + valid[0][place:])
            case _:
                after = random.choice([b"", b"?after=2", b"?after=x", b"?after=99999"])
                follow = b"GET %b/events%b HTTP/1.1\r\n" % (self._game.encode(), after) + END
                return HostileRequest(follow + b"".join(valid), stays=True)

    def _valid(self) -> bytes:
        """Return a whole request, whose body may have a value or a field too many, or none at all."""
        random = self._random
        if random.random() < 0.3:
            asked = ("/games", "/analysis?board=X__/_O_/___", "/analysis?moves=519", "/bots", "/health")
            path = random.choice([self._game, *(BASE + one for one in asked)])
            return b"GET %b HTTP/1.1\r\n%b%b" % (path.encode(), self._secret(), END)
        command = {"version": random.randrange(30), "key": self._key()}
        commands: list[tuple[str, dict[str, Any]]] = [
            (
                f"{BASE}/games",
                {"opponent": random.choice(["friend", "lobby", "self"]), "name": "Ann"},
            ),
            (f"{BASE}/games", {"opponent": "bot", "bot": "club", "mark": "O", "first": "random"}),
            (f"{self._game}/join", {"invite": self._invite, "key": self._key(32), "name": "Bob"}),
            (f"{self._game}/join", {"invite": None, "key": self._key(32)}),
            (f"{self._game}/moves", {**command, "cell": random.choice(CELLS)}),
            (f"{self._game}/resign", command),
            (f"{self._game}/take-back", command),
            (f"{self._game}/take-back/answer", {"accept": random.random() < 0.5, "key": self._key()}),
            (f"{self._game}/rematch", {"key": self._key(), "secret": True}),
        ]
        path, body = random.choice(commands)
        if random.random() < 0.5:
            body[random.choice([*body, "nonesuch"])] = random.choice(VALUES)
        content = json.dumps(body).encode()[:4096]
        if random.random() < 0.1:
            content = random.choice(NOT_JSON)
        head = b"POST %b HTTP/1.1\r\nContent-Type: application/json\r\n" % path.encode()
        return head + self._secret() + b"Content-Length: %d\r\n" % len(content) + END + content

    def _key(self, size: int = 2) -> str:
        """Return a key; short ones repeat often."""
        return "".join(self._random.choices("abcdefgh", k=size))

    def _secret(self) -> bytes:
        """Return no secret, or one or two that are valid or not."""
        x, o, wrong = *self._secrets, self._key(32).encode()
        bearers = [b"Authorization: Bearer %b\r\n" % secret for secret in (x, o, wrong)]
        cookies = [b"Cookie: X=%b; O=%b\r\n" % pair for pair in ((x, o), (wrong, x))]
        return self._random.choice([b"", *bearers, *cookies])

    def _changed(self, text: bytes) -> bytes:
        """Change, insert and remove some bytes."""
        random, found = self._random, bytearray(text)
        for _ in range(random.choice([1, 1, 2, 5, 20])):
            place = random.randrange(len(found) + 1)
            match random.randrange(4):
                case 0:
                    found[place : place + 1] = random.randbytes(1)
                case 1:
                    put = (b"\r\n", b"\x00", b" ", b"%", b":", b'"', b"}", b"\xff" * 9, b"\r", b"\n")
                    found[place:place] = random.choice(put)
                case 2:
                    found[place:place] = found[place : place + random.randrange(60)]
                case _:
                    del found[place : place + random.randrange(1, 9)]
        return bytes(found)


def exchange(server: Place, request: bytes, is_whole: Callable[[bytes], bool] | None = None) -> bytes:
    """Send bytes on a connection of their own; return what comes, until it is whole or over."""
    said = b""
    with server.socket() as connection, suppress(ConnectionError, SSLError):
        with suppress(ConnectionError, SSLError):  # what is refused early is not read to its end
            connection.sendall(request)
        if is_whole is None:
            with suppress(OSError):  # it may be shut down already
                connection.shutdown(socket.SHUT_WR)
        while not (is_whole and is_whole(said)) and (more := connection.recv(65536)):
            said += more
    return said


def statuses(said: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", said) if status != b"100"]
