"""The coach on the command line: a position with every move labelled, or a game gone through."""

from __future__ import annotations

from argparse import Namespace
from typing import TextIO

from noughts.analysis.coach import Advice, Review, advise, review
from noughts.analysis.reasons import PLACES
from noughts.analysis.solver import Result, prospect
from noughts.cli.commands.show import read_board
from noughts.cli.opening import new_game
from noughts.cli.screen import is_cramped
from noughts.core.board import Board, Cell, Mark
from noughts.core.errors import UnreadableBoard
from noughts.core.game import Game, PlaceToken, decide, fold
from noughts.core.notation import format_cell, parse_moves
from noughts.store.errors import InvalidId, NoSuchGame, StoreMissing
from noughts.text.describe import standing
from noughts.text.sentences import say_advice, say_prospect, say_reason

# A label says what a move is worth by a word, a sign and a colour.
_SIGNS = {Result.WIN: "+", Result.DRAW: "=", Result.LOSS: "-"}
_COLOURS = {Result.WIN: "\x1b[32m", Result.DRAW: "\x1b[36m", Result.LOSS: "\x1b[31m"}
_MARKS = {Mark.X: "\x1b[1;94m", Mark.O: "\x1b[1;33m"}
_RESET = "\x1b[0m"
_WIDTH = 11


def analyse(options: Namespace, out: TextIO, *, colour: bool) -> None:
    """Say what is to be said of a position or a game."""
    written, first = options.position, Mark(options.first)
    if written.isdigit():
        _tell_game(_played(parse_moves(written, first), first), out, as_json=options.json)
        return
    try:
        board = read_board(written, first, or_game=True)
    except UnreadableBoard as error:
        _tell_game(_saved(options, error), out, as_json=options.json)
    else:
        _tell_position(board, out, as_json=options.json, colour=colour)


def _played(moves: tuple[Cell, ...], first: Mark) -> Game:
    game = new_game(first, ())
    for cell in moves:
        game = fold(decide(game, PlaceToken(game.board.turn, cell)), game)
    return game


def _saved(options: Namespace, unreadable: UnreadableBoard) -> Game:
    """Return the saved game that was meant, if what is no board is the beginning of an id."""
    written = options.position
    if not set(written) - set("XO_") or not written.translate({ord("-"): "", ord("_"): ""}).isalnum():
        raise unreadable  # it was meant for a board, or can be no id
    from noughts.cli.saved import look_up  # noqa: PLC0415 - only who asks for it loads it

    try:
        return look_up(options, written)
    except StoreMissing:
        raise UnreadableBoard(f"{unreadable}, and no game is saved") from None
    except (InvalidId, NoSuchGame) as error:
        raise UnreadableBoard(f"{unreadable}, and {error}") from None


def _tell_position(board: Board, out: TextIO, *, as_json: bool, colour: bool) -> None:
    moves = advise(board)
    if as_json:
        from noughts.analysis.as_json import moves_to_dicts, prospect_to_dict  # noqa: PLC0415 - the same

        found = {"board": str(board), "first": str(board.first), "turn": str(board.turn)}
        _write_json({**found, **prospect_to_dict(prospect(board)), "moves": moves_to_dicts(moves)}, out)
        return
    if not is_cramped(out):
        out.write(f"{_labelled(board, moves, colour=colour)}\n")
    if board.is_over:
        out.write(f"{_ended(Game.at(board))}\n")
        return
    best = ", ".join(format_cell(advice.cell) for advice in moves if advice.is_best)
    out.write(f"{standing(board)}: {say_prospect(prospect(board))}. Best: {best}.\n")
    ordered = sorted(moves, key=lambda advice: (not advice.is_best, _rank(advice), advice.cell))
    out.writelines(f"{say_advice(advice)}\n" for advice in ordered)


def _tell_game(game: Game, out: TextIO, *, as_json: bool) -> None:
    found = review(game.moves, game.board.first)
    if as_json:
        from noughts.analysis.as_json import review_to_dict  # noqa: PLC0415 - the same

        ended = {
            "first": str(game.board.first),
            "winner": game.winner and str(game.winner),
            "resigned": game.resigned and str(game.resigned),
            "end": standing(game),
        }
        _write_json({**ended, **review_to_dict(found)}, out)
        return
    out.writelines(
        f"{number}. {advice.mark} {_judgement(advice)}\n" for number, advice in enumerate(found.moves, 1)
    )
    out.write(f"{_ended(game)}\n")
    out.write(f"{_summary(game, found)}\n")


def _judgement(advice: Advice) -> str:
    """Say what a move does, and where it lies only if that is all."""
    told = [reason for reason in advice.reasons if reason.kind not in PLACES] or advice.reasons
    said = [f"{format_cell(advice.cell)}: {say_prospect(advice.prospect)}."]
    said += [say_reason(reason, advice.mark) for reason in told]
    return " ".join((*said, "A mistake.") if advice.mistake else said)


def _summary(game: Game, found: Review) -> str:
    """Say where the game was decided, and what was better there."""
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
    """Draw a board with what each move is worth in its cell."""
    labels = dict.fromkeys(range(9), (" " * _WIDTH, ""))
    for cell, mark in enumerate(board.cells):
        if mark:
            labels[cell] = str(mark).center(_WIDTH), _MARKS[mark]
    for advice in moves:
        result, distance = advice.prospect.result, advice.prospect.distance
        worth = str(result) if result is Result.DRAW else f"{result} {distance}"
        text = f"{format_cell(advice.cell)} {_SIGNS[result]}{worth}"
        labels[advice.cell] = text.center(_WIDTH), _COLOURS[result]
    signs = [f"{paint}{text}{_RESET}" if colour and paint else text for text, paint in labels.values()]
    rows = ["|".join(signs[row : row + 3]).rstrip() for row in (0, 3, 6)]
    return f"\n{'+'.join(['-' * _WIDTH] * 3)}\n".join(rows)


def _rank(advice: Advice) -> tuple[int, int]:
    """Put wins first, the soonest before the others, and losses last, the latest before the others."""
    order = list(Result).index(advice.prospect.result)
    return order, advice.prospect.distance * (-1 if advice.prospect.result is Result.LOSS else 1)


def _write_json(found: dict[str, object], out: TextIO) -> None:
    import json  # noqa: PLC0415 - the same

    out.write(f"{json.dumps(found)}\n")


def _ended(game: Game) -> str:
    """Say how a game stands; a name stays as it is at the start of a sentence, too."""
    return "The game is drawn." if game.is_draw else f"{standing(game)}."
