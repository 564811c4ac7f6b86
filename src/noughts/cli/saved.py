"""The commands for saved games."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from typing import BinaryIO, TextIO

from noughts.cli.commands.games import NONE, delete_game, last_left, list_games
from noughts.cli.opening import Starters
from noughts.cli.opponents import Seating
from noughts.cli.recorder import MEMORY, Notebook, keeps_games, open_saved
from noughts.cli.screen import Screen
from noughts.cli.signals import Waiting
from noughts.core.board import Mark
from noughts.core.errors import AlreadyOver
from noughts.core.game import Game
from noughts.service import Service
from noughts.store.base import EventStore, GameFilter
from noughts.store.errors import StoreError, StoreMissing
from noughts.text.describe import standing


def open_to_save(options: Namespace) -> tuple[EventStore, Notebook]:
    """Open the store for a new game, and a notebook in it."""
    try:
        store = open_saved(MEMORY if options.no_save else options.store, os.environ)
    except StoreError as error:
        raise type(error)(f"{error} (--no-save plays without saving)") from error
    return store, Notebook(Service(store), lasts=keeps_games(options, os.environ))


def resume(
    options: Namespace,
    screen: Screen,
    keyboard: BinaryIO | None,
    seating: Seating,
    starters: Starters,
) -> None:
    """Play on where a game was left; bots are called back."""
    from noughts.cli.local_game import Table  # noqa: PLC0415 - the same
    from noughts.cli.opponents import called_back  # noqa: PLC0415 - only what is asked for is loaded

    with opened(options) as store:
        service = Service(store)
        game = service.find(options.game) if options.game is not None else last_left(store)
        standing_now = service.look(game).game
        if standing_now.is_over:
            raise AlreadyOver(
                f"the game is over, {standing(standing_now)}: noughts replay tells it again"
            )
        seats = called_back(standing_now, {Mark.X: options.x, Mark.O: options.o})
        sitters = {mark: sitter for mark, seat in seats.items() if (sitter := seating.call(seat))}
        notebook = Notebook(service, lasts=True)
        Table(screen, keyboard, notebook, starters, sitters=sitters).resume(game)


def look_up(options: Namespace, beginning: str) -> Game:
    """Return the saved game whose id begins like that."""
    with opened(options) as store:
        service = Service(store)
        return service.look(service.find(beginning)).game


def games(options: Namespace, out: TextIO) -> None:
    """List saved games, or delete one."""
    from unicodedata import normalize  # noqa: PLC0415 - the same

    # Not checked: a game may have been saved with a name that would be refused now.
    player = None if options.player is None else normalize("NFC", options.player).strip()
    try:
        store = opened(options)
    except StoreMissing:
        if options.delete is not None:
            raise
        out.write(f"{NONE}\n")
        return
    with store:
        if options.delete is not None:
            delete_game(store, options.delete, out)
            return
        list_games(store, GameFilter(player=player, is_over=options.is_over), options.limit, out)


def replay(options: Namespace, screen: Screen, waiting: Waiting) -> None:
    """Tell a saved game again: step by step on a terminal, or by itself."""
    from noughts.cli.commands.replay import step_through, steps, tell  # noqa: PLC0415 - the same
    from noughts.cli.commands.watch import Pause  # noqa: PLC0415 - the same

    with opened(options) as store:
        service = Service(store)
        told = steps(service.look(service.find(options.game)).events, screen)
    if options.interval is None and screen.interactive:
        from noughts.cli.keys import Keys  # noqa: PLC0415 - the same

        with Keys(sys.stdin.fileno(), waiting) as keys:
            step_through(screen, told, keys)
    else:
        tell(screen, told, Pause(options.interval or 0, waiting.sleep))


def events(options: Namespace, out: TextIO) -> None:
    """Print a saved game's events as the documents write them, one a line."""
    with opened(options) as store:
        service = Service(store)
        recorded = service.look(service.find(options.game)).events
    out.writelines(f"{event}\n" for event in recorded)


def export(options: Namespace, out: BinaryIO) -> None:
    """Write a saved game as JSON lines."""
    from noughts.store.archive import export_game  # noqa: PLC0415 - the same

    with opened(options) as store:
        out.writelines(line.encode() for line in export_game(store, Service(store).find(options.game)))


def opened(options: Namespace) -> EventStore:
    """Open the store of saved games, if there is one."""
    return open_saved(options.store, os.environ, create=False)
