"""Several processes that serve the same games on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

from support.at_once import in_threads
from support.postgres_server import Server as Postgres
from support.web.matches import WON_BY_X, check_events, two_players
from support.web.serving import UVICORN, Answer, AsgiServer, Server, new_key


def at_once(*works: Callable[[], Answer]) -> list[Answer]:
    return in_threads(*works)  # type: ignore[return-value]  # each work is what it says


def test_races_between_servers_have_one_winner(postgres: Postgres) -> None:
    url = postgres.place()
    with Server(url) as here, Server(url) as there:
        for time in range(3):
            _race((here, there), time)
        here.stop_cleanly()
        there.stop_cleanly()


def _race(two: tuple[Server, Server], time: int) -> None:
    """Join from six clients, move from six, and ask for a rematch from both seats, at the same time."""
    with two[0].client() as ann, two[1].client() as bob, ExitStack() as stack:
        seat = ann.create("friend")
        game, ann.secret = f"/games/{seat['id']}", seat["secrets"]["X"]
        clients = [stack.enter_context(server.client()) for server in two * 3]
        bodies = [{"invite": seat["invite"], "secret": True, "key": new_key()} for _ in clients]
        joins = at_once(
            *(
                partial(client.post, f"{game}/join", body)
                for client, body in zip(clients, bodies, strict=True)
            )
        )
        assert sorted(answer.status for answer in joins) == [200] + [404] * 5
        bob.secret = next(answer.json["secrets"]["O"] for answer in joins if answer.status == 200)

        for client in clients:
            client.secret = ann.secret
        moves = at_once(
            *(
                partial(client.move, seat["id"], (number + time) % 9, 5)
                for number, client in enumerate(clients)
            )
        )
        assert sorted(answer.status for answer in moves) == [200] + [409] * 5
        assert {answer.json["version"] for answer in moves} == {8}

        bob.post(f"{game}/resign", {"version": 5, "key": new_key()})
        again = [
            partial(one.post, f"{game}/rematch", {"key": new_key(), "secret": True}) for one in (ann, bob)
        ]
        assert 201 in [answer.status for answer in at_once(*again)]
        first, second = (ask().json["id"] for ask in again)
        assert first == second


def test_two_workers_of_uvicorn_are_one_server(postgres: Postgres) -> None:
    """Events and presence reach the connections of each; a connection for each command."""
    with (
        AsgiServer(postgres.place(), f"{UVICORN} --workers 2") as workers,
        two_players(workers) as match,
        ExitStack() as stack,
    ):
        watchers = [stack.enter_context(workers.client()) for _ in range(6)]
        streams = [stack.enter_context(watcher.follow(match.game)) for watcher in watchers]
        streams += [stack.enter_context(seat.follow()) for seat in match.seats.values()]
        for stream in streams:
            stream.wait_room(lambda room: room["watching"] == 6)
            stream.wait_room(lambda room: all(room["seats"][mark]["present"] for mark in "XO"))
        version = 5
        for number, cell in enumerate(WON_BY_X):
            with workers.client(match.seats["XO"[number % 2]].client.secret) as fresh:
                answer = fresh.move(match.game, cell, version)
                assert answer.status == 200, answer.body
                version = answer.json["version"]
        for stream in streams:
            check_events(stream, match.now["events"])
        assert workers.stop() == 0
        for stream in streams:
            stream.wait_over()
            assert stream.was_ended
