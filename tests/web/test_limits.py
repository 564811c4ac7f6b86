"""Limits per address and per server."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack

import pytest

from noughts.web.request import Response
from noughts.web.streams import EventStream
from support.web.apps import ask, handle, open_app
from support.web.serving import Answer, Client, Server, new_key, wait_until

OTHER = "127.0.0.2"
"""Another address of this machine's."""


GAME = "a" * 26


@pytest.mark.parametrize(
    ("setting", "act", "usual"),
    [
        ("NOUGHTS_MOVES_PER_MINUTE", lambda client: client.move(GAME, 4, 5), 404),
        ("NOUGHTS_CREATES_PER_MINUTE", lambda client: client.post("/games", {"opponent": "self"}), 201),
        (
            "NOUGHTS_JOINS_PER_MINUTE",
            lambda client: client.post(f"/games/{GAME}/join", {"invite": "x", "key": new_key()}),
            404,
        ),
        ("NOUGHTS_ANALYSES_PER_MINUTE", lambda client: client.get("/analysis?moves=5"), 200),
        ("NOUGHTS_CREATES_PER_MINUTE", lambda client: client.post("/qr", {"link": "a"}), 200),
    ],
)
def test_requests_per_minute_are_limited(
    store: str, setting: str, act: Callable[[Client], Answer], usual: int
) -> None:
    """Other requests and other addresses are not affected."""
    with (
        Server(store, **{setting: "3"}) as server,
        server.client() as client,
        server.client(source=OTHER) as other,
    ):
        answers = [act(client) for _ in range(3)]
        refused = act(client)

        assert [answer.status for answer in answers] == [usual] * 3
        assert (refused.status, refused.code) == (429, "tooMany")
        assert 1 <= int(refused.headers["retry-after"]) <= 20
        assert "wait" in refused.json["detail"]
        assert client.get("/games").status == 200
        for pretence in ({"x_forwarded_for": "192.0.2.1"}, {"forwarded": "for=192.0.2.1"}):
            assert client.post("/games", {}, **pretence).status in (400, 429)
        assert act(client).status == 429
        assert act(other).status == usual


def test_bad_requests_count_too(store: str) -> None:
    with Server(store, NOUGHTS_CREATES_PER_MINUTE="2") as server, server.client() as client:
        statuses = [client.ask("POST", "/games", b"x").status for _ in range(3)]
        assert statuses == [415, 415, 429]


def test_qr_codes_and_games_are_counted_apart(store: str) -> None:
    with Server(store, NOUGHTS_CREATES_PER_MINUTE="1") as server, server.client() as client:
        assert client.post("/qr", {"link": "a"}).status == 200
        assert client.post("/games", {"opponent": "self"}).status == 201
        for path, body in (("/qr", {"link": "a"}), ("/games", {"opponent": "self"})):
            assert client.post(path, body).status == 429
        assert client.get("/analysis?moves=5").status == 200


def test_wrong_secrets_are_counted(store: str) -> None:
    """Requests with the right secret, or none, aren't affected."""
    with (
        Server(store, NOUGHTS_WRONG_SECRETS_PER_MINUTE="3") as server,
        server.client() as client,
        server.client() as guesser,
        server.client(source=OTHER) as other,
    ):
        seat = client.create("self")
        game = seat["id"]
        client.secret = seat["secrets"]["X"]
        guesser.secret = other.secret = "guess" * 6

        guesses = [guesser.move(game, 4, 5).status for _ in range(5)]

        assert guesses == [404, 404, 404, 429, 429]
        refused = guesser.move(game, 4, 5)
        assert (refused.code, refused.headers["retry-after"] is not None) == ("tooMany", True)
        assert guesser.get(f"/games/{game}/events").status == 429
        assert client.move(game, 4, 5).status == 200
        assert client.read(game)["you"] == ["X"]
        assert other.move(game, 4, 5).status == 404
        guesser.secret = None
        assert guesser.read(game)["you"] == []


def test_behind_a_proxy_the_address_is_the_one_it_names(store: str) -> None:
    """But only behind the proxy of the settings."""
    limits = {"NOUGHTS_CREATES_PER_MINUTE": "1", "NOUGHTS_PROXY": "127.0.0.1"}
    with (
        Server(store, **limits) as server,
        server.client() as proxy,
        server.client(source=OTHER) as stranger,
    ):
        body = {"opponent": "self"}
        for client, address, status in (
            (proxy, "192.0.2.1", 201),
            (proxy, "192.0.2.1", 429),
            (proxy, "192.0.2.2", 201),
            (stranger, "192.0.2.3", 201),
            (stranger, "192.0.2.4", 429),
            (proxy, "2001:db8::1", 201),
            (proxy, "2001:db8::2", 429),  # the same network
            (proxy, "2001:db8:0:1::1", 201),
        ):
            assert client.post("/games", body, x_forwarded_for=address).status == status, address


