"""The security headers of every answer, and the files of the page."""

from __future__ import annotations

import gzip
import re

import pytest

from noughts.web.assets import CONTENT_TYPES, PAGE, ROBOTS, WORKER, load
from support.web.matches import one_player
from support.web.serving import Answer, Client, Server

GAME = "a" * 26
SITE = load()
STATIC = sorted({*SITE.files} - {PAGE, WORKER, ROBOTS})
FILES = f"//static/{SITE.version}"
PAGES = (
    *("//", "//play", "//play/519", "//play/519?first=O&level=hard", "//replay/519", "//games"),
    *("//friend", "//open", "//bots", "//lobby", f"//game/{GAME}"),
)
READABLE = ("/games", "/bots", "/health", "/ready", "/openapi.json", "/analysis?moves=5", "//metrics")
REFUSED = ("/nonesuch", f"/games/{GAME}", "/analysis", "//nonesuch", "//static/nonesuch.js", "//static/")


def _directives(answer: Answer) -> dict[str, list[str]]:
    policy = answer.headers["content-security-policy"]
    return {
        name: rest.split() for name, _, rest in (one.strip().partition(" ") for one in policy.split(";"))
    }


@pytest.mark.parametrize(
    "path",
    [*PAGES, *READABLE, *REFUSED, f"{FILES}/style.css", "//worker.js", "//robots.txt", "//favicon.ico"],
)
def test_every_answer_has_the_security_headers(client: Client, path: str) -> None:
    """And no other site can read it."""
    for method in ("GET", "HEAD", "POST", "OPTIONS"):
        answer = client.ask(
            method, path, origin="https://evil.example", access_control_request_method="POST"
        )
        _check_headers(answer)
        for name in {*answer.headers}:
            assert len(answer.headers.get_all(name, [])) == 1, name


def _check_headers(answer: Answer) -> None:
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["server"] is answer.headers["x-powered-by"] is None
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]
    directives = _directives(answer)
    assert directives["default-src"] == ["'none'"]
    assert directives["frame-ancestors"] == ["'none'"]
    assert not any("unsafe" in one or "*" in one for rest in directives.values() for one in rest)


@pytest.mark.parametrize("path", PAGES)
def test_every_path_of_the_page_serves_the_page(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.body == client.get("//").body
    directives = _directives(answer)
    assert directives["script-src"] == directives["style-src"] == directives["connect-src"] == ["'self'"]
    assert directives["base-uri"] == directives["form-action"] == ["'none'"]
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"


@pytest.mark.parametrize("name", STATIC)
def test_files_are_compressed_and_cached(client: Client, name: str) -> None:
    content = SITE.files[name].plain
    plain = client.get(f"{FILES}/{name}")
    pressed = client.get(f"{FILES}/{name}", accept_encoding="gzip, br")
    known = client.get(f"{FILES}/{name}", if_none_match=plain.headers["etag"])
    other = client.get(f"{FILES}/{name}", if_none_match='"something else"')
    assert plain.body == content
    assert plain.headers["content-encoding"] is None
    if pressed.headers["content-encoding"] == "gzip":
        assert gzip.decompress(pressed.body) == content
        assert len(pressed.body) < len(content)
    else:
        assert pressed.body == content
    assert "accept-encoding" in plain.headers["vary"].lower()
    assert (known.status, known.body) == (304, b"")
    assert known.headers["etag"] == plain.headers["etag"]
    assert (other.status, other.body) == (200, content)
    assert plain.headers["content-type"] == CONTENT_TYPES[name.rpartition(".")[2]]
    assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize("path", ["//", "//worker.js", "//robots.txt"])
def test_files_that_change_are_asked_for_again(client: Client, path: str) -> None:
    found = client.get(path)
    assert found.headers["cache-control"] == "no-cache"
    assert client.get(path, if_none_match=found.headers["etag"]).status == 304


def test_a_browser_at_an_unknown_address_gets_a_page(client: Client) -> None:
    """A program gets a problem, and so does who uses the API."""
    old = "//static/0000000000000000/page.js"
    for path in ("//nowhere", "//play/5/1", "//static/nonesuch.js", f"{FILES}/nonesuch.js", old):
        page = client.get(path, accept="text/html,application/xhtml+xml,*/*;q=0.8")
        assert page.status == 404
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert page.body == client.get("//").body
        assert client.get(path, accept="*/*").code == "notFound"
        assert client.get(path, accept="text/html", if_none_match=page.headers["etag"]).status == 404
    for method, path, code in (
        ("GET", "/nowhere", "notFound"),
        ("POST", "//nowhere", "notFound"),
        ("DELETE", "/games", "methodNotAllowed"),
        ("DELETE", "//lobby", "methodNotAllowed"),
    ):
        assert client.ask(method, path, accept="text/html").code == code, (method, path)


def test_robots_stay_away_from_games(client: Client) -> None:
    rules = client.get("//robots.txt").body.decode().splitlines()
    assert rules == ["User-agent: *", "Disallow: /api/", "Disallow: /game/"]


def test_the_page_and_its_worker_name_files_of_this_version(client: Client) -> None:
    page, worker = (client.get(path).body.decode() for path in ("//", "//worker.js"))
    named = re.findall(r"/static/(\w+)/([\w.-]+)", page)
    assert {version for version, _ in named} == {SITE.version}
    assert {name for _, name in named} <= {*STATIC}
    assert f'"{SITE.version}"' in worker
    assert " ".join(STATIC) in worker
    assert '" bots friend game games lobby open play replay"' in worker
    assert "%" not in worker
    assert "%" not in page.replace("%3C", "").replace("%23", "").replace("%3E", "")


def test_only_files_of_the_page_are_sent(client: Client) -> None:
    for path in (
        *("app.py", "../app.py", "../static/page.js", "./page.js", "/page.js", "page.js/", "PAGE.JS", ""),
        *("index.html", "worker.js", "robots.txt", "page.py", "../page.js"),
        "../0000000000000000/page.js",
    ):
        refused = client.get(f"{FILES}/{path}")
        assert (refused.status, refused.code) == (404, "notFound"), path


def test_a_stream_is_neither_cached_nor_buffered(server: Server) -> None:
    """`OpenApiCheck` looks at all other answers of the API."""
    with one_player(server, "self") as both, both.follow() as stream:
        assert stream.headers["cache-control"] == "no-store"
        assert stream.headers["x-accel-buffering"] == "no"
        _check_headers(Answer(200, stream.headers, b""))
