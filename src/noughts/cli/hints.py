"""The answers to a player's questions in the middle of a game."""

from __future__ import annotations

from noughts.analysis.coach import Advice, advise, judge_move
from noughts.core.board import Board
from noughts.core.game import Game
from noughts.core.notation import format_cell, parse_cell
from noughts.text.catalogue import ENGLISH, Catalogue
from noughts.text.sentences import say_advice, say_prospect


def is_question(words: str) -> bool:
    return words in ("help", "hint") or words.split()[:1] == ["why"]


def answer(game: Game, words: str, wording: Catalogue = ENGLISH, *, short: bool) -> str:
    """Answer `help`, `hint`, `why` or `why 5`."""
    if words == "help":
        return wording.say("prompt.help_short" if short else "prompt.help")
    if game.is_over and words != "why":
        return wording.say("game.over")
    if words == "hint":
        return hint(game.board, short=short)
    return explain(game, words.removeprefix("why").strip(), wording, short=short)


def hint(board: Board, *, short: bool = False) -> str:
    """Return a best move with its reasons and the other best moves; in short, only the move."""
    best, *others = (advice for advice in advise(board) if advice.is_best)
    if short:
        return _short(best)
    also = ", ".join(format_cell(advice.cell) for advice in others)
    return f"{say_advice(best)}{f' As good: {also}.' if also else ''}"


def explain(game: Game, asked: str, wording: Catalogue = ENGLISH, *, short: bool = False) -> str:
    """Say what the last token did, or what one on the cell that is asked about would do."""
    say = _short if short else say_advice
    if asked:
        return say(judge_move(game.board, parse_cell(asked)))
    if not game.moves:
        return wording.say("prompt.no_token_short" if short else "prompt.no_token")
    board = Board(first=game.board.first)
    for cell in game.moves[:-1]:
        board = board.place(cell)
    return f"{board.turn} on {say(judge_move(board, game.moves[-1]))}"


def _short(advice: Advice) -> str:
    """Return what fits into twenty columns."""
    return f"{format_cell(advice.cell)}: {say_prospect(advice.prospect)}"
