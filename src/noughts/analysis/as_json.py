"""What the coach found, as plain data for JSON; cells are counted from 0, as programs do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from noughts.analysis.coach import Advice, Review
from noughts.analysis.reasons import Reason
from noughts.analysis.solver import Prospect
from noughts.text.sentences import say_reason

Plain: TypeAlias = dict[str, Any]


def plain_prospect(prospect: Prospect) -> Plain:
    """Return a result and a distance.

    >>> from noughts.core.board import Board
    >>> from noughts.analysis.solver import prospect
    >>> plain_prospect(prospect(Board()))
    {'result': 'draw', 'distance': 9}
    """
    return {"result": str(prospect.result), "distance": prospect.distance}


def plain_advice(advice: Advice) -> Plain:
    """Return what is to be said of one move, with a sentence for each reason."""
    return {
        "mark": str(advice.mark),
        "cell": advice.cell,
        **plain_prospect(advice.prospect),
        "best": advice.is_best,
        "reasons": [_reason(reason, advice) for reason in advice.reasons],
    }


def plain_moves(moves: Iterable[Advice]) -> list[Plain]:
    """Return what is to be said of several moves."""
    return [plain_advice(advice) for advice in moves]


def plain_review(review: Review) -> Plain:
    """Return what is to be said of a game."""
    return {
        "moves": plain_moves(review.moves),
        "standing": plain_prospect(review.standing),
        "mistakes": list(review.mistakes),
        "decisive": review.decisive,
    }


def _reason(reason: Reason, advice: Advice) -> Plain:
    return {
        "kind": str(reason.kind),
        "cells": list(reason.cells),
        "lines": [list(line) for line in reason.lines],
        "play": list(reason.play),
        "sentence": say_reason(reason, advice.mark),
    }
