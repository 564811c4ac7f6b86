"""The lists of open games and of games to watch: only those whose players are present, or just left."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import pytest

from noughts import Mark, open_store
from noughts.core.events import GameCreated
from noughts.core.game import CreateGame, decide
from noughts.service import random_id
from noughts.web.app import App
from noughts.web.game import LiveGame
from noughts.web.peers import GONE_SECONDS, HEARTBEAT_SECONDS
from noughts.web.room import Room, RoomSeat
from support.deadlines import DEADLINE_SECONDS
from support.postgres_server import Server as Postgres
from support.web.apps import FakeStream, open_app
from support.web.fake_clock import run, skip
from support.web.matches import one_player, two_players
from support.web.serving import Client, Server, wait_until

OLDER_MS = 61_000
"""Longer than a game without players is listed."""

NO_GRACE = {"NOUGHTS_LOBBY_GRACE_SECONDS": "0"}


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start a server that lists only games with a player present."""
    place = tmp_path_factory.mktemp("strict") / "games.db"
    with Server(f"sqlite:{place}", **NO_GRACE) as server:
        yield server
        server.stop_cleanly()


def listed(client: Client, what: str = "open") -> list[str]:
    return [game["id"] for game in client.get("/games").json[what]]


def wait_listed(client: Client, game: str, what: str, *, is_listed: bool) -> None:
    wait_until(lambda: (game in listed(client, what)) == is_listed)


def make_older(store: str, *games: str) -> None:
    """Date games back by more than a minute, while no server is running."""
    with open_store(store) as kept:
        for game in games:
            document = kept.document(game)
            assert document
            room = json.loads(document.text)
            room["created"] -= OLDER_MS
            kept.write_document(game, json.dumps(room), expected=document.revision, label=document.label)


def test_an_open_game_is_listed_while_its_creator_is_connected(strict: Server) -> None:
    """It can be joined by its id all the time."""
    with one_player(strict, "lobby", name="Ann") as ann, strict.client() as bob:
        assert ann.game not in listed(bob)
        for _ in range(2):
            with ann.follow() as stream:
                stream.wait(lambda now: now.rooms)
                assert ann.game in listed(bob)
            wait_listed(bob, ann.game, "open", is_listed=False)
        assert bob.join(ann.game, None)["marks"] == ["O"]


def test_a_spectator_does_not_keep_a_game_in_the_list(strict: Server) -> None:
    with one_player(strict, "lobby") as ann, strict.client() as eve, eve.follow(ann.game) as watching:
        watching.wait(lambda now: now.rooms)
        assert ann.game not in listed(eve)
        with ann.follow() as first:
            with ann.follow() as second:
                for stream in (first, second):
                    stream.wait(lambda now: now.rooms)
            assert ann.game in listed(eve)
        wait_listed(eve, ann.game, "open", is_listed=False)


def test_a_game_that_both_players_left_is_not_being_played(strict: Server) -> None:
    """One player is enough."""
    with two_players(strict, kind="lobby") as match, match.watcher.follow(match.game) as watching:
        watching.wait(lambda now: now.rooms)
        assert match.game not in listed(match.watcher, "playing")
        with match.O.follow() as bob:
            with match.X.follow() as ann:
                for stream in (ann, bob):
                    stream.wait(lambda now: now.rooms)
                assert match.game in listed(match.watcher, "playing")
            bob.wait_room(lambda room: not room["seats"]["X"]["present"])
            assert match.game in listed(match.watcher, "playing")
            assert match.game not in listed(match.watcher)
        wait_listed(match.watcher, match.game, "playing", is_listed=False)


def test_a_game_whose_creator_just_left_stays_listed(server: Server) -> None:
    """They may just reload the page."""
    with one_player(server, "lobby") as ann, server.client() as eve, eve.follow(ann.game) as watching:
        with ann.follow():
            watching.wait_room(lambda room: room["seats"]["X"]["present"])
        watching.wait_room(lambda room: not room["seats"]["X"]["present"])
        assert ann.game in listed(eve)


async def create_listed(app: App) -> LiveGame:
    room = Room(X=RoomSeat(), O=RoomSeat(), created=0, lobby=True)
    return await app.games.create(random_id(), room, decide(None, CreateGame(Mark.X)), "create")


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0, "listed"), (59, "listed"), (60, "gone"), (3600, "gone")]
)
def test_a_game_is_listed_for_a_minute_after_its_last_player_left(seconds: int, expected: str) -> None:
    async def leave() -> bool:
        async with open_app(cached_games=0) as app:
            live = await create_listed(app)
            game = live.id
            app.presence.joined(live, is_player=True)
            skip(3600)
            assert await app.presence.attended() == {game: True}
            app.presence.left(live, is_player=True)
            del live
            skip(seconds)
            return game in await app.presence.attended()

    assert run(leave) == (expected == "listed")


