"""Limits per address and per server."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

import pytest

from noughts.web.limits import MAX_ADDRESSES, Limit
from noughts.web.problems import ApiError
from noughts.web.request import Request
from noughts.web.settings import Settings
from support.web.in_process import InProcessServer
from support.web.inspection import figure
from support.web.serving import Answer, Client, new_key, wait_until

OTHER = "127.0.0.2"
"""Another address of this machine's."""

GAME = "a" * 26


def _join(client: Client) -> Answer:
    return client.post(f"/games/{GAME}/join", {"invite": "x", "key": new_key()})


@pytest.mark.parametrize(
    ("setting", "act", "usual"),
    [
        ("MOVES", lambda client: client.move(GAME, 4, 5), 404),
        ("CREATES", lambda client: client.post("/games", {"opponent": "self"}), 201),
        ("CREATES", lambda client: client.ask("POST", "/games", b"x"), 415),  # bad ones count, too
        ("CREATES", lambda client: client.post("/qr", {"link": "a"}), 200),
        ("JOINS", _join, 404),
        ("ANALYSES", lambda client: client.get("/analysis?moves=5"), 200),
    ],
)
def test_requests_per_minute_are_limited(
    setting: str, act: Callable[[Client], Answer], usual: int
) -> None:
    """Other requests and addresses are not affected; what a client says of itself does not count."""
    with InProcessServer("memory:", **{f"NOUGHTS_{setting}_PER_MINUTE": "3"}) as server:
        client, other = server.client(), server.client(source=OTHER)
        assert [act(client).status for _ in range(3)] == [usual] * 3
        refused = act(client)
        assert (refused.status, refused.code) == (429, "tooMany")
        assert 1 <= int(refused.headers["retry-after"]) <= 20
        assert "wait" in refused.json["detail"]
        for pretence in ({"x_forwarded_for": "192.0.2.1"}, {"forwarded": "for=192.0.2.1"}):
            assert client.get("/games", **pretence).status == 200
            assert act(client).status == 429
        assert act(other).status == usual


def test_qr_codes_and_games_are_counted_apart() -> None:
    with InProcessServer("memory:", NOUGHTS_CREATES_PER_MINUTE="1") as server:
        client, asked = server.client(), {"/qr": {"link": "a"}, "/games": {"opponent": "self"}}
        assert [client.post(path, body).status for path, body in asked.items()] == [200, 201]
        assert [client.post(path, body).status for path, body in asked.items()] == [429, 429]


def test_wrong_secrets_are_counted() -> None:
    """Requests with the right secret, or none, aren't affected."""
    with InProcessServer("memory:", NOUGHTS_WRONG_SECRETS_PER_MINUTE="3") as server:
        client = server.client()
        seat = client.create("self")
        game, client.secret = seat["id"], seat["secrets"]["X"]
        guesser, other = server.client("guess" * 6), server.client("guess" * 6, OTHER)
        assert [guesser.move(game, 4, 5).status for _ in range(5)] == [404, 404, 404, 429, 429]
        refused = guesser.get(f"/games/{game}/events")
        assert (refused.code, refused.headers["retry-after"] is not None) == ("tooMany", True)
        assert client.move(game, 4, 5).status == 200
        assert client.read(game)["you"] == ["X"]
        assert other.move(game, 4, 5).status == 404
        guesser.secret = None
        assert guesser.read(game)["you"] == []


PROXIES = "10.0.0.0/8, 127.0.0.1, 2001:db8:ffff::/48"


