"""Servers stopped or killed in mid-game: everything acknowledged is kept."""

from __future__ import annotations

import signal
from collections.abc import Callable
from http.client import HTTPException

import pytest

from noughts import CreateGame, JoinGame, Mark, PlaceToken, Resign, Service, decide, fold, open_store
from noughts.service import wall_clock
from noughts.store.verify import verify
from noughts.web.room import Room, RoomSeat, hash_secret, write_room
from support.at_once import in_threads
from support.web.matches import Seat, two_players
from support.web.serving import Server, new_key, wait_until

ENDS = {"stopped": Server.stop, "killed": Server.kill}
STOP_SECONDS = 10
"""How long a server may take to end what it has begun, in seconds."""

ended = pytest.mark.parametrize("end", ENDS)


def test_a_server_that_is_stopped_ends_its_streams_in_order(store: str) -> None:
    with Server(store) as server, two_players(server) as match:
        match.play(0)
        with match.X.follow() as ann, match.O.follow() as bob, match.watcher.follow(match.game) as eve:
            for stream in (ann, bob, eve):
                stream.wait_version(8)

            code = server.stop(STOP_SECONDS / 2)

            assert code == 0
            for stream in (ann, bob, eve):
                stream.wait_over()
                assert stream.was_ended
        assert b"Traceback" not in server.errors
        assert b'"level": "error"' not in server.errors


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_server_stops_cleanly_on_each_signal(store: str, how: signal.Signals) -> None:
    with Server(store) as server, server.client() as client:
        game = client.create("self")["id"]
        with client.follow(game) as stream:
            stream.wait(lambda now: now.rooms)

            code = server.end(how)

            assert code in (0, 128 + how)
            stream.wait_over()
            assert stream.was_ended
        assert b"Traceback" not in server.errors
        assert b"stopped" in server.errors


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
            assert kept.versions([seat["id"]])[seat["id"]] >= answered.get(seat["id"], 5)


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
        verify(kept)


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
        assert [match["id"] for match in client.get("/games").json["open"]] == [lobby["id"]]
        assert client.join(lobby["id"], None)["marks"] == ["O"]


def test_a_bot_that_was_to_move_moves_after_a_restart(store: str) -> None:
    game, secret = _left_while_the_bot_was_to_move(store)
    with Server(store) as again, again.client(secret) as client, client.follow(game) as stream:
        stream.wait_version(11)
        assert len(client.read(game)["moves"]) == 2
        assert client.read(game)["active"] == "X"


def test_a_bot_that_was_to_move_moves_when_the_game_is_only_read(store: str) -> None:
    game, _ = _left_while_the_bot_was_to_move(store)
    with Server(store) as again, again.client() as client:
        wait_until(lambda: client.read(game)["version"] >= 11)


def test_a_half_created_rematch_is_completed(store: str) -> None:
    """The server died after creating the rematch, before the last game named it."""
    with Server(store) as server, two_players(server) as match:
        match.X.resign()
        match.X.rematch()
        game = match.O.rematch().json["id"]
        secrets = match.X.client.secret, match.O.client.secret
        assert server.stop() == 0
    with open_store(store) as kept:
        room = kept.document(match.game)
        assert room
        text = room.text.replace(f',"next":"{game}"', "")
        assert text != room.text
        kept.write_document(match.game, text, expected=room.revision)

    with Server(store) as again, again.client(secrets[0]) as ann, again.client(secrets[1]) as bob:
        Seat(ann, match.game).rematch()
        accepted = Seat(bob, match.game).rematch()
        assert accepted.status == 201
        assert accepted.json["id"] == game
        assert Seat(ann, match.game).rematch().status == 200


def _left_while_the_bot_was_to_move(store: str) -> tuple[str, str]:
    """Leave a game before the bot's move; return its id and the person's secret."""
    with Server(store) as server, server.client() as client:
        seat = client.create("bot", bot="random")
        game, secret = seat["id"], seat["secrets"]["X"]
        client.secret = secret
        assert server.stop() == 0
    with open_store(store) as kept:
        Service(kept).handle(game, PlaceToken(Mark.X, 4))
        assert kept.versions([game]) == {game: 8}
    return game, secret


def test_players_of_an_older_game_keep_their_names_in_a_rematch(store: str) -> None:
    """Even names that aren't accepted today."""
    history = [*decide(None, CreateGame(open_seats=True))]
    for mark, name in ((Mark.X, "Ann"), (Mark.O, "ann")):
        history += decide(fold(history), JoinGame(mark, name, is_entered=False))
    history += decide(fold(history), Resign(Mark.X))
    room = Room(
        X=RoomSeat(secret=hash_secret("of-x")),
        O=RoomSeat(secret=hash_secret("of-o")),
        created=0,
        names=("Ann", "ann"),
    )
    with open_store(store) as older:
        older.write_document("older", write_room(room), expected=0, label=room.label)
        older.append("older", history, expected=0, key="key", at=wall_clock())

    with Server(store) as server, server.client("of-x") as ann, server.client("of-o") as other:
        assert Seat(ann, "older").rematch().status == 202
        agreed = Seat(other, "older").rematch()

    seats = agreed.json["game"]["room"]["seats"]
    assert [seats[mark]["name"] for mark in "XO"] == ["Ann", "ann"]
