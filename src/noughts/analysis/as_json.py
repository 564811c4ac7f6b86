"""The coach's findings as dictionaries for JSON; cells are counted from 0."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from noughts.analysis.coach import Advice, Review
from noughts.analysis.reasons import Reason
from noughts.analysis.solver import Prospect
from noughts.text.sentences import say_reason

JsonDict: TypeAlias = dict[str, Any]


def prospect_to_dict(prospect: Prospect) -> JsonDict:
    """Convert a prospect.

    >>> from noughts.core.board import Board
    >>> from noughts.analysis.solver import prospect
    >>> prospect_to_dict(prospect(Board()))
    {'result': 'draw', 'distance': 9}
    """
    return {"result": str(prospect.result), "distance": prospect.distance}


def advice_to_dict(advice: Advice) -> JsonDict:
    """Convert the advice on one move, with a sentence for each reason."""
    return {
        "mark": str(advice.mark),
        "cell": advice.cell,
        **prospect_to_dict(advice.prospect),
        "best": advice.is_best,
        "reasons": [_reason(reason, advice) for reason in advice.reasons],
    }


def moves_to_dicts(moves: Iterable[Advice]) -> list[JsonDict]:
    return [advice_to_dict(advice) for advice in moves]


def review_to_dict(review: Review) -> JsonDict:
    """Convert the review of a game."""
    return {
        "moves": moves_to_dicts(review.moves),
        "standing": prospect_to_dict(review.standing),
        "mistakes": list(review.mistakes),
        "decisive": review.decisive,
    }


def _reason(reason: Reason, advice: Advice) -> JsonDict:
    return {
        "kind": str(reason.kind),
        "cells": list(reason.cells),
        "lines": [list(line) for line in reason.lines],
        "play": list(reason.play),
        "sentence": say_reason(reason, advice.mark),
    }
