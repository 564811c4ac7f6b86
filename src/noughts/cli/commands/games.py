"""`noughts games`: list saved games, or delete one."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from itertools import islice
from typing import TextIO
from unicodedata import normalize

from noughts.cli import options as shared
from noughts.cli.console import Console
from noughts.cli.prompt import YES
from noughts.cli.recorder import open_saved
from noughts.core.board import Mark
from noughts.core.errors import printable
from noughts.core.game import Game
from noughts.core.notation import format_moves
from noughts.service import Service, wall_clock
from noughts.store.base import ALL_GAMES, EventStore, GameFilter, GameSummary
from noughts.store.errors import NoSuchGame, StoreMissing
from noughts.text.describe import standing

NO_GAMES = "No games are saved yet."
PAGE_GAMES = 50


HELP = shared.CommandHelp(
    "List saved games, the latest first, or delete one.",
    {
        "noughts games --unfinished": "those that can be resumed",
        "noughts games --player ann --limit 5": "the last five games of ann",
    },
)


def add_options(parser: shared.Parser) -> None:
    parser.add_argument("--player", metavar="NAME", help="only games of this player")
    ended = parser.add_mutually_exclusive_group()
    for flag, is_over in (("finished", True), ("unfinished", False)):
        ended.add_argument(
            f"--{flag}", dest="is_over", action="store_const", const=is_over, help=f"only {flag} games"
        )
    parser.add_argument("--delete", metavar="GAME", help="delete a game for good; you are asked first")
    parser.add_argument(
        "--limit", type=shared.count, default=20, metavar="N", help="list at most N (default: 20)"
    )
    shared.add_store(parser)


def run(options: Namespace, console: Console) -> None:
    # The name is not checked: a game may have been saved with one that would be refused now.
    player = None if options.player is None else normalize("NFC", options.player).strip()
    try:
        store = open_saved(options.store)
    except StoreMissing:
        if options.delete is not None:
            raise
        console.out.write(f"{NO_GAMES}\n")
        return
    with store:
        if options.delete is not None:
            delete_game(store, options.delete, console.out)
        else:
            wanted = GameFilter(player=player, is_over=options.is_over)
            list_games(store, wanted, options.limit, console.out)


def list_games(store: EventStore, wanted: GameFilter, limit: int, out: TextIO) -> None:
    """List saved games, the newest first, a line each."""
    found = games(store, wanted)
    service = Service(store)
    lines = [
        printable(_line(service.short(str(summary.id)), summary))  # in a damaged store it may be anything
        for summary in islice(found, min(limit, sys.maxsize))
    ]
    nothing = NO_GAMES if wanted == ALL_GAMES else "No such game is saved."
    out.writelines(f"{line}\n" for line in lines or [nothing])
    if next(found, None):
        out.write(f"There are more: --limit {2 * limit} lists up to {2 * limit}.\n")


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
    if answer.strip().casefold() in YES:
        store.delete(game, at=wall_clock())
        out.write("Deleted.\n")
    else:
        out.write("Nothing was deleted.\n")


def games(store: EventStore, wanted: GameFilter) -> Iterator[GameSummary]:
    """Return all games that match, the newest first, reading a page at a time."""
    before = None
    while page := store.games(wanted, limit=PAGE_GAMES, before=before):
        yield from page
        before = page[-1].started, page[-1].id


def last_left(store: EventStore) -> str:
    """Return the unfinished game that was played last."""
    unfinished = (summary for summary in games(store, GameFilter(is_over=False)) if summary.game)
    left = max(unfinished, key=lambda summary: summary.last_played, default=None)
    if left is None:
        raise NoSuchGame("no unfinished game to continue")
    return left.id


def _line(name: str, summary: GameSummary) -> str:
    if summary.game is None:
        return f"{name}  {'':16}  {summary.fault}"
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(summary.started // 1000))
    moves = format_moves(summary.game.moves) or "-"
    return f"{name}  {when}  {moves:<9}  {_players(summary.game)}: {standing(summary.game)}"


def _players(game: Game) -> str:
    names = (player.name if (player := game.player(mark)) else str(mark) for mark in Mark)
    return " against ".join(names)
