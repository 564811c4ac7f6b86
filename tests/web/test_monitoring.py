"""Health, metrics and the log of a server."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from http.client import HTTPException
from threading import Thread

import pytest

from support.command import environment
from support.deadlines import DEADLINE_SECONDS
from support.postgres_server import Server as Postgres
from support.pseudo_terminal import CTRL_C, in_terminal
from support.web.matches import two_players
from support.web.serving import Client, Server, wait_until

STOP_SECONDS = 10.0
"""How long a service manager waits before it kills a server."""

_SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="[^"\\\n]*",?)+)\})? (\d+)')


def _samples(client: Client) -> dict[tuple[str, str], int]:
    """Return the metrics by name and labels; check their format."""
    answer = client.get("//metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    text = answer.body.decode()
    assert text.endswith("\n")
    kinds: dict[str, str] = {}
    helped: set[str] = set()
    samples: dict[tuple[str, str], int] = {}
    for line in text.splitlines():
        if line.startswith("# HELP "):
            helped.add(line.split()[2])
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            assert name not in kinds
            kinds[name] = kind
        else:
            found = _SAMPLE.fullmatch(line)
            assert found, line
            name, labels = found[1], found[2] or ""
            assert name in kinds
            assert (name, labels) not in samples
            assert (kinds[name] == "counter") == name.endswith("_total")
            samples[name, labels] = int(found[3])
    assert {*kinds} == helped
    return samples


def test_requests_games_and_moves_are_counted(store: str) -> None:
    with Server(store) as server, server.client() as client:
        with two_players(server) as match, match.watcher.follow(match.game) as stream:
            match.play(0, 4)
            match.X.move(0)
            stream.wait_version(11)
            during = _samples(client)
            assert during["noughts_streams", ""] == 1
        client.get("/nonesuch")
        client.get(f"/games/{'a' * 26}")

        samples = _samples(client)

        assert samples["noughts_moves_total", ""] == 2
        assert samples["noughts_games_created_total", 'opponent="friend"'] == 1
        requests = {
            labels: count for (name, labels), count in samples.items() if name == "noughts_requests_total"
        }
        moves = 'route="/api/v1/games/{id}/moves"'
        assert requests[f'{moves},status="200"'] == 2
        assert requests[f'{moves},status="409"'] == 1
        assert requests['route="/api/v1/games/{id}",status="404"'] == 1
        assert samples["noughts_commits_total", ""] >= 3


def test_unknown_addresses_make_no_new_metrics(client: Client) -> None:
    before = _samples(client)
    for number in range(50):
        client.get(f"//strange/{number}")
        client.get(f"/games/strange{number}")
        client.ask("PUT", f"/strange/{number}")
    after = _samples(client)
    assert len(after) <= len(before) + 3
    assert "strange" not in client.get("//metrics").body.decode()


def test_a_running_server_is_healthy(client: Client) -> None:
    assert client.get("/health").json == {"status": "ok"}
    assert client.get("/ready").json == {"status": "ok"}


def test_without_its_database_a_server_is_not_ready(postgres: Postgres) -> None:
    """Until the database is back; nothing is lost or done twice."""
    with Server(postgres.place()) as server, server.client() as client:
        seat = client.create("self")
        client.secret = seat["secrets"]["X"]
        postgres.stop("immediate")
        try:
            refused, health = client.get("/ready"), client.get("/health")
        finally:
            postgres.start()

        assert (refused.status, refused.code) == (503, "storeUnavailable")
        assert str(postgres.folder) not in refused.body.decode()
        assert health.status == 200
        wait_until(lambda: client.get("/ready").status == 200)
        assert client.move(seat["id"], 4, 5, "k").status == 200
        assert client.read(seat["id"])["version"] == 8
        server.stop_cleanly()


@pytest.mark.parametrize("is_playing", [False, True])
def test_a_server_without_its_database_ends_in_order(postgres: Postgres, *, is_playing: bool) -> None:
    """Also while a move is pending."""
    with Server(postgres.place()) as server, server.client() as client:
        seat = client.create("self")
        client.secret = seat["secrets"]["X"]
        with client.follow(seat["id"]) as stream:
            stream.wait(lambda now: now.rooms)
            postgres.stop("immediate")
            moving = Thread(target=_try_to_move, args=(client, seat["id"])) if is_playing else None
            try:
                if moving:
                    moving.start()
                code = server.stop(STOP_SECONDS)
            finally:
                postgres.start()
            if moving:
                moving.join(DEADLINE_SECONDS)
        assert code == 0
        assert b"Traceback" not in server.errors


def _try_to_move(client: Client, game: str) -> None:
    with suppress(OSError, HTTPException):
        client.move(game, 4, 5)


def test_the_log_is_lines_of_json(store: str) -> None:
    with Server(store) as server:
        with two_players(server) as match:
            match.play(0, 4)
        assert server.stop() == 0

    lines = [json.loads(line) for line in server.errors.splitlines()]

    assert lines
    for line in lines:
        assert {"at", "level", "event"} <= {*line}
        assert line["level"] == "info"
    assert [line["event"] for line in lines if line["event"] in ("started", "stopped")] == [
        "started",
        "stopped",
    ]


def test_the_log_is_plain_if_it_is_asked_for(store: str) -> None:
    with Server(store, NOUGHTS_LOG_FORMAT="plain") as server:
        with server.client() as client:
            client.create("self")
        assert server.stop() == 0

    lines = server.errors.decode().splitlines()
    assert re.fullmatch(r"\d\d:\d\d:\d\d started \(store [a-z]+\)", lines[0])
    assert re.fullmatch(r"\d\d:\d\d:\d\d created \(game \S+, .*\)", lines[1])
    assert re.fullmatch(r"\d\d:\d\d:\d\d stopped", lines[-1])


@pytest.mark.parametrize(("form", "is_plain"), [("auto", True), ("plain", True), ("json", False)])
def test_on_a_terminal_the_log_is_plain(form: str, *, is_plain: bool) -> None:
    env = environment(NOUGHTS_LOG_FORMAT=form)
    with in_terminal("serve", "--port", "0", "--store", "memory:", env=env) as session:
        session.expect("started")
        session.type(CTRL_C)
        session.end()

    assert (b" started (store memory)\r\n" in session.output) == is_plain
    assert (b'"event": "started"' in session.output) != is_plain


def test_the_log_level_can_be_set(store: str) -> None:
    with Server(store, NOUGHTS_LOG="error") as server:
        with server.client() as client:
            client.create("self")
        assert server.stop() == 0
    assert server.errors == b""