@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded", "address"),
    [
        ("", "127.0.0.1", "192.0.2.1", "127.0.0.1"),
        (PROXIES, "127.0.0.1", "", "127.0.0.1"),
        (PROXIES, "127.0.0.1", "192.0.2.1", "192.0.2.1"),
        (PROXIES, "10.9.8.7", "192.0.2.1, 10.1.2.3", "192.0.2.1"),
        (PROXIES, "2001:db8:ffff::7", "192.0.2.1:5512, 192.0.2.2", "192.0.2.2"),
        (PROXIES, "::ffff:10.0.0.1", "[2001:DB8::1]:443,", "2001:db8::1"),
        (PROXIES, "10.0.0.1", "10.0.0.2, 127.0.0.1", "10.0.0.1"),
        (PROXIES, "10.0.0.1", "192.0.2.1, unknown", "unknown"),
        (PROXIES, "127.0.0.2", "192.0.2.1", "127.0.0.2"),
        ("*", "127.0.0.2", "192.0.2.1, 10.0.0.1", "10.0.0.1"),
        ("*", "", "192.0.2.1", ""),
    ],
)
def test_behind_a_proxy_the_address_is_the_last_that_is_not_a_proxy(
    trusted: str, peer: str, forwarded: str, address: str
) -> None:
    """But only behind the proxies of the settings."""
    headers = {b"x-forwarded-for": forwarded.encode()}
    request = Request("GET", "/", b"", headers, b"", peer, proxies=Settings(proxy=trusted).proxies)
    assert request.address == address


def test_clients_behind_a_proxy_are_counted_apart_by_network() -> None:
    """Those of one IPv6 network of 64 bits together."""
    limits = {"NOUGHTS_CREATES_PER_MINUTE": "1", "NOUGHTS_PROXY": "127.0.0.0/31"}
    with InProcessServer("memory:", **limits) as server:
        proxy, stranger = server.client(), server.client(source=OTHER)
        for client, address, status in (
            (proxy, "192.0.2.1", 201),
            (proxy, "192.0.2.1", 429),
            (proxy, "192.0.2.2", 201),
            (proxy, "192.0.2.2, 192.0.2.3", 201),
            (stranger, "192.0.2.4", 201),
            (stranger, "192.0.2.5", 429),
            (proxy, "2001:db8::1", 201),
            (proxy, "2001:db8::2", 429),
            (proxy, "2001:db8:0:1::1", 201),
        ):
            body = {"opponent": "self"}
            assert client.post("/games", body, x_forwarded_for=address).status == status, address


@pytest.mark.parametrize(
    ("setting", "own", "others", "code"),
    [("STREAMS_PER_ADDRESS", 429, 200, "tooMany"), ("MOST_STREAMS", 503, 503, "tooBusy")],
)
def test_streams_are_limited(setting: str, own: int, others: int, code: str) -> None:
    with InProcessServer("memory:", **{f"NOUGHTS_{setting}": "2"}) as server, ExitStack() as stack:
        client, other = server.client(), server.client(source=OTHER)
        game = client.create("self")["id"]
        streams = [stack.enter_context(client.follow(game)) for _ in range(2)]
        refused = client.get(f"/games/{game}/events")
        assert (refused.status, refused.code) == (own, code)
        assert refused.headers["retry-after"]
        with other.follow(game) as watching:
            assert (watching.refusal.status if watching.refusal else 200) == others
        streams[0].close()
        wait_until(lambda: figure(client, "streams") == 1)
        with client.follow(game) as again:
            assert again.refusal is None


def test_the_memory_for_addresses_is_bounded() -> None:
    now = 0.0
    limit = Limit("attempts", 2, clock=lambda: now)

    def attempt(address: str) -> int | None:
        try:
            limit.spend(Request("GET", "/", b"", {}, b"", address))
        except ApiError as error:
            return int(dict(error.headers)[b"retry-after"])
        return None

    assert [attempt("192.0.2.1") for _ in range(3)] == [None, None, 30]
    now = 30.0
    assert [attempt("192.0.2.1") for _ in range(2)] == [None, 30]
    for number in range(MAX_ADDRESSES):
        assert attempt(f"10.{number // 65536}.{number // 256 % 256}.{number % 256}") is None
    assert attempt("192.0.2.1") is None
