"""Clients that keep playing while servers are killed: they reconnect, retry and count.

They resume streams from the version they have, and retry a command with the same key.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import AbstractContextManager, ExitStack
from random import Random
from threading import Condition, Event, Thread
from typing import Any, NamedTuple

from noughts.core.events import PlayerPlacedToken, PlayerTookBack
from noughts.store.rows import game_of
from noughts.store.urls import open_store
from noughts.store.verify import verify
from support.web.serving import CUT, RETRY_SECONDS, Answer, Client, Place, Stream, new_key

RECOVERY_SECONDS = 60.0
"""How long anything may take while servers are killed again and again."""

MAX_GAMES = 100_000
MAX_STREAMS = 4_000
"""How many are kept, to be compared in the end."""

MAX_TRIES = int(RECOVERY_SECONDS / RETRY_SECONDS)


class Acknowledged(NamedTuple):
    """A command that a server has acknowledged."""

    game: str
    version: int
    key: str
    events: list[Any]


class Players(AbstractContextManager["Players"]):
    """All players, and the acknowledged commands."""

    def __init__(self) -> None:
        self.news = Condition()
        self.acknowledged: list[Acknowledged] = []
        self.streams: list[Stream] = []
        self.numbers: Counter[str] = Counter()
        self.failures: list[BaseException] = []
        self.has_failed = Event()
        self._is_enough = Event()
        """Set when no new game is to be begun."""
        self._goes_on: dict[str, bool] = {}
        self._threads: list[Player] = []

    def __exit__(self, *_: object) -> None:
        self.has_failed.set()  # stops all players

    def seat_friends(self, server: Place, *sources: str | None) -> None:
        """Seat two people, maybe from addresses of their own."""
        with server.client() as client:
            first = client.create("friend", name="Ann")
            second = client.join(first["id"], first["invite"], name="Bob")
        for seat, source in zip((first, second), sources or (None, None), strict=True):
            self.seat(server.client(source=source), seat)

    def seat(self, client: Client, seat: Any) -> None:
        self._threads.append(Player(self, client, seat, Random(len(self._threads))))

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def finish(self) -> None:
        """Wait until all have finished the games that they play."""
        self._is_enough.set()
        for thread in self._threads:
            thread.join(RECOVERY_SECONDS)
        self.check()
        assert not any(thread.is_alive() for thread in self._threads), "a player hangs"

    def goes_on(self, game: str) -> bool:
        """Return whether a rematch follows this game; both players get the same answer."""
        with self.news:
            return self._goes_on.setdefault(game, not self._is_enough.is_set())

    def count(self, **numbers: int) -> None:
        with self.news:
            self.numbers.update(numbers)

    def wait_for(self, commands: int) -> None:
        """Wait until so many more commands are acknowledged."""
        with self.news:
            before = len(self.acknowledged)
            came = self.news.wait_for(
                lambda: self.failures or len(self.acknowledged) >= before + commands, RECOVERY_SECONDS
            )
        self.check()
        assert came, "no command is answered any more"

    def check(self) -> None:
        if self.failures:
            raise self.failures[0]

    def compare(self, store_url: str) -> None:
        """Compare what was acknowledged and read with what is in the store; count what is wrong."""
        with open_store(store_url, create=False) as opened:
            verify(opened)
            games = [game_of(row) for row in opened.rows()]
        assert all(game.room for game in games)
        entries = [(game.id, entry) for game in games for entry in game.entries]
        found = {
            (game, entry.version + number): (entry.key, json.loads(line))
            for game, entry in entries
            for number, line in enumerate(entry.text.split("\n"), 1)
        }
        sizes = Counter((game, entry.key) for game, entry in entries for _ in entry.events)
        for command in self.acknowledged:
            versions = range(command.version - len(command.events) + 1, command.version + 1)
            there = [found.get((command.game, version)) for version in versions]
            self.count(
                lost=there != [(command.key, event) for event in command.events],
                doubled=sizes[command.game, command.key] > len(command.events),
            )
        by_bots = sum(entry.key.startswith("bot-") for _, entry in entries)
        commands = {
            (game, entry.key)
            for game, entry in entries
            if any(isinstance(event, PlayerPlacedToken | PlayerTookBack) for event in entry.events)
            and not entry.key.startswith("bot-")
        }
        known = {(command.game, command.key) for command in self.acknowledged}
        self.count(
            commands=len(self.acknowledged),
            doubled=len(commands - known),  # commands are sent until they are acknowledged
            games=len(games),
            moves=by_bots,
            unfinished=sum(not game.game.is_over for game in games),
        )
        for stream in self.streams:
            assert stream.numbered == [
                (version, found[stream.game, version][1]) for version in range(1, stream.version + 1)
            ]
            assert (stream.game, stream.version + 1) not in found


class Player(Thread):
    """A client that plays a game to its end, and then a rematch."""

    def __init__(self, players: Players, client: Client, seat: dict[str, Any], random: Random) -> None:
        super().__init__(daemon=True)
        self._players = players
        self._client = client
        self._random = random
        self._mark: str = seat["marks"][0]
        self._game: str = seat["id"]
        self._is_alone = any(one["bot"] for one in seat["game"]["room"]["seats"].values())
        """Whether the opponent is a bot: then taking back needs no consent."""
        client.secret = seat["secrets"][self._mark]

    def run(self) -> None:
        """Play games until it is enough, and finish the last one."""
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

    def _follow(self, secret: str | None) -> Stream:
        return self._client.server.client(secret).follow(self._game, reconnects=True)

    def _play(self) -> None:
        """Play the game to its end; X also has a spectator."""
        with ExitStack() as stack:
            self._stream = stack.enter_context(self._follow(self._client.secret))
            streams = [self._stream]
            if self._mark == "X":
                streams.append(stack.enter_context(self._follow(None)))
            version = 0
            while not (position := self._stream.wait_turn(self._mark, version, RECOVERY_SECONDS))["over"]:
                version = self._act(position)
            for stream in streams:
                stream.wait_version(self._stream.version, RECOVERY_SECONDS)
                self._players.count(lines=stream.connections - 1, torn=stream.torn, **stream.wrong)
            if len(self._players.streams) < MAX_STREAMS:
                self._players.streams += streams

    def _act(self, position: Any) -> int:
        """Place a token or take one back; return the resulting version."""
        key, version = new_key(), self._stream.version
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
        with self._follow(self._client.secret) as stream:
            for _ in range(10):
                answer = self._post("rematch", {"key": new_key(), "secret": True})
                assert answer.status in (200, 201, 202), (answer.status, answer.body)
                if answer.status != 202:
                    return str(answer.json["id"])
                stream.wait_room(self._is_answered, RECOVERY_SECONDS)
        raise AssertionError("the players never agreed on a rematch")

    def _is_answered(self, room: Any) -> bool:
        return bool(room["next"] or (room["offer"] and room["offer"]["mark"] != self._mark))

    def _post(self, what: str, body: dict[str, object]) -> Answer:
        """Repeat a command until it is answered."""
        for number in range(MAX_TRIES):
            try:
                answer = self._client.post(f"/games/{self._game}/{what}", body)
                json.loads(answer.body)  # it may be cut within its head, too
            except CUT:
                self._players.count(again=not number)
                assert not self._players.has_failed.wait(RETRY_SECONDS), "another player has failed"
            else:
                if answer.status != 503:
                    return answer
        raise AssertionError("the server never answered")
