"""`noughts resume`: continue a saved game."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping

from noughts.bots.errors import UnknownPolicy
from noughts.bots.registry import BOT, PROGRAM, parse_player
from noughts.cli import options as shared
from noughts.cli.commands.games import last_left
from noughts.cli.console import Console
from noughts.cli.local_game import LocalGame
from noughts.cli.opening import ELLIPSIS, Opponent, Starters, fit_name, seat_opponents
from noughts.cli.recorder import Recorder, keeps_games, open_saved
from noughts.core.board import Mark
from noughts.core.errors import AlreadyOver, InvalidName, SeatTaken, quoted
from noughts.core.game import Game, JoinGame
from noughts.core.player import is_same_name
from noughts.service import Service
from noughts.store.errors import WebGame
from noughts.text.describe import standing

HELP = shared.CommandHelp(
    "Continue a saved game where it was left.",
    {
        "noughts resume": "the last game that was left",
        "noughts resume k7 --o bot:expert": "the game whose id begins with k7, with a bot as O",
    },
)


def add_options(parser: shared.Parser) -> None:
    parser.add_argument(
        "game",
        metavar="GAME",
        nargs="?",
        help="its id, or the beginning of it (default: the last one left)",
    )
    shared.add_seats(parser, "")
    shared.add_live(parser)
    shared.add_display(parser, "kata")
    shared.add_store(parser)


def run(options: Namespace, console: Console) -> None:
    rng = console.rng()
    with open_saved(options.store) as store:
        store.check_writable()
        service = Service(store)
        game = service.find(options.game) if options.game is not None else last_left(store)
        left = service.look(game)
        shows = f"noughts replay {service.short(game)} shows it"
        if left.room:
            raise WebGame(f"the game is played on the web, and not here; {shows}")
        if left.game.is_over:
            raise AlreadyOver(f"the game is over ({standing(left.game)}); {shows}")
        seats = opponents_of(left.game, {Mark.X: options.x, Mark.O: options.o})
        with (
            seat_opponents(seats, options, console, rng, saves=keeps_games(options)) as seating,
            console.game_screen(options) as (screen, typed),
        ):
            for mark, opponent in seating.opponents.items():
                if (name := seated_name(left.game, mark, opponent)) is not None:
                    _, left = service.record(left, JoinGame(mark, name))
            recorder = Recorder(service, lasts=True)
            starters = Starters(options.first or screen.wording.starter, rng)
            LocalGame(screen, typed, recorder, starters, seating=seating).resume(left)


def opponents_of(game: Game, asked: Mapping[Mark, str | None]) -> dict[Mark, str | None]:
    """Return the bots and programs of an unfinished game: those requested, or those recorded."""
    seats: dict[Mark, str | None] = {}
    for mark, seat in asked.items():
        player = game.player(mark)
        recorded = player.name if player else ""
        name = recorded.removesuffix(f" ({mark})")
        is_unknown = recorded.startswith(PROGRAM) or (
            recorded.startswith(BOT) and name.endswith(ELLIPSIS)
        )
        if seat is not None and not parse_player(seat)[0]:
            raise InvalidName(
                f"the players of a saved game have their names: {quoted(seat)} is not bot:POLICY "
                f"or program:COMMAND"
            )
        if seat is None and is_unknown:
            kind = "program:COMMAND" if recorded.startswith(PROGRAM) else "bot:POLICY"
            raise UnknownPolicy(
                f"{quoted(recorded)} played {mark} and cannot be found by its name: "
                f"give --{str(mark).lower()} {kind}"
            )
        seats[mark] = seat or (name if recorded.startswith(BOT) else None)
    return seats


def seated_name(game: Game, mark: Mark, opponent: Opponent) -> str | None:
    """Return the name to seat a bot by, None if it has the seat; refuse one that is somebody else's.

    The record says who moves, so nobody moves for another player.
    """
    player, other = game.player(mark), game.player(mark.other)
    names = fit_name(opponent.name), fit_name(opponent.name, f" ({mark})")
    if player is None:
        return names[1] if other and is_same_name(names[0], other.name) else names[0]
    if player.name not in names:
        raise SeatTaken(
            f"{quoted(player.name)} plays {mark} in this game, not {quoted(opponent.name)}: "
            f"leave out --{str(mark).lower()}, or start a new game"
        )
    return None
