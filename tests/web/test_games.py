"""Whole games of every kind over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest

from noughts import CreateGame, JoinGame, Mark, Resign, decide, fold, open_store
from noughts.bots.registry import BUILT_IN
from noughts.service import MAX_TAKE_BACK_BYTES
from noughts.store.base import Change, nothing
from noughts.store.rows import entries_of
from noughts.web.rooms import Room, RoomSeat, hash_secret, write_room
from support.web.apps import memory_store, open_app, post
from support.web.matches import WON_BY_X, Seat, one_player, two_players
from support.web.serving import Client, Server, new_key

DRAWN = (4, 0, 8, 2, 1, 7, 3, 5, 6)


@pytest.mark.parametrize("kind", ["friend", "lobby"])
def test_two_people_play_a_whole_game(server: Server, kind: str) -> None:
    with two_players(server, kind=kind) as match:
        assert match.now["ready"]
        answer = match.play(*WON_BY_X)
        now = match.now
        assert answer.json["version"] == now["version"] == len(now["events"])
        assert [event["event"] for event in answer.json["events"]] == [
            *("playerPlacedToken", "gamePlacedCount", "gameWon", "gameLost", "gameCompleted")
        ]
        assert (now["board"], now["moves"]) == ("XXX/OO_/___", [*WON_BY_X])
        assert (now["winner"], now["over"], now["active"]) == ("X", True, None)
        assert now["events"][-5:] == answer.json["events"]
        seen = [
            client.read(match.game)["you"] for client in (match.watcher, match.X.client, match.O.client)
        ]
        assert seen == [[], ["X"], ["O"]]
        assert now["description"].startswith("Ann (X) on 1, 2 and 3")


@pytest.mark.parametrize("mark", ["X", "O"])
@pytest.mark.parametrize("first", ["X", "O"])
def test_the_creator_chooses_the_seat_and_the_starter(server: Server, mark: str, first: str) -> None:
    with two_players(server, mark=mark, first=first) as match:
        now = match.now
        assert now["room"]["seats"][mark]["name"] == "Ann"
        assert (now["first"], now["active"]) == (first, first)
        assert match.seats["O" if first == "X" else "X"].move(4).code == "notYourTurn"
        assert match.seats[first].move(4).status == 200


def test_random_seats_and_starters_vary(client: Client) -> None:
    made = [client.create("friend", mark="random", first="random") for _ in range(24)]
    assert {seat["game"]["first"] for seat in made} == {seat["marks"][0] for seat in made} == {"X", "O"}


def test_one_person_plays_both_seats(server: Server) -> None:
    """A command is for the mark to move, if none is named and both secrets come."""
    with one_player(server, "self", name="Ann", other="Bob") as both:
        created = both.client.read(both.game)
        assert created["you"] == ["X", "O"]
        assert [created["room"]["seats"][mark]["name"] for mark in "XO"] == ["Ann", "Bob"]
        x, o = (Seat(both.client, both.game, mark) for mark in "XO")
        assert o.move(0).code == "notYourTurn"
        for seat, cell in ((both, 0), (both, 3), (x, 1)):
            assert seat.move(cell).status == 200
        taken_back = x.take_back()
        assert (taken_back.status, taken_back.json["offer"]) == (200, None)
        for cell in (1, 4, 2):
            assert both.move(cell).status == 200
        now = both.client.read(both.game)
        assert (now["winner"], now["moves"]) == ("X", [*WON_BY_X])


@pytest.mark.parametrize("policy", BUILT_IN)
@pytest.mark.parametrize("first", ["X", "O"])
def test_every_bot_plays_to_the_end(server: Server, policy: str, first: str) -> None:
    with one_player(server, "bot", bot=policy, first=first) as person, person.follow() as stream:
        now = stream.wait_turn("X")
        while not now["over"]:
            cell = next(cell for cell in range(9) if cell not in now["moves"])
            assert person.move(cell, now["version"]).status == 200
            now = stream.wait_turn("X", now["version"] + 1)
        seat = person.client.read(person.game)["room"]["seats"]["O"]
        assert seat == {"name": f"bot:{policy}", "bot": policy, "taken": True, "present": True}
        assert policy != "perfect" or now["winner"] != "X"


@pytest.mark.parametrize(("kind", "more"), [("bot", {"bot": "club"}), ("self", {"other": "Bob"})])
def test_both_join_before_the_game_is_ready(server: Server, kind: str, more: dict[str, str]) -> None:
    with one_player(server, kind, name="Ann", mark="X", **more) as person:
        names = [event["event"] for event in person.client.read(person.game)["events"]]
    assert names[:5] == ["gameCreated", "playerActive", "playerJoined", "playerJoined", "gameReady"]


def test_a_bot_takes_parameters(client: Client) -> None:
    for policy in ("club:win=1/3", "bot:club:win=1/3"):
        seat = client.create("bot", bot=policy)["game"]["room"]["seats"]["O"]
        assert (seat["name"], seat["bot"]) == ("bot:club:win=1/3", "club:win=1/3")


def test_a_move_is_taken_back_from_a_bot_at_once(server: Server) -> None:
    """The bot's answer goes with it."""
    with one_player(server, "bot", bot="perfect") as person, person.follow() as stream:
        person.move(0)
        stream.wait_turn("X", 9)
        assert person.take_back().status == 200
        now = person.client.read(person.game)
        assert (now["moves"], now["active"]) == ([], "X")


