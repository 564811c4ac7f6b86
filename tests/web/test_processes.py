"""Several processes that serve the same games."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

import pytest

from support.at_once import in_threads
from support.postgres_server import Server as Postgres
from support.web.matches import WON_BY_X, Seat, at_once, check_events, two_players
from support.web.serving import Server, new_key


@pytest.fixture(scope="module")
def two(postgres: Postgres) -> Iterator[tuple[Server, Server]]:
    url = postgres.place()
    with Server(url) as one, Server(url) as other:
        yield one, other
        for server in (one, other):
            server.stop_cleanly()


def test_two_people_play_at_two_servers(two: tuple[Server, Server]) -> None:
    here, there = two
    with two_players(here, there) as match, here.client() as eve, ExitStack() as stack:
        streams = [
            stack.enter_context(stream)
            for stream in (
                match.X.follow(),
                match.O.follow(),
                eve.follow(match.game),
                match.watcher.follow(match.game),
            )
        ]
        for cell in WON_BY_X:
            now = match.now
            assert match.seats[now["active"]].move(cell, now["version"]).status == 200
            for stream in streams:
                stream.wait_version(now["version"] + 3)

        last = match.now
        assert last["winner"] == "X"
        for stream in streams:
            check_events(stream, last["events"])


def test_presence_is_known_at_both_servers(two: tuple[Server, Server]) -> None:
    here, there = two
    with two_players(here, there) as match, here.client() as eve, match.X.follow() as ann:
        ann.wait_room(lambda room: room["seats"]["X"]["present"])
        with match.O.follow() as bob:
            ann.wait_room(lambda room: room["seats"]["O"]["present"])
            bob.wait_room(lambda room: room["seats"]["X"]["present"])
            with eve.follow(match.game), match.watcher.follow(match.game):
                for stream in (ann, bob):
                    stream.wait_room(lambda room: room["watching"] == 2)
            for stream in (ann, bob):
                stream.wait_room(lambda room: room["watching"] == 0)
        ann.wait_room(lambda room: not room["seats"]["O"]["present"])


@pytest.mark.parametrize("time", range(5))
def test_commands_can_go_to_either_server(two: tuple[Server, Server], time: int) -> None:
    here, there = two
    with two_players(here, there) as match:
        ann, bob = match.X, match.O
        answers = [ann.move(time, 5), bob.move(8, 8), ann.take_back(11), bob.answer(accept=True)]
        answers.append(ann.resign(answers[-1].json["version"]))
        answers += [bob.rematch(), ann.rematch(), bob.rematch()]
        assert [answer.status for answer in answers] == [200, 200, 202, 200, 200, 202, 201, 200]
        assert bob.client.read(answers[-1].json["id"])["first"] == "O"


@pytest.mark.parametrize("time", range(3))
def test_an_acknowledged_move_is_known_at_both_servers(two: tuple[Server, Server], time: int) -> None:
    here, there = two
    with two_players(here, there) as match, there.client() as eve:
        version = 5
        for cell in (4, 0, 1, 7)[: 2 + time]:
            mover = match.X if version % 2 else match.O
            moved = mover.move(cell, version)
            assert moved.status == 200, moved.body
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


@pytest.mark.parametrize("accept", [True, False])
def test_an_answer_to_an_offer_counts_once_at_two_servers(
    two: tuple[Server, Server], *, accept: bool
) -> None:
    here, there = two
    with two_players(here, here) as match, there.client(match.O.client.secret) as bob:
        match.play(4)
        match.X.take_back()
        key = new_key()
        first = match.O.answer(accept=accept, key=key)
        again = Seat(bob, match.game).answer(accept=accept, key=key)
        assert first.status == 200, first.body
        assert (again.status, again.body) == (first.status, first.body)


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


def test_a_bot_moves_once_however_many_look(two: tuple[Server, Server]) -> None:
    here, there = two
    with here.client() as client, there.client() as eve:
        seat = client.create("bot", bot="random", first="O")
        game = seat["id"]
        client.secret = seat["secrets"]["X"]
        with client.follow(game) as ours, eve.follow(game) as theirs:
            for turn in range(3):
                version = 8 + 6 * turn
                for stream in (ours, theirs):
                    stream.wait_version(version)
                now = client.read(game)
                if now["over"]:
                    break
                assert (now["version"], now["active"]) == (version, "X")
                cell = next(cell for cell in range(9) if cell not in now["moves"])
                assert client.move(game, cell, version).status == 200


def test_a_server_that_dies_does_not_affect_the_other(postgres: Postgres) -> None:
    url = postgres.place()
    with Server(url) as one, Server(url) as other, two_players(one, other) as match:
        match.play(0)
        with match.O.follow() as bob:
            bob.wait_version(8)
            secret = match.X.client.secret
            one.kill()

            assert match.O.move(4, 8).status == 200
            with other.client(secret) as ann:
                assert ann.move(match.game, 1, 11).status == 200
            bob.wait_version(14)


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = tmp_path_factory.mktemp("workers") / "games.db"
    with Server(f"sqlite:{place}", "--workers", "2") as server:
        yield server
        server.stop_cleanly()


def test_two_workers_are_one_server(workers: Server) -> None:
    """Events and presence reach the connections of every process."""
    with two_players(workers) as match, ExitStack() as stack:
        watchers = [stack.enter_context(workers.client()) for _ in range(8)]
        streams = [stack.enter_context(watcher.follow(match.game)) for watcher in watchers]
        streams += [stack.enter_context(seat.follow()) for seat in match.seats.values()]
        for stream in streams:
            stream.wait_room(
                lambda room: (
                    room["watching"] == 8 and all(room["seats"][mark]["present"] for mark in "XO")
                )
            )
        version = 5
        for number, cell in enumerate(WON_BY_X):
            mark = "XO"[number % 2]
            with workers.client(match.seats[mark].client.secret) as fresh:
                answer = fresh.move(match.game, cell, version)
                assert answer.status == 200, answer.body
                version = answer.json["version"]

        for stream in streams:
            check_events(stream, match.now["events"])


def test_many_games_are_played_at_two_workers(workers: Server) -> None:
    """With a connection for each command."""

    def play() -> None:
        with workers.client() as ann:
            seat = ann.create("friend")
        with workers.client() as bob:
            joined = bob.join(seat["id"], seat["invite"])
        secrets = {**seat["secrets"], **joined["secrets"]}
        version = joined["game"]["version"]
        for turn, cell in enumerate(WON_BY_X):
            with workers.client(secrets["XO"[turn % 2]]) as mover:
                answer = mover.move(seat["id"], cell, version)
                assert answer.status == 200, answer.body
                version = answer.json["version"]

    in_threads(*[play] * 10)


def test_a_worker_that_dies_is_replaced(store: str) -> None:
    with Server(store, "--workers", "2") as server, two_players(server) as match:
        match.play(0)
        before = server.workers()
        assert len(before) >= 2
        with match.watcher.follow(match.game) as stream:
            stream.wait_version(8)
            for worker in before:
                os.kill(worker, signal.SIGKILL)
            stream.wait_over()
        secret = match.O.client.secret
        with server.client(secret) as bob:  # who waits in line until a new worker takes him
            assert bob.move(match.game, 4, 8).status == 200
        assert server.workers() - before
        assert server.stop() == 0
