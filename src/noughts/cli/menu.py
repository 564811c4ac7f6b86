"""The first question of `noughts` without arguments: whom to play."""

from __future__ import annotations

from argparse import Namespace
from contextlib import suppress

from noughts.bots.registry import BOT, LEVELS, level_of
from noughts.cli.console import Console
from noughts.cli.input import UnreadableLine
from noughts.cli.prompt import Prompt
from noughts.cli.question import Question
from noughts.cli.settings import DEFAULT_LEVEL, change_settings
from noughts.core.errors import printable
from noughts.core.value import Value
from noughts.store.errors import NoSuchGame, StoreError
from noughts.text.catalogue import ENGLISH

_LINES = Namespace(wording="kata", color="auto", describe=False)


class Choice(Value):
    """A line of the menu, and the arguments of the command that it means."""

    text: str
    arguments: tuple[str, ...]


def ask(console: Console) -> tuple[str, ...]:
    """Ask whom to play, and return the arguments of the command for it; raise `Quit` if nobody."""
    known = console.settings.level
    level = known if known in LEVELS else DEFAULT_LEVEL
    choices = _choices(level)
    with console.line_screen(_LINES) as (screen, typed), Prompt(screen, typed) as prompt:
        screen.say(ENGLISH.say("menu.title"))
        for number, choice in enumerate(choices, 1):
            screen.say(ENGLISH.say("menu.choice", number=number, choice=choice.text))
        while True:
            prompt.ask(Question(ENGLISH.say("menu.ask")), below_board=False)
            with suppress(UnreadableLine):
                words = prompt.read_words()
                if chosen := _pick(words or "1", choices):
                    return chosen
            screen.say(ENGLISH.say("menu.help", last=len(choices)))


def _choices(level: str) -> list[Choice]:
    found = [
        Choice(ENGLISH.say("menu.computer", level=level), _against(level)),
        Choice(ENGLISH.say("menu.friend"), ("play",)),
    ]
    with suppress(StoreError, NoSuchGame):  # there is nothing to go on with
        found += _left_game()
    return [*found, Choice(ENGLISH.say("menu.watch"), ("watch", "--x", "bot:club", "--o", "bot:casual"))]


def _left_game() -> list[Choice]:
    """Return the choice to go on with the game that was played last."""
    from noughts.cli.commands.games import last_left  # noqa: PLC0415 - only if somebody is asked
    from noughts.cli.recorder import open_saved  # noqa: PLC0415 - as above
    from noughts.service import Service  # noqa: PLC0415 - as above

    with open_saved(None) as store:
        game_id = last_left(store)
        game = Service(store).look(game_id).game
    players = " and ".join(level_of(player.name) or printable(player.name) for player in game.players)
    key = "menu.resume_players" if players else "menu.resume"
    return [Choice(ENGLISH.say(key, players=players, move=len(game.moves) + 1), ("resume", game_id))]


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