def test_the_opponent_accepts_a_take_back(server: Server) -> None:
    with two_players(server) as match, match.watcher.follow(match.game) as stream:
        match.play(0, 4)
        asked = match.X.take_back()
        assert (asked.status, asked.json["events"]) == (202, [])
        assert asked.json["offer"] == {"kind": "takeBack", "mark": "X"}
        stream.wait_room(lambda room: room["offer"] == {"kind": "takeBack", "mark": "X"})
        assert match.now["moves"] == [0, 4]
        answered = match.O.answer(accept=True)
        assert (answered.status, answered.json["offer"]) == (200, None)
        now = match.now
        assert (now["moves"], now["active"], now["room"]["offer"]) == ([], "X", None)
        stream.wait_room(lambda room: room["offer"] is None)
        stream.wait_version(now["version"])


def test_an_offer_is_declined_by_the_opponent_or_lapses_when_the_game_goes_on(server: Server) -> None:
    """It can be asked again; nobody answers their own."""
    with two_players(server) as match, match.watcher.follow(match.game) as stream:
        match.play(0)
        match.X.take_back()
        assert match.X.answer(accept=True).code == "noOffer"
        answered = match.O.answer(accept=False)
        assert (answered.status, answered.json["events"]) == (200, [])
        assert match.room["offer"] is None
        assert match.O.answer(accept=True).code == "noOffer"
        assert match.X.take_back().status == 202
        stream.wait_room(lambda room: room["offer"])
        match.play(4)
        stream.wait_room(lambda room: not room["offer"])
        assert match.O.answer(accept=True).code == "noOffer"
        assert (match.now["moves"], match.room["offer"]) == ([0, 4], None)


def test_resigning_loses_at_any_turn(server: Server) -> None:
    with two_players(server) as match:
        match.play(4)
        assert match.X.resign().status == 200
        now = match.now
        assert (now["winner"], now["resigned"], now["over"]) == ("O", "X", True)
        assert match.O.move(0).code == "gameOver"
        for version in (None, 5):
            assert match.X.resign(version).code == match.O.resign(version).code == "alreadyOver"


@pytest.mark.parametrize("kind", ["friend", "lobby"])
def test_before_the_opponent_joins_one_can_resign_but_not_move(server: Server, kind: str) -> None:
    """Then nobody can join any more."""
    with one_player(server, kind) as ann, server.client() as bob:
        refused = ann.move(4)
        assert (refused.status, refused.code, refused.json["version"]) == (409, "notReady", 3)
        ann.resign()
        late = bob.post(f"/games/{ann.game}/join", {"invite": ann.invite, "key": new_key()})
        assert late.code == "alreadyOver"
        assert bob.read(ann.game)["room"]["seats"]["O"]["taken"] is False
        lobby = bob.get("/games").json
        assert ann.game not in [game["id"] for game in lobby["open"] + lobby["playing"]]


