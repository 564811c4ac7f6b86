# Written by `make names` from the table in __init__.py.
from noughts import errors
from noughts.analysis.as_json import advice_to_dict, review_to_dict
from noughts.analysis.coach import Advice, Review, advise, judge_move, review
from noughts.analysis.reasons import Kind, Reason
from noughts.analysis.solver import Prospect, Result, prospect, prospects
from noughts.bots.bot import Bot, next_move, play_game
from noughts.bots.certificate import Certificate, certify
from noughts.bots.menace.file import load_machine, save_machine
from noughts.bots.menace.machine import BeadRules, Menace
from noughts.bots.menace.training import Training
from noughts.bots.odds import Odds, odds
from noughts.bots.policy_file import load_policy, save_policy
from noughts.bots.program import Program
from noughts.bots.policy import Policy
from noughts.bots.registry import find_policy, policy_names
from noughts.core import events
from noughts.core.board import AnyMark, Board, Cell, Mark, O, SYMMETRIES, Status, X, reachable
from noughts.core.codec import decode, encode, format_record, parse_record
from noughts.core.errors import IllegalMove, NoughtsError
from noughts.core.events import Event, facts
from noughts.core.game import Command, CreateGame, Game, JoinGame, PlaceToken, Resign, TakeBack, decide, evolve, fold, replay
from noughts.core.notation import AnyBoard, format_cell, format_moves, format_pair, format_square, game_over, parse_board, parse_cell, parse_moves
from noughts.core.player import Player
from noughts.service import Answer, Service
from noughts.store.base import Entry, GameFilter, GameSummary, Store, StoredGame
from noughts.store.urls import open_store
from noughts.text.describe import describe, standing
from noughts.text.sentences import say_advice, say_prospect
from noughts.text.svg import svg
from noughts.text.turning_point import say_turning_point
from noughts.text.wordings import GEM, KATA, NARRATIVE, WORDINGS, Wording

__version__: str
__all__ = [
    "Advice",
    "Answer",
    "AnyBoard",
    "AnyMark",
    "BeadRules",
    "Board",
    "Bot",
    "Cell",
    "Certificate",
    "Command",
    "CreateGame",
    "Entry",
    "Event",
    "GEM",
    "Game",
    "GameFilter",
    "GameSummary",
    "IllegalMove",
    "JoinGame",
    "KATA",
    "Kind",
    "Mark",
    "Menace",
    "NARRATIVE",
    "NoughtsError",
    "O",
    "Odds",
    "PlaceToken",
    "Player",
    "Policy",
    "Program",
    "Prospect",
    "Reason",
    "Resign",
    "Result",
    "Review",
    "SYMMETRIES",
    "Service",
    "Status",
    "Store",
    "StoredGame",
    "TakeBack",
    "Training",
    "WORDINGS",
    "Wording",
    "X",
    "advice_to_dict",
    "advise",
    "certify",
    "decide",
    "decode",
    "describe",
    "encode",
    "errors",
    "events",
    "evolve",
    "facts",
    "find_policy",
    "fold",
    "format_cell",
    "format_moves",
    "format_pair",
    "format_record",
    "format_square",
    "game_over",
    "judge_move",
    "load_machine",
    "load_policy",
    "next_move",
    "odds",
    "open_store",
    "parse_board",
    "parse_cell",
    "parse_moves",
    "parse_record",
    "play_game",
    "policy_names",
    "prospect",
    "prospects",
    "reachable",
    "replay",
    "review",
    "review_to_dict",
    "save_machine",
    "save_policy",
    "say_advice",
    "say_prospect",
    "say_turning_point",
    "standing",
    "svg",
]
