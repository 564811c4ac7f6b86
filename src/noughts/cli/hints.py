"""The answers to a player's questions in the middle of a game."""

from __future__ import annotations

from noughts.analysis.best_moves import best_cells, perfect_cells
from noughts.analysis.coach import Advice, judge_move
from noughts.core.board import Board
from noughts.core.game import Game
from noughts.core.notation import format_cell, parse_cell
from noughts.text.sentences import say_advice, say_prospect
from noughts.text.speaker import Speaker
from noughts.text.wordings import Wording


def is_question(words: str) -> bool:
    return words in ("help", "hint") or words.split()[:1] == ["why"]


def answer(game: Game, words: str, wording: Wording, *, short: bool) -> str:
    """Answer `help`, `hint`, `why` or `why 5`."""
    if words == "help":
        return wording.say("prompt.help_short" if short else "prompt.help")
    if game.is_over and words != "why":
        return wording.say("game.over")
    if words == "hint":
        return hint(game.board, wording, short=short)
    return explain(game, words.removeprefix("why").strip(), wording, short=short)


def hint(board: Board, wording: Wording, *, short: bool = False) -> str:
    """Say what `perfect` would do, why, and which moves are as good; in short, only the move."""
    cell = perfect_cells(board)[0]
    said = _say(judge_move(board, cell), wording, "move.hint", short=short)
    others = [other for other in best_cells(board) if other != cell]
    if short or not others:
        return said
    listed = Speaker(wording, wording.cells).one_of(others)
    key = "better.as_good" if len(others) < len(board.free_cells) - 1 else "better.any"
    return f"{said} {wording.say(key, cells=listed)}"


def explain(game: Game, asked: str, wording: Wording, *, short: bool = False) -> str:
    """Say what the last token did, or what one on the cell that is asked about would do."""
    if asked:
        return _say(judge_move(game.board, parse_cell(asked)), wording, "move.cell", short=short)
    if not game.moves:
        return wording.say("prompt.no_token_short" if short else "prompt.no_token")
    board = Board(first=game.board.first)
    for cell in game.moves[:-1]:
        board = board.place(cell)
    return _say(judge_move(board, game.moves[-1]), wording, "move.token", short=short)


def _say(advice: Advice, wording: Wording, move: str, *, short: bool) -> str:
    """Say what a move does; in short, only what it is worth, which fits into twenty columns."""
    if not short:
        return say_advice(advice, "player", wording.cells, wording, move=move)
    key = "move.token" if move == "move.token" else "move.cell"
    called = wording.say(key, mark=advice.mark, cell=format_cell(advice.cell))
    return wording.say("exact.short", move=called, value=say_prospect(advice.prospect, wording))
