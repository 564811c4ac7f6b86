"""Raw and strange HTTP: it is refused or answered, and the server goes on.

`tests/torture/test_web_hostile_requests.py` sends many more, with random changes. What a server's port
needs besides, such as limits on heads, is a proxy's (`tests/torture/test_nginx.py`).
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from support.deadlines import DEADLINE_SECONDS
from support.proxy import RESET
from support.web.serving import Client, Server

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


@pytest.fixture(autouse=True)
def alive(server: Server) -> Iterator[None]:
    """Check after each test that the server answers, on an old connection and a new one."""
    with server.client() as before:
        assert before.get("/health").status == 200
        yield
        assert before.get("/health").status == 200
        with server.client() as after:
            assert after.get("/ready").status == 200
    assert b"Traceback" not in server.log()


@pytest.mark.parametrize("what", INVALID_REQUESTS)
def test_invalid_requests_are_refused(server: Server, what: str) -> None:
    assert _statuses(_exchange(server, INVALID_REQUESTS[what])) == [400]


@pytest.mark.parametrize("what", STRANGE_REQUESTS)
def test_strange_requests_are_answered(server: Server, what: str) -> None:
    request, expected = STRANGE_REQUESTS[what]
    said = _exchange(server, request, is_whole=lambda said: said.endswith(b"}"))
    *_, status = _statuses(said)
    assert status == expected
    assert status < 400 or b"application/problem+json" in said


def test_requests_one_after_the_other_are_answered_in_order(server: Server) -> None:
    absent = b"GET /nonesuch HTTP/1.1\r\n" + END
    wrong = b"POST /api/v1/games HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabcde"
    requests = (GOOD + absent + wrong + SIZED % len(CREATE) + CREATE) * 10 + LAST
    said = _exchange(server, requests, is_whole=lambda said: said.count(b"HTTP/1.1 ") == 41)
    assert _statuses(said) == [200, 404, 415, 201] * 10 + [200]


def test_a_request_in_a_body_is_not_read_as_one(server: Server) -> None:
    hidden = b"GET /nonesuch HTTP/1.1\r\n" + END
    outer = SIZED % len(hidden)
    said = _exchange(server, outer + hidden + LAST, is_whole=lambda said: b"HTTP/1.1 200 " in said)
    assert _statuses(said) == [400, 200]


def test_a_request_that_comes_byte_by_byte_is_answered(server: Server) -> None:
    with socket.create_connection((server.host, server.port), DEADLINE_SECONDS) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in SIZED % len(CREATE) + CREATE:
            connection.sendall(bytes([byte]))
        assert connection.recv(65536).startswith(b"HTTP/1.1 201 ")


@pytest.mark.parametrize(
    "beginning",
    [b"", b"GET", b"GET / HTTP/1.1\r\nHo", POST + b"Content-Length: 100\r\n\r\n{", CHUNKED + b"5\r\nab"],
)
def test_broken_connections_do_no_harm(server: Server, beginning: bytes) -> None:
    for _ in range(50):
        with socket.create_connection((server.host, server.port), DEADLINE_SECONDS) as connection:
            connection.sendall(beginning)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
def test_unsupported_methods_are_refused(client: Client, method: str) -> None:
    game = client.create("self")["id"]
    for path, allowed in (
        ("/games", {"GET", "HEAD", "POST"}),
        (f"/games/{game}", {"GET", "HEAD"}),
        (f"/games/{game}/moves", {"POST"}),
        (f"/games/{game}/join", {"POST"}),
        (f"/games/{game}/events", {"GET"}),
        ("//", {"GET", "HEAD"}),
        ("//metrics", {"GET", "HEAD"}),
    ):
        refused = client.ask(method, path)
        assert (refused.status, refused.code) == (405, "methodNotAllowed"), path
        assert {*refused.headers["allow"].split(", ")} == allowed, path


def test_head_has_the_headers_of_get(client: Client) -> None:
    for path in ("/games", "/bots", "/health", "/openapi.json", "//", "//worker.js"):
        head, whole = client.ask("HEAD", path), client.get(path)
        assert (head.status, head.body) == (200, b"")
        assert head.headers["content-length"] == str(len(whole.body))
        assert head.headers["content-type"] == whole.headers["content-type"]


def _exchange(server: Server, request: bytes, is_whole: Callable[[bytes], bool] | None = None) -> bytes:
    """Send bytes on a connection of their own; return what comes, until it is whole or over."""
    said = b""
    with (
        socket.create_connection((server.host, server.port), DEADLINE_SECONDS) as connection,
        suppress(ConnectionError),  # what is refused early is not read to its end
    ):
        connection.sendall(request)
        if is_whole is None:
            connection.shutdown(socket.SHUT_WR)
        while not (is_whole and is_whole(said)) and (more := connection.recv(65536)):
            said += more
    return said


def _statuses(said: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", said) if status != b"100"]
