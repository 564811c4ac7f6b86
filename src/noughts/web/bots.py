"""The bots that a server offers, and their turns.

The operator names files with saved policies. A player names one of the bots, with parameters that it
declares: no name opens a file or calls a function of another package.

When it is a bot's turn, its policy is asked in a thread, and its move is recorded like any other. If
several processes do so, the store accepts one move. A bot that failed is asked again by a check every
second, which also finds a turn that nothing has started. A game that no process has in memory goes on
as soon as somebody opens it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from random import Random
from weakref import WeakKeyDictionary

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
from noughts.store.errors import StaleVersion
from noughts.web.game import LiveGame
from noughts.web.games import Games
from noughts.web.logging import details, log, report
from noughts.web.metrics import Metrics
from noughts.web.problems import InvalidSetting

MAX_BOT_NAME_CHARACTERS = 28
"""With the prefix of bots, it fits into a seat."""

FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 1.0, 4.0
"""How long a bot pauses after a failure; each further failure in a row doubles it."""

CHECKED_AT_ONCE = 512
"""How many games are checked before the loop goes on; thousands would hold it up for milliseconds."""

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

    def __init__(self, games: Games, roster: Roster, metrics: Metrics) -> None:
        self._games = games
        self._roster = roster
        self._metrics = metrics
        self._thinking: dict[LiveGame, asyncio.Task[None]] = {}
        self._pauses: WeakKeyDictionary[LiveGame, tuple[float, float]] = WeakKeyDictionary()
        """Games whose bot failed: the loop's time until which it rests, and the length of that rest."""
        self._unknown: set[str] = set()
        """Policies that are not offered any more; each is logged once."""
        self.missed = 0
        """How many turns only the check has found."""

    def __len__(self) -> int:
        return len(self._thinking)

    def start(self, live: LiveGame) -> None:
        """Have the bot move, if it is a bot's turn."""
        if live.bot_to_move and live not in self._thinking:
            self._thinking[live] = asyncio.ensure_future(self._play(live))

    async def check(self) -> None:
        """Start every bot whose turn it is, except those that rest after a failure."""
        now = asyncio.get_running_loop().time()
        for number, live in enumerate(self._games.all_known(), 1):
            if not number % CHECKED_AT_ONCE:
                await asyncio.sleep(0)
            if (policy := live.bot_to_move) and live not in self._thinking:
                pause = self._pauses.get(live)
                if pause is None:
                    self.missed += 1
                    report("bot", "its turn was missed", policy=policy)
                elif now < pause[0]:
                    continue
                self.start(live)

    async def _play(self, live: LiveGame) -> None:
        """Move, until it is not a bot's turn any more."""
        try:
            while policy := live.bot_to_move:
                try:
                    await self._move(live, policy)
                    self._pauses.pop(live, None)
                except StaleVersion:
                    continue  # another process was faster
                except NoughtsError as error:  # usually the store is away
                    if policy not in self._unknown:
                        report("bot", error, policy=policy)
                    if isinstance(error, UnknownPolicy):
                        self._unknown.add(policy)
                    return self._pause(live)
                except Exception:  # a policy is anybody's code
                    log.exception("bot", extra=details(policy=policy))
                    return self._pause(live)
        finally:
            # Before the loop runs anything else: a move that is recorded in between would find the bot
            # still thinking, and nothing would start it.
            del self._thinking[live]

    async def _move(self, live: LiveGame, policy: str) -> None:
        board, version = live.game.board, live.version
        world = self._games.world
        cell = await world.thinking.run(lambda: self._roster.bot(policy).choose_or_resign(board))
        mark = board.turn
        command = Resign(mark) if cell is None else PlaceToken(mark, cell)
        await self._games.command(live, command, version=version, key=f"bot-{world.new_id()}")
        self._metrics.moves += cell is not None

    def _pause(self, live: LiveGame) -> None:
        _, last = self._pauses.get(live, (0.0, FIRST_PAUSE_SECONDS / 2))
        seconds = min(2 * last, MAX_PAUSE_SECONDS)
        self._pauses[live] = asyncio.get_running_loop().time() + seconds, seconds

    async def close(self) -> None:
        tasks = tuple(self._thinking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
