"""Commands that are sent twice, late, or for an old version count once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from support.web.matches import Match, Seat, at_once, one_player, two_players
from support.web.serving import Answer, Client, Server, new_key

# Each with the cells that are played before it, and a command as a player sends it.
COMMANDS: dict[str, tuple[tuple[int, ...], Callable[[Match, str], Answer]]] = {
    "a move": ((), lambda match, key: match.X.move(4, 5, key)),
    "the last move": ((0, 3, 1, 4), lambda match, key: match.X.move(2, 17, key)),
    "resigning": ((), lambda match, key: match.X.resign(5, key)),
    "accepting an offer": ((4,), lambda match, key: match.O.answer(accept=True, key=key)),
    "declining an offer": ((4,), lambda match, key: match.O.answer(accept=False, key=key)),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_same_command_again_gets_the_same_answer(server: Server, command: str) -> None:
    cells, send = COMMANDS[command]
    with two_players(server) as match:
        if cells:
            match.play(*cells)
        if "offer" in command:
            match.X.take_back()
        key = new_key()
        first, again = send(match, key), send(match, key)
        assert first.status == 200
        assert (again.status, again.body) == (first.status, first.body)


def test_the_same_move_again_gets_the_same_answer_later(server: Server) -> None:
    with two_players(server) as match:
        key = new_key()
        first = match.X.move(4, 5, key)
        match.play(0, 1, 2, 3)
        again = match.X.move(4, 5, key)
        assert (again.status, again.body) == (200, first.body)
        assert match.now["moves"] == [4, 0, 1, 2, 3]


def test_a_key_is_for_one_command(server: Server) -> None:
    with two_players(server) as match:
        key = new_key()
        match.X.move(4, 5, key)

        others = [
            match.X.move(0, 5, key),
            match.X.resign(8, key),
            match.O.move(0, 8, key),
            match.O.resign(8, key),
            match.O.take_back(8, key),
        ]

        assert [(other.status, other.code) for other in others] == [(409, "keyReused")] * len(others)
        assert match.now["version"] == 8


def test_the_same_take_back_again_gets_the_same_answer(server: Server) -> None:
    with one_player(server, "self") as both:
        x = Seat(both.client, both.game, "X")
        x.move(4, 5)
        key = new_key()
        first, again = x.take_back(8, key), x.take_back(8, key)
        assert (first.status, first.body) == (again.status, again.body)
        assert first.status == 200


def test_asking_again_is_asking_once(server: Server) -> None:
    with two_players(server) as match:
        match.play(4)
        key = new_key()
        asked = [match.X.take_back(8, key), match.X.take_back(8, key), match.X.take_back(8)]
        match.X.resign()
        wanted = [match.O.rematch(key), match.O.rematch(key), match.O.rematch()]
        assert [answer.status for answer in asked + wanted] == [202] * 6
        assert match.room["next"] is None


def test_a_move_refused_leaves_its_key_free(server: Server) -> None:
    with two_players(server) as match:
        key = new_key()
        assert match.O.move(4, 5, key).code == "notYourTurn"
        match.play(0)
        assert match.O.move(4, 8, key).status == 200


def test_a_command_for_an_earlier_position_is_refused(server: Server) -> None:
    """The refusal has the current version."""
    with two_players(server) as match:
        match.play(4, 0)
        for refused in (match.X.move(1, 5), match.X.take_back(5)):
            assert (refused.status, refused.code) == (409, "staleVersion")
            assert refused.json["version"] == 11
        assert match.now["version"] == 11


@pytest.mark.parametrize("version", [6, 100, 2**31 - 1])
def test_a_command_for_a_version_that_does_not_exist_is_refused(server: Server, version: int) -> None:
    with two_players(server) as match:
        for refused in (match.X.move(1, version), match.X.take_back(version), match.X.resign(version)):
            assert (refused.status, refused.code) == (409, "staleVersion")
            assert refused.json["version"] == 5


@pytest.mark.parametrize(
    ("opponent", "more"),
    [("friend", {"mark": "random"}), ("lobby", {}), ("self", {"other": "Bob"}), ("bot", {"bot": "club"})],
)
def test_creating_again_with_the_same_key_gives_the_same_seat(
    client: Client, opponent: str, more: dict[str, object]
) -> None:
    """Also when the game has gone on."""
    key = new_key()
    first, again = (client.create(opponent, name="Ann", key=key, **more) for _ in range(2))

    assert again["id"] == first["id"] != client.create(opponent, name="Ann", **more)["id"]
    assert (again["secrets"], again["invite"]) == (first["secrets"], first["invite"])
    assert again["game"]["version"] >= first["game"]["version"]

    if first["game"]["room"]["seats"]["O"]["taken"] and first["game"]["room"]["seats"]["X"]["taken"]:
        return
    client.join(first["id"], first["invite"])
    late = client.create(opponent, name="Ann", key=key, **more)
    assert (late["id"], late["secrets"], late["invite"]) == (first["id"], first["secrets"], None)


def test_another_game_with_the_same_key_is_refused(client: Client) -> None:
    key = new_key()
    client.create("bot", bot="club", key=key)
    refused = client.post("/games", {"opponent": "bot", "bot": "perfect", "key": key, "secret": True})
    assert (refused.status, refused.code) == (409, "keyReused")


@pytest.mark.parametrize("key", ["", "a" * 15, "a" * 65, "a b" * 8, 5, ["a" * 16]])
def test_a_key_that_could_be_guessed_is_refused(client: Client, key: object) -> None:
    """It gives access to a seat."""
    refused = client.post("/games", {"opponent": "self", "key": key})
    assert (refused.status, refused.code) == (400, "badRequest")


def test_resigning_works_at_an_old_version(server: Server) -> None:
    with two_players(server) as match:
        match.play(4, 0)
        assert match.X.resign(5).status == 200


def test_duplicates_at_the_same_time_are_one_command(server: Server) -> None:
    with two_players(server) as match:
        key = new_key()
        clients = [server.client(match.X.client.secret) for _ in range(20)]
        answers = at_once(*(partial(client.move, match.game, 4, 5, key) for client in clients))
        for client in clients:
            client.close()
        assert len({(answer.status, answer.body) for answer in answers}) == 1
        assert match.now["version"] == 8


def test_no_key_of_a_players_keeps_a_bot_from_moving(server: Server) -> None:
    with one_player(server, "bot", bot="random") as person, person.follow() as stream:
        answer = person.move(4, 5, "bot-8")
        assert answer.status == 200
        stream.wait_version(9)


@pytest.mark.parametrize("key", ["", "a" * 65, "a b", "ä", "a\n", "\x00", "a.b", 5, None, ["a"]])
def test_an_invalid_key_is_refused(server: Server, key: object) -> None:
    with one_player(server, "self") as both:
        refused = both.client.post(f"/games/{both.game}/moves", {"cell": 4, "version": 5, "key": key})
        assert (refused.status, refused.code) == (400, "badRequest")
