"""Concurrent requests for the same thing: one succeeds, the others are refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial

import pytest

from support.at_once import in_threads
from support.web.matches import Match, Seat, at_once, check_events, two_players
from support.web.serving import Answer, Server, new_key

REPEATS = range(5)


@pytest.fixture
def match(server: Server) -> Iterator[Match]:
    with two_players(server) as match:
        yield match


def copies(server: Server, match: Match, mark: str, count: int) -> list[Seat]:
    """Return clients that all have the same seat."""
    secret = match.seats[mark].client.secret
    return [Seat(server.client(secret), match.game) for _ in range(count)]


@pytest.mark.parametrize("time", REPEATS)
def test_one_of_many_moves_is_made(server: Server, match: Match, time: int) -> None:
    """Each with a key of its own, for one cell or for all; with one key it is the same move for all."""
    cells = [time] * 9 if time % 2 else [(cell + time) % 9 for cell in range(9)]
    seats = copies(server, match, "X", 9)
    answers = at_once(*(partial(seat.move, cell, 5) for seat, cell in zip(seats, cells, strict=True)))
    assert Counter(answer.code or "done" for answer in answers) == {"done": 1, "staleVersion": 8}
    assert {answer.json["version"] for answer in answers} == {8}
    done = [cell for cell, answer in zip(cells, answers, strict=True) if answer.status == 200]
    assert match.now["moves"] == done
    (free, *_) = {*range(9)} - {*done}
    again = at_once(*(partial(seat.move, free, 8, "one") for seat in copies(server, match, "O", 9)))
    assert {(answer.status, answer.body) for answer in again} == {(200, again[0].body)}
    assert match.now["version"] == 11


@pytest.mark.parametrize("kind", ["friend", "lobby"])
@pytest.mark.parametrize("time", REPEATS)
def test_one_of_many_gets_the_seat(server: Server, kind: str, time: int) -> None:
    """Those who send the same key are one."""
    with server.client() as ann, ExitStack() as stack:
        seat, own = ann.create(kind), new_key()
        keys = [own if number % 2 else new_key() for number in range(8)] if time else [own] * 8

        def join(key: str) -> Callable[[], Answer]:
            client = stack.enter_context(server.client())
            body = {"invite": seat["invite"], "name": f"Guest {key[:8]}", "key": key, "secret": True}
            return partial(client.post, f"/games/{seat['id']}/join", body)

        answers = at_once(*map(join, keys))
        winners = {key for key, answer in zip(keys, answers, strict=True) if answer.status == 200}
        (winner,) = winners
        refusal = "seatTaken" if kind == "lobby" else "notFound"
        assert [answer.code for answer in answers] == [None if key == winner else refusal for key in keys]
        (secret,) = {answer.json["secrets"]["O"] for answer in answers if answer.status == 200}
        now = ann.read(seat["id"])
        assert now["version"] == 5
        assert now["room"]["seats"]["O"]["name"] == f"Guest {winner[:8]}"
        ann.secret = secret
        assert ann.read(seat["id"])["you"] == ["O"]


@pytest.mark.parametrize("time", REPEATS)
def test_a_rematch_that_many_want_at_once_is_one_game(server: Server, match: Match, time: int) -> None:
    match.X.resign(5)
    seats = [*copies(server, match, "O", 4), *copies(server, match, "X", time and 4)]
    if not time:
        match.X.rematch()
    answers = at_once(*(seat.rematch for seat in seats))
    assert 201 in {answer.status for answer in answers} <= {200, 201, 202}
    followed = [seat.rematch() for seat in match.seats.values()]
    games = {answer.json["id"] for answer in (*answers, *followed) if answer.status != 202}
    assert games == {match.room["next"]}
    assert match.watcher.read(*games)["version"] == 5


@pytest.mark.parametrize("time", REPEATS)
def test_an_offer_is_answered_or_lapses(server: Server, match: Match, time: int) -> None:
    """The opponent accepts and moves at the same time."""
    match.play(4)
    match.X.take_back()
    (other,) = copies(server, match, "O", 1)
    answers = at_once(lambda: match.O.answer(accept=True), partial(other.move, time % 4, 8))
    assert sorted(answer.status for answer in answers) == [200, 409]
    assert len(match.now["moves"]) == (0 if answers[0].status == 200 else 2)


def test_many_games_are_played_at_once_and_listed_meanwhile(server: Server) -> None:
    statuses: Counter[int] = Counter()

    def play(number: int) -> None:
        with two_players(server, kind="lobby") as match, match.watcher.follow(match.game) as stream:
            cells = [(cell + number) % 9 for cell in (0, 1, 2, 4, 3)]
            match.play(*cells)
            now = match.now
            assert now["moves"] == cells
            check_events(stream, now["events"])

    def look() -> None:
        with server.client() as client:
            for _ in range(50):
                statuses[client.get("/games").status] += 1

    in_threads(look, look, *(partial(play, number) for number in range(10)))
    assert statuses == {200: 100}
