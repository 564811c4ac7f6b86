"""Concurrent requests for the same thing: one succeeds, the others are refused."""

from __future__ import annotations

import json
import socket
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest

from support.at_once import in_threads
from support.deadlines import DEADLINE_SECONDS
from support.web.matches import Seat, at_once, check_events, two_players
from support.web.serving import Answer, Client, Server, Stream, new_key

REPEATS = 5


@pytest.mark.parametrize("cells", [(4,) * 16, range(9)], ids=["one cell", "all cells"])
@pytest.mark.parametrize("time", range(REPEATS))
def test_one_of_many_moves_is_made(server: Server, cells: Sequence[int], time: int) -> None:
    with two_players(server) as match, ExitStack() as stack:
        clients = [stack.enter_context(server.client(match.X.client.secret)) for _ in cells]
        order = [(cell + time) % 9 for cell in cells]

        answers = at_once(
            *(
                partial(client.move, match.game, cell, 5)
                for client, cell in zip(clients, order, strict=True)
            )
        )

        counts = Counter(answer.code or "done" for answer in answers)
        assert counts == {"done": 1, "staleVersion": len(cells) - 1}
        assert all(answer.json["version"] == 8 for answer in answers)
        done = [cell for cell, answer in zip(order, answers, strict=True) if answer.status == 200]
        assert match.now["moves"] == done


@pytest.mark.parametrize("kind", ["friend", "lobby"])
@pytest.mark.parametrize("time", range(REPEATS))
def test_one_of_many_gets_the_seat(server: Server, kind: str, time: int) -> None:
    with server.client() as ann, ExitStack() as stack:
        seat = ann.create(kind)
        clients = [stack.enter_context(server.client()) for _ in range(12)]

        answers = at_once(
            *(
                _join(client, seat["id"], seat["invite"], f"Guest {time} {number}")
                for number, client in enumerate(clients)
            )
        )

        counts = Counter(answer.code or "done" for answer in answers)
        assert counts == {"done": 1, ("seatTaken" if kind == "lobby" else "notFound"): 11}
        (done,) = [answer.json for answer in answers if answer.status == 200]
        now = ann.read(seat["id"])
        assert now["version"] == 5
        assert now["room"]["seats"]["O"]["name"] == done["game"]["room"]["seats"]["O"]["name"]
        ann.secret = done["secrets"]["O"]
        assert ann.read(seat["id"])["you"] == ["O"]


@pytest.mark.parametrize("time", range(REPEATS))
def test_joining_many_times_with_one_key_is_joining_once(server: Server, time: int) -> None:
    with server.client() as ann, ExitStack() as stack:
        seat, key = ann.create("friend"), f"{time}{new_key()}"
        clients = [stack.enter_context(server.client()) for _ in range(6)]
        answers = at_once(*(_join(client, seat["id"], seat["invite"], "Bob", key) for client in clients))
        assert [answer.status for answer in answers] == [200] * 6
        assert ann.read(seat["id"])["version"] == 5
        (ann.secret,) = {answer.json["secrets"]["O"] for answer in answers}
        assert ann.read(seat["id"])["you"] == ["O"]


@pytest.mark.parametrize("time", range(REPEATS))
def test_both_who_want_a_rematch_at_once_get_one(server: Server, time: int) -> None:
    with two_players(server) as match:
        match.X.resign(5)
        answers = at_once(match.X.rematch, match.O.rematch)
        statuses = sorted(answer.status for answer in answers)
        assert 201 in statuses, time
        followed = [seat.rematch() for seat in (match.X, match.O)]
        assert [answer.status for answer in followed] == [200, 200]
        assert {answer.json["id"] for answer in followed} == {match.room["next"]}


@pytest.mark.parametrize("time", range(REPEATS))
def test_a_rematch_accepted_many_times_at_once_is_one_game(server: Server, time: int) -> None:
    with two_players(server) as match, ExitStack() as stack:
        match.X.resign(5)
        match.X.rematch()
        clients = [stack.enter_context(server.client(match.O.client.secret)) for _ in range(8)]
        answers = at_once(*(Seat(client, match.game).rematch for client in clients))
        assert {answer.status for answer in answers} <= {200, 201}, time
        assert len({answer.json["id"] for answer in answers}) == 1
        assert match.watcher.read(answers[0].json["id"])["version"] == 5


