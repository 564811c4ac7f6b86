"""The list of saved games: who, when, how it ended, and the digits of the moves."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from itertools import islice
from typing import TextIO

from noughts.core.board import Mark
from noughts.core.errors import printable
from noughts.core.game import Game
from noughts.core.notation import format_moves
from noughts.service import Service, wall_clock
from noughts.store.base import ALL_GAMES, EventStore, GameFilter, GameSummary
from noughts.store.errors import NoSuchGame
from noughts.text.describe import standing

NONE = "No games are saved yet."
PAGE = 50


def list_games(store: EventStore, wanted: GameFilter, limit: int, out: TextIO) -> None:
    """List saved games, the newest first, a line each."""
    found = games(store, wanted)
    service = Service(store)
    lines = [
        printable(_line(service.short(str(summary.id)), summary))  # in a damaged store it may be anything
        for summary in islice(found, min(limit, sys.maxsize))
    ]
    nothing = NONE if wanted == ALL_GAMES else "No such game is saved."
    out.writelines(f"{line}\n" for line in lines or [nothing])
    if next(found, None):
        out.write(f"There are more: --limit {2 * limit} shows them.\n")


def delete_game(store: EventStore, id_prefix: str, out: TextIO) -> None:
    """Delete a game, if the answer is yes."""
    service = Service(store)
    game = service.find(id_prefix)
    out.writelines(
        f"{printable(_line(service.short(game), summary))}\n"
        for summary in games(store, GameFilter(id_prefix=game))
        if summary.id == game
    )
    out.write("Delete this game for good? (y/n) ")
    out.flush()
    answer = sys.stdin.readline() if sys.stdin else ""
    if answer.strip().casefold() in ("y", "yes"):
        store.delete(game, at=wall_clock())
        out.write("Deleted.\n")
    else:
        out.write("Nothing was deleted.\n")


def games(store: EventStore, wanted: GameFilter) -> Iterator[GameSummary]:
    """Return all saved games that are wanted, the newest first, a page at a time."""
    before = None
    while page := store.games(wanted, limit=PAGE, before=before):
        yield from page
        before = page[-1].started, page[-1].id


def last_left(store: EventStore) -> str:
    """Return the unfinished game that was played last."""
    unfinished = (summary for summary in games(store, GameFilter(is_over=False)) if summary.game)
    left = max(unfinished, key=lambda summary: summary.last_played, default=None)
    if left is None:
        raise NoSuchGame("there is no unfinished game to go on with")
    return left.id


def _line(name: str, summary: GameSummary) -> str:
    if summary.game is None:
        return f"{name}  {'':16}  {summary.fault}"
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(summary.started // 1000))
    head = f"{name}  {when}"
    moves = format_moves(summary.game.moves) or "-"
    return f"{head}  {moves:<9}  {_players(summary.game)}: {standing(summary.game)}"


def _players(game: Game) -> str:
    names = (player.name if (player := game.player(mark)) else str(mark) for mark in Mark)
    return " against ".join(names)
