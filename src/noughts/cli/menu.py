"""The first question of `noughts` without arguments: whom to play."""

from __future__ import annotations

from contextlib import suppress

from noughts.bots.registry import BOT, LEVELS, level_of, prefix
from noughts.cli.console import Console
from noughts.cli.input import UnreadableLine
from noughts.cli.layout import say
from noughts.cli.prompt import Quit
from noughts.cli.question import Question
from noughts.cli.screen import Screen
from noughts.cli.settings import DEFAULT_LEVEL, change_settings
from noughts.core.value import Value
from noughts.store.errors import NoSuchGame, StoreError
from noughts.text.catalogue import ENGLISH
from noughts.text.describe import shown_name
from noughts.text.speaker import Speaker

MENU_INDENT = 3
"""Of the second row of a choice, below the first one's words."""


class Choice(Value):
    """A line of the menu, and the arguments of the command that it means."""

    text: str
    short: str
    """For a small window."""
    arguments: tuple[str, ...]


def ask(console: Console) -> tuple[str, ...]:
    """Ask whom to play, and return the arguments of the command for it; raise `Quit` if nobody."""
    known = console.settings.level
    level = known if known in LEVELS else DEFAULT_LEVEL
    choices = _choices(level)
    with console.prompt() as prompt:
        screen = prompt.screen
        _show(choices, screen)
        while True:
            prompt.ask(Question(ENGLISH.say("menu.ask")), below_board=False)
            try:
                words = prompt.read_words()
                if chosen := _pick(words or "1", choices):
                    return chosen
            except UnreadableLine:
                pass
            except Quit:
                screen.say(ENGLISH.say("game.goodbye"))
                raise
            screen.say(ENGLISH.say("menu.help", last=len(choices)))


def _show(choices: list[Choice], screen: Screen) -> None:
    """Write the title and the choices, in a small window two in a line."""
    screen.say(ENGLISH.say("menu.title"))
    if screen.compact:
        shown = [f"{number} {choice.short}" for number, choice in enumerate(choices, 1)]
        for first in range(0, len(shown), 2):
            screen.say(" ".join(shown[first : first + 2]))
    else:
        for number, choice in enumerate(choices, 1):
            line = ENGLISH.say("menu.choice", number=number, choice=choice.text)
            say(line, screen.out, indent=MENU_INDENT)


def _choices(level: str) -> list[Choice]:
    found = [
        _choice("menu.computer", "menu.computer_short", *_against(level), level=level),
        _choice("menu.friend", "menu.friend_short", "play"),
    ]
    with suppress(StoreError, NoSuchGame):  # there is nothing to go on with
        found += _left_game()
    watch = "watch", "--x", "bot:club", "--o", "bot:casual"
    return [*found, _choice("menu.watch", "menu.watch_short", *watch)]


def _choice(key: str, short_key: str, *arguments: str, **values: object) -> Choice:
    return Choice(ENGLISH.say(key, **values), ENGLISH.say(short_key), arguments)


def _left_game() -> list[Choice]:
    """Return the choice to go on with the game that was played last."""
    from noughts.cli.commands.games import last_left  # noqa: PLC0415 - only if somebody is asked
    from noughts.cli.recorder import open_saved  # noqa: PLC0415 - as above
    from noughts.service import Service  # noqa: PLC0415 - as above

    with open_saved(None) as store:
        game_id = last_left(store)
        game = Service(store).look(game_id).game
    names = [level_of(player.name) or shown_name(player) for player in game.players]
    bots = [name for name, player in zip(names, game.players, strict=True) if prefix(player.name)]
    key = "menu.resume_against" if len(bots) == 1 else "menu.resume_players" if names else "menu.resume"
    who = {"player": "".join(bots), "players": Speaker().join(names)}
    return [_choice(key, "menu.resume_short", "resume", game_id, **who, move=len(game.moves) + 1)]


def _pick(words: str, choices: list[Choice]) -> tuple[str, ...]:
    """Return the arguments for an answer: a number, or 1 with the first letter of a level."""
    if words in map(str, range(1, len(choices) + 1)):
        return choices[int(words) - 1].arguments
    for level in LEVELS:
        if words in (f"1{level[0].lower()}", level.lower()):
            change_settings(level=level)
            return _against(level)
    return ()


def _against(level: str) -> tuple[str, ...]:
    return "play", "--o", f"{BOT}{LEVELS[level]}"
