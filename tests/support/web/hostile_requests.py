"""Requests that mean harm, drawn by lot: the same lot draws the same requests.

Each begins as something that could be asked in earnest, of a game that is there to be attacked, with the
secrets of its seats; most of them are then spoilt in one way or another.
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


class Prey(NamedTuple):
    """A game that is attacked, with all that opens it."""

    game: str
    secrets: dict[str, str]
    invite: str


class Hostile(NamedTuple):
    """What is sent, and what to expect of it."""

    kind: str
    data: bytes
    asks: tuple[str, ...] = ()
    """The methods of the requests that it is made of, if each is certain to be told from the next."""
    stays: bool = False
    """Whether the line is left open with nothing more to come."""


class Request(NamedTuple):
    """A request, before anything is done to it."""

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
    "\u202egnihton",
    "\u2066a\u2069",
    "a\u200bb",
    "\x1b[31mred",
    "\x00",
    "a\r\nid: 9\r\ndata: x",
    "<script>alert(1)</script>",
    "'; DROP TABLE events; --",
    "\u540d" * 32,
    "\U0001f642" * 33,
    "Zoe\u0308",
    "bot:perfect",
    "program:/bin/sh",
    "../../etc/passwd",
    "",
    " ",
    "A" * 3900,
)
VALUES: tuple[Any, ...] = (
    *NAMES,
    None,
    True,
    False,
    -1,
    9,
    2**31,
    2**63,
    2**64,
    10**400,
    0.5,
    1e308,
    [],
    {},
    [[]],
    [4],
    {"cell": 4},
    "X",
    "O",
    "4",
    "random",
    "self",
    "club",
    "/bin/sh",
)
RAW = (
    b"",
    b" ",
    b"null",
    b"NaN",
    b"-Infinity",
    b"1e999999999",
    b'"',
    b'"\\ud800"',
    b'"\\u0000"',
    b"\xff\xfe{\x00}\x00",
    b"\xef\xbb\xbf{}",
    b"{" * 4000,
    b"[" * 4096,
    b'{"a":' * 800,
    b"[" * 2000 + b"]" * 2000,
    b'{"opponent":"self","opponent":"self"}',
    b'{"opponent":"self"}{"opponent":"self"}',
    b'{"opponent":"self"',
    b'{"opponent":"\xff\xff"}',
    b'{"opponent":"self","name":"\xed\xa0\x80"}',
    b"opponent=self",
    b"<xml/>",
    b" " * 4096,
    b"9" * 4096,
)
METHODS = (
    "PUT",
    "DELETE",
    "PATCH",
    "OPTIONS",
    "TRACE",
    "PROPFIND",
    "PURGE",
    "M-SEARCH",
    "SEARCH",
    "LOCK",
)
NO_METHODS = (b"FETCH", b"get", b"G E T", b"\x00", b"GET\t", b"CONNECT", b"X" * 300, b"", b"PRI")
PATHS = (
    "/",
    "/lobby",
    "/metrics",
    "/replay/159",
    "/favicon.ico",
    "/static/app.js",
    "/static/..%2f..%2fapp.py",
    "/static/%00",
    "//",
    "/api/v1",
    "/api/v1/games/%00",
    "/api/v1/games/%ff%fe",
    "/api/v1/games/%ed%a0%80/moves",
    "/api/v1/games/" + "a" * 26,
    "/api/v1/games/" + "a" * 9000,
    "/api/v1/games/../games",
    "/api/v1/games/%2e%2e/%2e%2e/moves",
    "/api/v1/games//moves",
    "/api/v2/games",
    "/API/V1/GAMES",
    "/api/v1/openapi.json?x=1",
    "/?" + "&".join(f"a{number}=b" for number in range(200)),
)
QUERIES = (
    "version=0",
    "version=1",
    "version=99999999999999999999",
    "version=-1",
    "version=%00",
    "version=1&version=1",
    "version=\u0663".encode().decode("latin-1"),
    "after=1",
    "after=1e3",
    "board=X__/_O_/___",
    "board=XXX/XXX/XXX",
    "board=" + "X" * 480,
    "board=X__%2F_O_%2F___&first=Z",
    "moves=519",
    "moves=" + "5" * 300,
    "moves=0",
    "moves=%F0%9F%99%82",
    "moves=",
    "first=O",
    "board=___/___/___&moves=1",
    "%",
    "=",
    "&&&",
    "a[]=1",
    "x" * 600,
    "__proto__=1",
)
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
    """Draws requests."""

    def __init__(self, chance: Random, prey: Prey) -> None:
        self._chance = chance
        self.prey = prey
        self._ways = (
            self._spoilt_body,
            self._spoilt_body,
            self._spoilt_body,
            self._raw_body,
            self._odd_headers,
            self._odd_headers,
            self._odd_query,
            self._odd_path,
            self._odd_method,
            self._no_method,
            self._smuggled,
            self._bad_chunks,
            self._random_bytes,
            self._mutated,
            self._mutated,
            self._mutated,
            self._half,
            self._left_open,
            self._in_a_row,
            self._too_many_in_a_row,
            self._follow,
        )

    def draw(self) -> Hostile:
        """Return something to send."""
        return self._chance.choice(self._ways)()

    def _earnest(self) -> Request:
        """Return something that could be asked in earnest."""
        chance, game = self._chance, f"{BASE}/games/{self.prey.game}"
        if chance.random() < 0.3:
            asked = (
                "/games",
                f"/games/{self.prey.game}",
                "/analysis?board=X__/_O_/___",
                "/analysis?moves=519",
                "/bots",
                "/health",
                "/ready",
                "/openapi.json",
            )
            return Request("GET", BASE + chance.choice(asked), self._secret())
        path, body = chance.choice(
            [
                (
                    f"{BASE}/games",
                    {"opponent": chance.choice(["friend", "lobby", "self"]), "name": "Ann"},
                ),
                (f"{BASE}/games", {"opponent": "bot", "bot": "club", "mark": "O", "first": "random"}),
                (f"{game}/join", {"invite": self.prey.invite, "key": self._key(32), "name": "Bob"}),
                (f"{game}/join", {"invite": None, "key": self._key(32)}),
                (f"{game}/moves", self._command(cell=chance.choice(CELLS))),
                (f"{game}/moves", self._command(cell=chance.choice(CELLS), mark=chance.choice("XO"))),
                (f"{game}/resign", self._command()),
                (f"{game}/take-back", self._command()),
                (f"{game}/take-back/answer", {"accept": chance.random() < 0.5, "key": self._key()}),
                (f"{game}/rematch", {"key": self._key(), "secret": True}),
            ]
        )
        return self._post(path, json.dumps(body).encode())

    def _post(self, path: str, body: bytes) -> Request:
        return Request("POST", path, ((b"Content-Type", b"application/json"), *self._secret()), body)

    def _command(self, **more: object) -> dict[str, object]:
        return {"version": self._chance.randrange(30), "key": self._key(), **more}

    def _key(self, size: int = 2) -> str:
        """Return a key; the short ones come again and again."""
        return "".join(self._chance.choices("abcdefgh", k=size))

    def _secret(self) -> tuple[Header, ...]:
        """Return nothing, a right secret or two, or a wrong one."""
        x, o = (secret.encode() for secret in self.prey.secrets.values())
        wrong = self._key(32).encode()
        return self._chance.choice(
            [
                (),
                ((b"Authorization", b"Bearer " + x),),
                ((b"Authorization", b"Bearer " + o),),
                ((b"Cookie", b"X=%b; O=%b" % (x, o)),),
                ((b"Authorization", b"Bearer " + wrong),),
                ((b"Cookie", b"X=%b; O=%b" % (wrong, x)),),
            ]
        )

    def _framed(self, kind: str, *requests: Request) -> Hostile:
        return Hostile(
            kind, b"".join(map(bytes, requests)), tuple(request.method for request in requests)
        )

    def _spoilt_body(self) -> Hostile:
        """Change a field to what it cannot be, leave one out, or put one in."""
        request = self._earnest()
        if request.body is None:
            return self._framed("earnest", request)
        fields = json.loads(request.body)
        name = self._chance.choice([*fields, "nonesuch", "name", "secret"])
        value = self._chance.choice(VALUES)
        if self._chance.random() < 0.15:
            fields.pop(name, None)
        elif self._chance.random() < 0.1:
            fields = value
        else:
            fields[name] = value
        body = json.dumps(fields, ensure_ascii=self._chance.random() < 0.5)
        return self._framed("wrong types", request._replace(body=body.encode("utf-8", "replace")[:4096]))

    def _raw_body(self) -> Hostile:
        """Send something else in the place of JSON, or JSON with bytes changed."""
        request = self._earnest()
        if request.body is None or self._chance.random() < 0.5:
            body = self._chance.choice(RAW)
        else:
            body = self._changed(request.body)[:4096]
        return self._framed("no JSON", self._post(request.path, body)._replace(headers=request.headers))

    def _odd_headers(self) -> Hostile:
        """Add headers that mean something elsewhere, or to a careless server."""
        request = self._earnest()
        odd = tuple(self._chance.choices(HEADERS, k=self._chance.choice([1, 1, 2, 3])))
        return self._framed("odd headers", request._replace(headers=(*request.headers, *odd)))

    def _odd_query(self) -> Hostile:
        path = self._chance.choice(
            [f"/games/{self.prey.game}", "/games", "/analysis", "/bots", "/health"]
        )
        query = self._chance.choice(QUERIES)
        return self._framed("odd query", Request("GET", f"{BASE}{path}?{query}"))

    def _odd_path(self) -> Hostile:
        method = self._chance.choice(["GET", "GET", "HEAD", "POST"])
        request = Request(method, self._chance.choice(PATHS), self._secret())
        return self._framed("odd path", request._replace(body=b"{}" if method == "POST" else None))

    def _odd_method(self) -> Hostile:
        request = self._earnest()
        return self._framed("odd method", request._replace(method=self._chance.choice(METHODS)))

    def _no_method(self) -> Hostile:
        request = bytes(self._earnest())
        return Hostile("no method", self._chance.choice(NO_METHODS) + request[request.index(b" ") :])

    def _smuggled(self) -> Hostile:
        """Put in headers that are read in two ways, or in none, or are too much."""
        head, _, body = bytes(self._earnest()).partition(CRLF * 2)
        lines = head.split(CRLF)
        lines.insert(self._chance.randrange(1, len(lines) + 1), self._chance.choice(SMUGGLED))
        return Hostile("smuggling", CRLF.join(lines) + CRLF * 2 + body)

    def _bad_chunks(self) -> Hostile:
        path = self._chance.choice([f"{BASE}/games", f"{BASE}/games/{self.prey.game}/moves"])
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n".encode()
        chunks = self._chance.choice(CHUNKS)
        return Hostile("bad chunks", head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks)

    def _random_bytes(self) -> Hostile:
        size = self._chance.choice([1, 10, 100, 1000, 40_000])
        return Hostile("random bytes", self._chance.randbytes(size))

    def _mutated(self) -> Hostile:
        return Hostile("mutated", self._changed(bytes(self._earnest())))

    def _half(self) -> Hostile:
        request = bytes(self._earnest())
        return Hostile("half", request[: self._chance.randrange(len(request))])

    def _left_open(self) -> Hostile:
        return self._half()._replace(kind="left open", stays=True)

    def _in_a_row(self) -> Hostile:
        """Ask many things at once, without waiting; the streams are not among them."""
        requests = [self._earnest() for _ in range(self._chance.choice([2, 5, 20, 50]))]
        return self._framed("in a row", *requests)

    def _too_many_in_a_row(self) -> Hostile:
        """Ask more things at once than anybody is answered, and hear none of the answers maybe."""
        requests = [bytes(self._earnest()) for _ in range(self._chance.choice([2, 5, 20, 200]))]
        return Hostile("too many in a row", b"".join(requests), stays=self._chance.random() < 0.5)

    def _follow(self) -> Hostile:
        """Follow a game, maybe from where it never was, and then ask for more on the same line."""
        last = self._chance.choice(["", "Last-Event-ID: 3\r\n", "Last-Event-ID: x\r\n"])
        query = self._chance.choice(["", "?after=2", "?after=x", "?after=99999", "?before=1"])
        head = f"GET {BASE}/games/{self.prey.game}/events{query} HTTP/1.1\r\nHost: x\r\n{last}\r\n"
        behind = bytes(self._earnest()) * self._chance.choice([0, 0, 1, 50])
        return Hostile("followed", head.encode() + behind, stays=True)

    def _changed(self, text: bytes) -> bytes:
        """Change some bytes, put some in, and leave some out."""
        chance, found = self._chance, bytearray(text)
        for _ in range(chance.choice([1, 1, 2, 5, 20])):
            place = chance.randrange(len(found) + 1)
            match chance.randrange(4):
                case 0:
                    found[place : place + 1] = chance.randbytes(1)
                case 1:
                    put = (CRLF, b"\x00", b" ", b"%", b":", b'"', b"}", b"\xff" * 9, b"\r", b"\n")
                    found[place:place] = chance.choice(put)
                case 2:
                    found[place:place] = found[place : place + chance.randrange(60)]
                case _:
                    del found[place : place + chance.randrange(1, 9)]
        return bytes(found)
