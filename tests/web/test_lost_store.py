"""A server whose store is moved away, replaced or cut short while it serves: it says so, and ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from noughts.core.errors import StoreLost
from noughts.web.app import Application
from noughts.web.house import LOST_STORE_SECONDS
from noughts.web.problems import LOST
from noughts.web.settings import Settings
from web.fake_clock import run, skip
from web.houses import open_house
from web.serving import DEADLINE, Server

if TYPE_CHECKING:
    from noughts.web.asking import Message

WORDS = "the store games.db was replaced"


def move_away(file: Path) -> None:
    """Rename a store's file and those beside it."""
    for path in file.parent.glob(f"{file.name}*"):
        path.rename(path.with_name(f"away-{path.name}"))


def last_words(server: Server) -> list[str]:
    """Return what a server said that is not its log."""
    return [line for line in server.errors.decode().splitlines() if not line.startswith("{")]


def errors_logged(server: Server) -> list[str]:
    """Return the errors in a server's log."""
    lines = [json.loads(line) for line in server.errors.splitlines() if line.startswith(b"{")]
    return [line["event"] for line in lines if line["level"] == "error"]


@pytest.mark.waits
def test_a_server_without_its_file_ends(tmp_path: Path) -> None:
    """It answers everything with 503, health checks too, and ends with exit code 1 and one sentence."""
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
            assert answer.json["detail"] == f"{LOST[0].upper()}{LOST[1:]}."
            assert answer.headers["retry-after"]
        assert server.wait() == 1
        (words,) = last_words(server)
        assert words.startswith("noughts: ")
        assert str(file) in words
        assert errors_logged(server) == ["store lost"]
        assert not file.exists()


@pytest.mark.waits
def test_all_workers_end_when_one_has_lost_the_store(tmp_path: Path) -> None:
    """They notice although nobody asks them anything, and nothing is created where the store was."""
    file = tmp_path / "games.db"
    with Server(f"sqlite:{file}", "--workers", "2") as server:
        move_away(file)

        assert server.wait() == 1
        (words,) = last_words(server)
        assert words.startswith("noughts: ")
        assert str(file) in words
        assert not file.exists()


@pytest.mark.waits
def test_a_worker_that_is_replaced_creates_no_store(tmp_path: Path) -> None:
    """If the store is gone by then, the server ends with exit code 1."""
    file = tmp_path / "games.db"
    with Server(f"sqlite:{file}", "--workers", "2") as server:
        for worker in _workers(server.pid):
            os.kill(worker, signal.SIGSTOP)  # so that none of them notices
        move_away(file)
        for worker in _workers(server.pid):
            os.kill(worker, signal.SIGKILL)

        assert server.wait() == 1
        assert server.errors.splitlines()[-1].startswith(b"noughts: ")
        assert not file.exists()


def _workers(process: int) -> list[int]:
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [
        int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


def test_a_lost_store_is_logged_once_and_ends_the_server_after_five_seconds(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """However often it is noticed."""

    async def lose() -> list[list[StoreLost]]:
        async with open_house() as house:
            ended: list[StoreLost] = []
            found = []
            house.end = ended.append
            house.check()
            for seconds in (0.0, LOST_STORE_SECONDS - 1, 1.0, LOST_STORE_SECONDS):
                skip(seconds)
                await _turn()
                found.append([*ended])
                house.lose(StoreLost(WORDS))
                with pytest.raises(StoreLost, match=WORDS):
                    house.check()
            return found

    first, before, at_last, later = run(lose)
    assert (first, before) == ([], [])
    assert [str(lost) for lost in at_last] == [WORDS]
    assert later == at_last
    assert LOST_STORE_SECONDS == 5
    (logged,) = [one for one in caplog.records if one.levelname == "ERROR"]
    assert logged.__dict__["data"] == {"problem": WORDS}


def test_health_fails_once_a_request_has_found_the_store_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, nothing is known of it; afterwards the store is not asked."""

    async def ask() -> list[int]:
        application = Application(Settings(), is_shared=False)
        house = application.house
        await house.open()
        try:
            monkeypatch.setattr(house.store, "check", _fail)
            found = [await _status(application, what) for what in ("health", "ready")]
            monkeypatch.setattr(house.store, "check", lambda: None)
            return found + [await _status(application, what) for what in ("health", "ready")]
        finally:
            await house.close()

    assert asyncio.run(ask()) == [200, 503, 503, 503]


async def _status(application: Application, what: str) -> int:
    """Return the status that a GET is answered with."""
    sent: list[Any] = []

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "path": f"/api/v1/{what}",
        "query_string": b"",
        "headers": [],
        "client": ("127.0.0.1", 1),
    }
    await application(scope, receive, send)
    return int(sent[0]["status"])


async def _turn() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_a_lost_store_is_noticed_while_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the store wakes those who follow it, it is checked."""

    async def follow() -> str:
        async with open_house() as house:
            ended = asyncio.Event()
            house.end = lambda _lost: ended.set()
            monkeypatch.setattr(house.store, "check", _fail)
            house.store._wakeups.notify(None, is_own=False)  # noqa: SLF001 - as after a failed look
            await asyncio.wait_for(ended.wait(), DEADLINE)
            return str(house.lost)

    monkeypatch.setattr("noughts.web.house.LOST_STORE_SECONDS", 0)
    assert asyncio.run(follow()) == WORDS


def _fail() -> None:
    raise StoreLost(WORDS)
