"""A server whose store is moved, replaced or cut short reports it and exits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from noughts.store.base import Change
from noughts.store.errors import StoreLost
from noughts.web.games import LOST_STORE_SECONDS
from noughts.web.problems import STORE_LOST
from support.web.apps import ask, create, get, move, open_app
from support.web.fake_clock import in_fake_time, skip, turns
from support.web.serving import Server

LOST_MESSAGE = "the store games.db was replaced"


def _fail(*_: object) -> None:
    raise StoreLost(LOST_MESSAGE)


@pytest.mark.waits
def test_a_server_without_its_file_ends(tmp_path: Path) -> None:
    """After 503 for every request, with exit code 1 and one sentence; the file is not created again."""
    file = tmp_path / "games.db"
    with Server(f"sqlite:{file}") as server, server.client() as client:
        seat = client.create("self")
        client.secret = seat["secrets"]["X"]
        for path in [*tmp_path.iterdir()]:
            path.rename(path.with_name(f"away-{path.name}"))
        for answer in (
            client.move(seat["id"], 4, 5),
            client.get("/health"),
            client.get("/ready"),
            client.post("/games", {"opponent": "self"}),
        ):
            assert (answer.status, answer.code) == (503, "storeUnavailable")
            assert answer.json["detail"] == f"{STORE_LOST[0].upper()}{STORE_LOST[1:]}."
            assert answer.headers["retry-after"]
        assert server.wait() == 1
        (words,) = [line for line in server.errors.decode().splitlines() if not line.startswith("{")]
        assert words.startswith("noughts: ")
        assert str(file) in words
        assert not file.exists()


@pytest.mark.parametrize("noticed_by", ["a read", "a commit", "/ready"])
@in_fake_time
async def test_a_lost_store_is_logged_once_and_ends_the_server_after_five_seconds(
    noticed_by: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From then on it is not healthy, whatever the store says later."""
    ended: list[str] = []
    async with open_app(end=lambda error: ended.append(str(error))) as app:
        seat = await create(app)
        assert (await get(app, "/health")).status == 200
        with monkeypatch.context() as broken:
            for name in ("check", "read_rows", "_commit"):
                broken.setattr(app.games.store, name, _fail)
            for seconds in (LOST_STORE_SECONDS - 1, 1.0):
                match noticed_by:
                    case "a read":
                        answer = await get(app, f"/games/{'a' * 26}")
                    case "a commit":
                        answer = await move(app, seat, 4, 5)
                    case _:
                        answer = await get(app, "/ready")
                assert answer.status == 503
                assert not ended
                skip(seconds)
                await turns()
        assert ended == [LOST_MESSAGE]
        assert [(await ask(app, "GET", path)).status for path in ("/health", "/ready")] == [503, 503]
    (logged,) = [one for one in caplog.records if one.levelname == "ERROR"]
    assert logged.__dict__["data"] == {"problem": LOST_MESSAGE}


@in_fake_time
async def test_a_commit_that_crashes_is_refused_and_the_next_one_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Crashed(BaseException):
        pass

    def crash(_batch: Sequence[Change]) -> None:
        raise Crashed

    async with open_app() as app:
        seat = await create(app)
        with monkeypatch.context() as broken:
            broken.setattr(app.games.store, "_commit", crash)
            assert (await move(app, seat, 4, 5)).status == 503
        assert (await move(app, seat, 4, 5)).status == 200
        assert (await get(app, "/health")).status == 200
