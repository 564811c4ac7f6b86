"""Several processes that serve the same games on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest

from noughts import open_store
from support.at_once import in_threads
from support.postgres_server import Server as Postgres
from support.web.matches import WON_BY_X, Seat, at_once, check_events, two_players
from support.web.serving import UVICORN, AsgiServer, Server, new_key


@pytest.fixture(scope="module")
def two(postgres: Postgres) -> Iterator[tuple[Server, Server]]:
    url = postgres.place()
    with Server(url) as one, Server(url) as other:
        yield one, other
        for server in (one, other):
            server.stop_cleanly()


def _everybody(room: Any, watching: int = 2) -> bool:
    both = all(room["seats"][mark]["present"] for mark in "XO")
    return both and room["watching"] == watching


@pytest.mark.parametrize("time", range(3))
def test_what_was_acknowledged_is_known_at_both_servers(two: tuple[Server, Server], time: int) -> None:
    """Also a command that is sent again at the other one; nothing is refused from an old value."""
    here, there = two
    with two_players(here, there) as match, there.client() as eve:
        version = 5
        for cell in (4, 0, 1, 7)[: 2 + time]:
            key, seat = new_key(), match.X if version % 2 else match.O
            moved = seat.move(cell, version, key)
            assert moved.status == 200, moved.body
            for server in two:
                with server.client(seat.client.secret) as again:
                    repeated = Seat(again, match.game).move(cell, version, key)
                    assert (repeated.status, repeated.body) == (200, moved.body)
            version = moved.json["version"]
            for server in two:
                with server.client(match.X.client.secret) as ann:
                    assert ann.read(match.game)["version"] == version
                    assert ann.read(match.game, version)["version"] == version
                    refused = ann.move(match.game, cell, version)
                    assert refused.code in ("cellTaken", "notYourTurn")
            with eve.follow(match.game) as stream:
                assert len(stream.wait_version(version)) == version
        created = match.X.client.create("friend", key=(key := new_key()))
        assert eve.create("friend", key=key)["secrets"] == created["secrets"]


@pytest.mark.parametrize("time", range(3))
def test_races_between_servers_have_one_winner(two: tuple[Server, Server], time: int) -> None:
    here, there = two
    with here.client() as ann, ExitStack() as stack:
        seat = ann.create("friend")
        guests = [stack.enter_context(server.client()) for server in two * 3]
        body = {"invite": seat["invite"], "secret": True}
        joins = at_once(
            *(
                partial(guest.post, f"/games/{seat['id']}/join", {**body, "key": new_key()})
                for guest in guests
            )
        )
        assert sorted(answer.status for answer in joins) == [200] + [404] * 5
        secret = next(answer.json["secrets"]["O"] for answer in joins if answer.status == 200)

        movers = [stack.enter_context(server.client(seat["secrets"]["X"])) for server in two * 3]
        moves = at_once(
            *(
                partial(mover.move, seat["id"], (number + time) % 9, 5)
                for number, mover in enumerate(movers)
            )
        )
        assert sorted(answer.status for answer in moves) == [200] + [409] * 5
        assert {answer.json["version"] for answer in moves} == {8}

        bob = stack.enter_context(there.client(secret))
        bob.post(f"/games/{seat['id']}/resign", {"version": 5, "key": new_key()})
        again = f"/games/{seat['id']}/rematch"
        ann.secret = seat["secrets"]["X"]
        agreed = at_once(
            *(partial(one.post, again, {"key": new_key(), "secret": True}) for one in (ann, bob))
        )
        assert 201 in [answer.status for answer in agreed]
        followed = [one.post(again, {"key": new_key(), "secret": True}).json["id"] for one in (ann, bob)]
        assert followed[0] == followed[1]


def test_a_deleted_game_is_gone_at_every_server(two: tuple[Server, Server]) -> None:
    here, there = two
    with two_players(here, there) as match:
        with match.X.follow() as ann, match.O.follow() as bob:
            for stream in (ann, bob):
                stream.wait_version(5)
            with open_store(here.store) as store:
                store.delete(match.game)

            for stream in (ann, bob):
                stream.wait_over()
                assert stream.was_ended
        for seat in (match.X, match.O):
            assert seat.client.get(f"/games/{match.game}").status == 404
            assert seat.move(0, 5).status == 404
            with seat.follow() as refused:
                assert refused.refusal
                assert refused.refusal.status == 404


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
            stream.wait_room(partial(_everybody, watching=6))
        version = 5
        for number, cell in enumerate(WON_BY_X):
            with workers.client(match.seats["XO"[number % 2]].client.secret) as fresh:
                answer = fresh.move(match.game, cell, version)
                assert answer.status == 200, answer.body
                version = answer.json["version"]
        for stream in streams:
            check_events(stream, match.now["events"])
        in_threads(*[partial(_play, workers)] * 5)
        assert workers.stop() == 0
        for stream in streams:
            stream.wait_over()
            assert stream.was_ended


def _play(server: Server) -> None:
    with two_players(server) as match:
        match.play(*WON_BY_X)
