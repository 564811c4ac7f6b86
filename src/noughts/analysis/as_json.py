"""The coach's findings as dictionaries for JSON; cells are counted from 0."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from noughts.analysis.coach import Advice, Review
from noughts.analysis.reasons import Reason
from noughts.analysis.solver import Prospect
from noughts.text.sentences import Level, MoveName, say_advice
from noughts.text.speaker import CellNames

JsonDict: TypeAlias = dict[str, Any]


def prospect_to_dict(prospect: Prospect) -> JsonDict:
    """Convert a prospect.

    >>> from noughts.core.board import Board
    >>> from noughts.analysis.solver import prospect
    >>> prospect_to_dict(prospect(Board()))
    {'result': 'draw', 'distance': 9}
    """
    return {"result": str(prospect.result), "distance": prospect.distance}


def advice_to_dict(
    advice: Advice, level: Level = "player", move: MoveName = "cell", cells: CellNames = "numbers"
) -> JsonDict:
    """Convert the advice on one move, with what `say_advice` says about it."""
    return {
        "mark": str(advice.mark),
        "cell": advice.cell,
        **prospect_to_dict(advice.prospect),
        "best": advice.is_best,
        "reasons": [_reason_to_dict(reason) for reason in advice.reasons],
        "sentence": say_advice(advice, level, cells, move=move),
    }


def moves_to_dicts(
    moves: Iterable[Advice], level: Level = "player", cells: CellNames = "numbers"
) -> list[JsonDict]:
    return [advice_to_dict(advice, level, cells=cells) for advice in moves]


def review_to_dict(review: Review, level: Level = "player", cells: CellNames = "numbers") -> JsonDict:
    """Convert the review of a game."""
    return {
        "moves": [advice_to_dict(advice, level, "token", cells) for advice in review.moves],
        "standing": prospect_to_dict(review.standing),
        "mistakes": list(review.mistakes),
        "decisive": review.decisive,
    }


def _reason_to_dict(reason: Reason) -> JsonDict:
    return {
        "kind": str(reason.kind),
        "cells": list(reason.cells),
        "lines": [list(line) for line in reason.lines],
        "play": list(reason.play),
    }
