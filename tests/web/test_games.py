"""Whole games of every kind over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from noughts.bots.registry import BUILT_IN
from support.web.matches import WON_BY_X, Seat, one_player, two_players
from support.web.serving import Client, Server, new_key, wait_until

DRAWN = (4, 0, 8, 2, 1, 7, 3, 5, 6)


@pytest.mark.parametrize("kind", ["friend", "lobby"])
def test_two_people_play_a_whole_game(server: Server, kind: str) -> None:
    with two_players(server, kind=kind) as match:
        assert match.now["ready"]

        answer = match.play(*WON_BY_X)

        now = match.now
        assert answer.json["version"] == now["version"]
        assert [event["event"] for event in answer.json["events"]] == [
            "playerPlacedToken",
            "gamePlacedCount",
            "gameWon",
            "gameLost",
            "gameCompleted",
        ]
        assert (now["board"], now["moves"]) == ("XXX/OO_/___", [*WON_BY_X])
        assert (now["winner"], now["over"], now["active"]) == ("X", True, None)
        assert now["events"][-5:] == answer.json["events"]
        assert len(now["events"]) == now["version"]
        assert now["you"] == []
        assert match.X.client.read(match.game)["you"] == ["X"]
        assert match.O.client.read(match.game)["you"] == ["O"]
        assert now["description"].startswith("Ann (X) on 1, 2 and 3")


def test_a_game_can_be_drawn(server: Server) -> None:
    with two_players(server) as match:
        match.play(*DRAWN)
        now = match.now
        assert (now["winner"], now["over"], now["resigned"]) == (None, True, None)
        assert now["events"][-2]["event"] == "gameDraw"


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
    made = [client.create("self", mark="random", first="random") for _ in range(24)]
    lobby = [client.create("friend", mark="random") for _ in range(24)]
    assert {seat["game"]["first"] for seat in made} == {"X", "O"}
    assert {seat["marks"][0] for seat in lobby} == {"X", "O"}


def test_one_person_plays_both_seats(server: Server) -> None:
    with one_player(server, "self", name="Ann", other="Bob") as both:
        created = both.client.read(both.game)
        assert created["you"] == ["X", "O"]
        assert [created["room"]["seats"][mark]["name"] for mark in "XO"] == ["Ann", "Bob"]

        for cell in (0, 3, 1):
            assert both.move(cell).status == 200
        taken_back = Seat(both.client, both.game, "X").take_back()
        for cell in (1, 4, 2):
            assert both.move(cell).status == 200

        assert taken_back.status == 200
        assert taken_back.json["offer"] is None
        now = both.client.read(both.game)
        assert (now["winner"], now["moves"]) == ("X", [*WON_BY_X])


def test_with_both_seats_a_mark_can_be_named(server: Server) -> None:
    with one_player(server, "self") as both:
        assert Seat(both.client, both.game, "O").move(4).code == "notYourTurn"
        assert Seat(both.client, both.game, "X").move(4).status == 200
        resigned = Seat(both.client, both.game, "X").resign()
        assert resigned.status == 200
        assert both.client.read(both.game)["winner"] == "O"


def test_each_of_two_secrets_opens_one_seat(client: Client) -> None:
    seat = client.create("self")
    for mark, cell in (("O", None), ("X", 0), ("O", 4)):
        client.secret = seat["secrets"][mark]
        version = client.read(seat["id"])["version"]
        if cell is None:
            assert client.move(seat["id"], 0, version).code == "notYourTurn"
        else:
            assert client.move(seat["id"], cell, version).status == 200


@pytest.mark.parametrize("policy", BUILT_IN)
@pytest.mark.parametrize("first", ["X", "O"])
def test_every_bot_plays_to_the_end(server: Server, policy: str, first: str) -> None:
    with one_player(server, "bot", bot=policy, first=first) as person, person.follow() as stream:
        while True:
            stream.wait(lambda now: _is_settled(now.events))
            now = person.client.read(person.game)
            if now["over"]:
                break
            cell = next(cell for cell in range(9) if cell not in now["moves"])
            assert person.move(cell, now["version"]).status == 200
            stream.wait_version(now["version"] + 3)

        assert now["room"]["seats"]["O"] == {
            "name": f"bot:{policy}",
            "bot": policy,
            "taken": True,
            "present": True,
        }
        assert policy != "perfect" or now["winner"] != "X"


@pytest.mark.parametrize(("kind", "more"), [("bot", {"bot": "club"}), ("self", {"other": "Bob"})])
def test_both_join_before_the_game_is_ready(server: Server, kind: str, more: dict[str, str]) -> None:
    with one_player(server, kind, name="Ann", mark="X", **more) as person:
        names = [event["event"] for event in person.client.read(person.game)["events"]]
    assert names[:5] == ["gameCreated", "playerActive", "playerJoined", "playerJoined", "gameReady"]


def test_a_bot_takes_parameters(server: Server) -> None:
    for policy in ("club:win=1/3", "bot:club:win=1/3"):
        with one_player(server, "bot", bot=policy) as person:
            seat = person.client.read(person.game)["room"]["seats"]["O"]
            assert (seat["name"], seat["bot"]) == ("bot:club:win=1/3", "club:win=1/3")
    with server.client() as client:
        for policy in ("nonesuch", "club:luck=1", "", "menace:file=games", "x" * 60, "program:./x"):
            refused = client.post("/games", {"opponent": "bot", "bot": policy})
            assert (refused.status, refused.code) == (400, "unknownPolicy")


def test_a_move_is_taken_back_from_a_bot_at_once(server: Server) -> None:
    """The bot's answer goes with it."""
    with one_player(server, "bot", bot="perfect") as person, person.follow() as stream:
        person.move(0)
        stream.wait(lambda now: _is_settled(now.events) and len(now.events) > 6)
        answer = person.take_back()
        assert answer.status == 200
        now = person.client.read(person.game)
        assert (now["moves"], now["active"]) == ([], "X")


