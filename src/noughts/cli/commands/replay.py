"""A saved game told again: step by step with keys, or by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from noughts.cli.keys import Keys
from noughts.cli.screen import Screen
from noughts.core.events import Event, PlayerPlacedToken, PlayerResigned, PlayerTookBack
from noughts.core.game import Game, evolve
from noughts.core.value import Value

KEYS = "space: on, b: back, q: leave"

_ON = (" ", "\r", "\n", "n", "l", "j", "\x1b[C", "\x1b[B", "\x1bOC", "\x1bOB")
_BACK = ("b", "p", "h", "k", "\x7f", "\x1b[D", "\x1b[A", "\x1bOD", "\x1bOA")
_LEAVE = ("q", "\x04", "\x1b", "")


class Step(Value):
    """A position of a game, and what led to it."""

    told: str
    game: Game


def steps(events: Iterable[Event], screen: Screen) -> list[Step]:
    """Return the positions that a game came to, from the empty board on."""
    found: list[Step] = []
    game = None
    for event in events:
        game = evolve(game, event)
        match event:
            case PlayerPlacedToken(mark=mark):
                told = screen.wording.moves.format(player=screen.name(game, mark))
            case PlayerTookBack(mark):
                told = screen.wording.took_back.format(player=screen.name(game, mark))
            case PlayerResigned(mark):
                told = screen.wording.resigned.format(player=screen.name(game, mark))
            case _:
                # The same position still, of which more is known now: who sits there, or how it ended.
                if found:
                    found[-1] = Step(found[-1].told, game)
                else:
                    found.append(Step("", game))
                continue
        found.append(Step(told, game))
    return found


def tell(screen: Screen, told: Iterable[Step], pause: Callable[[], None]) -> None:
    """Tell a game from its first move to its end, resting in between."""
    for step in told:
        pause()
        _show(screen, step)


def step_through(screen: Screen, told: list[Step], keys: Keys) -> None:
    """Show a game at its start, and go where the keys lead."""
    at, shown = 0, None
    while True:
        if at != shown:
            _show(screen, told[at])
            shown = at
        screen.ask(f"{at}/{len(told) - 1} ({KEYS})" if not screen.compact else f"{at}/{len(told) - 1}")
        key = keys.read()
        screen.end_line()
        if key in _LEAVE:
            return
        at = min(max(at + (key in _ON) - (key in _BACK), 0), len(told) - 1)


def _show(screen: Screen, step: Step) -> None:
    if step.told:
        screen.say(step.told)
    screen.show(step.game)
