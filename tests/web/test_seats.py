"""Access to seats: secrets, invitations, cookies and spectators."""

from __future__ import annotations

import base64
import sqlite3
from pathlib import Path

import pytest

from support.web.matches import Seat, one_player, two_players
from support.web.serving import Answer, Client, Server, new_key

UNKNOWN_GAME = "a" * 26
"""An id that no game has."""


def test_a_secret_has_192_bits(client: Client) -> None:
    seats = [client.create("self") for _ in range(5)]
    invites = [client.create("friend")["invite"] for _ in range(5)]
    secrets = [secret for seat in seats for secret in seat["secrets"].values()] + invites
    assert len({*secrets}) == 15
    for secret in secrets:
        assert len(base64.urlsafe_b64decode(secret)) == 24


def test_a_games_id_cannot_be_guessed(client: Client) -> None:
    games = [client.create("self")["id"] for _ in range(5)]
    assert len({*games}) == 5
    for game in games:
        assert len(base64.b32decode(game.upper() + "======")) == 16


def test_the_opponents_seat_is_not_yours(server: Server) -> None:
    with two_players(server) as match:
        thief = Seat(match.O.client, match.game, "X")
        for refused in (thief.move(4), thief.resign(), thief.take_back()):
            assert (refused.status, refused.code) == (404, "notFound")
        assert match.now["version"] == 5


def test_spectators_can_do_nothing(server: Server) -> None:
    with two_players(server) as match, two_players(server) as other:
        match.play(0)
        match.X.take_back()
        strangers = [
            match.watcher,
            server.client("x" * 32),
            server.client("x" * 5000),
            server.client(""),
            server.client("é"),
            other.X.client,
        ]

        for stranger in strangers:
            seat = Seat(stranger, match.game)
            for refused in (
                seat.move(4, 8),
                seat.resign(8),
                seat.take_back(8),
                seat.answer(accept=True),
                seat.rematch(),
            ):
                assert (refused.status, refused.code) == (404, "notFound")
            stranger.close()
        assert match.now["version"] == 8


def test_absent_and_forbidden_look_alike(server: Server) -> None:
    with two_players(server) as match, server.client() as stranger:
        used = match.invite
        unfinished = stranger.create("friend")

        def answers(game: str) -> list[Answer]:
            seat = Seat(stranger, game)
            return [
                seat.move(4, 5),
                seat.resign(5),
                seat.take_back(5),
                seat.answer(accept=True),
                seat.rematch(),
                stranger.post(f"/games/{game}/join", {"invite": "wrong", "key": new_key()}),
                stranger.post(f"/games/{game}/join", {"invite": used, "key": new_key(), "name": "\x00"}),
                stranger.post(f"/games/{game}/join", {"key": new_key()}),
            ]

        def visible_parts(answer: Answer) -> tuple[int, list[tuple[str, str]], bytes]:
            headers = [pair for pair in answer.headers.items() if pair[0].lower() != "date"]
            return answer.status, headers, answer.body

        (expected, *_) = absent = [visible_parts(answer) for answer in answers(UNKNOWN_GAME)]
        assert expected[0] == 404
        assert {answer[2] for answer in absent} == {expected[2]}
        for game in (match.game, unfinished["id"], "x", "%2e%2e", UNKNOWN_GAME[:-1]):
            assert [visible_parts(answer) for answer in answers(game)] == absent
        absent_game = stranger.get(f"/games/{UNKNOWN_GAME}")
        assert visible_parts(absent_game)[2] == expected[2]


@pytest.mark.parametrize(
    ("kind", "refusal"), [("friend", (404, "notFound")), ("lobby", (409, "seatTaken"))]
)
def test_a_seat_is_taken_once(client: Client, kind: str, refusal: tuple[int, str]) -> None:
    """The same key gets the same seat and secret again."""
    seat, key = client.create(kind), new_key()
    first = client.join(seat["id"], seat["invite"], key=key)
    version = client.read(seat["id"])["version"]

    late = client.post(f"/games/{seat['id']}/join", {"invite": seat["invite"], "key": new_key()})
    again = client.join(seat["id"], seat["invite"], key=key)

    assert (late.status, late.code) == refusal
    assert again["marks"] == first["marks"] == ["O"]
    assert again["secrets"] == first["secrets"]
    assert again["game"]["version"] == version
    client.secret = again["secrets"]["O"]
    assert client.read(seat["id"])["you"] == ["O"]


def test_a_key_says_nothing_without_the_invitation(client: Client) -> None:
    seat = client.create("friend")
    key = new_key()
    client.join(seat["id"], seat["invite"], key=key)
    for invite in (None, "", "wrong", seat["invite"][:-1]):
        refused = client.post(f"/games/{seat['id']}/join", {"invite": invite, "key": key})
        assert (refused.status, refused.code) == (404, "notFound")


@pytest.mark.parametrize("kind", ["bot", "self"])
def test_games_without_a_free_seat_cannot_be_joined(server: Server, kind: str) -> None:
    with one_player(server, kind, **({"bot": "random"} if kind == "bot" else {})) as one:
        for invite in (None, "", "x"):
            refused = one.client.post(
                f"/games/{one.game}/join", {"invite": invite, "key": new_key(), "secret": True}
            )
            assert (refused.status, refused.code) == (404, "notFound")


