"""The coach's findings in sentences."""

from __future__ import annotations

from collections.abc import Iterable

from noughts.analysis.coach import Advice
from noughts.analysis.reasons import Kind, Reason
from noughts.analysis.solver import Prospect, Result
from noughts.core.board import Mark
from noughts.core.notation import format_cell

_SENTENCES = {
    Kind.WINS: "It completes {lines}.",
    Kind.GIVES_UP_WIN: "It gives up the win: {cells} is better ({play}).",
    Kind.GIVES_UP_DRAW: "It gives up the draw: {other} wins after {play}; {cells} is better.",
    Kind.ALLOWS_WIN: "It lets {other} complete {lines}.",
    Kind.ALLOWS_FORK: "It lets {other} make a fork on {cells}: {lines} ({play}).",
    Kind.ALLOWS_FORCED_FORK: "It lets {other} force a fork with {cells} ({play}).",
    Kind.WINS_LATER: "It wins later than it could ({play}): {cells} is better.",
    Kind.LOSES_SOONER: "It loses sooner than it must: {cells} is better ({play}).",
    Kind.BLOCKS: "It stops {other} on {lines}.",
    Kind.MAKES_FORK: "It makes a fork: {lines} ({play}).",
    Kind.FORCES_FORK: "It forces a fork ({play}).",
    Kind.BLOCKS_FORK: "It keeps {other} from making a fork on {cells}.",
    Kind.STOPS_FORCED_FORK: "It stops {other} from forcing a fork, unlike {cells} ({play}).",
    Kind.ONLY_WIN: "It is the only move that wins.",
    Kind.ONLY_MOVE: "It is the only move that does not lose.",
    Kind.THREATENS: "It threatens {lines}.",
    Kind.CENTRE: "It takes the centre, {open}.",
    Kind.CORNER: "It takes a corner, {open}.",
    Kind.EDGE: "It takes an edge, {open}.",
}


def say_prospect(prospect: Prospect) -> str:
    """Describe the prospect of a move.

    >>> from noughts.analysis.solver import Prospect
    >>> say_prospect(Prospect(Result.WIN, 3)), say_prospect(Prospect(Result.DRAW, 5))
    ('win in 3', 'draw')
    """
    if prospect.result is Result.DRAW:
        return "draw"
    return f"{prospect.result} in {prospect.distance}"


def say_reason(reason: Reason, mark: Mark) -> str:
    """Describe one reason for or against a move of that mark.

    >>> from noughts.core.notation import parse_board
    >>> from noughts.analysis.coach import judge_move
    >>> advice = judge_move(parse_board("X__/_O_/__X"), 2)
    >>> for reason in advice.reasons:
    ...     print(say_reason(reason, advice.mark))
    It gives up the draw: X wins after 3, 7, 4, 8; 2, 4, 6 or 8 is better.
    It lets X make a fork on 7: 7-8-9 and 1-4-7 (3, 7, 4, 8).
    It threatens 3-5-7.
    It takes a corner, on 1 open line.
    """
    return _SENTENCES[reason.kind].format(
        other=mark.other,
        cells=_listed(map(format_cell, reason.cells), "or"),
        lines=_listed(("-".join(map(format_cell, line)) for line in reason.lines), "and"),
        play=", ".join(map(format_cell, reason.play)),
        open=_open(len(reason.lines)),
    )


def say_advice(advice: Advice) -> str:
    """Describe a move in one line.

    >>> from noughts.core.board import Board
    >>> from noughts.analysis.coach import judge_move
    >>> say_advice(judge_move(Board(), 4))
    '5: draw. It takes the centre, on 4 open lines.'
    """
    said = [f"{format_cell(advice.cell)}: {say_prospect(advice.prospect)}."]
    return " ".join((*said, *(say_reason(reason, advice.mark) for reason in advice.reasons)))


def _listed(words: Iterable[str], last_word: str) -> str:
    *most, last = (*words,) or ("",)
    return f"{', '.join(most)} {last_word} {last}" if most else last


def _open(count: int) -> str:
    return f"on {count or 'no'} open line{'' if count == 1 else 's'}"
