"""Games to look on at: two bots that leave it to chance."""

from __future__ import annotations

from noughts.core.board import Mark
from noughts.core.game import PlaceToken, decide, fold
from noughts.players.chance import random_cell
from noughts.terminal.table import new_game

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from random import Random

    from noughts.core.board import Cell
    from noughts.core.game import Game
    from noughts.core.player import Player
    from noughts.terminal.screen import Screen


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
    starters: Iterable[Mark],
    rng: Random,
    pause: Pause,
    *,
    with_tally: bool = False,
) -> None:
    """Let two bots play a game for each starter, telling every move."""
    seated = tuple(players)
    ends = dict.fromkeys((Mark.X, Mark.O, None), 0)
    game = new_game(Mark.X, seated)
    for first in starters:
        game = new_game(first, seated)
        while game.active:
            pause()
            game = show_move(screen, game, random_cell(game.board, rng))
        ends[game.winner] += 1
    if with_tally:
        screen.say(f"Tally: {screen.points(game, ends)}")


def show_move(screen: Screen, game: Game, cell: Cell) -> Game:
    """Place the next token, and tell who moved and where that leads."""
    mark = game.board.turn
    after = fold(decide(game, PlaceToken(mark, cell)), game)
    screen.say(screen.wording.moves.format(player=screen.name(game, mark)))
    screen.show(after)
    return after
