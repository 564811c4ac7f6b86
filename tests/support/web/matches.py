"""Games between clients of a server: a client for each seat, and a spectator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from noughts import Game, decode, fold
from support.web.serving import Answer, Client, Server, Stream, new_key

WON_BY_X = (0, 3, 1, 4, 2)


class Seat:
    """A client with one or both seats of a game."""

    def __init__(
        self, client: Client, game: str, mark: str | None = None, invite: str | None = None
    ) -> None:
        self.client = client
        self.game = game
        self.mark = mark
        """Sent with every command if it is given; needed only by a client with both seats."""
        self.invite = invite

    @property
    def version(self) -> int:
        return int(self.client.read(self.game)["version"])

    def move(self, cell: int, version: int | None = None, key: str | None = None) -> Answer:
        """Place a token; by default at the game's current version."""
        return self._do("moves", {"cell": cell}, version, key)

    def resign(self, version: int | None = None, key: str | None = None) -> Answer:
        return self._do("resign", {}, version, key)

    def take_back(self, version: int | None = None, key: str | None = None) -> Answer:
        return self._do("take-back", {}, version, key)

    def answer(self, *, accept: bool, key: str | None = None) -> Answer:
        return self._post("take-back/answer", {"accept": accept, "key": key or new_key()})

    def rematch(self, key: str | None = None) -> Answer:
        return self._post("rematch", {"key": key or new_key(), "secret": True})

    def follow(self, after: int = 0) -> Stream:
        return self.client.follow(self.game, after)

    def _do(self, what: str, body: dict[str, object], version: int | None, key: str | None) -> Answer:
        body["version"] = self.version if version is None else version
        body["key"] = key or new_key()
        if self.mark:
            body["mark"] = self.mark
        return self._post(what, body)

    def _post(self, what: str, body: dict[str, object]) -> Answer:
        return self.client.post(f"/games/{self.game}/{what}", body)


class Match:
    """A game between two clients."""

    def __init__(self, server: Server, other: Server, kind: str, **more: object) -> None:
        self.server = server
        self.watcher = other.client()
        """A client that has only the game's id."""
        asked: dict[str, Any] = {"name": "Ann", **more}
        with server.client() as client:
            first = client.create(kind, **asked)
        self.game: str = first["id"]
        self.invite: str | None = first["invite"]
        second = self.watcher.join(self.game, self.invite, name="Bob")
        secrets = {**first["secrets"], **second["secrets"]}
        home = {first["marks"][0]: server, second["marks"][0]: other}
        self.X, self.O = (Seat(home[mark].client(secrets[mark]), self.game) for mark in ("X", "O"))
        self.seats = {"X": self.X, "O": self.O}

    @property
    def now(self) -> Any:
        return self.watcher.read(self.game)

    @property
    def room(self) -> Any:
        return self.now["room"]

    def play(self, *cells: int) -> Answer:
        """Make moves for both players in turn; return the last answer."""
        answer = None
        for cell in cells:
            now = self.now
            answer = self.seats[now["active"]].move(cell, now["version"])
            assert answer.status == 200, answer.body
        assert answer
        return answer

    def close(self) -> None:
        for client in (self.X.client, self.O.client, self.watcher):
            client.close()


@contextmanager
def two_players(
    server: Server, other: Server | None = None, kind: str = "friend", **more: object
) -> Iterator[Match]:
    """Yield a game that Ann has created and Bob has joined, maybe at another server."""
    match = Match(server, other or server, kind, **more)
    try:
        yield match
    finally:
        match.close()


@contextmanager
def one_player(server: Server, kind: str, **more: object) -> Iterator[Seat]:
    """Yield the seat of a new game; it is both seats if the opponent is `self`."""
    with server.client() as client:
        seat = client.create(kind, **more)
        client.secret = seat["secrets"][seat["marks"][0]]
        if kind == "self":
            client.cookies = {
                (f"/api/v1/games/{seat['id']}", mark): secret for mark, secret in seat["secrets"].items()
            }
            client.secret = None
        yield Seat(client, seat["id"], invite=seat["invite"])


def check_events(stream: Stream, events: list[Any], after: int = 0) -> None:
    """Wait for the last of a game's events; check that those after a version came once, in order.

    Each position is that of the events before it.
    """
    stream.wait(lambda now: now.positions and now.positions[-1]["version"] == len(events))
    assert [message.data for message in stream.events] == events[after:]
    versions = [str(version) for version in range(after + 1, len(events) + 1)]
    assert [message.id for message in stream.events] == versions
    seen = after
    for message in stream.messages:
        seen = int(message.id or seen)
        if message.event == "position":
            assert message.data == position(events[:seen])


def position(events: list[Any]) -> dict[str, object]:
    """Return what a stream says of the game after these events."""
    game = fold(map(decode, events))
    assert game
    return position_of(game, len(events))


def position_of(game: Game, version: int) -> dict[str, object]:
    return {
        "version": version,
        "first": game.board.first.value,
        "moves": [*game.moves],
        "winner": game.winner and game.winner.value,
        "resigned": game.resigned and game.resigned.value,
        "over": game.is_over,
    }
