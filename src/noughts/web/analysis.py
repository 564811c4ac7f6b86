"""The coach's advice and the bots' odds as JSON: computed in threads, and cached."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from noughts.analysis.as_json import moves_to_dicts, prospect_to_dict, review_to_dict
from noughts.analysis.coach import advise, review
from noughts.analysis.solver import prospect
from noughts.bots.ladder import perfect
from noughts.bots.odds import odds
from noughts.bots.policy import Policy
from noughts.bots.registry import BUILT_IN
from noughts.core.board import Board, Mark
from noughts.core.notation import parse_board, parse_moves
from noughts.text.describe import describe
from noughts.text.speaker import CellNames
from noughts.web import schemas
from noughts.web.bots import Roster


@lru_cache(maxsize=2048)
def position(written: str, first: str, cells: CellNames) -> bytes:
    """Return the analysis of a position, as JSON."""
    return schemas.encode(_position(parse_board(written, Mark(first)), cells))


@lru_cache(maxsize=512)
def game(digits: str, first: str, cells: CellNames) -> bytes:
    """Return the review of a game, and the analysis of its last position, as JSON."""
    moves = parse_moves(digits, Mark(first))
    board = Board(first=Mark(first))
    for cell in moves:
        board = board.place(cell)
    reviewed = review_to_dict(review(moves, Mark(first)), cells=cells)
    return schemas.encode(_position(board, cells) | {"review": reviewed})


def _position(board: Board, cells: CellNames) -> dict[str, Any]:
    return {
        "board": str(board),
        "turn": str(board.turn),
        "over": board.is_over,
        "prospect": prospect_to_dict(prospect(board)),
        "moves": moves_to_dicts(advise(board), cells=cells),
        "description": describe(board),
        "review": None,
    }


@cache
def bots(roster: Roster) -> bytes:
    """Return the bots as JSON, with their results against perfect play in both seats."""
    listed = [_bot(name, roster.policy(name), roster.parameters(name)) for name in roster.names]
    return schemas.encode(schemas.Bots(bots=listed))


def _bot(name: str, bot: Policy, parameters: tuple[str, ...]) -> schemas.Bot:
    as_x, as_o = odds(bot, perfect), odds(perfect, bot)
    wins, draws = (as_x.x + as_o.o) / 2, (as_x.draw + as_o.draw) / 2
    losses = 1 - wins - draws
    return schemas.Bot(
        policy=name,
        parameters=list(parameters),
        description=BUILT_IN[name].description if name in BUILT_IN else "A policy of this server's own.",
        strength=_strength(draws, losses),
        againstPerfect=schemas.Shares(wins=float(wins), draws=float(draws), losses=float(losses)),
    )


def _strength(draws: Fraction, losses: Fraction) -> str:
    """Describe the results of a bot against perfect play, which never loses."""
    if not losses:
        return "Draws every game against perfect play."
    if not draws:
        return "Loses every game against perfect play."
    return f"Draws {_percent(draws)} of its games against perfect play."


def _percent(share: Fraction) -> str:
    """Return a share in percent, 0 or 100 only if it is exact.

    >>> from fractions import Fraction
    >>> _percent(Fraction(1, 7)), _percent(Fraction(1, 1000)), _percent(Fraction(999, 1000))
    ('14 %', 'less than 1 %', 'more than 99 %')
    """
    rounded = round(share * 100)
    if rounded == 0:
        return "less than 1 %"
    return f"{rounded} %" if rounded < 100 else "more than 99 %"
