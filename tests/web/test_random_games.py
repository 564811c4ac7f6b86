"""Random games, compared with the core.

The number of a game is its seed: game 17 is repeated with `-k '[17]'`.
"""

from __future__ import annotations

from random import Random

import pytest

from noughts import (
    Command,
    Event,
    Game,
    Mark,
    NoughtsError,
    PlaceToken,
    Resign,
    TakeBack,
    decide,
    decode,
    encode,
    facts,
    fold,
)
from noughts.core.events import PlayerNotifyIllegalMove, PlayerPlacedToken, PlayerTookBack
from support.length import short_or_long
from support.web.matches import Match, check_events, two_players
from support.web.serving import Answer, Server, new_key

GAMES = short_or_long(25, 2000)
STEPS = 40


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(GAMES))
def test_a_random_game_matches_the_core(server: Server, seed: int) -> None:
    """Whatever two players try."""
    random = Random(seed)
    with (
        two_players(server, first=random.choice("XO")) as match,
        match.watcher.follow(match.game) as stream,
    ):
        model = _Model(match)
        for _ in range(STEPS):
            model.step(random)

        now = match.now
        assert [decode(event) for event in now["events"]] == model.history
        assert (now["board"], now["over"]) == (str(model.game.board), model.game.is_over)
        check_events(stream, now["events"])


class _Model:
    """The expected state of the server."""

    def __init__(self, match: Match) -> None:
        self._match = match
        self.history: list[Event] = [decode(event) for event in match.now["events"]]
        self._offer: Mark | None = None
        self._sent: list[tuple[Mark, Command, int, str, Answer]] = []

    @property
    def game(self) -> Game:
        found = fold(self.history)
        assert found
        return found

    def step(self, random: Random) -> None:
        mark = random.choice([*Mark])
        what = random.choices(
            ["move", "good move", "resign", "ask", "answer", "again"], [3, 8, 0.3, 1, 2, 1]
        )[0]
        match what:
            case "move":
                version = random.randint(0, len(self.history) + 1)
                self._command(mark, PlaceToken(mark, random.randrange(9)), version)
            case "good move":
                board = self.game.board
                cell = random.choice(board.free_cells or (4,))
                self._command(board.turn, PlaceToken(board.turn, cell), len(self.history))
            case "resign":
                self._command(mark, Resign(mark), len(self.history))
            case "ask":
                self._ask(mark)
            case "answer":
                self._answer(mark, accept=random.random() < 0.7)
            case "again" if self._sent:
                mark, command, version, key, first = random.choice(self._sent)
                again = self._send(mark, command, version, key)
                assert (again.status, again.body) == (first.status, first.body)
            case _:
                pass

    def _command(self, mark: Mark, command: Command, version: int) -> None:
        key = new_key()
        answer = self._send(mark, command, version, key)
        if self._is_stale(command, version):
            assert (answer.status, answer.code) == (409, "staleVersion")
            assert answer.json["version"] == len(self.history)
            return
        try:
            events = decide(self.game, command)
        except NoughtsError:
            assert (answer.status, answer.code) == (409, "alreadyOver")
            return
        if isinstance(events[0], PlayerNotifyIllegalMove):
            assert (answer.status, answer.code) == (409, events[0].reason.value)
            return
        self._recorded(answer, events)
        self._sent.append((mark, command, version, key, answer))

    def _send(self, mark: Mark, command: Command, version: int, key: str) -> Answer:
        seat = self._match.seats[mark.value]
        if isinstance(command, PlaceToken):
            return seat.move(command.cell, version, key)
        return seat.resign(version, key)

    def _is_stale(self, command: Command, version: int) -> bool:
        if version > len(self.history):
            return True
        meant = isinstance(command, PlaceToken)
        since = self.history[version:]
        return meant and any(isinstance(event, PlayerPlacedToken | PlayerTookBack) for event in since)

    def _ask(self, mark: Mark) -> None:
        answer = self._match.seats[mark.value].take_back(len(self.history))
        try:
            decide(self.game, TakeBack(mark))
        except NoughtsError:
            assert answer.code == ("alreadyOver" if self.game.is_over else "nothingToTakeBack")
            return
        self._offer = mark
        assert (answer.status, answer.json["events"]) == (202, [])
        assert answer.json["offer"] == {"kind": "takeBack", "mark": mark.value}

    def _answer(self, mark: Mark, *, accept: bool) -> None:
        answer = self._match.seats[mark.value].answer(accept=accept)
        if self._offer is None or self._offer is mark:
            assert (answer.status, answer.code) == (409, "noOffer")
        elif accept:
            self._recorded(answer, decide(self.game, TakeBack(self._offer)))
        else:
            assert (answer.status, answer.json["events"]) == (200, [])
            self._offer = None
        assert self._match.room["offer"] == (
            {"kind": "takeBack", "mark": self._offer.value} if self._offer else None
        )

    def _recorded(self, answer: Answer, events: tuple[Event, ...]) -> None:
        self._offer = None
        self.history += facts(events)
        assert answer.status == 200
        assert answer.json == {
            "version": len(self.history),
            "events": [encode(event) for event in events],
            "offer": None,
        }
