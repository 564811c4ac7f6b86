"""The bots that a server offers, and their turns.

The operator names files with saved policies. A player names one of the bots, with parameters that it
declares: no name opens a file or calls a function of another package.

Each process that commits, reads or follows a game makes its bot move, unless it is at that already.
Its policy is asked in a thread, and its move is recorded like any other: if several processes do so, the
store accepts one. A bot that failed is asked again after a rest. A game that no process looks at goes on
as soon as somebody opens it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from random import Random

from noughts.bots.bot import Bot
from noughts.bots.errors import UnknownPolicy
from noughts.bots.policy import Policy, check_parameters
from noughts.bots.policy_file import load_policy
from noughts.bots.registry import (
    BOT,
    BUILT_IN,
    PROGRAM,
    SAVED,
    built_in_parameters,
    find_policy,
    read_parameters,
    unknown_policy,
)
from noughts.core.errors import NoughtsError, quoted
from noughts.core.game import PlaceToken, Resign
from noughts.service import judge
from noughts.store.base import StoredGame
from noughts.store.errors import StaleVersion, StoreError
from noughts.web.games import Games
from noughts.web.logging import details, log, report
from noughts.web.problems import InvalidSetting
from noughts.web.rooms import room_of

MAX_BOT_NAME_CHARACTERS = 28
"""With the prefix of bots, it fits into a seat."""

FIRST_REST_SECONDS, MAX_REST_SECONDS = 1.0, 10.0
"""How long a bot rests after a failure; each further failure in a row doubles it."""

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_RESERVED = frozenset(word.rstrip(":") for word in (SAVED, PROGRAM, BOT))
_OPTION = "--bot (NOUGHTS_BOTS)"


class Roster:
    """The bots, by name."""

    def __init__(self, saved: Mapping[str, Policy], random: Random) -> None:
        self._saved = dict(saved)
        self._random = random
        self.names = (*BUILT_IN, *self._saved)
        """Those that are listed; no others can be played."""
        self.bot = lru_cache(maxsize=64)(self._bot)
        """Return the bot of a policy, or refuse the policy."""

    def parameters(self, name: str) -> tuple[str, ...]:
        return () if name in self._saved else built_in_parameters(name)

    def policy(self, asked: str) -> Policy:
        """Return the policy of a listed bot, with parameters that it takes."""
        name, colon, rest = asked.partition(":")
        if name not in self.names:
            raise unknown_policy(name, self.names)
        # A sentence begins with a capital letter, and no bot's name does.
        check_parameters(f"the bot {name}", read_parameters(rest) if colon else (), self.parameters(name))
        return self._saved[name] if name in self._saved else find_policy(asked)

    def _bot(self, asked: str) -> Bot:
        return Bot(self.policy(asked), self._random)


def split_offered(offered: str) -> list[str]:
    """Split a list of NAME=FILE, separated by commas.

    >>> split_offered("q=q.json, deep=deep.json,")
    ['q=q.json', 'deep=deep.json']
    """
    return [*filter(None, map(str.strip, offered.split(",")))]


def read_policies(offered: Iterable[str]) -> dict[str, Policy]:
    """Read the files that are offered as NAME=FILE each, and return the policies by name.

    >>> read_policies(["club=club.json"])
    Traceback (most recent call last):
    noughts.web.problems.InvalidSetting: --bot (NOUGHTS_BOTS) says 'club', and another bot has that name
    """
    files: dict[str, str] = {}
    for part in offered:
        name, _, file = part.partition("=")
        if not (file and len(name) <= MAX_BOT_NAME_CHARACTERS and _NAME.fullmatch(name)):
            raise InvalidSetting(
                f"{_OPTION} must be NAME=FILE, the name of up to {MAX_BOT_NAME_CHARACTERS} lower-case "
                f"letters and digits separated by hyphens, not {quoted(part)}"
            )
        if name in _RESERVED:
            raise InvalidSetting(f"{_OPTION} says {quoted(name)}, which is reserved")
        if name in files or name in BUILT_IN:
            raise InvalidSetting(f"{_OPTION} says {quoted(name)}, and another bot has that name")
        files[name] = file
    return {name: load_policy(file) for name, file in files.items()}


class BotTurns:
    """Makes bots move when it is their turn."""

    def __init__(self, games: Games, roster: Roster) -> None:
        self._games = games
        self._roster = roster
        self._thinking: dict[str, asyncio.Task[None]] = {}
        self._unknown: set[str] = set()
        """Policies that are not offered any more; each is logged once."""

    def __len__(self) -> int:
        return len(self._thinking)

    def start(self, stored: StoredGame) -> None:
        """Have the bot move, if it is a bot's turn and it is not thinking yet."""
        if stored.id not in self._thinking and room_of(stored).bot_to_move(stored):
            self._thinking[stored.id] = asyncio.ensure_future(self._play(stored))

    async def _play(self, stored: StoredGame) -> None:
        """Move, until it is not a bot's turn any more; after a failure rest for a while."""
        rest = FIRST_REST_SECONDS
        try:
            while not stored.is_deleted and (policy := room_of(stored).bot_to_move(stored)):
                try:
                    await self._move(stored, policy)
                except StaleVersion:
                    pass  # another process was faster
                except Exception as error:  # noqa: BLE001 - a policy is anybody's code
                    self._report(policy, error)
                    await asyncio.sleep(rest)
                    rest = min(2 * rest, MAX_REST_SECONDS)
                found = self._games.known(stored.id)
                if found is None or found.revision <= stored.revision:
                    with suppress(NoughtsError):  # the next try reads it again
                        found = await self._games.read(stored.id)
                        if found is None:
                            return
                    found = self._games.known(stored.id) or found  # what came since started nobody
                stored = found or stored
        finally:
            # Before the loop runs anything else: a move that is recorded in between would find the bot
            # still thinking, and nothing would start it.
            del self._thinking[stored.id]

    async def _move(self, stored: StoredGame, policy: str) -> None:
        board, games = stored.game.board, self._games
        cell = await games.world.thinking.run(lambda: self._roster.bot(policy).choose_or_resign(board))
        command = Resign(board.turn) if cell is None else PlaceToken(board.turn, cell)
        key = f"bot-{games.world.new_id()}"
        _, change = judge(
            stored,
            command,
            version=stored.version,
            key=key,
            at=games.world.clock(),
            hour=games.hour,
        )
        if change:
            await games.submit(change)

    def _report(self, policy: str, error: Exception) -> None:
        if isinstance(error, StoreError):
            return  # the log has it already
        if not isinstance(error, NoughtsError):
            log.error("bot", exc_info=error, extra=details(policy=policy))
        elif policy not in self._unknown:
            report("bot", error, policy=policy)
            if isinstance(error, UnknownPolicy):
                self._unknown.add(policy)

    async def close(self) -> None:
        tasks = tuple(self._thinking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
