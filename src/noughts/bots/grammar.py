"""How a player is written, the same everywhere: `ann`, `bot:club` or `program:./my-bot`.

Where only bots can play, `bot:` may be left out. Nothing is loaded here, so that the names of the
built-in bots are known before any of them is needed.
"""

from __future__ import annotations

from noughts.bots.errors import UnknownPolicy
from noughts.core.errors import InvalidName, quoted
from noughts.core.player import name_key

BOT, PROGRAM = "bot:", "program:"
SAVED = "saved"
"""The policy in a file: `saved:file=PATH`."""
BOT_NAMES = ("random", "novice", "casual", "club", "expert", "newell-simon", "perfect", "menace")
"""The policies that are built in."""

_LONGEST_SHOWN = 32


def prefix(text: str) -> str:
    """Return the prefix that says what a player is, in small letters; nothing if there is none."""
    return next((kind for kind in (BOT, PROGRAM) if text[: len(kind)].lower() == kind), "")


def parse_player(text: str, *, bots_only: bool = False) -> tuple[str, str]:
    """Return what a player is (`bot:`, `program:`, or nothing for a person), and what it is called.

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
        raise UnknownPolicy(f"{quoted(text)} says twice what it is: write it without the first {BOT}")
    if kind or bots_only:
        return kind or BOT, rest
    name, colon, parameters = text.partition(":")
    bot = name_key(name.strip())
    if bot in BOT_NAMES or (bot == SAVED and colon):
        shown = f"{colon}{parameters if len(parameters) <= _LONGEST_SHOWN else '…'}"
        raise InvalidName(f"{quoted(text)} is a bot, not a person: write {BOT}{bot}{shown}")
    if kind := prefix(name_key(text)):
        raise InvalidName(f"{quoted(text)} only looks like a player that begins with {kind}")
    return "", text


def parse_policy(text: str) -> str:
    """Return the policy of a bot, where nothing but a bot can be named.

    >>> parse_policy("bot:club:block=1/3"), parse_policy("club:block=1/3")
    ('club:block=1/3', 'club:block=1/3')
    """
    kind, policy = parse_player(text, bots_only=True)
    if kind == PROGRAM:
        raise UnknownPolicy(f"{quoted(text)} is a program, and only a bot can be named here")
    return policy
