"""`noughts bots`: every bot in plain words, with its exact strength."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from fractions import Fraction
from typing import TextIO

from noughts.bots.menace.machine import Menace
from noughts.bots.odds import odds, percent
from noughts.bots.policy import CachedPolicy, Policy
from noughts.bots.registry import BOT, BUILT_IN, LEVELS, built_in_parameters, find_policy, policy_names
from noughts.cli import options as shared
from noughts.cli.commands.odds import load_checked
from noughts.cli.console import Console
from noughts.cli.layout import window_columns
from noughts.cli.opponents import MENACE, count_games, load_bot
from noughts.core.board import Mark
from noughts.core.value import Value
from noughts.text.columns import display_width, shorten, wrap

RIVALS = "random", "perfect"
"""The bots whose play every bot is measured against."""
MAX_NAME_COLUMNS = 40
MAX_TEXT_COLUMNS = 78

NOTES = """
Scores are exact, against random and against perfect, over both seats; a win counts 1, a draw 1/2.

  noughts play --o bot:club              play against one
  noughts play --o bot:club:block=1/3    let it overlook every third block;
                                         also win, fork, defence and centre
  noughts certify club                   what is certain about it
  noughts odds club expert               the odds of one against another

A bot in a file is bot:saved:file=PATH, and a program is program:COMMAND."""

HELP = shared.CommandHelp(
    "List the bots in plain words: their level, their exact strength, and how to name them.",
    {
        "noughts bots": "all of them, also those of other packages",
        "noughts bots --json": "the same as data, with exact fractions",
    },
    shared.DATA_FOLDER,
)


def add_options(parser: shared.Parser) -> None:
    shared.add_json(parser)


def run(options: Namespace, console: Console) -> None:
    sys.set_int_max_str_digits(0)  # exact fractions can be long
    rivals = {name: CachedPolicy(find_policy(name)) for name in RIVALS}
    bots = []
    for name in policy_names():
        if policy := load_checked(name, may_skip=True):
            scores = {rival: _score(policy, other) for rival, other in rivals.items()}
            bots.append(ListedBot(name, _description(name), scores))
    if options.json:
        console.out.write(f"{json.dumps([_to_dict(bot) for bot in bots])}\n")
    else:
        _write(bots, console.out)


class ListedBot(Value):
    """A bot, and what it scores against each rival over both seats."""

    name: str
    description: str
    scores: dict[str, Fraction]

    @property
    def level(self) -> str | None:
        """The name by which a player chooses it, if it has one."""
        return next((level for level, name in LEVELS.items() if name == self.name), None)


def _description(name: str) -> str:
    machine = load_bot(name) if name == MENACE else None
    if isinstance(machine, Menace) and machine.games:
        games = count_games(machine.games)
        return f"Michie's learning machine of matchboxes; yours has learned from {games}."
    return BUILT_IN[name].description if name in BUILT_IN else "A bot of another package."


def _score(policy: Policy, rival: Policy) -> Fraction:
    return (odds(policy, rival).score(Mark.X) + odds(rival, policy).score(Mark.O)) / 2


def _write(bots: list[ListedBot], out: TextIO) -> None:
    """Write a line with figures for each bot, and its description below."""
    names = [shorten(f"{BOT}{bot.name}", MAX_NAME_COLUMNS) for bot in bots]
    width = max(map(display_width, names))
    out.write(f"{'bot':<{width}}  {'level':<10}  {'random':>8}  {'perfect':>8}\n")
    columns = min(window_columns(out) or MAX_TEXT_COLUMNS, MAX_TEXT_COLUMNS)
    for name, bot in zip(names, bots, strict=True):
        padding = " " * (width - display_width(name))
        scores = "  ".join(f"{percent(score):>8}" for score in bot.scores.values())
        out.write(f"{name}{padding}  {bot.level or '':<10}  {scores}\n")
        out.writelines(f"{line}\n" for line in wrap(f"  {bot.description}", columns))
    out.writelines(f"{line}\n" for line in wrap(NOTES, columns))


def _to_dict(bot: ListedBot) -> dict[str, object]:
    return {
        "name": bot.name,
        "level": bot.level,
        "description": bot.description,
        "parameters": [*built_in_parameters(bot.name)],
        "scores": {rival: str(score) for rival, score in bot.scores.items()},
        "about": {rival: float(score) for rival, score in bot.scores.items()},
    }
