"""A server whose store is moved, replaced or cut short reports it and exits."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from noughts.store.errors import StoreLost
from noughts.web.app import LOST_STORE_SECONDS
from noughts.web.problems import STORE_LOST, WRITER_CRASHED
from support.deadlines import DEADLINE_SECONDS
from support.web.apps import ask, get, open_app
from support.web.fake_clock import run, skip
from support.web.serving import Server

LOST_MESSAGE = "the store games.db was replaced"


def move_away(file: Path) -> None:
    for path in file.parent.glob(f"{file.name}*"):
        path.rename(path.with_name(f"away-{path.name}"))


def output_without_log(server: Server) -> list[str]:
    """Return the output of a server without its log."""
    return [line for line in server.errors.decode().splitlines() if not line.startswith("{")]


def check_ended(server: Server, file: Path) -> None:
    """Check that a server ends with a sentence about its file, and has not created it again."""
    assert server.wait() == 1
    (words,) = output_without_log(server)
    assert words.startswith("noughts: ")
    assert str(file) in words
    assert not file.exists()


def errors_logged(server: Server) -> list[str]:
    lines = [json.loads(line) for line in server.errors.splitlines() if line.startswith(b"{")]
    return [line["event"] for line in lines if line["level"] == "error"]


@pytest.mark.waits
def test_a_server_without_its_file_ends(tmp_path: Path) -> None:
    """After 503 for every request, with exit code 1 and one sentence."""
    file = tmp_path / "games.db"
    with Server(f"sqlite:{file}") as server, server.client() as client:
        seat = client.create("self")
        client.secret = seat["secrets"]["X"]
        assert client.get("/health").status == 200
        move_away(file)

        answers = [
            client.move(seat["id"], 4, 5),
            client.get("/health"),
            client.get("/ready"),
            client.post("/games", {"opponent": "self"}),
        ]

        for answer in answers:
            assert (answer.status, answer.code) == (503, "storeUnavailable")
            assert answer.json["detail"] == f"{STORE_LOST[0].upper()}{STORE_LOST[1:]}."
            assert answer.headers["retry-after"]
        check_ended(server, file)
        assert errors_logged(server) == ["store lost"]


@pytest.mark.waits
def test_all_workers_end_when_one_has_lost_the_store(tmp_path: Path) -> None:
    """Without a request, and without creating a store."""
    file = tmp_path / "games.db"
    with Server(f"sqlite:{file}", "--workers", "2") as server:
        move_away(file)
        check_ended(server, file)


@pytest.mark.waits
def test_a_worker_that_is_replaced_creates_no_store(tmp_path: Path) -> None:
    file = tmp_path / "games.db"
    with Server(f"sqlite:{file}", "--workers", "2") as server:
        for worker in server.workers():
            os.kill(worker, signal.SIGSTOP)  # so that none of them notices
        move_away(file)
        for worker in server.workers():
            os.kill(worker, signal.SIGKILL)

        assert server.wait() == 1
        assert server.errors.splitlines()[-1].startswith(b"noughts: ")
        assert not file.exists()


def test_a_lost_store_is_logged_once_and_ends_the_server_after_five_seconds(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lose() -> list[list[str]]:
        ended: list[str] = []
        found = []
        async with open_app(end=lambda error: ended.append(str(error))) as app:
            assert (await get(app, "/health")).status == 200
            with monkeypatch.context() as broken:
                broken.setattr(app.games.store, "check", _fail)
                for seconds in (0.0, LOST_STORE_SECONDS - 1, 1.0, LOST_STORE_SECONDS):
                    skip(seconds)
                    await _turn()
                    found.append([*ended])
                    assert (await get(app, "/ready")).status == 503
        return found

    first, before, at_last, later = run(lose)
    assert (first, before) == ([], [])
    assert at_last == [LOST_MESSAGE]
    assert later == at_last
    assert LOST_STORE_SECONDS == 5
    (logged,) = [one for one in caplog.records if one.levelname == "ERROR"]
    assert logged.__dict__["data"] == {"problem": LOST_MESSAGE}


async def test_a_writer_that_has_crashed_ends_the_server(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Crashed(BaseException):
        pass

    def crash(_items: object) -> None:
        raise Crashed

    ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    async with open_app(end=lambda error: ended.set_result(str(error))) as app:
        monkeypatch.setattr(app.writer, "_write", crash)
        answer = await ask(app, "POST", "/games", {"opponent": "self"})
        assert answer.status == 503
        assert await asyncio.wait_for(ended, DEADLINE_SECONDS) == WRITER_CRASHED
    logged, *_ = [one for one in caplog.records if one.levelname == "ERROR"]
    assert logged.exc_info
    assert logged.exc_info[0] is Crashed


async def test_health_fails_once_the_store_is_known_to_be_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_app() as app:
        monkeypatch.setattr(app.games.store, "check", _fail)
        found = [(await get(app, what)).status for what in ("/health", "/ready")]
        monkeypatch.setattr(app.games.store, "check", lambda: None)
        found += [(await get(app, what)).status for what in ("/health", "/ready")]
        assert found == [200, 503, 503, 503]


async def _turn() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_lost_store_is_noticed_without_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noughts.web.app.LOST_STORE_SECONDS", 0)
    ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    async with open_app(end=lambda error: ended.set_result(str(error))) as app:
        monkeypatch.setattr(app.games.store, "check", _fail)
        app.games.store._wakeups.notify(None, is_own=False)  # noqa: SLF001 - as after a failed look
        assert await asyncio.wait_for(ended, DEADLINE_SECONDS) == LOST_MESSAGE


def _fail() -> None:
    raise StoreLost(LOST_MESSAGE)
