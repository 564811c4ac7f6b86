"""Request bodies: hostile names, unknown fields, and invalid JSON."""

from __future__ import annotations

import json

import pytest

from support.web.matches import one_player
from support.web.serving import Client, Server, new_key

VALID_NAMES = [
    "Ann", "  Bob  ", "<script>alert(1)</script>", "</script><img src=x onerror=a()>",
    "'; DROP TABLE events; --", '"quoted\\"', "{mark} %s ${x}", "Zoë", "Zoe\u0308", "名" * 32, "🙂",
    "گل\u200cپری", "ශ්\u200dරී", "🏳\ufe0f\u200d🌈", "data: x", "__proto__", "null", "a" * 32,
]  # fmt: skip
REFUSED_NAMES = [
    "", "   ", "a" * 33, "a" * 201, "a" * 3000, "\x00", "a\x00b", "\x1b[31mred", "\x07", "a\nb",
    "a\r\nid: 9", "\u202eabc", "\u2066abc\u2069", "a\u200bb", "\ufeffabc", "\u2028", "\x9b31m",
    "\U000e0041", "bob\u200d", "bob\ufe0f", "bob\u034f", "bob\u17b5", "bob\u2800", "Bot:perfect",
    "bot:perfect", "bot:", "program:sh", " bot:perfect", "Bot:perfect", "PROGRAM:sh",
]  # fmt: skip


@pytest.mark.parametrize("name", VALID_NAMES)
def test_a_name_is_sent_as_it_is(server: Server, client: Client, name: str) -> None:
    with one_player(server, "lobby", name=name) as ann, ann.follow() as stream:
        seat = client.read(ann.game)["room"]["seats"]["X"]
        (listed,) = [one for one in client.get("/games").json["open"] if one["id"] == ann.game]
        event = stream.wait_version(3)[2].data
        assert seat["name"] == listed["name"] == event["name"]
        assert seat["name"].split() == name.split() or seat["name"] == "Zoë"
        answer = client.get(f"/games/{ann.game}")
        assert answer.headers.get_content_type() == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("name", REFUSED_NAMES)
def test_a_hostile_name_is_refused(server: Server, client: Client, name: str) -> None:
    """For every seat; the seat stays free."""
    friend = client.create("friend")
    refusals = [
        client.post("/games", {"opponent": "friend", "name": name}),
        client.post("/games", {"opponent": "self", "other": name}),
        client.post(
            f"/games/{friend['id']}/join", {"invite": friend["invite"], "key": new_key(), "name": name}
        ),
    ]

    for refused in refusals:
        assert refused.status == 400
        assert refused.code in ("nameRefused", "badRequest")
        assert refused.body.isascii() or "…" in refused.body.decode()
        assert "\\u" not in refused.json["detail"]
        assert not any(code < 32 for code in refused.body)
    assert not client.read(friend["id"])["room"]["seats"]["O"]["taken"]
    assert client.join(friend["id"], friend["invite"])["marks"] == ["O"]
    assert server.is_running


def test_two_players_have_two_names(client: Client) -> None:
    """Names that differ only in case or spaces are refused."""
    friend = client.create("friend", name="Ann")
    joining = {"invite": friend["invite"], "key": new_key(), "name": " Ann ", "secret": True}

    refused = client.post(f"/games/{friend['id']}/join", joining)
    in_capitals = client.post(f"/games/{friend['id']}/join", {**joining, "name": "ANN"})
    both = client.post("/games", {"opponent": "self", "name": "Ann", "other": "ann"})
    nameless = client.post("/games", {"opponent": "self", "name": "Player O"})
    accepted = client.post(f"/games/{friend['id']}/join", {**joining, "name": "Bob"})

    assert (refused.status, refused.code) == (400, "nameRefused")
    assert (in_capitals.status, in_capitals.code) == (400, "nameRefused")
    assert (
        in_capitals.json["detail"]
        == "The players need different names, and 'ANN' is too much like 'Ann'."
    )
    assert (both.status, both.code) == (400, "nameRefused")
    assert nameless.status == 400
    assert accepted.status == 200


