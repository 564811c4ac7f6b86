"""`noughts replay`: show a saved game, step by step with keys or by itself."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable

from noughts.cli import options as shared
from noughts.cli.commands.watch import Pause
from noughts.cli.console import Console
from noughts.cli.input import Keys
from noughts.cli.recorder import look_up
from noughts.cli.screen import Screen
from noughts.core.events import Event, PlayerPlacedToken, PlayerResigned, PlayerTookBack
from noughts.core.game import Game, evolve
from noughts.core.value import Value

_NEXT = (" ", "\r", "\n", "n", "l", "j", "\x1b[C", "\x1b[B", "\x1bOC", "\x1bOB")
_BACK = ("b", "p", "h", "k", "\x7f", "\x1b[D", "\x1b[A", "\x1bOD", "\x1bOA")
_QUIT = ("q", "\x04", "\x1b", "")


HELP = shared.CommandHelp(
    "Show a saved game move by move: with keys on a terminal, otherwise by itself.",
    {
        "noughts replay k7": "the game whose id begins with k7",
        "noughts replay k7 --interval 0.5 --describe": "by itself, in sentences",
    },
)


def add_options(parser: shared.Parser) -> None:
    shared.add_game(parser)
    shared.add_interval(parser, None)
    shared.add_display(parser, "narrative")
    shared.add_store(parser)


def run(options: Namespace, console: Console) -> None:
    screen = console.screen(options)
    found = steps(look_up(options.game, options.store).events, screen)
    if options.interval is None and screen.interactive:
        with Keys(sys.stdin.fileno(), console.poller) as keys:
            _step_through(screen, found, keys)
        return
    pause = Pause(options.interval or 0, console.poller.sleep)
    for step in found:
        pause()
        _show(screen, step)


class Step(Value):
    """A position of a game, and the line that says what led to it."""

    line: str
    game: Game


def steps(events: Iterable[Event], screen: Screen) -> list[Step]:
    """Return the positions of a game, from the empty board on."""
    found: list[Step] = []
    game = None
    for event in events:
        game = evolve(game, event)
        match event:
            case PlayerPlacedToken(mark=mark):
                key = "game.moves"
            case PlayerTookBack(mark):
                key = "game.took_back"
            case PlayerResigned(mark):
                key = "game.resigned"
            case _:  # the same position, with more known about it: who plays, or how it ended
                found[-1:] = [Step(found[-1].line if found else "", game)]
                continue
        found.append(Step(screen.wording.say(key, player=screen.name(game, mark)), game))
    return found


def _step_through(screen: Screen, found: list[Step], keys: Keys) -> None:
    at, shown = 0, None
    while True:
        if at != shown:
            _show(screen, found[at])
            shown = at
        key = "replay.step_short" if screen.compact else "replay.step"
        screen.ask(screen.wording.say(key, step=at, steps=len(found) - 1))
        pressed = keys.read()
        screen.end_line()
        if pressed in _QUIT:
            return
        at = min(max(at + (pressed in _NEXT) - (pressed in _BACK), 0), len(found) - 1)


def _show(screen: Screen, step: Step) -> None:
    if step.line:
        screen.say(step.line)
    screen.show(step.game)
