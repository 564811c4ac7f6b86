"""`noughts play`: a game with people, bots or programs."""

from __future__ import annotations

from argparse import Namespace

from noughts.cli import options as shared
from noughts.cli.console import Console
from noughts.cli.local_game import LocalGame
from noughts.cli.opening import Starters, name_players, seat_opponents
from noughts.cli.recorder import MEMORY, Recorder, keeps_games, open_saved
from noughts.core.board import Mark
from noughts.service import Service
from noughts.store.base import Store
from noughts.store.errors import StoreError

HELP = shared.CommandHelp(
    "Play at this keyboard: two people, or a person against a bot or a program. Every move is saved.",
    {
        "noughts play --o bot:club": "play X against a bot that makes mistakes",
        "noughts play --x ann --o bob --first loser": "two people; the loser starts the next game",
    },
)


def add_options(parser: shared.Parser) -> None:
    shared.add_seats(parser)
    shared.add_events(parser)
    shared.add_live(parser)
    shared.add_display(parser, "kata")
    where = parser.add_mutually_exclusive_group()
    shared.add_store(where)
    where.add_argument("--no-save", action="store_true", help="don't save the game")


def run(options: Namespace, console: Console) -> None:
    rng, lasts = console.rng(), keeps_games(options)
    seats = {Mark.X: options.x, Mark.O: options.o}
    with seat_opponents(seats, options, console, rng, saves=lasts) as seating:
        players = name_players(options, seating.opponents)
        with _open_store(options) as store, console.game_screen(options) as (screen, typed):
            recorder = Recorder(Service(store), lasts=lasts)
            starters = Starters(options.first or screen.wording.starter, rng)
            LocalGame(screen, typed, recorder, starters, players, seating).play()


def _open_store(options: Namespace) -> Store:
    store = None
    try:
        store = open_saved(MEMORY if options.no_save else options.store, create=True)
        store.check_writable()
    except StoreError as error:
        if store:
            store.close()
        raise type(error)(f"{error} (--no-save plays without saving)") from error
    return store