def test_who_joins_again_keeps_the_name_in_the_record(client: Client) -> None:
    lobby = client.create("lobby", name="Ann")
    key = new_key()
    client.join(lobby["id"], None, name="Bob", key=key)
    client.join(lobby["id"], None, name="Eve", key=key)
    assert client.read(lobby["id"])["room"]["seats"]["O"]["name"] == "Bob"
    (played,) = [one for one in client.get("/games").json["playing"] if one["id"] == lobby["id"]]
    assert played["O"] == "Bob"


@pytest.mark.parametrize(
    "body",
    [
        {}, {"opponent": "nobody"}, {"opponent": None}, {"opponent": ["friend"]},
        {"opponent": "friend", "strange": 1}, {"opponent": "friend", "Opponent": "friend"},
        {"opponent": "friend", "__proto__": {}}, {"opponent": "friend", "bot": "perfect"},
        {"opponent": "bot"}, {"opponent": "friend", "other": "Bob"}, {"opponent": "friend", "mark": "x"},
        {"opponent": "friend", "first": "Z"}, {"opponent": "friend", "secret": "yes"},
        {"opponent": "friend", "secret": 1}, {"opponent": "friend", "name": 5}, [], "friend", None, 5,
    ],
)  # fmt: skip
def test_a_bad_request_for_a_game_is_refused(client: Client, body: object) -> None:
    refused = client.post("/games", body)
    assert (refused.status, refused.code) == (400, "badRequest")


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"{}}", b"\xff\xfe", b'{"opponent":"friend"', b'{"opponent":"friend"} x',
        b"{'opponent':'friend'}", b'{"opponent":"fri\x00end"}',
        b'{"opponent":"friend","name":"\\ud800"}', b'{"opponent":"friend","name":"\xff"}',
        b'{"opponent":"friend","name":"\xed\xa0\x80"}', b'\xef\xbb\xbf{"opponent":"friend"}',
        b"[" * 4000, b'{"a":' * 700, b"NaN", b"1e999", b"-", b'"' + b"a" * 4000,
    ],
)  # fmt: skip
def test_invalid_json_is_refused(client: Client, body: bytes) -> None:
    refused = client.ask("POST", "/games", body, content_type="application/json")
    assert (refused.status, refused.code) == (400, "badRequest")
    assert client.get("/health").status == 200


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"cell": 9}, "noSuchCell"),
        ({"cell": -1}, "noSuchCell"),
        ({"cell": 10**6}, "noSuchCell"),
        ({"cell": "4"}, "badRequest"),
        ({"cell": 4.5}, "badRequest"),
        ({"cell": None}, "badRequest"),
        ({"cell": True}, "badRequest"),
        ({"cell": [4]}, "badRequest"),
        ({"version": -1}, "badRequest"),
        ({"version": "5"}, "badRequest"),
        ({"version": 2**31}, "badRequest"),
        ({"version": 10**30}, "badRequest"),
        ({"version": None}, "badRequest"),
        ({"mark": "Z"}, "badRequest"),
        ({"mark": "x"}, "badRequest"),
        ({"extra": 1}, "badRequest"),
    ],
)
def test_an_invalid_move_is_refused(server: Server, change: dict[str, object], code: str) -> None:
    with one_player(server, "self") as both:
        body = {"cell": 4, "version": 5, "key": new_key(), **change}
        refused = both.client.post(f"/games/{both.game}/moves", body)
        assert refused.code == code
        assert both.version == 5


def test_a_body_of_the_right_size_is_read_however_it_comes(client: Client) -> None:
    """The limit is 4,096 bytes."""
    filling = json.dumps({"opponent": "self", "secret": True})
    most = filling.encode() + b" " * (4096 - len(filling))
    for body, status in ((most, 201), (most + b" ", 413), (most + b" " * 100_000, 413)):
        whole = client.ask("POST", "/games", body, content_type="application/json")
        assert whole.status == status
        assert whole.status == 201 or whole.code == "tooLarge"
