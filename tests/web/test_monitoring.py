"""Health, readiness, metrics and the log of a server, also while its database is away."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from threading import Thread

import pytest

from noughts.store import postgres as engine
from noughts.web import games, queries
from noughts.web.app import App
from support.command import environment
from support.deadlines import DEADLINE_SECONDS
from support.postgres_server import Server as Postgres
from support.pseudo_terminal import CTRL_C, in_terminal
from support.web.apps import ask, create, follow, get, move, open_app
from support.web.fake_clock import in_fake_time, turns
from support.web.matches import two_players
from support.web.serving import Client, Server, wait_until

STOP_SECONDS = 10.0
"""Twice what the docs promise."""

_SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="[^"\\\n]*",?)+)\})? ([0-9.e-]+)')


def _samples(client: Client) -> dict[tuple[str, str], float]:
    """Return the metrics by name and labels; check their format."""
    answer = client.get("//metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    text = answer.body.decode()
    assert text.endswith("\n")
    kinds: dict[str, str] = {}
    helped: set[str] = set()
    samples: dict[tuple[str, str], float] = {}
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
            kind = kinds.get(name) or kinds[re.sub("_(bucket|sum|count)$", "", name)]
            assert (name, labels) not in samples
            assert (kind == "counter") == name.endswith("_total")
            samples[name, labels] = float(found[3])
    assert {*kinds} == helped
    for name in (name for name, kind in kinds.items() if kind == "histogram"):
        buckets = [count for (one, _), count in samples.items() if one == f"{name}_bucket"]
        assert buckets == sorted(buckets)
        assert buckets[-1] == samples[f"{name}_count", ""] == samples[f"{name}_bucket", 'le="+Inf"']
        assert samples[f"{name}_sum", ""] >= 0
    return samples


def test_requests_games_moves_and_times_are_counted(store: str) -> None:
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
        assert samples["noughts_commits_total", ""] == 4
        assert samples["noughts_commit_seconds_count", ""] == 4
        assert samples["noughts_stream_seconds_count", ""] in (1, 2)  # both moves may come at once
        answered = sum(count for labels, count in requests.items() if "events" not in labels)
        assert samples["noughts_request_seconds_count", ""] == answered
        assert samples["noughts_oldest_commit_seconds", ""] == 0


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


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Shorten what is waited for, and take the log from its beginning."""
    caplog.set_level(logging.INFO, "noughts.web")
    for name in ("COMMIT_OUTAGE_SECONDS", "OUTAGE_SECONDS"):
        monkeypatch.setattr(engine, name, 0.1)
    monkeypatch.setattr(games, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(queries, "LATE_SECONDS", 0.1)


@contextmanager
def deadline(app: App, seconds: float) -> Iterator[None]:
    """Shorten the time that anybody waits for a commit: only while none can succeed."""
    writer, games_ = app.games.store.writer, app.games
    before = writer.limit_seconds
    writer.limit_seconds = games_._limit_seconds = seconds  # noqa: SLF001 - it is set once
    yield
    writer.limit_seconds = games_._limit_seconds = before  # noqa: SLF001 - as above


def _outages(caplog: pytest.LogCaptureFixture) -> Iterator[tuple[str, str]]:
    for one in caplog.records:
        if one.getMessage().startswith("store "):
            yield one.getMessage(), one.__dict__["data"]["what"]


async def _until_ready(app: App) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while (await get(app, "/ready")).status != 200:
            await asyncio.sleep(0)


@pytest.mark.usefixtures("impatient")
async def test_an_outage_of_the_database_is_one_line_however_many_games(
    postgres: Postgres, caplog: pytest.LogCaptureFixture
) -> None:
    """Of reading and of writing each, and one at its end; meanwhile the server is alive but not ready."""
    async with open_app(postgres.place()) as app:
        seats = [await create(app) for _ in range(5)]
        seats.append(await create(app, "bot", bot="club"))
        postgres.stop("immediate")
        try:
            for _ in range(2):
                with deadline(app, 0.1):
                    found = [await move(app, seat, 4, 5) for seat in seats]
                    found += [await get(app, f"/games/{seat['id']}") for seat in seats]
                    found += [
                        await ask(app, "POST", "/games", {"opponent": "self"}),
                        await get(app, "/ready"),
                    ]
                for answer in found:
                    assert (answer.status, dict(answer.headers).get(b"retry-after")) == (503, b"1")
                    assert json.loads(answer.body)["code"] == "storeUnavailable"
                    assert str(postgres.folder) not in answer.body.decode()
                assert (await get(app, "/health")).status == 200
        finally:
            postgres.start()
        await _until_ready(app)
        for seat in seats:
            assert (await move(app, seat, 4, 5)).status == 200
            assert json.loads((await get(app, f"/games/{seat['id']}")).body)["moves"][0] == 4
    for what in ("reading", "writing"):
        found_lines = [event for event, of in _outages(caplog) if of == what]
        assert found_lines == ["store unavailable", "store available again"], what


@pytest.mark.usefixtures("impatient")
async def test_a_commit_that_waits_is_answered_in_time_and_makes_the_server_not_ready(
    postgres: Postgres, caplog: pytest.LogCaptureFixture
) -> None:
    """As without a standby: reading goes on, and so does the commit, which is not done twice."""
    url = postgres.place()
    async with open_app(url) as app:
        seats = [await create(app) for _ in range(3)]
        with postgres.connect(url) as other:
            other.execute("BEGIN")
            other.execute("LOCK TABLE games IN EXCLUSIVE MODE")
            for seat in seats * 2:
                with deadline(app, 0.1):
                    assert (await move(app, seat, 4, 5)).status == 503
                assert (await get(app, f"/games/{seat['id']}")).status == 200
                unready = await get(app, "/ready")
                assert unready.status == 503
                assert b"A commit has waited for " in unready.body
                assert (await get(app, "/health")).status == 200
            assert app.games.store.writer.waiting_seconds() > queries.LATE_SECONDS
            other.execute("COMMIT")
        await _until_ready(app)
        for seat in seats:
            again = await move(app, seat, 4, 5)
            assert (again.status, json.loads(again.body)["version"]) == (200, 8)
    assert [*_outages(caplog)] == [("store unavailable", "writing"), ("store available again", "writing")]


@in_fake_time
async def test_an_error_ends_one_stream_and_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_app() as app:
        seats = [await create(app) for _ in range(2)]
        followers = [await follow(app, seat["id"]) for seat in seats]
        with monkeypatch.context() as broken:
            broken.setattr("noughts.web.streams.position_frame", lambda *_: 1 / 0)
            await move(app, seats[0], 4, 5)
            await turns()
        await move(app, seats[1], 4, 5)
        await turns()
        assert [follower.task.done() for follower in followers] == [True, False]
        assert not followers[0].is_over  # its client sees that it was cut, and connects again
        assert followers[1].versions == [*range(1, 9)]
    (logged,) = caplog.records
    assert (logged.getMessage(), logged.levelname) == ("stream", "ERROR")


@pytest.mark.waits
@pytest.mark.parametrize("how", ["stopped", "frozen"])
def test_a_server_without_its_database_ends_in_order(how: str) -> None:
    """With a stream, and while a move is pending."""
    with closing(Postgres()) as database, Server(database.url()) as server, server.client() as client:
        seat = client.create("self")
        client.secret = seat["secrets"]["X"]
        with client.follow(seat["id"]) as stream:
            stream.wait(lambda now: now.rooms)
            if how == "stopped":
                database.stop("immediate")
            else:
                database.freeze()
            statuses: list[int] = []
            moving = Thread(target=lambda: statuses.append(client.move(seat["id"], 4, 5).status))
            moving.start()
            with server.client() as operator:
                wait_until(lambda: _samples(operator)["noughts_oldest_commit_seconds", ""] > 0)

            assert server.stop(STOP_SECONDS) == 0

            moving.join(DEADLINE_SECONDS)
            assert statuses == [503]
        assert b"Traceback" not in server.errors


@pytest.mark.parametrize(("form", "is_plain"), [("auto", True), ("json", False)])
def test_on_a_terminal_the_log_is_plain(form: str, *, is_plain: bool) -> None:
    env = environment(NOUGHTS_LOG_FORMAT=form)
    with in_terminal("serve", "--port", "0", "--store", "memory:", env=env) as session:
        session.expect("started")
        session.type(CTRL_C)
        session.end()

    assert (b" started (store memory)\r\n" in session.output) == is_plain
    assert (b'"event": "started"' in session.output) != is_plain


@pytest.mark.parametrize(("level", "lines"), [("info", 3), ("error", 0)])
def test_form_and_level_of_the_log_can_be_set(level: str, lines: int) -> None:
    with Server("memory:", NOUGHTS_LOG=level, NOUGHTS_LOG_FORMAT="plain") as server:
        with server.client() as client:
            client.create("self")
        assert server.stop() == 0
    said = re.sub(r"\d\d:\d\d:\d\d |(?<=game )\w+", "", server.errors.decode()).splitlines()
    assert said == ["started (store memory)", "created (game , opponent self)", "stopped"][:lines]