def test_the_starter_is_swapped_in_a_rematch(server: Server) -> None:
    """Seats, names and score are kept."""
    with two_players(server) as match, match.watcher.follow(match.game) as stream:
        assert match.X.rematch().code == "notOver"
        games, wins = [match.game], [WON_BY_X, WON_BY_X, DRAWN]
        for cells in wins:
            match.play(*cells)
            assert Seat(match.watcher, match.game).rematch().code == "notFound"
            offered, accepted = match.O.rematch(), match.X.rematch()
            followed = match.O.rematch()
            assert (offered.status, accepted.status, followed.status) == (202, 201, 200)
            assert offered.json["offer"] == {"kind": "rematch", "mark": "O"}
            assert (accepted.json["marks"], followed.json["marks"]) == (["X"], ["O"])
            assert accepted.json["game"] == {**followed.json["game"], "you": ["X"]}
            match.game = match.X.game = match.O.game = followed.json["id"]
            games.append(match.game)
            now = match.now
            assert (now["active"], now["ready"], now["moves"]) == (now["first"], True, [])
            assert [now["room"]["seats"][mark]["name"] for mark in "XO"] == ["Ann", "Bob"]
        assert stream.wait_room(lambda room: room["next"])["next"] == games[1]
        assert match.room["score"] == {"X": 1, "O": 1, "draws": 1}
        assert [match.watcher.read(game)["first"] for game in games] == ["X", "O", "X", "O"]
        assert len({*games}) == 4


@pytest.mark.parametrize(("kind", "more"), [("self", {}), ("bot", {"bot": "perfect"})])
def test_a_rematch_with_oneself_or_a_bot_needs_no_consent(
    server: Server, kind: str, more: dict[str, str]
) -> None:
    """A bot that starts it does so."""
    with one_player(server, kind, **more) as one:
        one.resign()
        answer, again = one.rematch(), one.rematch()
        assert (answer.status, again.status) == (201, 200)
        following = answer.json
        assert following["id"] == again.json["id"]
        assert following["game"]["first"] == "O"
        assert following["marks"] == (["X", "O"] if kind == "self" else ["X"])
        if kind == "bot":
            with one.client.follow(following["id"]) as stream:
                assert len(stream.wait_turn("X")["moves"]) == 1


def test_a_game_can_be_read_at_any_version(server: Server) -> None:
    with two_players(server) as match:
        seen: list[Any] = [match.now]
        for cell in WON_BY_X:
            match.play(cell)
            seen.append(match.now)
        last = seen[-1]
        for was in seen:
            found = match.watcher.read(match.game, was["version"])
            assert {**found, "room": None} == {**was, "room": None}
            assert found["room"] == last["room"]
        for version in range(1, last["version"] + 1):
            assert match.watcher.read(match.game, version)["events"] == last["events"][:version]
        for beyond in (0, last["version"] + 1, 999_999_999):
            absent = match.watcher.get(f"/games/{match.game}?version={beyond}")
            assert (absent.status, absent.code) == (404, "notFound")
        for bad in ("-1", "x", "", "1.0", "%D9%A3", "1e3", "9999999999", "%00"):
            assert match.watcher.get(f"/games/{match.game}?version={bad}").code == "badRequest"


def test_a_game_has_an_end_however_much_is_taken_back(server: Server) -> None:
    """Taking back is refused beyond 64 kB of record; playing on and resigning never are."""
    with one_player(server, "self") as both:
        x = Seat(both.client, both.game, "X")
        refused, version = x.take_back(5), 5
        while refused.code != "tooLong":
            version = x.move(4, version).json["version"]
            refused = x.take_back(version)
            version = refused.json["version"] if refused.status == 200 else version
        assert refused.status == 409
        with open_store(server.store, create=False) as store:
            stored = store.read(both.game)
        assert stored
        assert MAX_TAKE_BACK_BYTES < len(stored.record) < MAX_TAKE_BACK_BYTES + 1000
        assert both.move(0).status == 200
        assert both.resign().status == 200


async def test_players_of_an_older_game_keep_their_names_in_a_rematch() -> None:
    """Even names that aren't accepted today."""
    history = [*decide(None, CreateGame(open_seats=True))]
    for mark, name in ((Mark.X, "Ann"), (Mark.O, "ann")):
        history += decide(fold(history), JoinGame(mark, name, is_entered=False))
    history += decide(fold(history), Resign(Mark.X))
    room = Room(X=RoomSeat(hash_secret("of-x")), O=RoomSeat(hash_secret("of-o")), created=0)
    store, before, entries = memory_store(), nothing("older"), entries_of([("key", 0, history)])
    store.submit(Change(before, before.followed_by(entries, room=write_room(room)))).result()
    seat = {"id": "older", "secrets": {"X": "of-x", "O": "of-o"}}

    async with open_app(store) as app:
        assert (await post(app, seat, "rematch", "X", key="x")).status == 202
        agreed = json.loads((await post(app, seat, "rematch", "O", key="o")).body)

    seats = agreed["game"]["room"]["seats"]
    assert [seats[mark]["name"] for mark in "XO"] == ["Ann", "ann"]