@pytest.mark.parametrize("time", range(REPEATS))
def test_an_offer_is_answered_or_lapses(server: Server, time: int) -> None:
    """The opponent accepts and moves at the same time."""
    with two_players(server) as match:
        match.play(4)
        match.X.take_back()
        other = server.client(match.O.client.secret)

        with other:
            answers = at_once(
                lambda: match.O.answer(accept=True), partial(other.move, match.game, time, 8)
            )

        assert sorted(answer.status for answer in answers) == [200, 409]
        assert len(match.now["moves"]) == (0 if answers[0].status == 200 else 2)


def test_the_lobby_is_listed_while_games_come_and_go(server: Server) -> None:
    statuses: Counter[int] = Counter()

    def come() -> None:
        with server.client() as ann, server.client() as bob:
            for number in range(25):
                game = ann.create("lobby")["id"]
                if number % 2:
                    bob.join(game, None)

    def look() -> None:
        with server.client() as client:
            for _ in range(100):
                statuses[client.get("/games").status] += 1

    in_threads(come, look, come, look)

    assert statuses == {200: 200}


def test_many_games_are_played_at_once(server: Server) -> None:
    def play(number: int) -> Callable[[], None]:
        def whole_game() -> None:
            with two_players(server) as match, match.watcher.follow(match.game) as stream:
                cells = [(cell + number) % 9 for cell in (0, 1, 2, 4, 3)]
                match.play(*cells)
                now = match.now
                assert now["moves"] == cells
                check_events(stream, now["events"])

        return whole_game

    in_threads(*(play(number) for number in range(12)))


@pytest.mark.parametrize("policy", ["random", "perfect", "menace"])
def test_a_bot_moves_although_it_was_interrupted(server: Server, policy: str) -> None:
    """By a take-back and another move while it thinks."""
    with server.client() as client:
        for _ in range(10):
            seat = client.create("bot", bot=policy)
            with client.follow(seat["id"]) as stream:
                was_in_time = _send_at_once(
                    server,
                    seat,
                    ("moves", {"cell": 4, "version": 5, "key": "a"}),
                    ("take-back", {"version": 8, "key": "b"}),
                    ("moves", {"cell": 0, "version": 11, "key": "c"}),
                )
                if was_in_time:
                    stream.wait(_is_answered)


def _is_answered(stream: Stream) -> bool:
    """Return whether the bot has answered X's last move."""
    placed = [message for message in stream.events if message.data["event"] == "playerPlacedToken"]
    own = [number for number, message in enumerate(placed) if message.data["mark"] == "X"]
    return len(own) == 2 and len(placed) > own[-1] + 1


def _send_at_once(server: Server, seat: Any, *commands: tuple[str, dict[str, object]]) -> bool:
    """Send commands without waiting; return whether all were accepted."""
    requests = b""
    for what, command in commands:
        body = json.dumps(command).encode()
        requests += (
            f"POST /api/v1/games/{seat['id']}/{what} HTTP/1.1\r\nHost: x\r\n"
            f"Content-Type: application/json\r\nAuthorization: Bearer {seat['secrets']['X']}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        ).encode() + body
    said = b""
    with socket.create_connection((server.host, server.port), DEADLINE_SECONDS) as connection:
        connection.sendall(requests)
        while said.count(b"HTTP/1.1 ") < len(commands):
            more = connection.recv(65536)
            assert more, said
            said += more
    return said.count(b"HTTP/1.1 200 ") == len(commands)


def _join(
    client: Client, game: str, invite: str | None, name: str, key: str | None = None
) -> Callable[[], Answer]:
    body = {"invite": invite, "name": name, "key": key or new_key(), "secret": True}
    return partial(client.post, f"/games/{game}/join", body)
