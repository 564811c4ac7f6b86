"""Clients that keep playing while the server is killed: they reconnect, retry and count.

They resume streams from the version they have, and retry a command with the same key.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from http.client import HTTPException
from random import Random
from threading import Condition, Event, Thread
from typing import Any, NamedTuple

from support.web.serving import Answer, Client, new_key
from support.web.stream_reader import RETRY_SECONDS, Address, Reader

RECOVERY_SECONDS = 60.0
"""How long anything may take while the server is killed again and again."""

MAX_GAMES = 10_000
MAX_TRIES = int(RECOVERY_SECONDS / RETRY_SECONDS)


class Acknowledged(NamedTuple):
    """A command that the server has acknowledged."""

    game: str
    version: int
    key: str
    events: list[Any]


class Players:
    """All players, and the acknowledged commands."""

    def __init__(self) -> None:
        self.news = Condition()
        self.acknowledged: list[Acknowledged] = []
        self.readers: list[Reader] = []
        self.numbers: Counter[str] = Counter()
        self.failures: list[BaseException] = []
        self.has_failed = Event()
        self.is_enough = Event()
        """Set when no new game is to be begun."""
        self._goes_on: dict[str, bool] = {}

    def goes_on(self, game: str) -> bool:
        """Return whether a rematch follows this game; both players get the same answer."""
        with self.news:
            return self._goes_on.setdefault(game, not self.is_enough.is_set())

    def count(self, **numbers: int) -> None:
        with self.news:
            self.numbers.update(numbers)

    def wait_for(self, commands: int) -> None:
        """Wait until this number of commands is acknowledged."""
        with self.news:
            came = self.news.wait_for(
                lambda: self.failures or len(self.acknowledged) >= commands, RECOVERY_SECONDS
            )
        self.check()
        assert came, "no command is answered any more"

    def check(self) -> None:
        if self.failures:
            raise self.failures[0]


class Player(Thread):
    """A client that plays a game to its end, and then a rematch."""

    def __init__(
        self, players: Players, address: Address, client: Client, seat: dict[str, Any], random: Random
    ) -> None:
        super().__init__(daemon=True)
        self._players = players
        self._address = address
        self._client = client
        self._random = random
        self._mark: str = seat["marks"][0]
        self._game: str = seat["id"]
        self._is_alone = any(one["bot"] for one in seat["game"]["room"]["seats"].values())
        """Whether the opponent is a bot: then taking back needs no consent."""
        client.secret = seat["secrets"][self._mark]

    def run(self) -> None:
        """Play games until `is_enough`, and finish the last one."""
        try:
            for _ in range(MAX_GAMES):
                self._play()
                if not self._players.goes_on(self._game):
                    break
                self._game = self._next()
        except BaseException as failure:  # noqa: BLE001 - raised by `check`
            with self._players.news:
                self._players.failures.append(failure)
                self._players.has_failed.set()
                self._players.news.notify_all()
        finally:
            self._client.close()

    def _play(self) -> None:
        """Play the game to its end; X also has a spectator."""
        with ExitStack() as stack:
            self._reader = stack.enter_context(Reader(self._address, self._game, self._client.secret))
            readers = [self._reader]
            if self._mark == "X":
                readers.append(stack.enter_context(Reader(self._address, self._game)))
            version = 0
            while not (position := self._when_wanted(version))["over"]:
                version = self._act(position)
            for reader in readers:
                reader.wait_version(self._reader.version, RECOVERY_SECONDS)
                self._players.count(lines=reader.connections - 1)
            self._players.readers += readers

    def _when_wanted(self, version: int) -> Any:
        """Wait until it is our turn after that version, or the game is over; return the position."""

        def is_so(reader: Reader) -> bool:
            position = reader.position
            if not position or not position["version"] == reader.version >= version:
                return False  # more events of the same command may follow
            is_first = position["first"] == self._mark
            return bool(position["over"] or len(position["moves"]) % 2 != is_first)

        self._reader.wait(is_so, RECOVERY_SECONDS)
        return self._reader.position

    def _act(self, position: Any) -> int:
        """Place a token or take one back; return the resulting version."""
        key, version = new_key(), self._reader.version
        body: dict[str, object] = {"version": version, "key": key}
        what = "moves"
        if self._is_alone and len(position["moves"]) >= 2 and self._random.random() < 0.1:
            what = "take-back"
        else:
            body["cell"] = self._random.choice(
                [cell for cell in range(9) if cell not in position["moves"]]
            )
        answer = self._post(what, body)
        assert answer.status == 200, (answer.status, answer.body, body)
        command = Acknowledged(self._game, answer.json["version"], key, answer.json["events"])
        assert command.version == version + len(command.events), "another command came first"
        with self._players.news:
            self._players.acknowledged.append(command)
            self._players.news.notify_all()
        return command.version

    def _next(self) -> str:
        """Agree on a rematch; return its id."""
        with Reader(self._address, self._game, self._client.secret) as reader:
            for _ in range(10):
                answer = self._post("rematch", {"key": new_key(), "secret": True})
                assert answer.status in (200, 201, 202), (answer.status, answer.body)
                if answer.status != 202:
                    return str(answer.json["id"])
                reader.wait(lambda now: now.room and self._is_answered(now.room), RECOVERY_SECONDS)
        raise AssertionError("the players never agreed on a rematch")

    def _is_answered(self, room: Any) -> bool:
        return bool(room["next"] or (room["offer"] and room["offer"]["mark"] != self._mark))

    def _post(self, what: str, body: dict[str, object]) -> Answer:
        """Repeat a command until it is answered."""
        for number in range(MAX_TRIES):
            try:
                answer = self._client.post(f"/games/{self._game}/{what}", body)
            except (HTTPException, OSError):
                self._players.count(again=not number)
                assert not self._players.has_failed.wait(RETRY_SECONDS), "another player has failed"
            else:
                if answer.status != 503:
                    return answer
        raise AssertionError("the server never answered")
