"""The bots that a server offers: those that are built in, and policies in files that it was given.

The operator names the files. A player names one of the bots, with parameters that it declares: no name
opens a file or calls a function of another package.
"""

from __future__ import annotations

import re
from functools import lru_cache
from random import SystemRandom

from noughts.core.errors import BadSetting, UnknownPolicy, quoted
from noughts.players.bot import Bot
from noughts.players.grammar import BOT, PROGRAM, SAVED
from noughts.players.policies import (
    BUILT_IN,
    built_in_parameters,
    check_parameters,
    find_policy,
    read_parameters,
)
from noughts.players.policy_file import load_policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from noughts.players.policies import Policy

LONGEST = 28
"""In letters: with what every bot's name begins with, it fits into a seat."""

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_RESERVED = frozenset(word.rstrip(":") for word in (SAVED, PROGRAM, BOT))
"""What a seat or a policy begins with where it is no bot's name."""
_WHO = "--bot (NOUGHTS_BOTS)"


class Roster:
    """The bots, by their names."""

    def __init__(self, saved: Mapping[str, Policy] | None = None) -> None:
        self._saved = dict(saved or {})
        self.names = (*BUILT_IN, *self._saved)
        """Those that are listed; no others can be played."""
        self.seated = lru_cache(maxsize=64)(self._seat)
        """Return a bot that plays by a policy, or refuse the policy."""

    def parameters(self, name: str) -> tuple[str, ...]:
        """Return the parameters that a bot takes."""
        return () if name in self._saved else built_in_parameters(name)

    def policy(self, asked: str) -> Policy:
        """Return the policy of a bot that is listed, with parameters that it takes."""
        name, colon, rest = asked.partition(":")
        if name not in self.names:
            raise UnknownPolicy(f"there is no policy {quoted(name)}: there are {', '.join(self.names)}")
        # A sentence begins with a capital letter, and no bot's name does.
        check_parameters(f"the bot {name}", read_parameters(rest) if colon else (), self.parameters(name))
        return self._saved[name] if name in self._saved else find_policy(asked)

    def _seat(self, asked: str) -> Bot:
        return Bot(self.policy(asked), SystemRandom())


def read_roster(offered: str) -> Roster:
    """Read the files of the bots that are offered as NAME=FILE, with commas between.

    >>> read_roster("club=club.json")
    Traceback (most recent call last):
    noughts.core.errors.BadSetting: --bot (NOUGHTS_BOTS) says 'club', and another bot has that name
    """
    return Roster(read_policies(split_offered(offered)))


def split_offered(offered: str) -> list[str]:
    """Return each NAME=FILE of those with commas between; no file has a comma in its name then.

    >>> split_offered("q=q.json, deep=deep.json,")
    ['q=q.json', 'deep=deep.json']
    """
    return [*filter(None, map(str.strip, offered.split(",")))]


def read_policies(offered: Iterable[str]) -> dict[str, Policy]:
    """Read the files that are offered as NAME=FILE each, and return the policies by their names."""
    files: dict[str, str] = {}
    for part in offered:
        name, _, file = part.partition("=")
        if not (file and len(name) <= LONGEST and _NAME.fullmatch(name)):
            raise BadSetting(
                f"{_WHO} is NAME=FILE, the name of up to {LONGEST} small letters and digits "
                f"with hyphens between, not {quoted(part)}"
            )
        if name in _RESERVED:
            raise BadSetting(f"{_WHO} says {quoted(name)}, which is a word of ours and no bot's name")
        if name in files or name in BUILT_IN:
            raise BadSetting(f"{_WHO} says {quoted(name)}, and another bot has that name")
        files[name] = file
    return {name: load_policy(file) for name, file in files.items()}
