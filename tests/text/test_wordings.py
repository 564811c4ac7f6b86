"""The wordings, to the letter of the documents."""

from __future__ import annotations

import pytest

from noughts import (
    GEM,
    KATA,
    NARRATIVE,
    WORDINGS,
    Board,
    Mark,
    NoughtsError,
    O,
    Wording,
    X,
    game_over,
    parse_board,
    reachable,
)

BOARD = parse_board("X_O/_X_/___")


@pytest.mark.parametrize(
    ("wording", "lines"),
    [
        (NARRATIVE, ["X| |O", "-+-+-", " |X|", "-+-+-", " | |"]),
        (GEM, ["X _ O", "_ X _", "_ _ _"]),
        (KATA, ["X|2|O", "-+-+-", "4|X|6", "-+-+-", "7|8|9"]),
    ],
    ids=lambda value: value.title if isinstance(value, Wording) else "",
)
def test_each_wording_draws_a_board_in_its_own_way(wording: Wording, lines: list[str]) -> None:
    assert wording.draw(BOARD).split("\n") == lines


@pytest.mark.parametrize(
    ("wording", "mark", "name", "line"),
    [
        (NARRATIVE, X, None, "PLAYER X WON!"),
        (NARRATIVE, O, None, "PLAYER O WON!"),
        (NARRATIVE, None, None, "THE GAME ENDS WITH A DRAW!"),
        (NARRATIVE, X, "bob", "bob WON!"),
        (GEM, X, "bob", "bob won!"),
        (GEM, O, None, "Player O won!"),
        (GEM, None, None, "The game ended in a tie"),
        (KATA, X, None, "Player X Won!"),
        (KATA, O, None, "Player O Won!"),
        (KATA, X, "bob", "bob Won!"),
        (KATA, None, "bob", "Game is Draw!"),
    ],
)
def test_each_wording_ends_a_game_in_its_own_words(
    wording: Wording, mark: Mark | None, name: str | None, line: str
) -> None:
    assert wording.result(mark, name) == line


@pytest.mark.parametrize("wording", WORDINGS.values(), ids=lambda wording: wording.title)
def test_the_answer_about_the_end_is_what_the_result_takes(wording: Wording) -> None:
    finished = [board for board in reachable() if board.is_over]

    assert len(finished) == 958
    for board in finished:
        assert wording.result(game_over(board)[1]) == wording.result(board.winner)
    assert wording.result("") == wording.say("game.drawn")


@pytest.mark.parametrize("winner", ["bogus", "x", "0", " ", "XO", 0, 1, True, False, [], Mark, Board()])
def test_a_result_needs_a_mark_or_nothing(winner: object) -> None:
    with pytest.raises(NoughtsError, match="a winner is X or O, or empty after a draw, not "):
        NARRATIVE.result(winner)  # type: ignore[arg-type]  # that is the point


def test_only_the_gem_shows_the_end_before_the_board() -> None:
    assert [wording.result_before_board for wording in (NARRATIVE, GEM, KATA)] == [False, True, False]


def test_a_name_with_braces_is_only_a_name() -> None:
    assert KATA.result(X, "{mark}{0}{player!r}") == "{mark}{0}{player!r} Won!"


def test_signs_can_be_painted() -> None:
    painted = GEM.draw(Board().place(4), lambda cell, sign: f"<{cell}{sign}>")

    assert painted == "<0_> <1_> <2_>\n<3_> <4X> <5_>\n<6_> <7_> <8_>"


def test_a_wording_is_found_by_its_title() -> None:
    assert WORDINGS == {"narrative": NARRATIVE, "gem": GEM, "kata": KATA}


def test_another_language_is_one_more_value() -> None:
    sentences = {"game.won": "{player} hat gewonnen!", "game.winner": "Spieler {mark}"}
    german = KATA.replace(title="de", sentences=sentences)

    assert german.result(O) == "Spieler O hat gewonnen!"
    assert german.say("game.goodbye") == "Goodbye!"
