"""`noughts watch`: games between bots or programs; by default, both move at random."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from random import Random
from typing import TextIO

from noughts.cli import options as shared
from noughts.cli.console import Console
from noughts.cli.input import LineSource
from noughts.cli.opening import Opponent, Starters, choose, name_players, opening_events, seat_opponents
from noughts.cli.prompt import Quit
from noughts.cli.question import QUIT, WATCH_ACTIONS, Question
from noughts.cli.screen import Display, Screen
from noughts.core.board import Board, Cell, Mark
from noughts.core.game import Command, Game, PlaceToken, Resign, decide, fold, replay
from noughts.core.player import Player
from noughts.text.catalogue import Catalogue
from noughts.text.wordings import WORDINGS

HELP = shared.CommandHelp(
    "Watch two bots or programs play; a seat without one moves at random.",
    {
        "noughts watch --x bot:novice --o bot:expert --interval 0.2": "two bots, five moves a second",
        "noughts watch --games 10 --interval 0": "ten games without a pause, and the tally",
    },
)


def add_options(parser: shared.Parser) -> None:
    shared.add_seats(parser, "a name for a bot that moves at random, ")
    shared.add_interval(parser, 2)
    shared.add_seed(parser, "plays the same game")
    parser.add_argument(
        "--games",
        type=shared.count,
        metavar="N",
        help="play N games, and show the tally (default: one, without)",
    )
    shown = parser.add_mutually_exclusive_group()
    shared.add_events(shown)
    shown.add_argument("--json", action="store_true", help="print only the tally, as JSON, no pauses")
    shared.add_live(parser)
    shared.add_display(parser, "narrative")


def run(options: Namespace, console: Console) -> None:
    rng, seats = console.rng(options.seed), {Mark.X: options.x, Mark.O: options.o}
    with (
        seat_opponents(seats, options, console, rng, saves=False) as seating,
        _unseen(options, console) if options.json else console.game_screen(options) as (screen, typed),
    ):
        players = name_players(options, seating.opponents)
        starters = Starters(options.first or screen.wording.starter, rng)
        everybody = dict.fromkeys(Mark, RandomOpponent(rng)) | seating.opponents
        screen.ask_meanwhile(Question("", WATCH_ACTIONS))
        pause = Pause(0 if options.json else options.interval, screen, typed)
        try:
            results = watch(screen, players, starters, everybody, pause, options.games)
            if options.json:
                import json  # noqa: PLC0415 - most games are watched

                console.out.write(f"{json.dumps(_to_dict(players, results))}\n")
            screen.close()
        except Quit:
            screen.close().say(screen.wording.say("game.goodbye"))


@contextmanager
def _unseen(options: Namespace, console: Console) -> Iterator[tuple[Screen, None]]:
    """Return a screen that nobody sees, and no keyboard."""
    display = Display(WORDINGS[options.wording or options.usual_wording])
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123 - not a path of ours
        yield UnseenScreen(nowhere, display, console.err), None


class UnseenScreen(Screen):
    """Shows nothing; forfeits are reported as errors."""

    def __init__(self, out: TextIO, display: Display, err: TextIO | None) -> None:
        super().__init__(out, display)
        self._err = err

    def say_forfeit(self, line: str) -> None:
        if self._err:
            self._err.write(f"noughts: {line}\n")


class RandomOpponent:
    """Moves at random; unlike `bot:random`, it needs no policies to be loaded."""

    name = "random"

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def start_game(self) -> None: ...

    def choose(self, board: Board) -> Cell:
        return board.free_cells[self._rng.randrange(len(board.free_cells))]

    def finish_game(self, _game: Game, _mark: Mark, _wording: Catalogue) -> str | None:
        return None


class Pause:
    """A pause between two moves, and none before the first."""

    def __init__(self, seconds: float, screen: Screen, typed: LineSource | None = None) -> None:
        self._seconds = seconds
        self._screen = screen
        self._typed = typed
        self._is_first = True

    def __call__(self) -> None:
        """Wait; raise `Quit` if that was pressed meanwhile."""
        if not self._is_first:
            self._screen.pause(self._seconds)
        self._is_first = False
        if self._typed and self._typed.next_line() == QUIT.word:
            raise Quit


def watch(
    screen: Screen,
    players: Sequence[Player],
    starters: Starters,
    opponents: Mapping[Mark, Opponent],
    pause: Pause,
    games: int | None = None,
) -> dict[Mark | None, int]:
    """Play one game, or several and their tally, show every move, and return how often each won."""
    results = dict.fromkeys((Mark.X, Mark.O, None), 0)
    before = None
    for _ in range(games or 1):
        opened = opening_events(starters.pick(before), players)
        game = replay(opened)
        if line := starters.announcement(screen, game):
            screen.say(line)
        screen.log(opened)
        screen.show_heading(game, results)
        for opponent in opponents.values():
            opponent.start_game()
        while mark := game.active:
            pause()
            cell = choose(opponents[mark], game, screen)
            if cell is None:
                game = _show(screen, game, Resign(mark), "game.resigned")
            else:
                game = show_move(screen, game, cell)
        results[game.winner] += 1
        before = game
    if games is not None and before is not None:
        screen.say(screen.wording.say("game.tally", points=screen.points(before, results)))
    return results


def _to_dict(players: Sequence[Player], results: Mapping[Mark | None, int]) -> dict[str, object]:
    names = {player.mark: player.name for player in players}
    return {
        "players": {str(mark): names.get(mark) for mark in Mark},
        "games": sum(results.values()),
        "x_wins": results[Mark.X],
        "draw": results[None],
        "o_wins": results[Mark.O],
    }


def show_move(screen: Screen, game: Game, cell: Cell) -> Game:
    """Place the next token, and show the game after it."""
    return _show(screen, game, PlaceToken(game.board.turn, cell), "game.moves")


def _show(screen: Screen, game: Game, command: Command, key: str) -> Game:
    events = decide(game, command)
    after = fold(events, game)
    screen.log(events)
    screen.show_step(screen.wording.say(key, player=screen.name(game, game.board.turn)), after)
    return after
