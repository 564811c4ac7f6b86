"""Access to seats: secrets, invitations, cookies and spectators."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from support.web.in_process import InProcessServer
from support.web.matches import Seat, two_players
from support.web.serving import Answer, Client, Server, new_key

UNKNOWN_GAME = "a" * 26
"""An id that no game has."""


def test_nothing_that_gives_access_can_be_guessed(client: Client) -> None:
    """A secret has 192 bits, and a game's id 128."""
    seats = [client.create(kind) for kind in ("self", "friend") * 5]
    secrets = [
        secret for seat in seats for secret in (*seat["secrets"].values(), seat["invite"]) if secret
    ]
    games = [seat["id"] for seat in seats]
    assert len({*secrets}) == 20
    assert {len(base64.urlsafe_b64decode(secret)) for secret in secrets} == {24}
    assert len({*games}) == 10
    assert {len(base64.b32decode(game.upper() + "======")) for game in games} == {16}


def test_absent_and_forbidden_look_alike(server: Server) -> None:
    """To whoever has no secret of a seat, the wrong one, or that of the other seat or of another game."""
    with two_players(server) as match, two_players(server) as other, server.client() as stranger:
        unfinished = stranger.create("friend")

        def answers(game: str) -> list[tuple[int, list[tuple[str, str]], bytes]]:
            seat, path = Seat(stranger, game, "X"), f"/games/{game}/join"
            found = [
                seat.move(4, 5),
                seat.resign(5),
                seat.take_back(5),
                seat.answer(accept=True),
                seat.rematch(),
                stranger.post(path, {"invite": "wrong", "key": new_key()}),
                stranger.post(path, {"invite": match.invite, "key": new_key(), "name": "\x00"}),
                stranger.post(path, {"key": new_key()}),
            ]
            return [visible_parts(answer) for answer in found]

        def visible_parts(answer: Answer) -> tuple[int, list[tuple[str, str]], bytes]:
            headers = [pair for pair in answer.headers.items() if pair[0].lower() != "date"]
            return answer.status, headers, answer.body

        (expected, *_) = absent = answers(UNKNOWN_GAME)
        assert expected[0] == 404
        assert {body for _, _, body in absent} == {expected[2]}
        for game in (match.game, unfinished["id"], "x", "%2e%2e", UNKNOWN_GAME[:-1]):
            assert answers(game) == absent
        for secret in ("x" * 32, "x" * 5000, "", "é", other.X.client.secret):
            stranger.secret = secret
            assert answers(match.game) == absent
        assert visible_parts(stranger.get(f"/games/{UNKNOWN_GAME}"))[2] == expected[2]
        thief = Seat(match.O.client, match.game, "X")
        for refused in (thief.move(4), thief.resign(), thief.take_back()):
            assert (refused.status, refused.code) == (404, "notFound")
        assert match.now["version"] == 5


@pytest.mark.parametrize(
    ("kind", "code"),
    [("friend", "notFound"), ("lobby", "seatTaken"), ("bot", "notFound"), ("self", "notFound")],
)
def test_a_seat_is_taken_once_and_by_the_right_invitation(client: Client, kind: str, code: str) -> None:
    """A key that was used says nothing without the invitation."""
    seat, key = client.create(kind, **({"bot": "random"} if kind == "bot" else {})), new_key()
    path, invite = f"/games/{seat['id']}/join", seat["invite"]
    if kind in ("friend", "lobby"):
        first = client.join(seat["id"], invite, key=key)
        assert client.join(seat["id"], invite, key=key) == first
        assert first["marks"] == ["O"]
    assert client.post(path, {"invite": invite, "key": new_key()}).code == code
    for wrong in ("", "wrong", (invite or "x")[:-1]):
        assert client.post(path, {"invite": wrong, "key": key}).code == "notFound"


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


@pytest.mark.parametrize("is_program", [True, False])
def test_a_rematch_gives_access_as_the_game_did(client: Client, is_program: bool) -> None:  # noqa: FBT001 - a parameter
    """To a program by its secrets and without a cookie, to a browser by cookies for that game alone."""
    created = client.post("/games", {"opponent": "self", "secret": is_program}).json
    both = Seat(client, created["id"])
    client.secret = created["secrets"]["X"] if is_program else None
    both.resign(5)
    answer = client.post(f"/games/{both.game}/rematch", {"key": new_key(), "secret": is_program})
    assert answer.status == 201
    cookies = answer.headers.get_all("set-cookie", [])
    assert len(cookies) == len(client.cookies) / 2 == (0 if is_program else 2)
    assert all(f"Path=/api/v1/games/{answer.json['id']};" in cookie for cookie in cookies)
    assert client.read(answer.json["id"])["you"] == (["X"] if is_program else ["X", "O"])


