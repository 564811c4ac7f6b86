"""The application under other servers, and mounted in another application."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from noughts import open_store
from noughts.web import create_app
from noughts.web.asgi import MAX_QUEUED, AsgiApp
from noughts.web.assets import load
from support.command import environment
from support.deadlines import DEADLINE_SECONDS
from support.web.serving import UNLIMITED, Client, wait_until

SERVERS = {
    "uvicorn": ["uvicorn", "--factory", "noughts.web:create_app", "--port", "{port}"],
    "hypercorn": ["hypercorn", "noughts.web:create_app()", "--bind", "127.0.0.1:{port}"],
    "granian": [
        *("granian", "--interface", "asgi", "--factory", "noughts.web:create_app"),
        *("--port", "{port}"),
    ],
    "mounted": [
        "uvicorn",
        "support.web.mounted_app:application",
        "--app-dir",
        "tests",
        "--port",
        "{port}",
    ],
}


class Address:
    """The address of a server, for a client."""

    check = None

    def __init__(self, port: int) -> None:
        self.port = port

    def connection(self, _source: object = None) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_SECONDS)


@contextmanager
def running(name: str, store: str) -> Iterator[Address]:
    """Run a server until the block is left; it must stop cleanly."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [part.format(port=port) for part in SERVERS[name]]
    env = environment(**UNLIMITED, NOUGHTS_STORE=store)
    with subprocess.Popen(
        [sys.executable, "-m", *command],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            wait_for(port, process)
            yield Address(port)
            process.send_signal(signal.SIGTERM)
            output, _ = process.communicate(timeout=DEADLINE_SECONDS)
            assert b"Traceback" not in output
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    open_store(store, create=False).close()


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < until and process.poll() is None:
        line = HTTPConnection("127.0.0.1", port, timeout=1)
        try:
            line.request("GET", "/")
            line.getresponse()
        except OSError:
            continue
        else:
            return
        finally:
            line.close()
    raise AssertionError("the server does not answer")


class Call:
    """A call of the application, and everything it sends."""

    def __init__(self, app: AsgiApp, kind: str = "http", prefix: str = "", **scope: Any) -> None:
        self._received: asyncio.Queue[dict[str, object]] = asyncio.Queue()
        self.sent: list[Any] = []
        defaults = {"method": "GET", "query_string": b"", "headers": [(b"host", b"x")], "client": None}
        whole = {"type": kind, "root_path": prefix, **defaults, **scope}
        self.task = asyncio.ensure_future(app(whole, self._received.get, self._send))

    async def _send(self, message: Any) -> None:
        self.sent.append(message)

    def receive(self, kind: str, **more: object) -> None:
        self._received.put_nowait({"type": kind, **more})


async def answer(app: AsgiApp, path: str, body: bytes = b"", **scope: Any) -> dict[str, Any]:
    """Return the start of the response to a request."""
    call = Call(app, path=scope.get("prefix", "") + path, **scope)
    call.receive("http.request", body=body)
    await asyncio.wait_for(call.task, DEADLINE_SECONDS)
    start: dict[str, Any] = call.sent[0]
    return start


async def test_a_store_that_cannot_be_opened_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With every request; no thread is left over."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("NOUGHTS_STORE", f"sqlite:{tmp_path}/file/games.sqlite")

    app, before = create_app(), threading.active_count()
    for _ in range(5):
        assert (await answer(app, "/api/v1/health"))["status"] == 503
    wait_until(lambda: threading.active_count() <= before)
    (tmp_path / "file").unlink()
    assert (await answer(app, "/api/v1/ready"))["status"] == 200


def test_an_application_can_be_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOUGHTS_STORE", "memory:")
    app = create_app()

    async def live() -> None:
        lifespan = Call(app, "lifespan")
        lifespan.receive("lifespan.startup")
        assert (await answer(app, "/api/v1/ready"))["status"] == 200
        lifespan.receive("lifespan.shutdown")
        await asyncio.wait_for(lifespan.task, DEADLINE_SECONDS)
        assert [message["type"] for message in lifespan.sent] == [
            "lifespan.startup.complete",
            "lifespan.shutdown.complete",
        ]

    asyncio.run(live())
    asyncio.run(live())


async def test_a_prefix_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOUGHTS_STORE", "memory:")
    start = await answer(
        create_app(),
        "/api/v1/games",
        b'{"opponent":"friend"}',
        method="POST",
        headers=[(b"host", b"x"), (b"content-type", b"application/json")],
        prefix='/my games/"\r\nx: y',
    )
    assert start["status"] == 201
    headers = dict(start["headers"])
    assert headers[b"location"].startswith(b"/my%20games/%22%0D%0Ax%3A%20y/api/v1/games/")
    assert b"Path=" + headers[b"location"] + b";" in headers[b"set-cookie"]


async def test_a_reader_that_is_too_slow_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its queue is bounded."""
    monkeypatch.setenv("NOUGHTS_STORE", "memory:")

    app = create_app()
    headers = [(b"host", b"x"), (b"content-type", b"application/json")]
    created = Call(app, method="POST", headers=headers, path="/api/v1/games")
    created.receive("http.request", body=b'{"opponent":"self"}')
    await asyncio.wait_for(created.task, DEADLINE_SECONDS)
    game = json.loads(created.sent[1]["body"])["id"]
    slow = Call(app, path=f"/api/v1/games/{game}/events")
    slow.receive("http.request", body=b"")
    while not slow.sent:
        await asyncio.sleep(0)
    opened = await app._app()  # noqa: SLF001 - to send more than a game would
    live = opened.games.known(game)
    assert live
    (stream,) = live.streams
    for _ in range(MAX_QUEUED + 2):
        stream.send(b"event: ping\ndata: {}\n\n")
    await asyncio.wait_for(slow.task, DEADLINE_SECONDS)
    assert not live.streams
    assert slow.sent[-1].get("more_body") in (None, True)


@pytest.mark.parametrize("name", SERVERS)
def test_a_game_is_played_with_a_stream(name: str, tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'games.sqlite'}"
    with running(name, store) as address, Client(address) as ann, Client(address) as bob:  # type: ignore[arg-type]  # as far as a client needs it
        ann.prefix = bob.prefix = "/games/of/ours" if name == "mounted" else ""
        created = ann.post("/games", {"opponent": "friend"})  # with a cookie, as a browser
        seat = created.json
        assert created.status == 201
        assert f"Path={ann.prefix}/api/v1/games/{seat['id']};" in created.headers["set-cookie"]
        bob.secret = bob.join(seat["id"], seat["invite"])["secrets"]["O"]
        with ann.follow(seat["id"]) as stream:
            for turn, cell in enumerate([0, 3, 1, 4, 2]):
                version = 5 + 3 * turn
                stream.wait_version(version)
                assert (ann, bob)[turn % 2].move(seat["id"], cell, version).status == 200
            stream.wait_version(22)
            assert [message.data["event"] for message in stream.events][-1] == "gameCompleted"
        assert bob.read(seat["id"])["winner"] == "X"
        page = ann.get("//")
        assert page.status == 200
        assert f'src="{ann.prefix}/static/{load().version}/page.js"'.encode() in page.body
