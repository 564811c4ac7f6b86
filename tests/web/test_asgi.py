"""The application under stock servers, mounted in another application, and as ASGI asks for it."""

from __future__ import annotations

import asyncio
import re
import threading
from pathlib import Path
from typing import Any

import pytest

from noughts import open_store
from noughts.web import create_app
from noughts.web.app import BODY_SECONDS, Application
from noughts.web.assets import load
from noughts.web.problems import InvalidSetting
from noughts.web.request import MAX_BODY_BYTES
from noughts.web.settings import GONE
from support.web.fake_clock import in_fake_time, turns, wait
from support.web.serving import UVICORN, AsgiServer, wait_until

SERVERS = {
    "uvicorn": UVICORN,
    "hypercorn": "hypercorn noughts.web:create_app() --bind fd://{fd}",
    "mounted": "uvicorn --fd {fd} support.web.mounted_app:application --app-dir tests",
}
HEADERS = [(b"host", b"x"), (b"content-type", b"application/json")]


@pytest.mark.parametrize("name", SERVERS)
def test_a_game_is_played_with_a_stream(name: str, store: str) -> None:
    """Also without a lifespan and below a prefix: so it is, if another application has mounted ours."""
    with AsgiServer(store, SERVERS[name]) as server, server.client() as ann, server.client() as bob:
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
            stream.wait(lambda now: now.positions[-1]["winner"] == "X")
        page = ann.get("//")
        assert page.status == 200
        assert f'src="{ann.prefix}/static/{load().version}/page.js"'.encode() in page.body
        server.stop_cleanly()
    open_store(store, create=False).close()


class Call:
    """A call of the application, and everything it sends."""

    def __init__(self, app: Application, kind: str = "http", prefix: str = "", **scope: Any) -> None:
        self._received: asyncio.Queue[dict[str, object]] = asyncio.Queue()
        self.sent: list[Any] = []
        defaults = {"method": "GET", "query_string": b"", "headers": HEADERS, "client": None}
        whole = {"type": kind, "root_path": prefix, **defaults, **scope}
        self.task = asyncio.ensure_future(app(whole, self._received.get, self._send))

    async def _send(self, message: Any) -> None:
        self.sent.append(message)

    def receive(self, kind: str, **more: object) -> None:
        self._received.put_nowait({"type": kind, **more})


async def answer(app: Application, path: str, body: bytes = b"", **scope: Any) -> dict[str, Any]:
    """Return the start of the response to a request."""
    call = Call(app, path=scope.get("prefix", "") + path, **scope)
    call.receive("http.request", body=body)
    await call.task
    start: dict[str, Any] = call.sent[0]
    return start


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Application:
    monkeypatch.setenv("NOUGHTS_STORE", "memory:")
    monkeypatch.setenv("NOUGHTS_PROXY", "10.0.0.0/8")
    monkeypatch.setenv("NOUGHTS_CREATES_PER_MINUTE", "1")
    return create_app()


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
    await app.close()


def test_an_application_can_be_started_again(app: Application) -> None:
    async def live() -> None:
        lifespan = Call(app, "lifespan")
        lifespan.receive("lifespan.startup")
        assert (await answer(app, "/api/v1/ready"))["status"] == 200
        lifespan.receive("lifespan.shutdown")
        await lifespan.task
        kinds = [message["type"] for message in lifespan.sent]
        assert kinds == ["lifespan.startup.complete", "lifespan.shutdown.complete"]

    asyncio.run(live())
    asyncio.run(live())


async def test_a_prefix_is_quoted(app: Application) -> None:
    body, prefix = b'{"opponent":"friend"}', '/my games/"\r\nx: y'
    start = await answer(app, "/api/v1/games", body, method="POST", prefix=prefix)
    headers = dict(start["headers"])
    assert headers[b"location"].startswith(b"/my%20games/%22%0D%0Ax%3A%20y/api/v1/games/")
    assert b"Path=" + headers[b"location"] + b";" in headers[b"set-cookie"]
    await app.close()


async def test_a_header_that_comes_in_several_parts_is_one(app: Application) -> None:
    """A proxy may add one of its own; HTTP/2 cuts cookies apart."""
    start: dict[str, Any] = {}
    for named, status in ((b"192.0.2.1", 201), (b"192.0.2.1", 429), (b"192.0.2.2", 201)):
        headers = [*HEADERS, (b"x-forwarded-for", named), (b"x-forwarded-for", b"10.0.0.2")]
        start = await answer(
            app, "/api/v1/games", b'{"opponent":"self"}',
            method="POST", headers=headers, client=("10.0.0.1", 1),
        )  # fmt: skip
        assert start["status"] == status
    cookie = dict(start["headers"])[b"set-cookie"].split(b";")[0]
    path = dict(start["headers"])[b"location"].decode()
    call = Call(app, path=path, headers=[*HEADERS, (b"cookie", cookie), (b"cookie", b"a=b")])
    call.receive("http.request")
    await call.task
    assert b'"you":["O"]' in call.sent[1]["body"]
    await app.close()


SLOW = [b'{"opponent":', b'"self"']


@pytest.mark.parametrize(
    ("parts", "seconds", "status"),
    [
        (SLOW, BODY_SECONDS - 2, None),
        (SLOW, BODY_SECONDS + 2, 408),
        ([b" " * MAX_BODY_BYTES, b" "], 0, 413),
        ([None], 0, 400),  # it was cut off
    ],
)
@in_fake_time
async def test_a_body_that_comes_too_slowly_or_is_too_long_is_refused(
    app: Application, parts: list[bytes | None], seconds: float, status: int | None
) -> None:
    await app.open()
    call = Call(app, path="/api/v1/games", method="POST")
    for part in parts:
        if part is None:
            call.receive("http.disconnect")
        else:
            call.receive("http.request", body=part, more_body=True)
        await turns()
        await wait(int(seconds / len(parts)))
    assert [message["status"] for message in call.sent[:1]] == ([status] if status else [])
    call.receive("http.request", body=b"}")
    await call.task
    assert call.sent[0]["status"] == (status or 201)
    await app.close()


async def test_a_websocket_is_closed(app: Application) -> None:
    call = Call(app, "websocket", path="/")
    await call.task
    assert call.sent == [{"type": "websocket.close", "code": 1000}]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        *((name, "0", f"is not a setting any more: {instead}") for name, instead in GONE.items()),
        *(
            ("MOST_STREAMS", text, "must be a number of at least 0")
            for text in ("-1", "many", "1.5", "٣")
        ),
        *(
            ("PROXY", text, "must be addresses or networks such as")
            for text in ("here", "10.0.0.1/8", "1,,x")
        ),
        *(
            ("ORIGIN", text, "must be like https://")
            for text in ("x", "https://a/b", "ftp://a", "https://")
        ),
        ("LOG", "loud", "must be one of debug, info"),
        ("LOG_FORMAT", "xml", "must be one of auto, plain"),
        ("BOTS", "tiger", "must be NAME=FILE"),
    ],
)
def test_a_setting_that_went_or_makes_no_sense_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str
) -> None:
    monkeypatch.setenv(f"NOUGHTS_{name}", value)
    with pytest.raises(InvalidSetting, match=rf"NOUGHTS_{name}\b.* {re.escape(words)}"):
        create_app()
