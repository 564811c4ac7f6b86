"""What the coach says in the middle of a game."""

from __future__ import annotations

from noughts.analysis.coach import Advice, advise, judge_move
from noughts.core.board import Board
from noughts.core.game import Game
from noughts.core.notation import format_cell, parse_cell
from noughts.text.sentences import say_advice, say_prospect


def hint(board: Board, *, short: bool = False) -> str:
    """Return a best move with its reasons, and name the others that are as good; or only the move."""
    best, *others = (advice for advice in advise(board) if advice.is_best)
    if short:
        return _short(best)
    also = ", ".join(format_cell(advice.cell) for advice in others)
    return f"{say_advice(best)}{f' As good: {also}.' if also else ''}"


def explain(game: Game, asked: str, *, short: bool = False) -> str:
    """Say what the last token did, or what one on the cell that is asked about would do."""
    say = _short if short else say_advice
    if asked:
        return say(judge_move(game.board, parse_cell(asked)))
    if not game.moves:
        return "No token yet." if short else "There is no token yet; why 5 tells what one on 5 would do."
    board = Board(first=game.board.first)
    for cell in game.moves[:-1]:
        board = board.place(cell)
    return f"{board.turn} on {say(judge_move(board, game.moves[-1]))}"


def _short(advice: Advice) -> str:
    """Say what fits into twenty columns."""
    return f"{format_cell(advice.cell)}: {say_prospect(advice.prospect)}"
