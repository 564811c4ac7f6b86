"""How a game in one terminal begins: who plays, who starts, and the commands that seat the players."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from random import Random
from typing import Protocol

from noughts.bots.errors import Forfeit, PolicyError
from noughts.bots.registry import parse_player
from noughts.cli.console import Console
from noughts.cli.screen import Screen
from noughts.core.board import Board, Cell, Mark
from noughts.core.errors import JOINERS, InvalidName, printable
from noughts.core.events import Event
from noughts.core.game import Command, CreateGame, Game, JoinGame, decide, fold, replay
from noughts.core.player import MAX_NAME_CHARACTERS, Player, is_same_name, name_key
from noughts.core.value import Value
from noughts.text.catalogue import Catalogue
from noughts.text.wordings import WORDINGS, Starter

ELLIPSIS = "…"


class Opponent(Protocol):
    """A player that needs no keyboard."""

    name: str

    def start_game(self) -> None: ...

    def choose(self, board: Board) -> Cell | None:
        """Return the cell to take, or None to resign; raise `Forfeit` or `PolicyError` if it cannot."""

    def finish_game(self, game: Game, mark: Mark, wording: Catalogue) -> str | None:
        """Learn from the game; return a message about it, if any."""


class Seating(Value):
    """The bots and programs of a game, and how to seat another one."""

    opponents: dict[Mark, Opponent]
    seat: Callable[[str], Opponent | None]


EMPTY_SEATING = Seating({}, lambda _: None)


@contextmanager
def seat_opponents(
    seats: Mapping[Mark, str | None], options: Namespace, console: Console, rng: Random, *, saves: bool
) -> Iterator[Seating]:
    """Return the bots and programs among the players; programs end with the `with` block."""
    if not any(seat and parse_player(seat)[0] for seat in seats.values()):
        yield EMPTY_SEATING
        return
    from noughts.cli.opponents import Opponents  # noqa: PLC0415 - bots are loaded only if one plays

    with Opponents(rng, console.poller.wait, options.patience, saves=saves) as opponents:
        found = {mark: opponents.seat(seat) for mark, seat in seats.items() if seat}
        yield Seating({mark: one for mark, one in found.items() if one}, opponents.seat)


def choose(opponent: Opponent, game: Game, screen: Screen) -> Cell | None:
    """Let a bot or a program choose; None if it resigns, or forfeits the game by anything else."""
    try:
        return opponent.choose(game.board)
    except (Forfeit, PolicyError) as forfeit:
        name, why = screen.name(game, game.board.turn), printable(str(forfeit))
        screen.say_forfeit(screen.wording.say("game.forfeits", player=name, why=why))
        return None


def name_players(options: Namespace, opponents: Mapping[Mark, Opponent]) -> tuple[Player, ...]:
    """Return the players that have names; two bots with one name get their marks added to it."""
    names = {Mark.X: options.x, Mark.O: options.o}
    names |= {mark: fit_name(opponent.name) for mark, opponent in opponents.items()}
    if len(opponents) == 2 and name_key(names[Mark.X]) == name_key(names[Mark.O]):
        names = {mark: fit_name(name, f" ({mark})") for mark, name in names.items()}
    players = [Player(name, mark) for mark, name in names.items() if name is not None]
    game = new_game(Mark.X, players, are_entered=True)
    wording = WORDINGS[options.wording or options.usual_wording]
    for player in game.players:
        other = player.mark.other
        taken = (str(other), *(wording.say(key, mark=other) for key in ("game.player", "game.winner")))
        if any(is_same_name(player.name, name) for name in taken):
            raise InvalidName(f"the players need different names, and '{player.name}' means {other}")
    return game.players


def fit_name(name: str, suffix: str = "") -> str:
    """Shorten a name to the length that is allowed."""
    room = MAX_NAME_CHARACTERS - len(suffix)
    cut = name[: room - 1].rstrip(JOINERS) + ELLIPSIS  # a joiner at the end would join nothing
    return f"{name if len(name) <= room else cut}{suffix}"


class Starters(Value):
    """Picks who starts each game by a rule: X, O, random, or the loser of the game before."""

    rule: Starter
    rng: Random

    def pick(self, before: Game | None, *, have_swapped: bool = False) -> Mark:
        """Return the mark that starts; for `loser`, X at first, and the other player after a draw."""
        if self.rule == "random":
            return self.rng.choice(list(Mark))
        if self.rule != "loser":
            return Mark(self.rule)
        if before is None:
            return Mark.X
        first = before.winner.other if before.winner else before.board.first.other
        return first.other if have_swapped else first

    def announcement(self, screen: Screen, game: Game) -> str | None:
        """Return the line that names a starter who was picked at random."""
        if self.rule != "random":
            return None
        name = screen.name(game, game.board.first)
        return screen.wording.say("game.starts_at_random", player=name)


def new_game(first: Mark, players: Sequence[Player], *, are_entered: bool = False) -> Game:
    """Create a game, and seat the players that have names; names that are entered are checked."""
    return replay(opening_events(first, players, are_entered=are_entered))


def opening_events(first: Mark, players: Sequence[Player], *, are_entered: bool = False) -> list[Event]:
    events: list[Event] = []
    for command in opening(first, players, are_entered=are_entered):
        events += decide(fold(events), command)
    return events


def opening(first: Mark, players: Sequence[Player], *, are_entered: bool = False) -> list[Command]:
    """Return the commands that start a game; it is ready when all names are known."""
    joins = [
        JoinGame(player.mark, player.name, last=player is players[-1], is_entered=are_entered)
        for player in players
    ]
    return [CreateGame(first, open_seats=bool(joins)), *joins]