def test_a_connected_player_stays_present() -> None:
    """A process does not take its own heartbeats for another's."""

    async def wait() -> bool:
        async with open_app(shared=1, lobby_grace_seconds=0) as app:
            live = await create_listed(app)
            store, stream = app.games.store, FakeStream()
            stream.marks = ("X",)
            live.streams[stream] = None
            app.presence.joined(live, is_player=True)
            skip(1)
            await _until(lambda: store.labelled(live.id))
            first = await app.presence.attended()
            heartbeats = {store.documents_end()}
            while len(heartbeats) < 2 + GONE_SECONDS / HEARTBEAT_SECONDS:
                skip(1)
                await asyncio.sleep(0)
                heartbeats.add(store.documents_end())
            return first == await app.presence.attended() == {live.id: True}

    assert run(wait)


async def _until(is_so: Callable[[], object]) -> None:
    until = time.monotonic() + DEADLINE_SECONDS
    while not is_so():
        assert time.monotonic() < until
        await asyncio.sleep(0)


def test_an_old_game_without_its_creator_is_not_listed(store: str) -> None:
    with Server(store) as server, server.client() as client:
        seat = client.create("lobby", name="Ann")
        assert server.stop() == 0
    make_older(store, seat["id"])

    with Server(store) as again, again.client(seat["secrets"]["X"]) as ann, again.client() as eve:
        assert listed(eve) == []
        with eve.follow(seat["id"]) as watching:
            with ann.follow(seat["id"]):
                watching.wait_room(lambda room: room["seats"]["X"]["present"])
                assert listed(eve) == [seat["id"]]
            watching.wait_room(lambda room: not room["seats"]["X"]["present"])
        assert listed(eve) == [seat["id"]]
        assert eve.join(seat["id"], None)["marks"] == ["O"]


@pytest.mark.parametrize("damage", ["changed", "not a room", "not a game"])
@pytest.mark.parametrize("shared", ["0", "1"])
def test_a_damaged_game_does_not_hide_others(store: str, damage: str, shared: str) -> None:
    """The damage is logged and counted once."""
    with Server(store) as server, server.client() as client:
        damaged, sound = (client.create("lobby", name=name)["id"] for name in ("Ann", "Bob"))
        assert server.kill() < 0
    if damage == "changed":
        with closing(sqlite3.connect(store.removeprefix("sqlite:"))) as file, file:
            file.execute("UPDATE noughts_documents SET text = '{' WHERE name = ?", (damaged,))
    else:
        with open_store(store) as kept:
            document = kept.document(damaged)
            assert document
            text, label = ("{", document.label) if damage == "not a room" else (document.text, "")
            kept.write_document(damaged, text, expected=document.revision, label=label)
            if damage == "not a game":
                version = kept.versions([damaged])[damaged]
                kept.append(damaged, [GameCreated()], expected=version, key="again", at=0)

    with Server(store, NOUGHTS_SHARED=shared) as server, server.client() as client:
        assert listed(client) == listed(client) == [sound]
        refused = client.get(f"/games/{damaged}")
        assert (refused.status, refused.code) == (503, "storeUnavailable")
        assert "damaged" in refused.json["detail"]
        assert client.join(sound, None)["marks"] == ["O"]
        assert "noughts_games_damaged_total 1" in client.get("//metrics").body.decode()
        assert server.stop() == 0
        assert server.errors.count(b"damaged game") == 1


def test_abandoned_games_do_not_hide_open_ones(store: str) -> None:
    with Server(store) as server, server.client() as client:
        waiting = client.create("lobby", name="Ann")
        abandoned = [client.create("lobby")["id"] for _ in range(58)]
        with two_players(server, kind="lobby") as match:
            playing = match.game
            secret = match.X.client.secret
        assert server.stop() == 0
    make_older(store, waiting["id"], *abandoned, playing)

    with Server(store) as again, again.client() as eve, ExitStack() as stack:
        for game, own in ((waiting["id"], waiting["secrets"]["X"]), (playing, secret)):
            client = stack.enter_context(again.client(own))
            stack.enter_context(client.follow(game)).wait(lambda now: now.rooms)
        assert listed(eve) == [waiting["id"]]
        assert listed(eve, "playing") == [playing]

        fresh = [eve.create("lobby")["id"] for _ in range(58)]

        assert listed(eve) == [waiting["id"], *fresh[:-50:-1]]


@pytest.fixture(scope="module")
def url(postgres: Postgres) -> str:
    """Return the URL of a store for several servers."""
    return postgres.place()


def test_a_game_at_another_server_is_listed_while_its_creator_is_connected(url: str) -> None:
    """Also by a server that was started later."""
    with Server(url, **NO_GRACE) as here, Server(url, **NO_GRACE) as there, ExitStack() as stack:
        eve = stack.enter_context(there.client())
        ann = stack.enter_context(one_player(here, "lobby", name="Ann"))
        assert ann.game not in listed(eve)
        with ann.follow() as stream:
            stream.wait(lambda now: now.rooms)
            wait_listed(eve, ann.game, "open", is_listed=True)
            late = stack.enter_context(Server(url, **NO_GRACE))
            cid = stack.enter_context(late.client())
            assert ann.game in listed(cid)
        for client in (eve, cid):
            wait_listed(client, ann.game, "open", is_listed=False)
        with ann.follow():
            wait_listed(cid, ann.game, "open", is_listed=True)
            assert here.stop() == 0  # and says so
            for client in (eve, cid):
                wait_listed(client, ann.game, "open", is_listed=False)
