"""The live stream of a game: every event once, in order, from any version."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from threading import Condition

import pytest

from support.deadlines import DEADLINE_SECONDS
from support.web.matches import WON_BY_X, check_events, one_player, two_players
from support.web.serving import Client, Message, Server


def test_the_id_of_an_event_is_its_version(server: Server) -> None:
    with two_players(server) as match:
        match.play(0, 4)
        with match.watcher.follow(match.game) as stream:
            match.play(1)
            check_events(stream, match.now["events"])
            assert stream.retry == 1000
            assert stream.headers.get_content_type() == "text/event-stream"


@pytest.mark.parametrize("way", ["header", "query"])
def test_a_stream_resumes_at_any_version(server: Server, way: str) -> None:
    with two_players(server) as match:
        match.play(*WON_BY_X)
        events = match.now["events"]

        for version in range(len(events) + 1):
            with (
                match.watcher.follow(match.game, last_event_id=str(version))
                if way == "header"
                else match.watcher.follow(match.game, after=version)
            ) as stream:
                stream.wait(lambda now: now.rooms)
                check_events(stream, events, after=version)


def test_last_event_id_counts_more_than_the_query(server: Server) -> None:
    """A browser that reconnects sends both."""
    with (
        two_players(server) as match,
        match.watcher.follow(match.game, after=0, last_event_id="4") as stream,
    ):
        assert [message.id for message in stream.wait_version(5)] == ["5"]


@pytest.mark.parametrize("last", ["x", "-1", "1.5", "1 2", "9999999999", "٣", "+1", "0x1"])
def test_an_invalid_version_is_refused(server: Server, last: str) -> None:
    with one_player(server, "self") as both:
        raw = last.encode().decode("latin-1")
        with both.client.follow(both.game, last_event_id=raw) as stream:
            assert stream.refusal
            assert (stream.refusal.status, stream.refusal.code) == (400, "badRequest")


def test_a_version_that_does_not_exist_is_refused(server: Server) -> None:
    """With the current version."""
    with one_player(server, "self") as both, both.client.follow(both.game, last_event_id="6") as stream:
        assert stream.refusal
        assert (stream.refusal.status, stream.refusal.code) == (409, "staleVersion")
        assert stream.refusal.json["version"] == 5


@pytest.mark.parametrize(
    "query", ["?after=", "?after=x", "?after=1&after=1", "?before=1", "?after=%31%00"]
)
def test_a_query_that_makes_no_sense_is_refused(server: Server, query: str) -> None:
    with one_player(server, "self") as both:
        refused = both.client.get(f"/games/{both.game}/events{query}")
        assert (refused.status, refused.code) == (400, "badRequest")


def test_following_a_missing_game_is_refused(client: Client) -> None:
    for game in ("a" * 26, "", "x", "a/b", "%00", "..", "a" * 5000):
        refused = client.get(f"/games/{game}/events")
        assert (refused.status, refused.code) == (404, "notFound")


def test_all_subscribers_get_the_same_events(server: Server) -> None:
    with two_players(server) as match, ExitStack() as stack:
        streams = [
            stack.enter_context(client.follow(match.game))
            for client in (match.X.client, match.O.client, *[match.watcher] * 5)
        ]
        match.play(*WON_BY_X)
        now = match.now
        for stream in streams:
            check_events(stream, now["events"])


def test_a_stream_shows_who_is_connected(server: Server) -> None:
    with two_players(server) as match, match.O.follow() as bob:
        bob.wait_room(lambda room: room["seats"]["O"]["present"])
        assert not bob.rooms[-1]["seats"]["X"]["present"]
        with match.X.follow():
            bob.wait_room(lambda room: room["seats"]["X"]["present"])
        bob.wait_room(lambda room: not room["seats"]["X"]["present"])


def test_spectators_are_counted(server: Server) -> None:
    with two_players(server) as match, match.X.follow() as ann:
        assert ann.wait_room(lambda room: room["seats"]["X"]["present"])["watching"] == 0
        with match.watcher.follow(match.game), match.watcher.follow(match.game) as last:
            ann.wait_room(lambda room: room["watching"] == 2)
            last.wait_room(lambda room: room["watching"] == 2)
            assert match.room["watching"] == 2
        ann.wait_room(lambda room: room["watching"] == 0)
        assert match.room["watching"] == 0


def test_a_player_is_present_until_the_last_stream_ends(server: Server) -> None:
    with two_players(server) as match, match.O.follow() as bob:
        with match.X.follow() as one:
            with match.X.follow() as other:
                bob.wait_room(lambda room: room["seats"]["X"]["present"])
                other.wait(lambda now: now.rooms)
            with match.watcher.follow(match.game):  # which tells the room again, after all that
                bob.wait_room(lambda room: room["watching"] == 1)
                assert bob.rooms[-1]["seats"]["X"]["present"]
            one.wait(lambda now: now.rooms)
        bob.wait_room(lambda room: not room["seats"]["X"]["present"])


def test_a_stream_shows_who_has_joined(server: Server) -> None:
    with server.client() as ann, server.client() as bob:
        seat = ann.create("friend", name="Ann")
        with ann.follow(seat["id"]) as stream:
            assert not stream.wait_room(lambda room: room)["seats"]["O"]["taken"]
            bob.join(seat["id"], seat["invite"], name="Bob")
            room = stream.wait_room(lambda room: room["seats"]["O"]["name"])
            assert room["seats"]["O"] == {"name": "Bob", "bot": None, "taken": True, "present": False}
            assert stream.wait_version(5)[-1].data["event"] == "gameReady"


def test_a_stream_stays_open_after_the_end(server: Server) -> None:
    """For what comes later, such as an offer of a rematch."""
    with two_players(server) as match, match.watcher.follow(match.game) as early:
        match.play(*WON_BY_X)
        with match.watcher.follow(match.game) as late:
            match.X.rematch()
            for stream in (early, late):
                stream.wait_room(lambda room: room["offer"])
                assert not stream.is_over


def test_a_silent_stream_gets_pings(server: Server) -> None:
    """Each gets one every 15 s; of 15, one gets one every second."""
    news = Condition()
    with one_player(server, "self") as both, ExitStack() as stack:
        streams = [stack.enter_context(both.client.follow(both.game, news=news)) for _ in range(15)]
        streams[0].wait(lambda _: any(stream.pings for stream in streams))
        pings = [ping for stream in streams for ping in stream.pings]
        assert all(ping == Message("ping", None, {}) for ping in pings)


def test_a_request_on_the_connection_of_a_stream_is_ignored(store: str) -> None:
    """The second request is not answered."""
    with Server(store) as server, one_player(server, "self") as both, both.follow() as stream:
        with socket.create_connection((server.host, server.port), DEADLINE_SECONDS) as connection:
            connection.sendall(
                f"GET /api/v1/games/{both.game}/events HTTP/1.1\r\nHost: x\r\n\r\n".encode()
            )
            stream.wait_room(lambda room: room["watching"] == 1)
            connection.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n")
        stream.wait_room(lambda room: room["watching"] == 0)


def test_following_needs_get(server: Server) -> None:
    with one_player(server, "self") as both:
        for method in ("HEAD", "POST", "PUT", "DELETE", "OPTIONS"):
            assert both.client.ask(method, f"/games/{both.game}/events").status == 405


@pytest.mark.parametrize("cached", ["0", "1"])
def test_a_game_with_a_stream_stays_in_memory(store: str, cached: str) -> None:
    """However small the cache is."""
    with Server(store, NOUGHTS_CACHED_GAMES=cached) as server, ExitStack() as stack:
        matches = [stack.enter_context(two_players(server)) for _ in range(4)]
        streams = [stack.enter_context(match.watcher.follow(match.game)) for match in matches]
        for cell in WON_BY_X:
            for match in matches:
                match.play(cell)
        for match, stream in zip(matches, streams, strict=True):
            now = match.now
            check_events(stream, now["events"])