@pytest.mark.parametrize(
    ("settings", "is_secure"),
    [
        ({"NOUGHTS_ORIGIN": "https://noughts.example"}, True),
        ({"NOUGHTS_PROXY": "127.0.0.1"}, True),
        ({}, False),
    ],
)
def test_behind_https_a_cookie_is_secure(settings: dict[str, str], is_secure: bool) -> None:  # noqa: FBT001 - a parameter
    with InProcessServer("memory:", **settings) as server, server.client() as client:
        answer = client.post("/games", {"opponent": "friend"}, x_forwarded_proto="https")
        assert answer.headers["set-cookie"].endswith("; Secure") is is_secure


def test_no_secret_is_kept(tmp_path: Path) -> None:
    """Neither in the store, nor in the metrics, nor in the log, which has no names either."""
    with Server(f"sqlite:{tmp_path / 'games.db'}", NOUGHTS_LOG="debug") as server:
        with server.client() as client:
            friend, both, key = client.create("friend", name="Ann"), client.create("self"), new_key()
            joined = client.join(friend["id"], friend["invite"], key=key)
            browser = client.post("/games", {"opponent": "self"})
            secrets = [friend["invite"], key]
            secrets += [secret for seat in (friend, joined, both) for secret in seat["secrets"].values()]
            secrets += [cookie[2:34] for cookie in browser.headers.get_all("set-cookie", [])]
            assert len({*secrets}) == 8
            client.secret = friend["secrets"]["X"]
            client.move(friend["id"], 4, 5)
            client.get(f"/games/{friend['id']}?secret={secrets[2]}", x_forwarded_for="192.0.2.77")
            client.post(f"/games/{friend['id']}/moves", {"key": "x"})
            places = [client.get("//metrics").body, client.get(f"/games/{friend['id']}").body]
        places += [path.read_bytes() for path in tmp_path.iterdir()]
        assert server.stop() == 0
    after = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert friend["id"].encode() in after
    for secret in secrets:
        for place in (*places, after, server.errors):
            assert secret.encode() not in place
            assert base64.urlsafe_b64decode(secret + "==")[:24] not in place
    lines = [json.loads(line) for line in server.errors.splitlines()]
    assert [line["event"] for line in lines if line["level"] == "info"] == [
        *("started", "created", "created", "joined", "created", "stopped")
    ]
    assert all({"at", "level", "event"} <= {*line} for line in lines)
    for private in (friend["id"], "Ann", "192.0.2.77", "127.0.0.1"):
        assert private.encode() not in server.errors


def test_a_secret_in_the_address_opens_nothing(client: Client) -> None:
    seat = client.create("self")
    game, secret = f"/games/{seat['id']}", seat["secrets"]["X"]
    assert client.get(f"{game}?secret={secret}").status == 400
    moved = client.post(f"{game}/moves?X={secret}", {"cell": 4, "version": 5, "key": new_key()})
    assert moved.status == 404


def test_malformed_authorization_and_other_cookies_are_ignored(client: Client) -> None:
    seat = client.create("self")
    secret = seat["secrets"]["X"]
    ours = f"X={secret}"
    for header, is_read in (
        *(({"authorization": text}, True) for text in (
            f"Bearer {secret}", f"bearer {secret}", f"BEARER {secret}", f"Bearer  {secret} ",
        )),
        *(({"authorization": text}, False) for text in (
            f"Basic {secret}", "Bearer", "Bearer  ", f"Bearer {secret} {secret}", secret,
            f"bearer: {secret}", f"Bearer {secret}x",
        )),
        *(({"cookie": text}, True) for text in (
            f"a=b; {ours}; c=d", f"{ours}; X=wrong", f"O=wrong; {ours}", f"; ;=;{ours};",
            f'x="{"y" * 2000}"; {ours}',
        )),
    ):  # fmt: skip
        answer = client.get(f"/games/{seat['id']}", **header)
        assert answer.json["you"] == (["X"] if is_read else []), header
