"""Cross-site requests are refused."""

from __future__ import annotations

import json

import pytest

from support.web.in_process import InProcessServer
from support.web.matches import one_player, two_players
from support.web.serving import Client, Server, new_key


@pytest.mark.parametrize(
    "headers",
    [
        *({"origin": origin} for origin in (
            "https://evil.example", "null", "http://127.0.0.1", "https://127.0.0.1:{port}",
            "http://127.0.0.1:{port}.evil.example", "http://127.0.0.1:{port}/", "http://localhost:{port}",
            "http://evil.example@127.0.0.1:{port}", "file://", "", "127.0.0.1:{port}",
            "http://127.0.0.1:1", "é",
        )),
        *({"sec_fetch_site": site} for site in ("cross-site", "same-site", "CROSS-SITE", "x", "")),
    ],
)  # fmt: skip
def test_a_request_from_elsewhere_is_refused(server: Server, headers: dict[str, str]) -> None:
    """For every command, and nothing changes."""
    named = {name: text.format(port=server.port) for name, text in headers.items()}
    with two_players(server) as match:
        before = match.now
        for path, body in (
            ("/games", {"opponent": "friend"}),
            (f"/games/{match.game}/join", {"key": new_key()}),
            (f"/games/{match.game}/moves", {"cell": 4, "version": 5, "key": new_key()}),
            (f"/games/{match.game}/resign", {"version": 5, "key": new_key()}),
            (f"/games/{match.game}/take-back", {"version": 5, "key": new_key()}),
            (f"/games/{match.game}/take-back/answer", {"accept": True, "key": new_key()}),
            (f"/games/{match.game}/rematch", {"key": new_key()}),
        ):
            refused = match.X.client.post(path, body, **named)
            assert (refused.status, refused.code) == (403, "notAcceptedHere"), path
            assert refused.headers["set-cookie"] is None
            assert refused.headers["access-control-allow-origin"] is None
        assert match.now == before


def test_our_own_page_is_accepted(server: Server, client: Client) -> None:
    for headers in (
        {"origin": server.url},
        {"origin": server.url.upper()},
        {"origin": server.url, "sec_fetch_site": "same-origin"},
        {"sec_fetch_site": "same-origin"},
        {"sec_fetch_site": "none"},
        {"origin": "http://noughts.example", "host": "noughts.example"},
    ):
        assert client.post("/games", {"opponent": "friend"}, **headers).status == 201


def test_the_origin_can_be_set() -> None:
    """Behind a proxy it is not needed: that says by which scheme the browser came."""
    ours, other = "https://noughts.example", "http://noughts.example"
    for settings, headers, accepted in (
        ({"NOUGHTS_ORIGIN": ours}, {}, [ours]),
        ({"NOUGHTS_PROXY": "127.0.0.1"}, {"x_forwarded_proto": "https"}, [ours]),
        ({}, {"x_forwarded_proto": "https"}, [other]),
    ):
        with InProcessServer("memory:", **settings) as server, server.client() as client:
            found = [
                origin
                for origin in (ours, other, server.url, f"{ours}:444")
                if client.post(
                    "/games", {"opponent": "friend"}, origin=origin, host="noughts.example", **headers
                ).status
                == 201
            ]
            assert found == accepted


@pytest.mark.parametrize(
    ("kind", "is_json"),
    [
        *((kind, False) for kind in (
            "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain",
            "text/plain; application/json", "text/json", "application/jsonp", "application/problem+json",
            "", ",application/json",
        )),
        *((kind, True) for kind in (
            "application/json", "Application/JSON; charset=utf-8", "application/json ;x=y",
        )),
    ],
)  # fmt: skip
def test_content_types_of_forms_are_refused(server: Server, kind: str, *, is_json: bool) -> None:
    with one_player(server, "self") as both:
        body = json.dumps({"cell": 4, "version": 5, "key": "k"}).encode()
        for path, content in ((f"/games/{both.game}/moves", body), ("/games", b'{"opponent":"friend"}')):
            answer = both.client.ask("POST", path, content, content_type=kind)
            assert answer.code == (None if is_json else "wrongType")
        assert both.version == (8 if is_json else 5)


def test_getting_something_changes_nothing(server: Server) -> None:
    with two_players(server) as match:
        lobby, before, client = match.watcher.get("/games").json, match.now, match.X.client
        query = f"cell=4&version=5&key=k&invite={match.invite}"
        body = json.dumps({"cell": 4, "version": 5, "key": "k"}).encode()
        commands = ("join", "moves", "resign", "take-back", "take-back/answer", "rematch")
        for method in ("GET", "HEAD"):
            for path in ("/games?opponent=lobby", f"/games/{match.game}?{query}"):
                assert client.ask(method, path, body, content_type="application/json").status == 400
            for what in commands:
                path = f"/games/{match.game}/{what}?{query}"
                assert client.ask(method, path, body, content_type="application/json").status == 405
        assert match.watcher.get("/games").json == lobby
        assert match.now == before