def test_the_opponent_accepts_a_take_back(server: Server) -> None:
    with two_players(server) as match, match.watcher.follow(match.game) as stream:
        match.play(0, 4)

        asked = match.X.take_back()

        assert asked.status == 202
        assert asked.json["events"] == []
        assert asked.json["offer"] == {"kind": "takeBack", "mark": "X"}
        stream.wait_room(lambda room: room["offer"] == {"kind": "takeBack", "mark": "X"})
        assert match.now["moves"] == [0, 4]

        answered = match.O.answer(accept=True)

        assert answered.status == 200
        assert answered.json["offer"] is None
        now = match.now
        assert (now["moves"], now["active"], now["room"]["offer"]) == ([], "X", None)
        stream.wait_room(lambda room: room["offer"] is None)
        stream.wait_version(now["version"])


def test_the_opponent_declines_a_take_back(server: Server) -> None:
    """It can be asked again."""
    with two_players(server) as match:
        match.play(0)
        match.X.take_back()
        answered = match.O.answer(accept=False)
        assert (answered.status, answered.json["events"]) == (200, [])
        now = match.now
        assert (now["moves"], now["room"]["offer"]) == ([0], None)
        assert match.O.answer(accept=True).code == "noOffer"
        assert match.X.take_back().status == 202


def test_an_offer_lapses_when_the_game_goes_on(server: Server) -> None:
    with two_players(server) as match, match.watcher.follow(match.game) as stream:
        match.play(0)
        match.X.take_back()
        stream.wait_room(lambda room: room["offer"])
        match.play(4)
        stream.wait_room(lambda room: not room["offer"])
        assert match.room["offer"] is None
        assert match.O.answer(accept=True).code == "noOffer"
        assert match.now["moves"] == [0, 4]


