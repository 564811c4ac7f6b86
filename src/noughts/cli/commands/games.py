"""`noughts games`: list saved games, or delete one."""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TextIO
from unicodedata import normalize

from noughts.cli import options as shared
from noughts.cli.console import Console
from noughts.cli.layout import say, window_columns, write_table
from noughts.cli.position import game_to_dict
from noughts.cli.prompt import Quit
from noughts.cli.recorder import open_saved
from noughts.core.board import Mark
from noughts.core.errors import printable
from noughts.core.game import Game
from noughts.core.notation import format_moves
from noughts.service import Service
from noughts.store.base import ALL_GAMES, GameFilter, GameSummary, Store
from noughts.store.errors import NoSuchGame, StoreMissing
from noughts.text.columns import shorten
from noughts.text.describe import shown_name

NO_GAMES = "No games are saved yet."
PAGE_GAMES = 50
HEADINGS = ("game", "started", "cells", "X", "O", "result")
COLUMNS_WITHOUT_NAMES = 53
MIN_NAME_COLUMNS = 8


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
    task = parser.add_mutually_exclusive_group()
    task.add_argument("--delete", metavar="GAME", help="delete a game for good; you are asked first")
    shared.add_json(task)
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
        console.out.write("[]\n" if options.json else f"{NO_GAMES}\n")
        return
    with store:
        if options.delete is not None:
            delete_game(store, options.delete, console)
        else:
            wanted = GameFilter(player=player, is_over=options.is_over)
            write = write_json if options.json else list_games
            write(store, wanted, min(options.limit, sys.maxsize), console.out)


def list_games(store: Store, wanted: GameFilter, limit: int, out: TextIO) -> None:
    """List saved games, the newest first."""
    found = games(store, wanted)
    if listed := [*islice(found, limit)]:
        _write_table(listed, Service(store), out)
    else:
        out.write(f"{NO_GAMES if wanted == ALL_GAMES else 'No such game is saved.'}\n")
    if next(found, None):
        out.write(f"There are more: --limit {2 * limit} lists up to {2 * limit}.\n")


def write_json(store: Store, wanted: GameFilter, limit: int, out: TextIO) -> None:
    """Write saved games as a list of objects; the records of one with a fault cannot be read."""
    listed = [
        {
            "id": str(summary.id),
            "started": _in_utc(summary.started),
            "web": summary.is_on_web,
            "fault": summary.fault,
        }
        | (game_to_dict(summary.game) if summary.game else {})
        for summary in islice(games(store, wanted), limit)
    ]
    out.write(f"{json.dumps(listed)}\n")


def delete_game(store: Store, id_prefix: str, console: Console) -> None:
    """Delete a game, if the answer is yes."""
    store.check_writable()
    service = Service(store)
    game = service.find(id_prefix)
    found = games(store, GameFilter(id_prefix=game))
    _write_table([summary for summary in found if summary.id == game], service, console.out)
    with console.prompt() as prompt:
        try:
            is_sure = prompt.confirm("Delete this game for good? (y/n)")
        except Quit:
            is_sure = False
    if is_sure:
        store.delete(game)
    console.out.write("Deleted.\n" if is_sure else "Nothing was deleted.\n")


def games(store: Store, wanted: GameFilter) -> Iterator[GameSummary]:
    """Return all games that match, the newest first, reading a page at a time."""
    before = None
    while page := store.games(wanted, limit=PAGE_GAMES, before=before):
        yield from page
        before = page[-1].started, page[-1].id


def last_left(store: Store) -> str:
    """Return the unfinished game of a terminal that was played last."""
    unfinished = (
        summary
        for summary in games(store, GameFilter(is_over=False))
        if summary.game and not summary.is_on_web
    )
    left = max(unfinished, key=lambda summary: summary.last_played, default=None)
    if left is None:
        raise NoSuchGame("no unfinished game to continue")
    return left.id


def _write_table(listed: Sequence[GameSummary], service: Service, out: TextIO) -> None:
    columns = window_columns(out)
    room = max(MIN_NAME_COLUMNS, (columns - COLUMNS_WITHOUT_NAMES) // 2) if columns else sys.maxsize
    rows, faults = [HEADINGS], []
    for summary in listed:
        name = printable(service.short(str(summary.id)))  # in a damaged store it may be anything
        if summary.game:
            moves, x, o, result = _cells(summary.game, room)
            if summary.is_on_web:
                result += " (web)"
            rows.append((name, _in_local_time(summary.started), moves, x, o, result))
        else:
            faults.append(printable(f"{name}: {summary.fault}."))
    if len(rows) > 1:
        write_table(rows, out, left=len(HEADINGS))
    for fault in faults:
        say(fault, out)


def _cells(game: Game, room: int) -> tuple[str, str, str, str]:
    """Return the moves, the players and the result."""
    x, o = (shorten(shown_name(player), room) if (player := game.player(mark)) else "-" for mark in Mark)
    if game.active:
        result = f"{game.active} to move"
    elif game.resigned:
        result = f"{game.resigned} resigned"
    else:
        result = f"{game.winner} won" if game.winner else "draw"
    return format_moves(game.moves) or "-", x, o, result


def _in_local_time(milliseconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(milliseconds // 1000))


def _in_utc(milliseconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(milliseconds // 1000))
