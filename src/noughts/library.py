"""The public names of noughts, but for the players'. Import them from `noughts` itself."""

from noughts.bots.chance import next_move
from noughts.core import errors, events
from noughts.core.board import SYMMETRIES, Board, Cell, Mark, O, X, reachable
from noughts.core.codec import decode, encode, format_record, parse_record
from noughts.core.errors import IllegalMove, NoughtsError
from noughts.core.events import Event, facts
from noughts.core.game import (
    Command,
    CreateGame,
    Game,
    JoinGame,
    PlaceToken,
    Resign,
    TakeBack,
    decide,
    evolve,
    fold,
    replay,
)
from noughts.core.notation import (
    format_cell,
    format_moves,
    format_pair,
    format_square,
    game_over,
    parse_board,
    parse_cell,
    parse_moves,
)
from noughts.core.player import Player
from noughts.service import Answer, Service
from noughts.store.base import EventStore, GameFilter, GameSummary, Record, Watch
from noughts.store.urls import open_store
from noughts.text.describe import describe, standing
from noughts.text.wordings import GEM, KATA, NARRATIVE, WORDINGS, Wording

__all__ = [
    "GEM",
    "KATA",
    "NARRATIVE",
    "SYMMETRIES",
    "WORDINGS",
    "Answer",
    "Board",
    "Cell",
    "Command",
    "CreateGame",
    "Event",
    "EventStore",
    "Game",
    "GameFilter",
    "GameSummary",
    "IllegalMove",
    "JoinGame",
    "Mark",
    "NoughtsError",
    "O",
    "PlaceToken",
    "Player",
    "Record",
    "Resign",
    "Service",
    "TakeBack",
    "Watch",
    "Wording",
    "X",
    "decide",
    "decode",
    "describe",
    "encode",
    "errors",
    "events",
    "evolve",
    "facts",
    "fold",
    "format_cell",
    "format_moves",
    "format_pair",
    "format_record",
    "format_square",
    "game_over",
    "next_move",
    "open_store",
    "parse_board",
    "parse_cell",
    "parse_moves",
    "parse_record",
    "reachable",
    "replay",
    "standing",
]
