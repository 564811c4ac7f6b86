"""Servers stopped or killed in mid-game: everything acknowledged is kept."""

from __future__ import annotations

from collections.abc import Callable
from http.client import HTTPException

import pytest

from noughts import CreateGame, JoinGame, Mark, PlaceToken, Resign, decide, fold, open_store
from noughts.service import judge
from noughts.store.base import Change, Store, StoredGame, nothing
from noughts.store.rows import entries_of
from noughts.store.verify import examine
from noughts.web.rooms import Room, RoomSeat, hash_secret, write_room
from support.at_once import in_threads
from support.web.matches import Seat, two_players
from support.web.serving import Server, new_key, wait_until

ENDS = {"stopped": Server.stop, "killed": Server.kill}
ended = pytest.mark.parametrize("end", ENDS)


def test_a_server_that_is_stopped_answers_what_it_has_begun(store: str) -> None:
    """A move is recorded and answered, or neither."""
    with Server(store) as server, server.client() as client:
        seats = [client.create("self") for _ in range(20)]
        answered: dict[str, int] = {}

        def play(seat: dict[str, str]) -> Callable[[], None]:
            def moves() -> None:
                with server.client() as mover:
                    version = 5
                    for cell in (0, 1, 2, 4, 3, 5, 7):
                        try:
                            answer = mover.post(
                                f"/games/{seat['id']}/moves",
                                {"cell": cell, "version": version, "key": f"k{cell}"},
                                cookie=f"X={seat['X']}; O={seat['O']}",
                            )
                        except (HTTPException, OSError):
                            return  # the server is gone
                        assert answer.status == 200, answer.body
                        version = answered[seat["id"]] = answer.json["version"]

            return moves

        codes: list[int] = []
        in_threads(
            *(play({"id": seat["id"], **seat["secrets"]}) for seat in seats),
            lambda: codes.append(server.stop()),
        )

    assert codes == [0]
    assert b"Traceback" not in server.errors
    with open_store(store) as kept:
        for seat in seats:
            assert read(kept, seat["id"]).version >= answered.get(seat["id"], 5)


@ended
def test_a_game_goes_on_after_a_restart(store: str, end: str) -> None:
    """A repeated move gets its first answer."""
    with Server(store) as server, two_players(server) as match:
        match.play(0, 4)
        key = new_key()
        first = match.X.move(1, 11, key)
        before = match.now
        secrets = {mark: seat.client.secret for mark, seat in match.seats.items()}
        ENDS[end](server)

    with Server(store) as again, again.client() as client:
        assert client.read(match.game) == before
        ann, bob = (Seat(again.client(secrets[mark]), match.game) for mark in "XO")
        repeated = ann.move(1, 11, key)
        assert (repeated.status, repeated.body) == (first.status, first.body)
        assert bob.move(2).status == 200
        assert ann.client.read(match.game)["you"] == ["X"]
        ann.client.close()
        bob.client.close()
    with open_store(store) as kept:
        assert examine(kept).faults == ()


@ended
def test_a_reader_goes_on_after_a_restart(store: str, end: str) -> None:
    with Server(store) as server, two_players(server) as match:
        match.play(0)
        with match.watcher.follow(match.game) as stream:
            seen = stream.wait_version(8)
            ENDS[end](server)
            stream.wait_over()
        secret = match.O.client.secret

    with Server(store) as again, again.client() as client:
        bob = Seat(again.client(secret), match.game)
        with bob.client, client.follow(match.game, last_event_id=seen[-1].id or "") as stream:
            bob.move(4, 8)
            assert [message.id for message in stream.wait_version(11)] == ["9", "10", "11"]


