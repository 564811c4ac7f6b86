"""`noughts replay`: show a saved game, step by step with keys or by itself."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from contextlib import suppress
from typing import Never

from noughts.cli import options as shared
from noughts.cli.commands.watch import Pause
from noughts.cli.console import Console
from noughts.cli.input import UnreadableLine
from noughts.cli.prompt import Prompt, Quit
from noughts.cli.question import LAST_STEP_ACTIONS, NEXT, STEP_ACTIONS, WATCH_ACTIONS, Question
from noughts.cli.recorder import look_up
from noughts.cli.screen import Screen
from noughts.core.events import Event, PlayerPlacedToken, PlayerResigned, PlayerTookBack
from noughts.core.game import Game, evolve
from noughts.core.value import Value

_NEXT, _BACK = ("", "n", "next"), ("b", "back")


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
    shared.add_live(parser)
    shared.add_display(parser, "narrative")
    shared.add_store(parser)


def run(options: Namespace, console: Console) -> None:
    events = look_up(options.game, options.store).events
    with console.game_screen(options) as (screen, typed):
        with suppress(Quit), Prompt(screen, typed) as prompt:
            found = steps(events, screen)
            screen.show_heading(found[-1].game, {})
            if options.interval is None and screen.interactive:
                _step_through(prompt, found)
            screen.ask_meanwhile(Question("", WATCH_ACTIONS))
            pause = Pause(options.interval or 0, screen, typed)
            for step in found:
                pause()
                screen.show_step(step.line, step.game)
        screen.close()


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


def _step_through(prompt: Prompt, found: list[Step]) -> Never:
    """Show the step that is asked for, until `Quit`."""
    at, shown = 0, None
    while True:
        if at != shown:
            prompt.screen.show_step(found[at].line, found[at].game)
            shown = at
        name = "step_short" if prompt.screen.compact else "step"
        text = prompt.screen.text(name, step=at, steps=len(found) - 1)
        actions = STEP_ACTIONS if found[at + 1 :] else LAST_STEP_ACTIONS
        prompt.ask(Question(text, actions, default=NEXT.word), below_board=False)
        try:
            words = prompt.read_words()
        except UnreadableLine:
            continue
        at = min(max(at + (words in _NEXT) - (words in _BACK), 0), len(found) - 1)
