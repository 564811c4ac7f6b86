"""Bots move on their turn, whatever fails.

The games and the bots are real. The store and the threads take no time, only turns of the event loop, so
that every order of events can be tried.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import pytest

from noughts.bots.errors import BadPolicy
from noughts.bots.policy import Policy
from noughts.store.base import Change
from noughts.store.errors import StoreUnavailable
from noughts.store.memory import Database
from noughts.web.app import App
from noughts.web.bots import MAX_REST_SECONDS
from noughts.web.logging import JsonLines
from support.lab_games import first_free
from support.web.apps import ImmediateThreads, create, memory_store, move, open_app
from support.web.fake_clock import in_fake_time, skip, turns, wait

Found = TypeVar("Found")

SAVED: Mapping[str, Policy] = {"first": first_free}

FAILURES: dict[str, Callable[[], Exception]] = {
    "a policy fails": lambda: BadPolicy("a policy fails in '_________': no idea"),
    "the server itself fails": lambda: RuntimeError("out of order"),
    "the store is away": lambda: StoreUnavailable("the disk is gone"),
}


class Thinking(ImmediateThreads):
    """Asks bots, who fail first."""

    def __init__(self, failures: Iterable[Exception]) -> None:
        super().__init__()
        self.asked = 0
        """How often a bot was asked for a move."""
        self._failures = iter(failures)

    def run(self, work: Callable[[], Found]) -> asyncio.Future[Found]:
        if "choose_or_resign" not in work.__code__.co_names:  # it looks whether the bot exists
            return ImmediateThreads().run(work)
        self.asked += 1
        return super().run(lambda: self.fail(work))

    def fail(self, work: Callable[[], Found]) -> Found:
        for failure in self._failures:
            raise failure
        return work()


@asynccontextmanager
async def opened(
    failures: Iterable[Exception] = (),
    database: Database | None = None,
    saved: Mapping[str, Policy] = SAVED,
    *,
    is_store: bool = False,
) -> AsyncIterator[tuple[App, Thinking]]:
    """Open an application whose bots fail, or whose store does when it commits a bot's move."""
    store = memory_store(database, is_shared=True)
    thinking, failing = Thinking(() if is_store else failures), Thinking(failures)
    commit = store._commit  # noqa: SLF001 - it fails

    def fail(batch: Sequence[Change]) -> None:
        if is_store and batch[0].after.entries[-1].key.startswith("bot-"):
            failing.fail(lambda: commit(batch))
        else:
            commit(batch)

    store._commit = fail  # type: ignore[method-assign]  # noqa: SLF001 - as above
    async with open_app(store, thinking=thinking, policies=saved) as app:
        yield app, thinking


def moves(app: App, seat: Any) -> list[int]:
    stored = app.games.store.read(seat["id"])
    assert stored
    return [*stored.game.moves]


@pytest.mark.parametrize("failure", [*FAILURES, "the bot is not offered any more"])
@in_fake_time
async def test_a_bot_that_fails_is_asked_again_and_rests_longer_each_time(
    failure: str, caplog: pytest.LogCaptureFixture
) -> None:
    """At most ten seconds. An outage, and a bot that is not offered, are logged once."""
    database, make = Database(), FAILURES.get(failure)
    async with opened(database=database) as (app, _):
        seat = await create(app, "bot", bot="first")
    is_away = failure == "the store is away"
    failures = [make() for _ in range(9)] if make else []
    saved = SAVED if make else {}
    async with opened(failures, database, saved, is_store=is_away) as (app, thinking):
        assert (await move(app, seat, 4, 5)).status == 200
        at, asked = 0, list[int]()
        for seconds in range(60):
            await turns()
            if thinking.asked > len(asked):
                asked.append(seconds - at)
                at = seconds
            skip(1)
        assert asked == [0, 1, 2, 4, 8, *[int(MAX_REST_SECONDS)] * 4]
        assert moves(app, seat) == [4]
        await wait(int(MAX_REST_SECONDS))
        assert moves(app, seat) == ([4, 0] if make else [4])
    logged = [JsonLines().format(record) for record in caplog.records if record.levelname != "INFO"]
    assert len(logged) == (9 if make and not is_away else 1)
    assert not make or str(make()) in logged[0]
