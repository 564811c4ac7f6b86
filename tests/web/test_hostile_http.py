"""Raw and strange HTTP: it is refused or answered, and the server goes on.

`tests/torture/test_web_hostile_requests.py` sends many more, with random changes. What a server's port
needs besides, such as limits on heads, is a proxy's (`tests/torture/test_nginx.py`).
"""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from support.web.hostile_requests import (
    CREATE,
    END,
    GOOD,
    INVALID_REQUESTS,
    LAST,
    SIZED,
    STRANGE_REQUESTS,
    exchange,
    statuses,
)
from support.web.serving import Client, Server


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
    assert statuses(exchange(server, INVALID_REQUESTS[what])) == [400]


@pytest.mark.parametrize("what", STRANGE_REQUESTS)
def test_strange_requests_are_answered(server: Server, what: str) -> None:
    request, expected = STRANGE_REQUESTS[what]
    said = exchange(server, request, is_whole=lambda said: said.endswith(b"}"))
    *_, status = statuses(said)
    assert status == expected
    assert status < 400 or b"application/problem+json" in said


def test_requests_one_after_the_other_are_answered_in_order(server: Server) -> None:
    absent = b"GET /nonesuch HTTP/1.1\r\n" + END
    wrong = b"POST /api/v1/games HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabcde"
    requests = (GOOD + absent + wrong + SIZED % len(CREATE) + CREATE) * 10 + LAST
    said = exchange(server, requests, is_whole=lambda said: said.count(b"HTTP/1.1 ") == 41)
    assert statuses(said) == [200, 404, 415, 201] * 10 + [200]


def test_a_request_in_a_body_is_not_read_as_one(server: Server) -> None:
    hidden = b"GET /nonesuch HTTP/1.1\r\n" + END
    outer = SIZED % len(hidden)
    said = exchange(server, outer + hidden + LAST, is_whole=lambda said: b"HTTP/1.1 200 " in said)
    assert statuses(said) == [400, 200]


def test_a_request_that_comes_byte_by_byte_is_answered(server: Server) -> None:
    with server.socket() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in SIZED % len(CREATE) + CREATE:
            connection.sendall(bytes([byte]))
        assert connection.recv(65536).startswith(b"HTTP/1.1 201 ")


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
