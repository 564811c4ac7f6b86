"""Commands that are sent twice or for an old version count once; `test_service.py` has every case."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest

from noughts.store.base import Change
from noughts.store.errors import StoreUnavailable
from noughts.store.urls import open_store
from support.web.apps import Process, ask, cluster, create, get, join, post
from support.web.fake_clock import in_fake_time
from support.web.matches import Match, one_player, two_players
from support.web.serving import Answer, Client, Server, new_key

END = (0, 3, 1, 4, 2)

# The cells that are played before, who asks or resigns then, and a command that is sent twice.
COMMANDS: dict[str, tuple[tuple[int, ...], str, Callable[[Match, str], Answer]]] = {
    "a move": ((), "", lambda match, key: match.X.move(4, 5, key)),
    "the last move": ((0, 3, 1, 4), "", lambda match, key: match.X.move(2, 17, key)),
    "resigning": ((), "", lambda match, key: match.X.resign(5, key)),
    "asking to take back": ((4,), "", lambda match, key: match.X.take_back(8, key)),
    "allowing that": ((4,), "ask", lambda match, key: match.O.answer(accept=True, key=key)),
    "refusing that": ((4,), "ask", lambda match, key: match.O.answer(accept=False, key=key)),
    "asking for a rematch": (END, "", lambda match, key: match.X.rematch(key)),
}


def revisions(server: Server) -> int:
    """Return how many changes were recorded."""
    with open_store(server.store, create=False) as store:
        return sum(row[1] for row in store.rows())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_one_change_and_sent_again_gets_its_answer_without_another(
    server: Server, command: str
) -> None:
    cells, event, send = COMMANDS[command]
    with two_players(server) as match:
        if cells:
            match.play(*cells)
        if event:
            match.X.take_back()
        key, before = new_key(), revisions(server)
        first, again = send(match, key), send(match, key)
        assert first.status in (200, 202)
        assert (again.status, again.body) == (first.status, first.body)
        assert revisions(server) == before + 1


@pytest.mark.parametrize(
    ("opponent", "more"),
    [("friend", {"mark": "random"}), ("lobby", {}), ("self", {"other": "Bob"}), ("bot", {"bot": "club"})],
)
def test_creating_and_joining_again_with_the_same_key_gives_the_same_seat(
    server: Server, client: Client, opponent: str, more: dict[str, object]
) -> None:
    """Also when the game has gone on; another game with that key is refused."""
    key, before = new_key(), revisions(server)
    first, again = (client.create(opponent, name="Ann", key=key, **more) for _ in range(2))
    assert again["id"] == first["id"]
    assert (again["secrets"], again["invite"]) == (first["secrets"], first["invite"])
    if opponent in ("friend", "lobby"):
        joined, late = (client.join(first["id"], first["invite"], key=key) for _ in range(2))
        assert joined == late
        late = client.create(opponent, name="Ann", key=key, **more)
        assert (late["id"], late["secrets"], late["invite"]) == (first["id"], first["secrets"], None)
        assert revisions(server) == before + 2
    refused = client.post("/games", {"opponent": opponent, "name": "Eve", "key": key, **more})
    assert (refused.status, refused.code) == (409, "keyReused")
    assert client.create(opponent, name="Ann", **more)["id"] != first["id"]


def test_asking_again_with_another_key_is_asking_once(server: Server) -> None:
    with two_players(server) as match:
        match.play(4)
        asked = [match.X.take_back(8), match.X.take_back(8)]
        match.X.resign()
        wanted = [match.O.rematch(), match.O.rematch()]
        assert [answer.status for answer in asked + wanted] == [202] * 4
        assert match.room["next"] is None


@pytest.mark.parametrize("version", [5, 8, 12, 100, 2**31 - 1])
def test_a_command_for_another_version_is_refused_with_the_current_one(
    server: Server, version: int
) -> None:
    """But resigning works at an earlier one."""
    with two_players(server) as match:
        match.play(4, 0)
        for refused in (match.X.move(1, version), match.X.take_back(version)):
            assert (refused.status, refused.code) == (409, "staleVersion")
            assert refused.json["version"] == 11
        assert match.now["version"] == 11
        assert (match.X.resign(version).status == 200) is (version < 11)


BAD_KEYS = (
    *("", "a" * 65, "a b" * 6, "ä" * 16, "a" * 16 + "\n", "\x00" * 16, "a.b" * 6, 5, None, ["a" * 16]),
)


@pytest.mark.parametrize("key", [*BAD_KEYS, "a" * 15])
def test_an_invalid_key_is_refused(server: Server, key: object) -> None:
    """One that gives access to a seat must be long, too; it need not be given for a new game."""
    with one_player(server, "self") as both:
        refused = [
            both.client.post(f"/games/{both.game}/moves", {"cell": 4, "version": 5, "key": key}),
            both.client.post("/games", {"opponent": "self", "key": key}),
            both.client.post(f"/games/{both.game}/join", {"key": key}),
        ]
        statuses = [answer.status for answer in refused]
        assert statuses == [200 if key == "a" * 15 else 400, 201 if key is None else 400, 400]


def test_no_key_of_a_players_keeps_a_bot_from_moving(server: Server) -> None:
    with one_player(server, "bot", bot="random") as person, person.follow() as stream:
        assert person.move(4, 5, "bot-8").status == 200
        stream.wait_version(9)


# What is interrupted: a commit fails, and nobody knows whether it was recorded


def fail(process: Process, *, is_recorded: bool, after: int = 0) -> None:
    """Let one commit of a process fail, after some others."""
    store, commit, left = process.store, process.store._commit, [None] * after  # noqa: SLF001 - it fails

    def fail_once(batch: Sequence[Change]) -> None:
        if left or is_recorded:
            commit(batch)
        if not left:
            store._commit = commit  # type: ignore[method-assign]  # noqa: SLF001 - it works again
            raise StoreUnavailable("the connection broke")
        left.pop()

    store._commit = fail_once  # type: ignore[method-assign]  # noqa: SLF001 - as above


@pytest.mark.parametrize("is_recorded", [False, True])
@pytest.mark.parametrize("commits", [0, 1])
@in_fake_time
async def test_a_rematch_that_was_interrupted_is_completed_by_whoever_asks_again(
    commits: int,
    is_recorded: bool,  # noqa: FBT001 - a parameter
) -> None:
    """At any process; it is one game, with the score once."""
    async with cluster() as found:
        here, there = await found.start(), await found.start()
        seat = await create(here.app, "lobby")
        await join(here.app, seat)
        await post(here.app, seat, "resign", version=5, key="r")
        assert (await post(here.app, seat, "rematch", "O", key="o")).status == 202
        found.is_heard = False  # what was answered may not be true any more
        fail(here, is_recorded=is_recorded, after=commits)
        assert (await post(here.app, seat, "rematch", "X", key="x")).status == 503
        is_done = commits == 1 and is_recorded
        room = json.loads((await get(there.app, f"/games/{seat['id']}")).body)["room"]
        assert room["offer"] == (None if is_done else {"kind": "rematch", "mark": "O"})
        games = set()
        for process, mark in ((there, "X"), (here, "O"), (there, "O"), (here, "X")):
            answer = await post(process.app, seat, "rematch", mark, key=mark.lower())
            assert answer.status in (200, 201)
            following = json.loads(answer.body)
            games.add(following["id"])
            assert following["game"]["room"]["score"] == {"X": 0, "O": 1, "draws": 0}
        assert len(games) == 1
        assert len(found.database.games) == 2
        again = (await ask(there.app, "GET", f"/games/{seat['id']}")).body
        assert json.loads(again)["room"]["next"] in games


@in_fake_time
async def test_a_deleted_game_is_not_created_again_with_its_key() -> None:
    async with cluster() as found:
        process = await found.start()
        seat = await create(process.app, key="k" * 16)
        process.store.delete(seat["id"])
        for app in (process.app, (await found.start()).app):
            body = {"opponent": "self", "secret": True, "key": "k" * 16}
            assert (await ask(app, "POST", "/games", body)).status == 404