def test_a_browser_gets_a_cookie_that_no_script_can_read(server: Server) -> None:
    with server.client() as ann, server.client() as bob:
        created = ann.post("/games", {"opponent": "friend"})
        seat = created.json
        path = f"/api/v1/games/{seat['id']}"
        joined = bob.post(f"/games/{seat['id']}/join", {"invite": seat["invite"], "key": new_key()})

        for answer, mark in ((created, "X"), (joined, "O")):
            (cookie,) = answer.headers.get_all("set-cookie", [])
            pair, *attributes = cookie.split("; ")
            name, _, secret = pair.partition("=")
            assert name == mark
            assert len(secret) == 32
            assert {"HttpOnly", "SameSite=Strict", f"Path={path}"} <= {*attributes}
            assert not any(one.startswith("Domain") for one in attributes)
            assert answer.json["secrets"] is None
            assert secret not in answer.body.decode()
        assert ann.read(seat["id"])["you"] == ["X"]
        assert bob.move(seat["id"], 4, 5).code == "notYourTurn"
        assert ann.move(seat["id"], 4, 5).status == 200


def test_a_program_gets_its_secret_and_no_cookie(client: Client) -> None:
    created = client.post("/games", {"opponent": "self", "secret": True})
    client.secret = created.json["secrets"]["X"]
    Seat(client, created.json["id"]).resign()
    again = Seat(client, created.json["id"]).rematch()
    assert {*created.json["secrets"]} == {"X", "O"}
    assert again.status == 201
    for answer in (created, again):
        assert answer.headers.get_all("set-cookie", []) == []


def test_a_rematch_sets_cookies_for_the_next_game(server: Server) -> None:
    with server.client() as both:
        game = both.post("/games", {"opponent": "self"}).json["id"]
        both.post(f"/games/{game}/resign", {"version": 5, "key": new_key()})
        answer = both.post(f"/games/{game}/rematch", {"key": new_key()})
        following = answer.json["id"]
        cookies = answer.headers.get_all("set-cookie", [])
        assert len(cookies) == 2
        assert all(f"Path=/api/v1/games/{following}" in cookie for cookie in cookies)
        assert both.read(following)["you"] == ["X", "O"]


@pytest.mark.parametrize(
    ("settings", "headers"),
    [
        ({"NOUGHTS_ORIGIN": "https://noughts.example"}, {}),
        ({"NOUGHTS_PROXY": "127.0.0.1"}, {"x_forwarded_proto": "https"}),
    ],
)
def test_behind_https_a_cookie_is_secure(
    store: str, settings: dict[str, str], headers: dict[str, str]
) -> None:
    with Server(store, **settings) as server, server.client() as client:
        answer = client.post("/games", {"opponent": "friend"}, **headers)
        assert answer.headers["set-cookie"].endswith("; Secure")


def test_over_plain_http_a_cookie_is_not_secure(client: Client) -> None:
    answer = client.post("/games", {"opponent": "friend"}, x_forwarded_proto="https")
    assert "Secure" not in answer.headers["set-cookie"]


def test_no_secret_is_kept(tmp_path: Path) -> None:
    """Neither in the store, nor in the log, nor in the metrics."""
    file = tmp_path / "games.db"
    with Server(f"sqlite:{file}", NOUGHTS_LOG="debug") as server:
        with server.client() as client:
            friend, both = client.create("friend"), client.create("self")
            key = new_key()
            joined = client.join(friend["id"], friend["invite"], key=key)
            browser = client.post("/games", {"opponent": "self"})
            cookies = [cookie[2:34] for cookie in browser.headers.get_all("set-cookie", [])]
            secrets = [
                friend["invite"],
                key,
                *friend["secrets"].values(),
                *joined["secrets"].values(),
                *both["secrets"].values(),
                *cookies,
            ]
            assert len({*secrets}) == 8
            client.secret = friend["secrets"]["X"]
            client.move(friend["id"], 4, 5)
            client.get(f"/games/{friend['id']}?secret={secrets[2]}")
            client.post(f"/games/{friend['id']}/moves", {"key": "x"})
            metrics = client.get("//metrics").body
            game = client.get(f"/games/{friend['id']}").body
        during = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert server.stop() == 0
    after = b"".join(path.read_bytes() for path in tmp_path.iterdir())

    assert friend["id"].encode() in after
    for secret in secrets:
        for place in (during, after, metrics, game, server.errors):
            assert secret.encode() not in place
            assert base64.urlsafe_b64decode(secret + "==")[:24] not in place
    with sqlite3.connect(file) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_a_secret_in_the_address_opens_nothing(client: Client) -> None:
    seat = client.create("self")
    secret = seat["secrets"]["X"]
    refused = client.get(f"/games/{seat['id']}?secret={secret}")
    moved = client.post(
        f"/games/{seat['id']}/moves?X={secret}", {"cell": 4, "version": 5, "key": new_key()}
    )
    assert (refused.status, moved.status) == (400, 404)


@pytest.mark.parametrize(
    "header", ["Basic {}", "Bearer", "Bearer  ", "Bearer {} {}", "{}", "bearer: {}", "Bearer {}x"]
)
def test_a_malformed_authorization_is_ignored(client: Client, header: str) -> None:
    seat = client.create("self")
    secret = seat["secrets"]["X"]
    answer = client.get(f"/games/{seat['id']}", authorization=header.format(secret, secret))
    assert answer.json["you"] == []


def test_bearer_may_be_in_any_case(client: Client) -> None:
    seat = client.create("self")
    for word in ("Bearer", "bearer", "BEARER"):
        answer = client.get(f"/games/{seat['id']}", authorization=f"{word} {seat['secrets']['O']}")
        assert answer.json["you"] == ["O"]


def test_other_cookies_are_ignored(client: Client) -> None:
    seat = client.create("self")
    ours = f"X={seat['secrets']['X']}"
    for cookie in (
        f"a=b; {ours}; c=d",
        f"{ours}; X=wrong",
        f"O=wrong; {ours}",
        f"; ;=;{ours};",
        f'x="{"y" * 2000}"; {ours}',
    ):
        answer = client.get(f"/games/{seat['id']}", cookie=cookie)
        assert answer.json["you"] == ["X"], cookie