def test_streams_per_address_are_limited(store: str) -> None:
    with (
        Server(store, NOUGHTS_STREAMS_PER_ADDRESS="2") as server,
        server.client() as client,
        server.client(source=OTHER) as other,
        ExitStack() as stack,
    ):
        game = client.create("self")["id"]
        watch = stack.enter_context(other.follow(game))
        first = stack.enter_context(client.follow(game))
        second = stack.enter_context(client.follow(game))
        watch.wait_room(lambda room: room["watching"] == 3)

        refused = client.get(f"/games/{game}/events")

        assert (refused.status, refused.code) == (429, "tooMany")
        assert refused.headers["retry-after"]
        assert not first.is_over
        second.close()
        watch.wait_room(lambda room: room["watching"] == 2)
        with client.follow(game) as again:
            assert again.refusal is None


async def test_streams_that_are_being_opened_count() -> None:
    """A stream that never starts frees its place."""
    async with open_app(streams_per_address=2, creates_per_minute=0) as app:
        created = await ask(app, "POST", "/games", {"opponent": "self"})
        path = f"/games/{json.loads(created.body)['id']}/events"
        results = [await handle(app, "GET", path) for _ in range(4)]
        assert [*map(type, results)] == [EventStream, EventStream, Response, Response]
        for result in results:
            if isinstance(result, EventStream):
                result.close()
        assert isinstance(await handle(app, "GET", path), EventStream)
        assert len(app.streams) == 1


async def test_a_stream_of_a_game_that_was_just_deleted_ends() -> None:
    class Wire:
        is_ended = False

        def send(self, _frame: bytes) -> bool:
            return True

        def end(self) -> None:
            self.is_ended = True

    async with open_app() as app:
        created = await ask(app, "POST", "/games", {"opponent": "self"})
        game, wire = json.loads(created.body)["id"], Wire()
        stream = await handle(app, "GET", f"/games/{game}/events")
        live = app.games.known(game)
        assert live
        app.games.forget(live)
        assert isinstance(stream, EventStream)
        stream.start(wire)
        assert wire.is_ended
        assert len(app.streams) == 0


def test_streams_are_limited(store: str) -> None:
    with (
        Server(store, NOUGHTS_MOST_STREAMS="1") as server,
        server.client() as client,
        server.client(source=OTHER) as other,
    ):
        game = client.create("self")["id"]
        with client.follow(game) as stream:
            stream.wait(lambda now: now.rooms)

            refused = other.get(f"/games/{game}/events")

            assert (refused.status, refused.code) == (503, "tooBusy")
            assert refused.headers["retry-after"]


def test_connections_per_address_are_limited(store: str) -> None:
    """Refused connections are counted and logged."""
    with Server(store, NOUGHTS_CONNECTIONS_PER_ADDRESS="2") as server, ExitStack() as stack:
        clients = [stack.enter_context(server.client()) for _ in range(4)]
        other = stack.enter_context(server.client(source=OTHER))

        answers = [client.get("/health") for client in clients]

        assert [answer.status for answer in answers] == [200, 200, 429, 429]
        assert answers[-1].code == "tooMany"
        assert answers[-1].headers["retry-after"]
        assert other.get("/health").status == 200
        assert "noughts_connections_refused_total 2" in other.get("//metrics").body.decode()
        clients[0].close()
        wait_until(lambda: clients[3].get("/health").status == 200)
        wait_until(lambda: b"connections refused" in server.log())


def test_connections_are_limited(store: str) -> None:
    with Server(store, NOUGHTS_MOST_CONNECTIONS="3") as server, ExitStack() as stack:
        clients = [stack.enter_context(server.client()) for _ in range(6)]
        answers = [client.get("/health") for client in clients]
        assert [answer.status for answer in answers][:2] == [200, 200]
        refused = answers[-1]
        assert (refused.status, refused.code) == (503, "tooBusy")
        assert refused.headers["retry-after"]
        assert refused.headers["x-content-type-options"] == "nosniff"
        assert clients[0].get("/health").status == 200
