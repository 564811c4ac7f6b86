"""`noughts analyse`: a position with every move labelled, or the review of a game."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import TextIO

from noughts.analysis.as_json import moves_to_dicts, prospect_to_dict, review_to_dict
from noughts.analysis.coach import Advice, Review, advise, review
from noughts.analysis.reasons import PLACES
from noughts.analysis.solver import Result, prospect
from noughts.cli import options as shared
from noughts.cli.console import Console
from noughts.cli.position import add_position, game_to_dict, read_position
from noughts.cli.screen import is_cramped
from noughts.core.board import Board, Mark
from noughts.core.game import Game
from noughts.core.notation import format_cell
from noughts.text.describe import pairing, standing
from noughts.text.picture import draw_grid, rule
from noughts.text.sentences import say_advice, say_prospect

# A label shows what a move is worth by a word, a sign and a colour.
_SIGNS = {Result.WIN: "+", Result.DRAW: "=", Result.LOSS: "-"}
_COLOURS = {Result.WIN: "\x1b[32m", Result.DRAW: "\x1b[36m", Result.LOSS: "\x1b[31m"}
_MARKS = {Mark.X: "\x1b[1;94m", Mark.O: "\x1b[1;33m"}
_RESET = "\x1b[0m"
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
    shared.add_json(parser)
    shared.add_colour(parser)


def run(options: Namespace, console: Console) -> None:
    found = read_position(options)
    if isinstance(found, Board):
        _write_advice(found, console.out, as_json=options.json, colour=console.wants_colour(options))
    else:
        _write_review(found, console.out, as_json=options.json)


def _write_advice(board: Board, out: TextIO, *, as_json: bool, colour: bool) -> None:
    moves = advise(board)
    if as_json:
        found = {"board": str(board), "first": str(board.first), "turn": str(board.turn)}
        found |= prospect_to_dict(prospect(board))
        out.write(f"{json.dumps({**found, 'moves': moves_to_dicts(moves)})}\n")
        return
    if not is_cramped(out):
        out.write(f"{_labelled(board, moves, colour=colour)}\n")
    if board.is_over:
        out.write(f"{_result(Game.at(board))}\n")
        return
    best = ", ".join(format_cell(advice.cell) for advice in moves if advice.is_best)
    out.write(f"{standing(board)}: {say_prospect(prospect(board))}. Best: {best}.\n")
    ordered = sorted(moves, key=lambda advice: (not advice.is_best, _rank(advice), advice.cell))
    out.writelines(f"{say_advice(advice)}\n" for advice in ordered)


def _write_review(game: Game, out: TextIO, *, as_json: bool) -> None:
    found = review(game.moves, game.board.first)
    if as_json:
        result = {
            "first": str(game.board.first),
            "players": game_to_dict(game)["players"],
            "winner": game.winner and str(game.winner),
            "resigned": game.resigned and str(game.resigned),
            "end": standing(game),
        }
        out.write(f"{json.dumps({**result, **review_to_dict(found)})}\n")
        return
    if game.players:
        out.write(f"{pairing(game)}.\n")
    out.writelines(
        f"{number}. {advice.mark} {_judgement(advice)}\n" for number, advice in enumerate(found.moves, 1)
    )
    out.write(f"{_result(game)}\n")
    out.write(f"{_summary(game, found)}\n")


def _judgement(advice: Advice) -> str:
    """Say what a move does; where it lies is only worth saying if it does nothing else."""
    telling = tuple(reason for reason in advice.reasons if reason.kind not in PLACES)
    said = say_advice(advice.replace(reasons=telling or advice.reasons))
    return f"{said} A mistake." if advice.mistake else said


def _summary(game: Game, found: Review) -> str:
    """Say where the game was decided, and what would have been better."""
    if game.resigned:
        is_on_turn = game.resigned is game.board.turn
        worth = found.standing.result if is_on_turn else found.standing.result.other
        if worth is not Result.LOSS:
            return f"{game.resigned} gave up what was a {worth} with best play."
    if not found.decisive:
        return "Nobody has made a mistake."
    decisive = found.moves[found.decisive - 1]
    better = ", ".join(map(format_cell, decisive.mistake.cells)) if decisive.mistake else ""
    count = len(found.mistakes)
    return (
        f"{count} mistake{'' if count == 1 else 's'}; decided by move {found.decisive}, "
        f"{decisive.mark} on {format_cell(decisive.cell)}. Better: {better}."
    )


def _labelled(board: Board, moves: tuple[Advice, ...], *, colour: bool) -> str:
    """Draw a board, with the worth of each move in its cell."""
    labels = dict.fromkeys(range(9), (" " * _LABEL_COLUMNS, ""))
    for cell, mark in enumerate(board.cells):
        if mark:
            labels[cell] = str(mark).center(_LABEL_COLUMNS), _MARKS[mark]
    for advice in moves:
        result, distance = advice.prospect.result, advice.prospect.distance
        worth = str(result) if result is Result.DRAW else f"{result} {distance}"
        text = f"{format_cell(advice.cell)} {_SIGNS[result]}{worth}"
        labels[advice.cell] = text.center(_LABEL_COLUMNS), _COLOURS[result]
    signs = [f"{paint}{text}{_RESET}" if colour and paint else text for text, paint in labels.values()]
    return draw_grid(signs, between=rule(_LABEL_COLUMNS))


def _rank(advice: Advice) -> tuple[int, int]:
    """Sort wins first, the soonest at the top, and losses last, the soonest at the bottom."""
    order = list(Result).index(advice.prospect.result)
    return order, advice.prospect.distance * (-1 if advice.prospect.result is Result.LOSS else 1)


def _result(game: Game) -> str:
    """Return the result as a sentence, without changing the case of a name."""
    return "The game is drawn." if game.is_draw else f"{standing(game)}."
