"""Request bodies: hostile names, unknown fields, and invalid JSON."""

from __future__ import annotations

import json

import pytest

from noughts.web.request import MAX_BODY_BYTES
from support.web.hostile_requests import NOT_JSON
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
        answer = client.get(f"/games/{ann.game}")
        seat = answer.json["room"]["seats"]["X"]
        (listed,) = [one for one in client.get("/games").json["open"] if one["id"] == ann.game]
        event = stream.wait_version(3)[2].data
        assert seat["name"] == listed["name"] == event["name"]
        assert seat["name"].split() == name.split() or seat["name"] == "Zoë"
        assert answer.headers.get_content_type() == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("name", REFUSED_NAMES)
def test_a_hostile_name_is_refused(client: Client, name: str) -> None:
    """For every seat; the seat stays free."""
    friend = client.create("friend")
    joining = {"invite": friend["invite"], "key": new_key(), "name": name}
    for path, body in (
        ("/games", {"opponent": "friend", "name": name}),
        ("/games", {"opponent": "self", "other": name}),
        (f"/games/{friend['id']}/join", joining),
    ):
        refused = client.post(path, body)
        assert refused.code in ("nameRefused", "badRequest")
        assert refused.body.isascii() or "…" in refused.body.decode()
        assert "\\u" not in refused.json["detail"]
        assert not any(code < 32 for code in refused.body)
    assert not client.read(friend["id"])["room"]["seats"]["O"]["taken"]
    assert client.join(friend["id"], friend["invite"])["marks"] == ["O"]


def test_two_players_have_two_names(client: Client) -> None:
    """Names that differ only in case or spaces are refused."""
    friend = client.create("friend", name="Ann")
    joining, path = {"invite": friend["invite"], "key": new_key()}, f"/games/{friend['id']}/join"
    refused = [
        client.post(path, {**joining, "name": "ANN"}),
        client.post(path, {**joining, "name": " Ann "}),
        client.post("/games", {"opponent": "self", "name": "Ann", "other": "ann"}),
        client.post("/games", {"opponent": "self", "name": "Player O"}),
    ]
    assert [answer.code for answer in refused] == ["nameRefused"] * 4
    words = "The players need different names, and 'ANN' is too much like 'Ann'."
    assert refused[0].json["detail"] == words
    assert client.post(path, {**joining, "name": "Bob"}).status == 200


def test_who_joins_again_keeps_the_name_in_the_record(client: Client) -> None:
    lobby = client.create("lobby", name="Ann")
    key = new_key()
    for name in ("Bob", "Eve"):
        client.join(lobby["id"], None, name=name, key=key)
    assert client.read(lobby["id"])["room"]["seats"]["O"]["name"] == "Bob"


BAD_BODIES: tuple[object, ...] = (
    {}, {"opponent": "nobody"}, {"opponent": None}, {"opponent": ["friend"]},
    {"opponent": "friend", "strange": 1}, {"opponent": "friend", "Opponent": "friend"},
    {"opponent": "friend", "__proto__": {}}, {"opponent": "friend", "bot": "perfect"},
    {"opponent": "bot"}, {"opponent": "friend", "other": "Bob"}, {"opponent": "friend", "mark": "x"},
    {"opponent": "friend", "first": "Z"}, {"opponent": "friend", "secret": "yes"},
    {"opponent": "friend", "secret": 1}, {"opponent": "friend", "name": 5}, [], "friend", None, 5,
)  # fmt: skip


def test_a_bad_request_for_a_game_is_refused(client: Client) -> None:
    for body in (*(json.dumps(body).encode() for body in BAD_BODIES), *NOT_JSON):
        refused = client.ask("POST", "/games", body, content_type="application/json")
        assert (refused.status, refused.code) == (400, "badRequest"), body
    assert client.get("/health").status == 200


@pytest.mark.parametrize(
    ("field", "values", "code"),
    [
        ("cell", (9, -1, 10**6), "noSuchCell"),
        ("cell", ("4", 4.5, None, True, [4]), "badRequest"),
        ("version", (-1, "5", 2**31, 10**30, None), "badRequest"),
        ("mark", ("Z", "x"), "badRequest"),
        ("extra", (1,), "badRequest"),
    ],
)
def test_an_invalid_move_is_refused(
    server: Server, field: str, values: tuple[object, ...], code: str
) -> None:
    with one_player(server, "self") as both:
        for value in values:
            body = {"cell": 4, "version": 5, "key": new_key(), field: value}
            assert both.client.post(f"/games/{both.game}/moves", body).code == code
        assert both.version == 5


def test_a_body_of_the_right_size_is_read(client: Client) -> None:
    filling = json.dumps({"opponent": "self", "secret": True}).encode()
    most = filling + b" " * (MAX_BODY_BYTES - len(filling))
    for body, code in ((most, None), (most + b" ", "tooLarge"), (most * 25, "tooLarge")):
        assert client.ask("POST", "/games", body, content_type="application/json").code == code
