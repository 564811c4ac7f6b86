"""A game that is told by a server, event by event: what is seen of it is always whole."""

from __future__ import annotations

from noughts.cli.remote.client import Garbled
from noughts.core.board import Mark
from noughts.core.errors import RecordError
from noughts.core.events import Event, GameCompleted, GameReady, PlayerActive, PlayerJoined
from noughts.core.game import Game, evolve

_MOST_AT_ONCE = 5
"""How many events a command leads to: a token that wins is told in five."""


class Following:
    """The game as it was told so far."""

    def __init__(self, version: int, game: Game) -> None:
        self.version = version
        self.game = game
        """The game when a command was last told to its end."""
        self._coming = game
        self._begun: list[Event] = []

    def take(self, version: int, event: Event) -> list[Event]:
        """Take up the next event; return all that a command led to, once it is told to its end.

        What is known already is passed over: the same event comes with an answer and by the stream.
        """
        if version <= self.version:
            return []
        if version != self.version + 1:
            raise Garbled("the server leaves out a part of the game")
        try:
            self._coming = evolve(self._coming, event)
        except RecordError as error:
            raise Garbled(f"the server tells a game that cannot be: {error}") from error
        self.version = version
        self._begun.append(event)
        if not self._is_last(event) and len(self._begun) < _MOST_AT_ONCE:
            return []
        if not _is_sound(self._coming):
            raise Garbled(f"the server tells a game that cannot be: {event} does not belong there")
        self.game = self._coming
        told, self._begun = self._begun, []
        return told

    def _is_last(self, event: Event) -> bool:
        """Tell whether an event stands at the end of all that one command leads to."""
        if isinstance(event, PlayerJoined):  # the second who joins makes the game ready
            return self._coming.is_ready or len(self._coming.players) < len(Mark)
        return isinstance(event, PlayerActive | GameCompleted | GameReady)


def _is_sound(game: Game) -> bool:
    """Tell whether a game ended the way its board and its players say, and has one player a seat."""
    marks = [player.mark for player in game.players]
    winner = game.resigned.other if game.resigned else game.board.winner
    is_over = game.board.is_over or game.resigned is not None
    return (game.is_over, game.winner) == (is_over, winner) and len(marks) == len({*marks} & {*Mark})
