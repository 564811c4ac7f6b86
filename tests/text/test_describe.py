"""Positions as sentences."""

from __future__ import annotations

import re

import pytest

from noughts import (
    Board,
    CreateGame,
    JoinGame,
    O,
    PlaceToken,
    Resign,
    X,
    decide,
    describe,
    parse_board,
    reachable,
    replay,
    standing,
)
from noughts.core.game import fold


@pytest.mark.parametrize(
    ("board", "sentence"),
    [
        (Board(), "The board is empty; X to move."),
        (Board(first=O), "The board is empty; O to move."),
        (Board().place(4), "X on 5; O to move."),
        (Board().place(4).place(0), "X on 5, O on 1; X to move."),
        (parse_board("X_O/OX_/__X"), "X on 1, 5 and 9, O on 3 and 4; X won with 1, 5 and 9."),
        (parse_board("OOO/XX_/X__"), "X on 4, 5 and 7, O on 1, 2 and 3; O won with 1, 2 and 3."),
        (parse_board("XOX/OOX/XXO"), "X on 1, 3, 6, 7 and 8, O on 2, 4, 5 and 9; the game is drawn."),
        (parse_board("X__/OO_/___", O), "O on 4 and 5, X on 1; X to move."),
    ],
)
def test_a_position_is_described_in_a_sentence(board: Board, sentence: str) -> None:
    assert describe(board) == sentence


def test_names_and_marks_are_both_described() -> None:
    game = replay(decide(None, CreateGame()))
    for command in (JoinGame(X, "bob"), PlaceToken(X, 4)):
        game = fold(decide(game, command), game)

    assert describe(game) == "bob (X) on 5; O to move."


def test_a_resignation_is_described() -> None:
    game = replay(decide(None, CreateGame()))
    game = fold(decide(game, Resign(X)), game)

    assert describe(game) == "The board is empty; X resigned and O won."
    assert standing(game) == "X resigned and O won"


def test_every_position_has_a_sentence_of_its_own() -> None:
    described = {describe(board): board for board in reachable()}

    assert len(described) == 5_478
    for sentence, board in described.items():
        held = sentence.split(";")[0]
        signs = ["_"] * 9
        for mark, numbers in re.findall(r"([XO]) on ((?:\d(?:, | and )?)+)", held):
            for number in re.findall(r"\d", numbers):
                signs[int(number) - 1] = mark
        assert "".join(signs) == str(board).replace("/", "")
