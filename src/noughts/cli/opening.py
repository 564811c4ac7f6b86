"""How a game on one screen begins: who starts, and the commands that seat the players."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from noughts.cli.screen import Screen
from noughts.core.board import Mark
from noughts.core.events import Event
from noughts.core.game import Command, CreateGame, Game, JoinGame, decide, fold, replay
from noughts.core.player import Player
from noughts.core.value import Value
from noughts.text.wordings import Starter


class Starters(Value):
    """Picks who starts each game by a rule: X, O, random, or the loser of the game before."""

    rule: Starter
    rng: Random

    def pick(self, before: Game | None) -> Mark:
        """Return the mark that starts; the loser's rule takes X first, and the other after a draw."""
        if self.rule == "random":
            return self.rng.choice(list(Mark))
        if self.rule != "loser":
            return Mark(self.rule)
        if before is None:
            return Mark.X
        return before.winner.other if before.winner else before.board.first.other

    def announcement(self, screen: Screen, game: Game) -> str | None:
        """Return the line that names a starter who was picked at random."""
        if self.rule != "random":
            return None
        return screen.wording.drawn_by_lot.format(player=screen.name(game, game.board.first))


def new_game(first: Mark, players: Iterable[Player], *, are_entered: bool = False) -> Game:
    """Create a game on one screen, and seat those who have names; names that are entered are checked."""
    return replay(_led_to(opening(first, players, are_entered=are_entered)))


def opening_events(first: Mark, players: Iterable[Player]) -> list[Event]:
    """Return the events that a game on one screen starts with."""
    return _led_to(opening(first, players))


def opening(first: Mark, players: Iterable[Player], *, are_entered: bool = False) -> list[Command]:
    """Return the commands that start a game on one screen: it is ready when all names are known."""
    seated = tuple(players)
    joins = [
        JoinGame(player.mark, player.name, last=player is seated[-1], is_entered=are_entered)
        for player in seated
    ]
    return [CreateGame(first, open_seats=bool(joins)), *joins]


def _led_to(commands: Iterable[Command]) -> list[Event]:
    events: list[Event] = []
    for command in commands:
        events += decide(fold(events), command)
    return events
