"""The coach's findings as data."""

from __future__ import annotations

import json

import pytest

from noughts import Board, Mark, O, X
from noughts.analysis.as_json import advice_to_dict, moves_to_dicts, prospect_to_dict, review_to_dict
from noughts.analysis.coach import advise, judge_move, review
from noughts.analysis.solver import Prospect, Result, prospect
from noughts.core.board import reachable
from noughts.core.notation import parse_board
from noughts.text.sentences import say_advice


def test_a_prospect_is_a_result_and_a_distance() -> None:
    found = [prospect_to_dict(Prospect(result, 3)) for result in Result]

    assert found == [{"result": result, "distance": 3} for result in ("win", "draw", "loss")]


def test_a_move_to_the_letter() -> None:
    found = advice_to_dict(judge_move(parse_board("X__/_O_/__X"), 2))

    reasons = found.pop("reasons")
    assert found == {
        "mark": "O",
        "cell": 2,
        "result": "loss",
        "distance": 4,
        "best": False,
        "sentence": (
            "3 loses: X takes 7 and threatens both 7-8-9 and 1-4-7. Better: an edge (2, 4, 6 or 8)."
        ),
    }
    assert reasons[:3] == [
        {
            "kind": "givesUpDraw",
            "cells": [1, 3, 5, 7],
            "lines": [],
            "play": [2, 6, 3, 7],
        },
        {
            "kind": "allowsFork",
            "cells": [6],
            "lines": [[6, 7, 8], [0, 3, 6]],
            "play": [2, 6, 3, 7],
        },
        {
            "kind": "threatens",
            "cells": [6],
            "lines": [[2, 4, 6]],
            "play": [2, 6, 3, 7],
        },
    ]


def test_every_move_of_every_position_says_what_the_advice_says() -> None:
    for board in reachable():
        if board.canonical is not board:
            continue
        moves = advise(board)
        found = moves_to_dicts(moves)
        assert json.loads(json.dumps(found)) == found
        assert [one["cell"] for one in found] == ([] if board.is_over else [*board.free_cells])
        for plain, advice in zip(found, moves, strict=True):
            assert Mark(plain["mark"]) is advice.mark is board.turn
            assert Result(plain["result"]) is advice.prospect.result
            assert plain["distance"] == advice.prospect.distance
            assert plain["best"] is advice.is_best
            assert plain["sentence"] == say_advice(advice)
            assert [
                (one["kind"], one["cells"], one["lines"], one["play"]) for one in plain["reasons"]
            ] == [
                (reason.kind.value, [*reason.cells], [[*line] for line in reason.lines], [*reason.play])
                for reason in advice.reasons
            ]


@pytest.mark.parametrize(
    ("moves", "standing", "mistakes", "decisive"),
    [
        ((0, 3, 1, 4, 2), {"result": "loss", "distance": 0}, [2], 2),
        ((0, 4, 8, 2, 6), {"result": "loss", "distance": 2}, [4], 4),
        ((4, 0), {"result": "draw", "distance": 7}, [], None),
        ((), {"result": "draw", "distance": 9}, [], None),
    ],
)
def test_a_game_is_its_moves_and_its_mistakes(
    moves: tuple[int, ...], standing: dict[str, object], mistakes: list[int], decisive: int | None
) -> None:
    for first in (X, O):
        found = review_to_dict(review(moves, first))

        assert {**found, "moves": [one["cell"] for one in found["moves"]]} == {
            "moves": [*moves],
            "standing": standing,
            "mistakes": mistakes,
            "decisive": decisive,
        }
        assert [one["mark"] for one in found["moves"][:2]] == [str(first), str(first.other)][: len(moves)]
        assert json.loads(json.dumps(found)) == found


def test_a_position_that_is_over_has_no_moves() -> None:
    board = parse_board("XXX/OO_/___")

    assert moves_to_dicts(advise(board)) == []
    assert prospect_to_dict(prospect(board)) == {"result": "loss", "distance": 0}
    assert prospect_to_dict(prospect(Board())) == {"result": "draw", "distance": 9}
