"""Players by name: `ann`, `bot:club` or `program:./my-bot`, and the table of built-in bots.

Where only bots can play, `bot:` may be left out. A bot's name can have parameters:
`perfect`, `club:block=1/3,win=0`. Other packages offer policies as entry points in the group
`noughts.policies`: each is a function that takes the parameters, as text, by name, and returns a policy.

Importing this module loads no policy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from noughts.bots.errors import BadPolicy, UnknownPolicy, is_signal
from noughts.core.errors import InvalidName, NoughtsError, complaint, most_similar, quoted
from noughts.core.player import name_key
from noughts.core.value import Value

if TYPE_CHECKING:  # it loads fractions, which is slow, and a person needs no policy
    from noughts.bots.policy import Policy

BOT, PROGRAM = "bot:", "program:"
SAVED = "saved"
"""The policy in a file: `saved:file=PATH`."""
ENTRY_POINT_GROUP = "noughts.policies"

_MAX_SHOWN_CHARACTERS = 32

Parameters: TypeAlias = dict[str, str]


def prefix(text: str) -> str:
    """Return `bot:` or `program:` if the text starts with it in any case, otherwise an empty string."""
    return next((kind for kind in (BOT, PROGRAM) if text[: len(kind)].lower() == kind), "")


def parse_player(text: str, *, bots_only: bool = False) -> tuple[str, str]:
    """Return the kind of a player (`bot:`, `program:`, or nothing for a person), and its name.

    A person cannot have the name of a built-in bot: somebody who types one means the bot.

    >>> parse_player("ann"), parse_player("bot:club"), parse_player("club", bots_only=True)
    (('', 'ann'), ('bot:', 'club'), ('bot:', 'club'))
    >>> parse_player("Perfect")
    Traceback (most recent call last):
    noughts.core.errors.InvalidName: 'Perfect' is a bot, not a person: write bot:perfect
    """
    text = text.strip()
    kind = prefix(text)
    rest = text[len(kind) :]
    if kind == BOT and prefix(rest):
        raise UnknownPolicy(f"{quoted(text)} has two prefixes: leave out the first {BOT}")
    if kind or bots_only:
        return kind or BOT, rest
    name, colon, parameters = text.partition(":")
    bot = name_key(name.strip())
    if bot in BUILT_IN or (bot == SAVED and colon):
        shown = f"{colon}{parameters if len(parameters) <= _MAX_SHOWN_CHARACTERS else '…'}"
        raise InvalidName(f"{quoted(text)} is a bot, not a person: write {BOT}{bot}{shown}")
    if kind := prefix(name_key(text)):
        raise InvalidName(f"{quoted(text)} only looks like a player that begins with {kind}")
    if colon and (meant := _meant_player(name, parameters)):
        raise InvalidName(f"{quoted(text)} is not a player (did you mean {meant}?)")
    return "", text


def _meant_player(word: str, rest: str) -> str | None:
    """Return the bot or the program that was probably meant by a similar word before a colon."""
    kind = most_similar(f"{word.strip()}:", (BOT, PROGRAM))
    if kind == PROGRAM:
        return f"{kind}{rest}"
    bot = LEVELS.get(rest.capitalize(), rest)
    return f"{kind}{bot}" if kind and bot.partition(":")[0] in BUILT_IN else None


def parse_policy(text: str) -> str:
    """Return the policy of a bot, where only a bot can be named.

    >>> parse_policy("bot:club:block=1/3"), parse_policy("club:block=1/3")
    ('club:block=1/3', 'club:block=1/3')
    """
    kind, policy = parse_player(text, bots_only=True)
    if kind == PROGRAM:
        raise UnknownPolicy(f"{quoted(text)} is a program, and only a bot can be named here")
    return policy


def find_policy(asked: str) -> Policy:
    """Return the policy with that name and those parameters.

    >>> from noughts.core.board import Board
    >>> find_policy("perfect")(Board().place(0))
    {4: Fraction(1, 1)}
    >>> find_policy("club:luck=1")
    Traceback (most recent call last):
    noughts.bots.errors.UnknownPolicy: club has no 'luck': it has win, block, fork, defence and centre
    """
    if not isinstance(asked, str):
        raise UnknownPolicy(f"a policy is found by its name, not by {quoted(asked)}")
    name, colon, rest = asked.partition(":")
    parameters = read_parameters(rest) if colon else {}
    if name in BUILT_IN:
        return BUILT_IN[name].make(name, parameters)
    return _from_entry_point(name, parameters)


def as_policy(policy: Policy | str) -> Policy:
    """Return a policy as it is, or find it by its name.

    >>> as_policy("bot:perfect") is as_policy(find_policy("perfect"))
    True
    """
    if isinstance(policy, str):
        return find_policy(parse_policy(policy))
    if not callable(policy):
        raise UnknownPolicy(
            f"a policy is a name or a function from boards to chances, not {quoted(policy)}"
        )
    return policy


def unknown_policy(name: str, known: tuple[str, ...]) -> UnknownPolicy:
    levels = [level.lower() for level, bot in LEVELS.items() if bot in known]
    meant = most_similar(name, [*known, *levels])
    if meant and meant not in known:
        level = meant.capitalize()
        meant = f"{LEVELS[level]}, the level {level}"
    suggestion, names = f" (did you mean {meant}?)" if meant else "", ", ".join(known)
    return UnknownPolicy(f"unknown policy {quoted(name)}{suggestion}: choose one of {names}")


def policy_names() -> tuple[str, ...]:
    """Return the names of all policies: the built-in ones, then those of other packages."""
    return (*BUILT_IN, *sorted({entry.name for entry in _entry_points()} - {*BUILT_IN}))


def built_in_parameters(name: str) -> tuple[str, ...]:
    """Return the parameters of a built-in policy.

    >>> built_in_parameters("club"), built_in_parameters("perfect")
    (('win', 'block', 'fork', 'defence', 'centre'), ())
    """
    if name == "menace":
        from noughts.bots.menace.machine import BeadRules  # noqa: PLC0415 - see the module's docstring

        return BeadRules.__match_args__
    from noughts.bots.ladder import LADDER  # noqa: PLC0415 - see the module's docstring

    return LADDER[name].__match_args__ if name in LADDER else ()


def read_parameters(text: str) -> Parameters:
    """Read parameters and their values.

    >>> read_parameters("block=1/3,win=0")
    {'block': '1/3', 'win': '0'}
    """
    parameters: Parameters = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not (key and equals):
            raise UnknownPolicy(f"{quoted(part)} is not a parameter: write NAME=VALUE,NAME=VALUE")
        if key in parameters:
            raise UnknownPolicy(f"the parameter {quoted(key)} is given twice")
        parameters[key] = value
    return parameters


def _from_ladder(name: str, parameters: Parameters) -> Policy:
    from noughts.bots.ladder import make_policy  # noqa: PLC0415 - see the module's docstring

    return make_policy(name, parameters)


def _new_menace(_name: str, parameters: Parameters) -> Policy:
    from noughts.bots.menace.machine import menace_policy  # noqa: PLC0415 - see the module's docstring

    return menace_policy(**parameters)


class BuiltInBot(Value):
    """What to say about a bot, and how to make it."""

    description: str
    make: Callable[[str, Parameters], Policy] = _from_ladder


BUILT_IN = {
    "random": BuiltInBot("Plays every free cell with the same chance."),
    "beginner": BuiltInBot("Sees one win in three, one block in six and no forks."),
    "novice": BuiltInBot("Overlooks one win in four, every other block and most forks."),
    "casual": BuiltInBot("Usually wins and blocks when it can, and sees half of the forks."),
    "club": BuiltInBot("Wins and blocks, and overlooks some forks."),
    "expert": BuiltInBot("Overlooks next to nothing."),
    "newell-simon": BuiltInBot(
        "Applies the first that fits of Newell and Simon's eight rules (1972): win, block, fork, "
        "stop a fork, centre, opposite corner, corner, edge."
    ),
    "perfect": BuiltInBot(
        "Wins as soon as possible and loses as late as possible; among equal moves, takes the one that "
        "does best against random play."
    ),
    "menace": BuiltInBot("Michie's learning machine of matchboxes, before its first game.", _new_menace),
}

LEVELS = {
    "Beginner": "beginner",
    "Easy": "novice",
    "Medium": "casual",
    "Hard": "club",
    "Unbeatable": "perfect",
}
"""The bots that a player chooses from, by the name of the level, from the weakest."""


def level_of(player: str) -> str | None:
    """Return the level of a player who is one of these bots.

    >>> level_of("bot:casual"), level_of("ann")
    ('Medium', None)
    """
    return next((level for level, bot in LEVELS.items() if player == f"{BOT}{bot}"), None)


def _entry_points() -> tuple[Any, ...]:
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow, and rarely needed

    return tuple(entry_points(group=ENTRY_POINT_GROUP))


def _from_entry_point(name: str, parameters: Parameters) -> Policy:
    entry = next((entry for entry in _entry_points() if entry.name == name), None)
    if entry is None:
        raise unknown_policy(name, policy_names())
    try:
        made = entry.load()(**parameters)
    except NoughtsError:
        raise
    except (Exception, SystemExit) as error:  # another package's code may raise anything
        if is_signal(error):
            raise
        raise BadPolicy(
            f"the policy {quoted(name)} of {entry.value} cannot be made: {complaint(error)}"
        ) from error
    if not callable(made):
        raise BadPolicy(
            f"the policy {quoted(name)} of {entry.value} is not a function from boards to chances"
        )
    return made  # type: ignore[no-any-return]  # its chances are checked when they are used
