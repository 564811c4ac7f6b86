"""Random hostile requests: the same seed gives the same requests.

Each starts as a valid request to a game that exists, with the secrets of its seats; most are then
corrupted in one way or another.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any, NamedTuple, TypeAlias

from support.web.serving import BASE

Header: TypeAlias = tuple[bytes, bytes]

CRLF = b"\r\n"

CELLS = (0, 4, 8)
"""What is placed in earnest: few, so that a server that remembers positions soon knows them all."""


class Target(NamedTuple):
    """The game to attack, with its secrets."""

    game: str
    secrets: dict[str, str]
    invite: str


class HostileRequest(NamedTuple):
    """What to send, and what to expect."""

    kind: str
    data: bytes
    asks: tuple[str, ...] = ()
    """The methods of its requests, if it is certain where each ends."""
    stays: bool = False
    """Whether the connection is left open with nothing more to come."""


class Request(NamedTuple):
    """A request before it is corrupted."""

    method: str
    path: str
    headers: tuple[Header, ...] = ()
    body: bytes | None = None

    def __bytes__(self) -> bytes:
        headers = list(self.headers)
        if self.body is not None:
            headers.append((b"Content-Length", b"%d" % len(self.body)))
        first = f"{self.method} {self.path} HTTP/1.1\r\nHost: noughts\r\n".encode("latin-1")
        return first + b"".join(b"%b: %b\r\n" % header for header in headers) + CRLF + (self.body or b"")


NAMES = (
    "\u202egnihton", "\u2066a\u2069", "a\u200bb", "\x1b[31mred", "\x00", "a\r\nid: 9\r\ndata: x",
    "<script>alert(1)</script>", "'; DROP TABLE events; --", "\u540d" * 32, "\U0001f642" * 33,
    "Zoe\u0308", "bot:perfect", "program:/bin/sh", "../../etc/passwd", "", " ", "A" * 3900,
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    *NAMES, None, True, False, -1, 9, 2**31, 2**63, 2**64, 10**400, 0.5, 1e308, [], {}, [[]], [4],
    {"cell": 4}, "X", "O", "4", "random", "self", "club", "/bin/sh",
)  # fmt: skip
RAW = (
    b"", b" ", b"null", b"NaN", b"-Infinity", b"1e999999999", b'"', b'"\\ud800"', b'"\\u0000"',
    b"\xff\xfe{\x00}\x00", b"\xef\xbb\xbf{}", b"{" * 4000, b"[" * 4096, b'{"a":' * 800,
    b"[" * 2000 + b"]" * 2000, b'{"opponent":"self","opponent":"self"}',
    b'{"opponent":"self"}{"opponent":"self"}', b'{"opponent":"self"', b'{"opponent":"\xff\xff"}',
    b'{"opponent":"self","name":"\xed\xa0\x80"}', b"opponent=self", b"<xml/>", b" " * 4096, b"9" * 4096,
)  # fmt: skip
METHODS = (
    "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "PURGE", "M-SEARCH", "SEARCH", "LOCK",
)  # fmt: skip
INVALID_METHODS = (b"FETCH", b"get", b"G E T", b"\x00", b"GET\t", b"CONNECT", b"X" * 300, b"", b"PRI")
PATHS = (
    "/", "/lobby", "/metrics", "/play/159", "/favicon.ico", "/static/0a1b/page.js", "/worker.js",
    "/static/..%2f..%2fapp.py", "/static/%00", "//", "/api/v1", "/api/v1/games/%00",
    "/api/v1/games/%ff%fe", "/api/v1/games/%ed%a0%80/moves", "/api/v1/games/" + "a" * 26,
    "/api/v1/games/" + "a" * 9000, "/api/v1/games/../games", "/api/v1/games/%2e%2e/%2e%2e/moves",
    "/api/v1/games//moves", "/api/v2/games", "/API/V1/GAMES", "/api/v1/openapi.json?x=1",
    "/?" + "&".join(f"a{number}=b" for number in range(200)),
)  # fmt: skip
QUERIES = (
    "version=0", "version=1", "version=99999999999999999999", "version=-1", "version=%00",
    "version=1&version=1", "version=\u0663".encode().decode("latin-1"), "after=1", "after=1e3",
    "board=X__/_O_/___", "board=XXX/XXX/XXX", "board=" + "X" * 480, "board=X__%2F_O_%2F___&first=Z",
    "moves=519", "moves=" + "5" * 300, "moves=0", "moves=%F0%9F%99%82", "moves=", "first=O",
    "board=___/___/___&moves=1", "%", "=", "&&&", "a[]=1", "x" * 600, "__proto__=1",
)  # fmt: skip
HEADERS: tuple[Header, ...] = (
    (b"Origin", b"https://evil.example"),
    (b"Origin", b"null"),
    (b"Origin", b"http://noughts"),
    (b"Origin", b"\xff\xff"),
    (b"Sec-Fetch-Site", b"cross-site"),
    (b"Host", b"evil.example"),
    (b"Host", b""),
    (b"Host", b"[::1]:99999"),
    (b"Content-Type", b"application/json; charset=utf-16"),
    (b"Content-Type", b"application/x-www-form-urlencoded"),
    (b"Content-Type", b"multipart/form-data; boundary=" + b"x" * 300),
    (b"Content-Type", b"\xff"),
    (b"Content-Encoding", b"gzip"),
    (b"Accept", b"text/html;q=" + b"9" * 50),
    (b"Accept-Encoding", b"gzip;q=0, *;q=0"),
    (b"If-None-Match", b"*"),
    (b"If-None-Match", b'W/"' + b"x" * 500 + b'"'),
    (b"Range", b"bytes=0-0,-1,5-2"),
    (b"X-Forwarded-For", b"127.0.0.1, ::1, evil, " + b"1.1.1.1," * 100),
    (b"X-Forwarded-Proto", b"https"),
    (b"Forwarded", b"for=_hidden;proto=https"),
    (b"X-HTTP-Method-Override", b"DELETE"),
    (b"Last-Event-ID", b"-1"),
    (b"Last-Event-ID", b"999999999"),
    (b"Cookie", b"X=" + b"a" * 64 + b"; O=b; ; =; X=;" + b"c" * 100),
    (b"Cookie", b"X=\xff\x80; O=\xe2\x80\xae"),
    (b"Cookie", b";" * 2000),
    (b"Authorization", b"Bearer "),
    (b"Authorization", b"Bearer " + b"A" * 32),
    (b"Authorization", b"Bearer " + b"A" * 5000),
    (b"Authorization", b"Bearer \xff\xfe\xfd"),
    (b"Authorization", b"Basic bm91Z2h0czpub3VnaHRz"),
    (b"Authorization", b"bearer\t x"),
    (b"Expect", b"the unexpected"),
    (b"Connection", b"keep-alive, close, x"),
    (b"Keep-Alive", b"timeout=999999"),
    (b"Proxy", b"http://evil.example"),
    (b"Trailer", b"Content-Length"),
    (b"Te", b"trailers"),
)
SMUGGLED: tuple[bytes, ...] = (
    b"Content-Length: 5\r\nContent-Length: 6",
    b"Content-Length: 5\r\nTransfer-Encoding: chunked",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    b"Transfer-Encoding: xchunked",
    b"Transfer-Encoding:\x0bchunked",
    b"Content-Length: -5",
    b"Content-Length: 0x10",
    b"Content-Length: 99999999999999999999999",
    b"Content-Length: 100000",
    b"Content-Length : 5",
    b" Content-Length: 5",
    b"X: a\x00b",
    b"X: a\nY: b",
    b"X\xff: b",
    b": b",
    b"X",
    b"X: " + b"a" * 17_000,
    b"\r\n".join([b"a: b"] * 3000),
    b"a" * 17_000 + b": b",
    b"Expect: 100-continue\r\nContent-Length: 5000",
    b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13",
    b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk",
)
CHUNKS = (
    b"zz\r\n",
    b"-1\r\n",
    b"ffffffffffffffffff\r\n",
    b"5\r\nabc\r\n0\r\n\r\n",
    b"2\r\nabcdef\r\n0\r\n\r\n",
    b"1;" + b"x" * 9000 + b"\r\na\r\n0\r\n\r\n",
    b"0\r\n" + b"Trailer: x\r\n" * 2000 + b"\r\n",
    b"1\r\n \r\n" * 5000 + b"0\r\n\r\n",
    b"1000\r\n" + b" " * 4096 + b"\r\n1000\r\n" + b" " * 4096 + b"\r\n0\r\n\r\n",
    b"0\r\n\r\nGET /api/v1/health HTTP/1.1\r\n\r\n",
    b"0x5\r\nabcde\r\n0\r\n\r\n",
    b"5\nabcde\n0\n\n",
)


class Attacker:
    """Draws random requests."""

    def __init__(self, random: Random, target: Target) -> None:
        self._random = random
        self.target = target
        self._ways = (
            *[self._invalid_body] * 3, self._raw_body, *[self._odd_headers] * 2, self._odd_query,
            self._odd_path, self._odd_method, self._invalid_method, self._smuggled, self._bad_chunks,
            self._random_bytes, *[self._mutated] * 3, self._half, self._left_open, self._pipelined,
            self._too_many_pipelined, self._follow,
        )  # fmt: skip

    def draw(self) -> HostileRequest:
        return self._random.choice(self._ways)()

    def _valid(self) -> Request:
        random, game = self._random, f"{BASE}/games/{self.target.game}"
        if random.random() < 0.3:
            asked = (
                "/games", f"/games/{self.target.game}", "/analysis?board=X__/_O_/___",
                "/analysis?moves=519", "/bots", "/health", "/ready", "/openapi.json",
            )  # fmt: skip
            return Request("GET", BASE + random.choice(asked), self._secret())
        opponent = random.choice(["friend", "lobby", "self"])
        path, body = random.choice(
            [
                (f"{BASE}/games", {"opponent": opponent, "name": "Ann"}),
                (f"{BASE}/games", {"opponent": "bot", "bot": "club", "mark": "O", "first": "random"}),
                (f"{game}/join", {"invite": self.target.invite, "key": self._key(32), "name": "Bob"}),
                (f"{game}/join", {"invite": None, "key": self._key(32)}),
                (f"{game}/moves", self._command(cell=random.choice(CELLS))),
                (f"{game}/moves", self._command(cell=random.choice(CELLS), mark=random.choice("XO"))),
                (f"{game}/resign", self._command()),
                (f"{game}/take-back", self._command()),
                (f"{game}/take-back/answer", {"accept": random.random() < 0.5, "key": self._key()}),
                (f"{game}/rematch", {"key": self._key(), "secret": True}),
            ]
        )
        return self._post(path, json.dumps(body).encode())

    def _post(self, path: str, body: bytes) -> Request:
        return Request("POST", path, ((b"Content-Type", b"application/json"), *self._secret()), body)

    def _command(self, **more: object) -> dict[str, object]:
        return {"version": self._random.randrange(30), "key": self._key(), **more}

    def _key(self, size: int = 2) -> str:
        """Return a key; short ones repeat often."""
        return "".join(self._random.choices("abcdefgh", k=size))

    def _secret(self) -> tuple[Header, ...]:
        """Return no secret, one or two valid ones, or an invalid one."""
        x, o = (secret.encode() for secret in self.target.secrets.values())
        wrong = self._key(32).encode()
        bearers = [((b"Authorization", b"Bearer " + secret),) for secret in (x, o, wrong)]
        cookies = [((b"Cookie", b"X=%b; O=%b" % pair),) for pair in ((x, o), (wrong, x))]
        return self._random.choice([(), *bearers, *cookies])

    def _framed(self, kind: str, *requests: Request) -> HostileRequest:
        return HostileRequest(
            kind, b"".join(map(bytes, requests)), tuple(request.method for request in requests)
        )

    def _invalid_body(self) -> HostileRequest:
        """Change a field to an invalid value, leave one out, or add one."""
        request = self._valid()
        if request.body is None:
            return self._framed("earnest", request)
        fields = json.loads(request.body)
        name = self._random.choice([*fields, "nonesuch", "name", "secret"])
        value = self._random.choice(VALUES)
        if self._random.random() < 0.15:
            fields.pop(name, None)
        elif self._random.random() < 0.1:
            fields = value
        else:
            fields[name] = value
        body = json.dumps(fields, ensure_ascii=self._random.random() < 0.5)
        return self._framed("wrong types", request._replace(body=body.encode("utf-8", "replace")[:4096]))

    def _raw_body(self) -> HostileRequest:
        """Send something other than JSON, or JSON with changed bytes."""
        request = self._valid()
        if request.body is None or self._random.random() < 0.5:
            body = self._random.choice(RAW)
        else:
            body = self._changed(request.body)[:4096]
        return self._framed("no JSON", self._post(request.path, body)._replace(headers=request.headers))

    def _odd_headers(self) -> HostileRequest:
        """Add headers that matter elsewhere, or to a careless server."""
        request = self._valid()
        odd = tuple(self._random.choices(HEADERS, k=self._random.choice([1, 1, 2, 3])))
        return self._framed("odd headers", request._replace(headers=(*request.headers, *odd)))

    def _odd_query(self) -> HostileRequest:
        path = self._random.choice(
            [f"/games/{self.target.game}", "/games", "/analysis", "/bots", "/health"]
        )
        query = self._random.choice(QUERIES)
        return self._framed("odd query", Request("GET", f"{BASE}{path}?{query}"))

    def _odd_path(self) -> HostileRequest:
        method = self._random.choice(["GET", "GET", "HEAD", "POST"])
        request = Request(method, self._random.choice(PATHS), self._secret())
        return self._framed("odd path", request._replace(body=b"{}" if method == "POST" else None))

    def _odd_method(self) -> HostileRequest:
        request = self._valid()
        return self._framed("odd method", request._replace(method=self._random.choice(METHODS)))

    def _invalid_method(self) -> HostileRequest:
        request = bytes(self._valid())
        return HostileRequest(
            "no method", self._random.choice(INVALID_METHODS) + request[request.index(b" ") :]
        )

    def _smuggled(self) -> HostileRequest:
        """Insert headers that are ambiguous, invalid or too large."""
        head, _, body = bytes(self._valid()).partition(CRLF * 2)
        lines = head.split(CRLF)
        lines.insert(self._random.randrange(1, len(lines) + 1), self._random.choice(SMUGGLED))
        return HostileRequest("smuggling", CRLF.join(lines) + CRLF * 2 + body)

    def _bad_chunks(self) -> HostileRequest:
        path = self._random.choice([f"{BASE}/games", f"{BASE}/games/{self.target.game}/moves"])
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n".encode()
        chunks = self._random.choice(CHUNKS)
        return HostileRequest("bad chunks", head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks)

    def _random_bytes(self) -> HostileRequest:
        size = self._random.choice([1, 10, 100, 1000, 40_000])
        return HostileRequest("random bytes", self._random.randbytes(size))

    def _mutated(self) -> HostileRequest:
        return HostileRequest("mutated", self._changed(bytes(self._valid())))

    def _half(self) -> HostileRequest:
        request = bytes(self._valid())
        return HostileRequest("half", request[: self._random.randrange(len(request))])

    def _left_open(self) -> HostileRequest:
        return self._half()._replace(kind="left open", stays=True)

    def _pipelined(self) -> HostileRequest:
        """Pipeline many requests, but no streams."""
        requests = [self._valid() for _ in range(self._random.choice([2, 5, 20, 50]))]
        return self._framed("in a row", *requests)

    def _too_many_pipelined(self) -> HostileRequest:
        """Pipeline more requests than the server answers, maybe without reading answers."""
        requests = [bytes(self._valid()) for _ in range(self._random.choice([2, 5, 20, 200]))]
        return HostileRequest("too many in a row", b"".join(requests), stays=self._random.random() < 0.5)

    def _follow(self) -> HostileRequest:
        """Follow a game, maybe from an invalid version, and send more on the same connection."""
        last = self._random.choice(["", "Last-Event-ID: 3\r\n", "Last-Event-ID: x\r\n"])
        query = self._random.choice(["", "?after=2", "?after=x", "?after=99999", "?before=1"])
        head = f"GET {BASE}/games/{self.target.game}/events{query} HTTP/1.1\r\nHost: x\r\n{last}\r\n"
        behind = bytes(self._valid()) * self._random.choice([0, 0, 1, 50])
        return HostileRequest("followed", head.encode() + behind, stays=True)

    def _changed(self, text: bytes) -> bytes:
        """Change, insert and remove some bytes."""
        random, found = self._random, bytearray(text)
        for _ in range(random.choice([1, 1, 2, 5, 20])):
            place = random.randrange(len(found) + 1)
            match random.randrange(4):
                case 0:
                    found[place : place + 1] = random.randbytes(1)
                case 1:
                    put = (CRLF, b"\x00", b" ", b"%", b":", b'"', b"}", b"\xff" * 9, b"\r", b"\n")
                    found[place:place] = random.choice(put)
                case 2:
                    found[place:place] = found[place : place + random.randrange(60)]
                case _:
                    del found[place : place + random.randrange(1, 9)]
        return bytes(found)
