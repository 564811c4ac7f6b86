"""The list of saved games: who, when, how it ended, and the digits of the moves."""

from __future__ import annotations

import sys
import time
from itertools import islice

from noughts.core.board import Mark
from noughts.core.errors import NoSuchGame, printable
from noughts.core.notation import format_moves
from noughts.service import Service
from noughts.store.base import ALL, Wanted
from noughts.words.describe import standing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

    from noughts.core.game import Game
    from noughts.store.base import EventStore, Listed

NONE = "No games are saved yet."
PAGE = 50


def list_games(store: EventStore, wanted: Wanted, limit: int, out: TextIO) -> None:
    """List saved games, the newest first, a line each."""
    found = games(store, wanted)
    service = Service(store)
    lines = [
        printable(_line(service.short(str(listed.id)), listed))  # in a damaged store it may be anything
        for listed in islice(found, min(limit, sys.maxsize))
    ]
    out.writelines(f"{line}\n" for line in lines or [NONE if wanted == ALL else "No such game is saved."])
    if next(found, None):
        out.write(f"There are more: --limit {2 * limit} shows them.\n")


def games(store: EventStore, wanted: Wanted) -> Iterator[Listed]:
    """Return all saved games that are wanted, the newest first, a page at a time."""
    before = None
    while page := store.games(wanted, limit=PAGE, before=before):
        yield from page
        before = page[-1].number


def last_left(store: EventStore) -> str:
    """Return the game that was left last, of those that are not over."""
    unfinished = (listed for listed in games(store, Wanted(is_over=False)) if listed.game)
    left = max(unfinished, key=lambda listed: listed.position, default=None)
    if left is None:
        raise NoSuchGame("there is no unfinished game to go on with")
    return left.id


def _line(name: str, listed: Listed) -> str:
    if listed.game is None:
        return f"{name}  {'':16}  {listed.fault}"
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(listed.started // 1000))
    head = f"{name}  {when}"
    moves = format_moves(listed.game.moves) or "-"
    return f"{head}  {moves:<9}  {_players(listed.game)}: {standing(listed.game)}"


def _players(game: Game) -> str:
    names = (player.name if (player := game.player(mark)) else str(mark) for mark in Mark)
    return " against ".join(names)
