"""What a process knows of games: it can be old, but is never wrong, and what is shared is read again."""

from __future__ import annotations

import json

import pytest

from noughts.store.base import News
from noughts.web.games import FIXED_BYTES, MAX_READS
from noughts.web.queries import MAX_LISTED
from support.web.apps import ask, cluster, create, follow, get, join, move
from support.web.fake_clock import in_fake_time, turns


@in_fake_time
async def test_memory_is_bounded_and_what_was_used_last_stays() -> None:
    async with cluster() as found:
        process = await found.start(is_shared=False, cache_megabytes=1, creates_per_minute=0)
        games = process.app.games
        first = latest = await create(process.app)
        for _ in range(1_000_000 // FIXED_BYTES):
            latest = await create(process.app)
            assert (await get(process.app, f"/games/{first['id']}")).status == 200
        assert 100 < len(games) < 1_000_000 // FIXED_BYTES
        assert not process.reads
        assert games.known(first["id"])
        assert games.known(latest["id"])


@pytest.mark.parametrize("loss", ["an earlier state", "another history", "nothing"])
@in_fake_time
async def test_a_store_that_went_back_is_believed_logged_and_counted(
    loss: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with cluster() as found:
        process, rows = await found.start(), found.database.games
        seat = await create(process.app)
        before = rows[seat["id"]]
        await move(process.app, seat, 4, 5)
        found.is_heard = False
        if loss == "nothing":
            del rows[seat["id"]]
        else:
            rows[seat["id"]] = before
        if loss == "another history":
            await move((await found.start()).app, seat, 0, 5)
        expected = {"an earlier state": [], "another history": [0]}.get(loss)
        for _ in range(2):
            answer = await get(process.app, f"/games/{seat['id']}")
            assert json.loads(answer.body).get("moves") == expected
        assert process.app.games.lost == 1
    assert [one.getMessage() for one in caplog.records] == ["the store has lost what it had acknowledged"]


@in_fake_time
async def test_the_games_of_the_lobby_are_read_together() -> None:
    async with cluster() as found:
        process = await found.start(creates_per_minute=0)
        seats = [await create(process.app, "lobby") for _ in range(60)]
        lobby = json.loads((await get(process.app, "/games")).body)
        assert len(lobby["open"]) == MAX_LISTED
        assert sum(map(len, process.reads)) == len(seats)
        assert len(process.reads) <= MAX_READS + 1


@in_fake_time
async def test_news_are_applied_without_a_read() -> None:
    """Those of the record and of the room; for streams, and for games that were changed here since."""
    async with cluster() as found:
        here, there = await found.start(), await found.start()
        seats = [await create(here.app, "lobby"), await create(here.app, "lobby")]
        follower = await follow(here.app, seats[0]["id"])
        here.reads.clear()
        for seat in seats:
            await join(there.app, seat)
            await move(here.app, seat, 4, 5)
            await move(there.app, seat, 0, 8, "O")
        await turns()
        assert [here.known(seat).version for seat in seats] == [11, 11]
        assert follower.versions == [*range(1, 12)]
        assert follower.named("room")[-1]["seats"]["O"]["taken"]
        assert not here.reads


@pytest.mark.parametrize("missing", ["the first", "the pieces", "the truth", "everything"])
@in_fake_time
async def test_news_that_do_not_follow_lead_to_a_read(missing: str) -> None:
    """For a stream at once; another game is forgotten until somebody asks for it."""
    async with cluster() as found:
        here, there = await found.start(), await found.start()
        followed, other = await create(here.app), await create(here.app)
        follower = await follow(here.app, followed["id"])
        found.is_heard = False
        for seat in (followed, other):
            await move(there.app, seat, 4, 5)
            await move(there.app, seat, 0, 8, "O")
        await turns()
        assert follower.versions == [*range(1, 6)]
        news: dict[str, list[News] | None] = {
            "the first": [one for one in found.unheard if one.revision > 2],
            "the pieces": [one._replace(piece=None, room=None) for one in found.unheard],
            "the truth": [one._replace(hash=b"another") for one in found.unheard],
            "everything": None,
        }
        found.is_heard = True
        here.app.games.apply_news(news[missing])
        await turns()
        assert follower.versions == [*range(1, 12)]
        assert missing == "everything" or here.app.games.known(other["id"]) is None
        here.app.games.apply_news(found.unheard)  # late, or again
        await turns()
        assert here.known(followed).version == 11
        assert json.loads((await get(here.app, f"/games/{other['id']}")).body)["version"] == 11


@in_fake_time
async def test_a_damaged_game_does_not_hide_others(caplog: pytest.LogCaptureFixture) -> None:
    """It is refused; the damage is logged and counted once."""
    async with cluster() as found:
        process = await found.start()
        damaged, sound = await create(process.app, "lobby"), await create(process.app, "lobby")
        row = found.database.games[damaged["id"]]
        found.database.games[damaged["id"]] = (*row[:3], row[3].replace("X", "O"), *row[4:])
        for _ in range(2):
            refused = json.loads((await get(process.app, f"/games/{damaged['id']}")).body)
            assert refused["code"] == "storeUnavailable"
            assert "damaged" in refused["detail"]
            lobby = json.loads((await ask(process.app, "GET", "/games")).body)
            assert [one["id"] for one in lobby["open"]] == [sound["id"]]
        assert b"noughts_games_damaged_total 1\n" in (await get(process.app, "//metrics")).body
    assert [record.getMessage() for record in caplog.records] == ["damaged game"]
