"""The stream of a game: every event once, in order, from any version, then the position and the room."""

from __future__ import annotations

from typing import Any

import pytest

from noughts.web.app import App
from noughts.web.streams import PING_SECONDS, WRITE_SECONDS, Stream
from support.web.apps import (
    Follower,
    cluster,
    create,
    follow,
    get,
    handle,
    memory_store,
    move,
    open_app,
)
from support.web.fake_clock import in_fake_time, turns, wait
from support.web.in_process import InProcessServer
from support.web.matches import WON_BY_X, check_events, one_player, position, two_players
from support.web.serving import Message, Server


def test_events_come_with_their_version_and_then_the_position(server: Server) -> None:
    with two_players(server) as match, match.watcher.follow(match.game) as stream:
        match.play(*WON_BY_X)
        check_events(stream, match.now["events"])
        assert stream.headers.get_content_type() == "text/event-stream"
        kinds = [message.event for message in stream.messages if message.event != "room"]
        assert kinds.count("position") == 1 + len(WON_BY_X)
        assert kinds[-6:] == ["", "", "", "", "", "position"]
        assert stream.positions[-1]["winner"] == "X"


def test_a_stream_resumes_at_any_version(server: Server) -> None:
    """It begins with the room, what came since, and the position."""
    with two_players(server) as match:
        match.play(*WON_BY_X)
        events = match.now["events"]
        for version in range(len(events) + 1):
            for after, last in ((version, str(version)), (0, str(version)), (version, None)):
                headers: Any = {"last_event_id": last} if last else {}
                with match.watcher.follow(match.game, after, **headers) as stream:
                    check_events(stream, events, after=version)
                    assert stream.messages[0].event == "room"
                    assert stream.positions == [position(events)]


@pytest.mark.parametrize(
    ("query", "last", "code"),
    [
        *(("", last, "badRequest") for last in ("x", "-1", "1.5", "1 2", "9999999999", "٣", "+1", "0x1")),
        *((f"?{query}", None, "badRequest") for query in ("after=", "after=1&after=1", "before=1")),
        ("?after=%31%00", None, "badRequest"),
        ("?after=6", None, "staleVersion"),
        ("?after=0", "6", "staleVersion"),
    ],
)
def test_a_version_that_makes_no_sense_is_refused(
    server: Server, query: str, last: str | None, code: str
) -> None:
    with one_player(server, "self") as both:
        headers = {} if last is None else {"last_event_id": last.encode().decode("latin-1")}
        refused = both.client.get(f"/games/{both.game}/events{query}", **headers)
        assert refused.code == code
        assert refused.json.get("version") == (5 if code == "staleVersion" else None)


def test_a_stream_shows_who_is_connected(server: InProcessServer) -> None:
    """Somebody who left is shown for a second; a player is there until the last of their streams ends."""
    with two_players(server) as match, match.O.follow() as bob:
        bob.wait_room(lambda room: room["seats"]["O"]["present"])
        assert not bob.rooms[-1]["seats"]["X"]["present"]
        with match.X.follow() as one:
            with match.X.follow() as other, match.watcher.follow(match.game) as eve:
                bob.wait_room(lambda room: room["seats"]["X"]["present"] and room["watching"] == 1)
                for stream in (other, eve):
                    stream.wait(lambda now: now.positions)
                assert match.room["watching"] == 1
            one.wait(lambda now: now.positions)
            server.skip(1)
            room = bob.wait_room(lambda room: room["watching"] == 0)
            assert room["seats"]["X"]["present"]
        server.skip(1)
        bob.wait_room(lambda room: not room["seats"]["X"]["present"])


def test_a_page_that_is_loaded_again_was_never_away(server: InProcessServer) -> None:
    with two_players(server) as match, match.O.follow() as bob:
        for _ in range(2):
            with match.X.follow() as ann:
                ann.wait(lambda now: now.positions)
                server.skip(2)
                match.X.take_back()
                bob.wait_room(lambda room: room["seats"]["X"]["present"])
        seen = [room["seats"]["X"]["present"] for room in bob.rooms]
        assert seen == sorted(seen)


def test_a_silent_stream_gets_pings(server: InProcessServer) -> None:
    with one_player(server, "self") as both, both.follow() as stream:
        for _ in range(3 * PING_SECONDS):
            server.skip(1)
            both.client.get("/health")
        stream.wait(lambda now: len(now.named("ping")) == 3)
        assert stream.messages[-1] == Message("ping", None, {})


# The same application with a reader that stops reading, a store that fails, and a clock that stands still


async def played(app: App, seat: Any, *cells: int) -> None:
    """Play on in a game of one person."""
    for cell in cells:
        known = app.games.known(seat["id"])
        assert known
        mark = "XO"[len(known.game.moves) % 2]
        assert (await move(app, seat, cell, known.version, mark)).status == 200


@in_fake_time
async def test_a_reader_who_stops_for_a_while_gets_everything_afterwards() -> None:
    """In few pieces, without a gap or a repeat."""
    async with open_app() as app:
        seat = await create(app)
        follower = await follow(app, seat["id"])
        follower.reading.clear()
        await played(app, seat, 0, 3)
        await wait(int(WRITE_SECONDS) - 2)
        await played(app, seat, 1, 4)
        follower.reading.set()
        await turns()
        await played(app, seat, 2)
        await turns()
        assert follower.versions == [*range(1, 23)]
        moves = [one["moves"] for one in follower.named("position")]
        assert moves == [[], [0], [0, 3, 1, 4], [0, 3, 1, 4, 2]]


@in_fake_time
async def test_a_reader_who_does_not_read_for_thirty_seconds_is_cut_off() -> None:
    """It is counted, and shown as gone; others read on."""
    async with open_app() as app:
        seat = await create(app)
        stalled, healthy = await follow(app, seat["id"]), await follow(app, seat["id"])
        stalled.reading.clear()
        await played(app, seat, 0)
        await wait(int(WRITE_SECONDS) - 1)
        assert not stalled.task.done()
        await wait(2)
        assert (stalled.task.done(), stalled.is_over) == (True, False)
        await wait(2)
        assert (len(app.streams), app.streams.ended, healthy.task.done()) == (1, 1, False)
        assert [room["watching"] for room in healthy.named("room")] == [2, 1]


@in_fake_time
async def test_a_stream_whose_game_is_deleted_ends() -> None:
    """Also one that was about to begin."""
    async with cluster() as found:
        process = await found.start()
        seat = await create(process.app)
        follower = await follow(process.app, seat["id"])
        late = await handle(process.app, "GET", f"/games/{seat['id']}/events")
        assert isinstance(late, Stream)
        memory_store(found.database).delete(seat["id"])
        await turns()
        latest = Follower(late)
        await turns()
        assert follower.is_over
        assert latest.is_over
        assert len(process.app.streams) == 0
        assert (await get(process.app, f"/games/{seat['id']}")).status == 404
