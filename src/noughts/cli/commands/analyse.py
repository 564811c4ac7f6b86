"""`noughts analyse`: a position with every move labelled, or the review of a game."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import TextIO

from noughts.analysis.as_json import moves_to_dicts, prospect_to_dict, review_to_dict
from noughts.analysis.coach import Advice, advise, review
from noughts.analysis.solver import Result, prospect
from noughts.cli import options as shared
from noughts.cli.console import Console
from noughts.cli.layout import say
from noughts.cli.position import add_position, game_to_dict, read_position
from noughts.cli.screen import COLOURS, RESET, is_cramped
from noughts.core.board import Board
from noughts.core.game import Game
from noughts.core.notation import format_cell
from noughts.text.catalogue import ENGLISH
from noughts.text.describe import standing
from noughts.text.picture import draw_grid, rule
from noughts.text.sentences import LEVELS, say_advice, say_prospect
from noughts.text.turning_point import say_end, say_review, say_turning_point

# A label shows what a move is worth by a word, a sign and a colour.
_SIGNS = {Result.WIN: "+", Result.DRAW: "=", Result.LOSS: "-"}
_RESULT_COLOURS = {Result.WIN: "\x1b[32m", Result.DRAW: "\x1b[36m", Result.LOSS: "\x1b[31m"}
_LABEL_COLUMNS = 11


HELP = shared.CommandHelp(
    "Say what each move of a position is worth and why, or where a game was decided.",
    {
        "noughts analyse X__/_O_/__X": "every move of a position",
        "noughts analyse 1593748": "a game: its mistakes, and what was better",
    },
)


def add_options(parser: shared.Parser) -> None:
    add_position(parser)
    parser.add_argument(
        "--level",
        choices=LEVELS,
        default="player",
        help="say it to a child, a player, or exactly (default: player)",
    )
    shared.add_json(parser)
    shared.add_colour(parser)


def run(options: Namespace, console: Console) -> None:
    found = read_position(options)
    if isinstance(found, Board):
        _write_advice(found, console.out, options, colour=console.wants_colour(options))
    else:
        _write_review(found, console.out, options)


def _write_advice(board: Board, out: TextIO, options: Namespace, *, colour: bool) -> None:
    moves = advise(board)
    if options.json:
        found = {"board": str(board), "first": str(board.first), "turn": str(board.turn)}
        found |= prospect_to_dict(prospect(board))
        out.write(f"{json.dumps({**found, 'moves': moves_to_dicts(moves, options.level)})}\n")
        return
    if not is_cramped(out):
        out.write(f"{_labelled(board, moves, colour=colour)}\n")
    if board.is_over:
        say(say_end(Game.at(board)), out)
        return
    best = ", ".join(format_cell(advice.cell) for advice in moves if advice.is_best)
    value = say_prospect(prospect(board))
    say(ENGLISH.say("review.best", standing=standing(board), value=value, cells=best), out)
    ordered = sorted(moves, key=lambda advice: (not advice.is_best, _rank(advice), advice.cell))
    for advice in ordered:
        say(say_advice(advice, options.level), out, indent=2)


def _write_review(game: Game, out: TextIO, options: Namespace) -> None:
    """Write what decided a game, who played, what each move did, and how it ended."""
    found = review(game.moves, game.board.first)
    if options.json:
        result = {
            "first": str(game.board.first),
            "players": game_to_dict(game)["players"],
            "winner": game.winner and str(game.winner),
            "resigned": game.resigned and str(game.resigned),
            "end": standing(game),
            "turning_point": say_turning_point(found, game),
        }
        out.write(f"{json.dumps({**result, **review_to_dict(found, options.level)})}\n")
        return
    for line in say_review(found, game, options.level):
        say(line, out, indent=3 if line[:1].isdigit() else 0)


def _labelled(board: Board, moves: tuple[Advice, ...], *, colour: bool) -> str:
    """Draw a board, with the worth of each move in its cell."""
    labels = dict.fromkeys(range(9), (" " * _LABEL_COLUMNS, ""))
    for cell, mark in enumerate(board.cells):
        if mark:
            labels[cell] = str(mark).center(_LABEL_COLUMNS), COLOURS[str(mark)]
    for advice in moves:
        result, distance = advice.prospect.result, advice.prospect.distance
        worth = str(result) if result is Result.DRAW else f"{result} {distance}"
        text = f"{format_cell(advice.cell)} {_SIGNS[result]}{worth}"
        labels[advice.cell] = text.center(_LABEL_COLUMNS), _RESULT_COLOURS[result]
    signs = [f"{paint}{text}{RESET}" if colour and paint else text for text, paint in labels.values()]
    return draw_grid(signs, between=rule(_LABEL_COLUMNS))


def _rank(advice: Advice) -> tuple[int, int]:
    """Sort wins first, the soonest at the top, and losses last, the soonest at the bottom."""
    order = list(Result).index(advice.prospect.result)
    return order, advice.prospect.distance * (-1 if advice.prospect.result is Result.LOSS else 1)