def test_players_cannot_answer_their_own_offer(server: Server) -> None:
    with two_players(server) as match:
        match.play(0)
        match.X.take_back()
        assert match.X.answer(accept=True).code == "noOffer"
        assert match.now["moves"] == [0]


def test_nothing_is_taken_back_before_a_move_or_after_the_end(server: Server) -> None:
    with two_players(server) as match:
        assert match.X.take_back().code == "nothingToTakeBack"
        match.play(*WON_BY_X)
        assert match.O.take_back().code == "alreadyOver"
        assert match.room["offer"] is None


def test_resigning_loses_at_any_turn(server: Server) -> None:
    with two_players(server) as match:
        match.play(4)
        answer = match.X.resign()
        assert answer.status == 200
        now = match.now
        assert (now["winner"], now["resigned"], now["over"]) == ("O", "X", True)
        assert match.O.move(0).code == "gameOver"
        assert match.X.resign().code == match.O.resign().code == "alreadyOver"
        assert match.X.resign(5).code == match.O.resign(5).code == "alreadyOver"


def test_a_move_before_the_opponent_joins_is_refused(server: Server) -> None:
    with one_player(server, "friend") as ann:
        refused = ann.move(4)
        assert (refused.status, refused.code) == (409, "notReady")
        assert refused.json["version"] == 3


@pytest.mark.parametrize("kind", ["friend", "lobby"])
def test_a_game_whose_creator_has_resigned_cannot_be_joined(server: Server, kind: str) -> None:
    with server.client() as ann, server.client() as bob:
        seat = ann.create(kind)
        ann.secret = seat["secrets"]["X"]
        Seat(ann, seat["id"]).resign()

        refused = bob.post(
            f"/games/{seat['id']}/join", {"invite": seat["invite"], "key": new_key(), "secret": True}
        )

        assert refused.status in (404, 409)
        assert bob.read(seat["id"])["room"]["seats"]["O"]["taken"] is False
        wait_unlisted(bob, seat["id"])


def test_the_starter_is_swapped_in_a_rematch(server: Server) -> None:
    """Seats, names and score are kept."""
    with two_players(server) as match, match.watcher.follow(match.game) as stream:
        match.play(*WON_BY_X)

        offered = match.O.rematch()
        accepted = match.X.rematch()
        followed = match.O.rematch()

        assert (offered.status, accepted.status, followed.status) == (202, 201, 200)
        assert offered.json["offer"] == {"kind": "rematch", "mark": "O"}
        following = accepted.json["id"]
        assert followed.json["id"] == following != match.game
        assert (accepted.json["marks"], followed.json["marks"]) == (["X"], ["O"])
        game = followed.json["game"]
        assert (game["first"], game["active"], game["ready"], game["moves"]) == ("O", "O", True, [])
        assert [game["room"]["seats"][mark]["name"] for mark in "XO"] == ["Ann", "Bob"]
        assert game["room"]["score"] == {"X": 1, "O": 0, "draws": 0}
        assert stream.wait_room(lambda room: room["next"])["next"] == following
        with server.client(followed.json["secrets"]["O"]) as bob:
            assert bob.move(following, 4, game["version"]).status == 200
        with server.client(accepted.json["secrets"]["X"]) as ann:
            assert ann.move(following, 0, game["version"] + 3).status == 200


def test_the_score_is_kept_over_rematches(server: Server) -> None:
    with two_players(server) as match:
        games = [match.game]
        for cells in (WON_BY_X, WON_BY_X, DRAWN):
            match.play(*cells)
            match.X.rematch()
            following = match.O.rematch().json["id"]
            games.append(following)
            match.game = match.X.game = match.O.game = following

        assert match.room["score"] == {"X": 1, "O": 1, "draws": 1}
        assert [match.watcher.read(game)["first"] for game in games] == ["X", "O", "X", "O"]
        assert len({*games}) == 4


