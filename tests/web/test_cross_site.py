"""Cross-site requests are refused."""

from __future__ import annotations

import json

import pytest

from support.web.matches import one_player, two_players
from support.web.serving import Client, Server, new_key


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example", "null", "http://127.0.0.1", "https://127.0.0.1:{port}",
        "http://127.0.0.1:{port}.evil.example", "http://127.0.0.1:{port}/", "http://localhost:{port}",
        "http://evil.example@127.0.0.1:{port}", "file://", "", "127.0.0.1:{port}", "http://127.0.0.1:1",
        "é",
    ],
)  # fmt: skip
def test_another_origin_is_refused(server: Server, client: Client, origin: str) -> None:
    """For every command, and nothing changes."""
    text = origin.format(port=server.port)
    with two_players(server) as match:
        bodies: dict[str, dict[str, object]] = {
            "/games": {"opponent": "friend"},
            f"/games/{match.game}/join": {"key": new_key()},
            f"/games/{match.game}/moves": {"cell": 4, "version": 5, "key": new_key()},
            f"/games/{match.game}/resign": {"version": 5, "key": new_key()},
            f"/games/{match.game}/take-back": {"version": 5, "key": new_key()},
            f"/games/{match.game}/take-back/answer": {"accept": True, "key": new_key()},
            f"/games/{match.game}/rematch": {"key": new_key()},
        }
        before = match.now

        for path, body in bodies.items():
            refused = match.X.client.post(path, body, origin=text)
            assert (refused.status, refused.code) == (403, "notAcceptedHere"), path
            assert refused.headers["set-cookie"] is None
            assert refused.headers["access-control-allow-origin"] is None

        assert match.now == before
        assert client.get("/health").status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site", "CROSS-SITE", "x", ""])
def test_a_browser_that_says_it_comes_from_elsewhere_is_refused(client: Client, site: str) -> None:
    refused = client.post("/games", {"opponent": "friend"}, sec_fetch_site=site)
    assert (refused.status, refused.code) == (403, "notAcceptedHere")


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


def test_the_origin_can_be_set(store: str) -> None:
    with Server(store, NOUGHTS_ORIGIN="https://noughts.example") as server, server.client() as client:
        ours = client.post("/games", {"opponent": "friend"}, origin="https://noughts.example")
        others = [
            client.post("/games", {"opponent": "friend"}, origin=origin)
            for origin in (server.url, "http://noughts.example", "https://noughts.example:444")
        ]
    assert ours.status == 201
    assert [other.status for other in others] == [403, 403, 403]


@pytest.mark.parametrize(
    "kind",
    [
        "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain",
        "text/plain; application/json", "text/json", "application/jsonp", "application/problem+json", "",
        ",application/json",
    ],
)  # fmt: skip
def test_content_types_of_forms_are_refused(server: Server, kind: str) -> None:
    with one_player(server, "self") as both:
        body = json.dumps({"cell": 4, "version": 5, "key": "k"}).encode()
        refused = both.client.ask("POST", f"/games/{both.game}/moves", body, content_type=kind)
        created = both.client.ask("POST", "/games", b'{"opponent":"friend"}', content_type=kind)
        bare = both.client.ask("POST", "/games", b'{"opponent":"friend"}')
        for answer in (refused, created, bare):
            assert (answer.status, answer.code) == (415, "wrongType")
        assert both.version == 5


@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON; charset=utf-8", "application/json ;x=y"]
)
def test_content_types_of_json_are_accepted(client: Client, kind: str) -> None:
    answer = client.ask("POST", "/games", b'{"opponent":"friend"}', content_type=kind)
    assert answer.status == 201


def test_getting_something_changes_nothing(server: Server) -> None:
    with two_players(server) as match, server.client() as client:
        lobby, before = client.get("/games").json, match.now
        secret = match.X.client.secret
        for path in (
            "/games?opponent=lobby",
            f"/games/{match.game}?cell=4&version=5&key=k",
            *(
                f"/games/{match.game}/{what}?cell=4&version=5&key=k&invite={match.invite}"
                for what in ("join", "moves", "resign", "take-back", "take-back/answer", "rematch")
            ),
        ):
            for method in ("GET", "HEAD"):
                answer = match.X.client.ask(method, path)
                assert answer.status in (400, 404, 405), path
        for cell in range(9):
            body = json.dumps({"cell": cell, "version": 5, "key": "k"}).encode()
            answer = match.X.client.ask(
                "GET", f"/games/{match.game}/moves", body, content_type="application/json"
            )
            assert answer.status == 405

        assert client.get("/games").json == lobby
        assert match.now == before
        assert secret


def test_other_sites_cannot_read_answers(server: Server) -> None:
    with one_player(server, "self") as both:
        for method, path in (
            ("GET", f"/games/{both.game}"),
            ("OPTIONS", f"/games/{both.game}/moves"),
            ("GET", "/openapi.json"),
            ("GET", "//"),
        ):
            answer = both.client.ask(
                method,
                path,
                origin="https://evil.example",
                access_control_request_method="POST",
                access_control_request_headers="content-type",
            )
            assert not [name for name in answer.headers if name.lower().startswith("access-control")]
            assert answer.headers["cross-origin-resource-policy"] == "same-origin"
