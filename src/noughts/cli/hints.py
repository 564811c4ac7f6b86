"""The answers to a player's questions in the middle of a game."""

from __future__ import annotations

from collections.abc import Mapping

from noughts.analysis.best_moves import best_cells, perfect_cells
from noughts.analysis.coach import Advice, judge_move, review
from noughts.analysis.solver import Result
from noughts.cli.prompt import Prompt
from noughts.cli.question import read_cell
from noughts.cli.screen import Screen
from noughts.core.board import Board, Mark
from noughts.core.game import Game
from noughts.text.sentences import MoveName, say_advice, say_prospect
from noughts.text.speaker import Speaker, capitalised
from noughts.text.turning_point import say_review, say_turning_point


def is_question(words: str) -> bool:
    return words in ("help", "hint") or is_about_moves(words)


def is_about_moves(words: str) -> bool:
    """Return whether this asks about moves that were made, which is possible after a game, too."""
    return words == "review" or words.split()[:1] == ["why"]


def answer(prompt: Prompt, game: Game, words: str, *, is_on_turn: bool = True) -> None:
    """Answer `help`, `hint`, `why`, `why 5` or `review`; a hint says if it is another player's turn."""
    screen = prompt.screen
    wording, short = screen.wording, screen.compact
    speaker = Speaker(wording, screen.cell_names)
    if words == "help":
        prompt.show_page(screen.text("help_short" if short else "help"), game)
    elif words == "review":
        found = review(game.moves, game.board.first)
        names = screen.who if screen.you else None
        lines = say_review(found, game, "player", screen.cell_names, wording, names)
        prompt.show_page("\n".join(lines), game)
    elif game.is_over and (words != "why" or not game.moves):
        prompt.reply(wording.say("game.over"), game)
    elif words == "why" and not game.moves:
        prompt.reply(wording.say("prompt.no_move_short") if short else screen.text("no_move"), game)
    elif words != "hint":
        prompt.reply(explain(game, words.removeprefix("why").strip(), speaker, short=short), game)
    elif is_on_turn:
        prompt.reply(hint(game.board, speaker, short=short), game)
    elif short:
        prompt.reply(hint(game.board, speaker, "token", short=True), game)
    else:
        said, player = hint(game.board, speaker, "cell"), screen.name(game, game.board.turn)
        prompt.reply(wording.say("hint.theirs", player=player, said=said), game)


def hint(board: Board, speaker: Speaker, move: MoveName = "hint", *, short: bool = False) -> str:
    """Say what `perfect` would do, why, and which moves are as good; in short, only the move."""
    cell = perfect_cells(board)[0]
    advice = judge_move(board, cell)
    if short and move != "hint":
        return _say(advice, speaker, move, short=True)
    if short:
        value = say_prospect(advice.prospect, speaker.wording)
        return speaker.say("hint.short", cell=speaker.number(cell), value=value)
    said = say_advice(advice, "player", speaker.cells, speaker.wording, move=move)
    others = [other for other in best_cells(board) if other != cell]
    is_any = len(others) == len(board.free_cells) - 1
    if not others or (is_any and advice.prospect.result is Result.LOSS):
        return said
    key = "better.any" if is_any and len(others) > 1 else "better.as_good"
    return f"{said} {capitalised(speaker.say(key, cells=speaker.one_of(others)))}"


def explain(game: Game, asked: str, speaker: Speaker, *, short: bool = False) -> str:
    """Say what the last token did, or what one on the cell that is asked about would do."""
    if asked:
        return _say(judge_move(game.board, read_cell(asked)), speaker, "cell", short=short)
    board = Board(first=game.board.first)
    for cell in game.moves[:-1]:
        board = board.place(cell)
    return _say(judge_move(board, game.moves[-1]), speaker, "token", short=short)


def show_end(screen: Screen, game: Game, score: Mapping[Mark | None, int]) -> None:
    """Show the score and, to a person at a terminal with room for it, what decided the game."""
    if screen.interactive and not screen.compact:
        found = review(game.moves, game.board.first)
        screen.say(say_turning_point(found, game, screen.cell_names, screen.wording, screen.who))
    screen.show_score(game, score)


def _say(advice: Advice, speaker: Speaker, move: MoveName, *, short: bool) -> str:
    """Say what a move does; in short, only what it is worth, which fits into twenty columns."""
    if not short:
        return say_advice(advice, "player", speaker.cells, speaker.wording, move=move)
    called = speaker.say(f"move.{move}", mark=advice.mark, cell=speaker.number(advice.cell))
    return speaker.say("exact.short", move=called, value=say_prospect(advice.prospect, speaker.wording))