@pytest.mark.parametrize(("kind", "more"), [("self", {}), ("bot", {"bot": "perfect"})])
def test_a_rematch_with_oneself_or_a_bot_needs_no_consent(
    server: Server, kind: str, more: dict[str, str]
) -> None:
    with one_player(server, kind, **more) as one:
        one.resign()
        answer = one.rematch()
        again = one.rematch()
        assert (answer.status, again.status) == (201, 200)
        assert answer.json["id"] == again.json["id"]
        assert answer.json["game"]["first"] == "O"
        assert answer.json["marks"] == (["X", "O"] if kind == "self" else ["X"])


def test_a_bot_that_starts_the_rematch_starts_it(server: Server) -> None:
    with one_player(server, "bot", bot="perfect") as person:
        person.resign()
        following = person.rematch().json["id"]
        with person.client.follow(following) as stream:
            stream.wait(lambda now: _is_settled(now.events))
        assert len(person.client.read(following)["moves"]) == 1


def test_a_rematch_before_the_end_is_refused(server: Server) -> None:
    with two_players(server) as match:
        assert match.X.rematch().code == "notOver"
        match.play(*WON_BY_X)
        assert Seat(match.watcher, match.game).rematch().code == "notFound"


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
            assert match.watcher.get(f"/games/{match.game}?version={bad}").status == 400


def test_the_lobby_lists_open_games_and_games_to_watch(server: Server) -> None:
    with one_player(server, "lobby", name="Ann", mark="O", first="X") as ann, server.client() as bob:
        listed = [match for match in bob.get("/games").json["open"] if match["id"] == ann.game]
        assert len(listed) == 1
        assert listed[0] | {"created": 0} == {
            "id": ann.game,
            "name": "Ann",
            "mark": "X",
            "first": "X",
            "created": 0,
        }

        bob.secret = bob.join(ann.game, None, name="Bob")["secrets"]["X"]

        lobby = bob.get("/games").json
        assert ann.game not in [match["id"] for match in lobby["open"]]
        (played,) = [match for match in lobby["playing"] if match["id"] == ann.game]
        assert (played["X"], played["O"]) == ("Bob", "Ann")

        ann.resign()

        with ann.follow() as stream:  # the list is put in order right after the end
            stream.wait_version(ann.version)
        wait_unlisted(bob, ann.game)


def test_the_newest_of_the_lobby_come_first_and_fifty_at_most(client: Client) -> None:
    made = [client.create("lobby")["id"] for _ in range(53)]
    listed = [match["id"] for match in client.get("/games").json["open"]]
    assert len(listed) == 50
    assert listed == made[::-1][:50]


def test_games_between_friends_are_in_no_list(client: Client) -> None:
    hidden = {client.create(kind)["id"] for kind in ("friend", "self")}
    hidden.add(client.create("bot", bot="random")["id"])
    lobby = client.get("/games").json
    assert not hidden & {match["id"] for match in lobby["open"] + lobby["playing"]}


def test_a_game_has_an_end_however_much_is_taken_back(quick: Server) -> None:
    """Taking back is refused at some point; resigning isn't."""
    with one_player(quick, "self") as both:
        x = Seat(both.client, both.game, "X")
        version, refused = both.version, None
        while refused is None:
            for command in (lambda version: x.move(4, version), x.take_back):
                answer = command(version)
                if answer.status != 200:
                    refused = answer
                    break
                version = answer.json["version"]

        assert (refused.status, refused.code) == (409, "tooLong")
        assert version <= 1503  # the token that cannot be taken back any more is the last
        assert both.resign().status == 200


def _is_settled(events: list[Any]) -> bool:
    """Return whether it is X's turn, or the game is over."""
    names = [message.data["event"] for message in events]
    turns = [message.data["mark"] for message in events if message.data["event"] == "playerActive"]
    return "gameCompleted" in names or ("gameReady" in names and turns[-1] == "X")


def wait_unlisted(client: Client, game: str) -> None:
    """Wait until a game is in no list; lists are updated after the game."""
    wait_until(lambda: game.encode() not in client.get("/games").body)