@ended
def test_offers_and_invitations_survive_a_restart(store: str, end: str) -> None:
    with Server(store) as server, two_players(server) as asking, two_players(server) as over:
        asking.play(0)
        asking.X.take_back()
        over.X.resign()
        over.X.rematch()
        with server.client() as client:
            invited, lobby = client.create("friend"), client.create("lobby", name="Ann")
        secrets = asking.O.client.secret, over.O.client.secret
        ENDS[end](server)

    with Server(store) as again, again.client() as client:
        assert client.read(asking.game)["room"]["offer"] == {"kind": "takeBack", "mark": "X"}
        client.secret = secrets[0]
        assert Seat(client, asking.game).answer(accept=True).status == 200
        client.secret = secrets[1]
        assert Seat(client, over.game).rematch().status == 201
        client.secret = None
        assert client.join(invited["id"], invited["invite"])["marks"] == ["O"]
        with again.client(lobby["secrets"]["X"]) as ann, ann.follow(lobby["id"]) as stream:
            stream.wait(lambda now: now.rooms)  # her page is back, and so is her game in the lobby
            assert [match["id"] for match in client.get("/games").json["open"]] == [lobby["id"]]
        assert client.join(lobby["id"], None)["marks"] == ["O"]


@pytest.mark.parametrize("is_followed", [True, False])
def test_a_bot_that_was_to_move_moves_after_a_restart(store: str, *, is_followed: bool) -> None:
    """As soon as somebody looks at the game."""
    with Server(store) as server, server.client() as client:
        seat = client.create("bot", bot="random")
        game = seat["id"]
        assert server.stop() == 0
    with open_store(store) as kept:  # the move was recorded, and then the server was killed
        before = read(kept, game)
        answer, change = judge(before, PlaceToken(Mark.X, 4), version=5, key="key", at=0)
        assert change
        kept.submit(change).result()
        assert answer.version == 8

    with Server(store) as again, again.client(seat["secrets"]["X"]) as client:
        if is_followed:
            with client.follow(game) as stream:
                stream.wait_version(11)
        wait_until(lambda: client.read(game)["version"] >= 11)
        assert (len(client.read(game)["moves"]), client.read(game)["active"]) == (2, "X")


def test_a_half_created_rematch_is_completed(store: str) -> None:
    """The server died after creating the rematch, before the last game named it."""
    with Server(store) as server, two_players(server) as match:
        match.X.resign()
        match.X.rematch()
        with open_store(store, create=False) as kept:
            offered = read(kept, match.game).room
        game = match.O.rematch().json["id"]
        secrets = match.X.client.secret, match.O.client.secret
        assert server.stop() == 0
    with open_store(store) as kept:
        agreed = read(kept, match.game)
        assert game in agreed.room
        kept.submit(Change(agreed, agreed.followed_by(room=offered))).result()

    with Server(store) as again, again.client(secrets[0]) as ann, again.client(secrets[1]) as bob:
        accepted = Seat(bob, match.game).rematch()
        assert accepted.status == 201
        assert accepted.json["id"] == game
        assert Seat(ann, match.game).rematch().status == 200


def test_players_of_an_older_game_keep_their_names_in_a_rematch(store: str) -> None:
    """Even names that aren't accepted today."""
    history = [*decide(None, CreateGame(open_seats=True))]
    for mark, name in ((Mark.X, "Ann"), (Mark.O, "ann")):
        history += decide(fold(history), JoinGame(mark, name, is_entered=False))
    history += decide(fold(history), Resign(Mark.X))
    room = Room(X=RoomSeat(hash_secret("of-x")), O=RoomSeat(hash_secret("of-o")), created=0)
    with open_store(store) as older:
        before, entries = nothing("older"), entries_of([("key", 0, history)])
        older.submit(Change(before, before.followed_by(entries, room=write_room(room)))).result()

    with Server(store) as server, server.client("of-x") as ann, server.client("of-o") as other:
        assert Seat(ann, "older").rematch().status == 202
        agreed = Seat(other, "older").rematch()

    seats = agreed.json["game"]["room"]["seats"]
    assert [seats[mark]["name"] for mark in "XO"] == ["Ann", "ann"]


def read(store: Store, game: str) -> StoredGame:
    found = store.read(game)
    assert found
    return found
