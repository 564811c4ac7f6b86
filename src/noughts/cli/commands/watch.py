"""Games to look on at: two bots that leave it to chance, or others, or programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from random import Random

from noughts.bots.bot import random_cell
from noughts.bots.errors import Forfeit, PolicyError
from noughts.cli.opening import Starters, opening_events
from noughts.cli.opponents import Sitter
from noughts.cli.screen import Screen
from noughts.core.board import Board, Cell, Mark
from noughts.core.errors import printable
from noughts.core.game import Game, PlaceToken, Resign, decide, fold, replay
from noughts.core.player import Player


class Chance:
    """Who sits where nobody else was called to: it moves at random, and loads nothing for that."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def begin(self) -> None:
        """Be ready for any game."""

    def choose(self, board: Board) -> Cell:
        """Leave it to chance."""
        return random_cell(board, self._rng)


class Pause:
    """A rest between two moves, and none before the first."""

    def __init__(self, seconds: float, sleep: Callable[[float], None]) -> None:
        self._seconds = seconds
        self._sleep = sleep
        self._rested = True

    def __call__(self) -> None:
        """Rest, unless this is the first call."""
        if not self._rested:
            self._sleep(self._seconds)
        self._rested = False


def watch(
    screen: Screen,
    players: Iterable[Player],
    starters: Starters,
    sitters: Mapping[Mark, Sitter | Chance],
    pause: Pause,
    games: int | None = None,
) -> None:
    """Let two bots play a game, or so many and their tally, telling every move."""
    seated = tuple(players)
    ends = dict.fromkeys((Mark.X, Mark.O, None), 0)
    before = None
    for _ in range(games or 1):
        opened = opening_events(starters.pick(before), seated)
        game = replay(opened)
        if line := starters.announcement(screen, game):
            screen.say(line)
        screen.log(opened)
        for sitter in sitters.values():
            sitter.begin()
        while mark := game.active:
            pause()
            game = _let_move(screen, game, sitters[mark])
        ends[game.winner] += 1
        before = game
    if games is not None and before is not None:
        screen.say(f"Tally: {screen.points(before, ends)}")


def _let_move(screen: Screen, game: Game, sitter: Sitter | Chance) -> Game:
    """Let a bot or a program move; one that does anything else has lost."""
    who = screen.name(game, game.board.turn)
    try:
        cell = sitter.choose(game.board)
    except (Forfeit, PolicyError) as forfeit:
        screen.say(f"{who} forfeits: {printable(str(forfeit))}.")
        cell = None
    if cell is not None:
        return show_move(screen, game, cell)
    events = decide(game, Resign(game.board.turn))
    after = fold(events, game)
    screen.log(events)
    screen.say(screen.wording.resigned.format(player=who))
    screen.show(after)
    return after


def show_move(screen: Screen, game: Game, cell: Cell) -> Game:
    """Place the next token, and tell who moved and where that leads."""
    mark = game.board.turn
    events = decide(game, PlaceToken(mark, cell))
    after = fold(events, game)
    screen.log(events)
    screen.say(screen.wording.moves.format(player=screen.name(game, mark)))
    screen.show(after)
    return after
