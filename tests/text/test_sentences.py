"""The coach's sentences: every one of them, for every position, move and level, checked by rule."""

from __future__ import annotations

import re
from functools import cache

import pytest

from noughts import Board, Mark, X, parse_board, reachable
from noughts.analysis.coach import Advice, advise, judge_move
from noughts.analysis.reasons import PLACES
from noughts.analysis.solver import Prospect, Result, prospect
from noughts.text.sentences import LEVELS, Level, say_advice, say_prospect, say_reason
from support.claims import CLAIMS, LINE, PLAY, Move, check_claims
from support.reference.tactics import seen

CELL_NAMES = [
    *("top left", "top middle", "top right"),
    *("middle left", "middle", "middle right"),
    *("bottom left", "bottom middle", "bottom right"),
]
LINE_NAMES = {
    "1-2-3": "top row",
    "4-5-6": "middle row",
    "7-8-9": "bottom row",
    "1-4-7": "left column",
    "2-5-8": "middle column",
    "3-6-9": "right column",
    "1-5-9": "diagonal from the top left",
    "3-5-7": "diagonal from the bottom left",
}
CLAIM = re.compile(
    r"\b([Ww]ins?|loses|loss|threat|threats|forks?|completes?|[Bb]locks?|must|late|longer)\b"
)
PAST = "let [XO] threaten", "left", "was better"
"""Claims that only a review makes."""


@cache
def all_advice(first: Mark) -> tuple[tuple[Board, Advice], ...]:
    """Return the coach's advice on every move."""
    return tuple((board, one) for board in reachable(first) for one in advise(board))


def in_places(text: str) -> str:
    """Return a text about numbers as one about places."""
    text = re.sub(LINE, lambda line: f"the {LINE_NAMES[line[0]]}", text)
    text = re.sub(r"(?<! in )\b\d\b", lambda cell: f"the {CELL_NAMES[int(cell[0]) - 1]}", text)
    return re.sub(r"(^|[.!] )t", lambda start: f"{start[1]}T", text)


def check_form(text: str) -> None:
    """Check for one or two sentences without gaps, no fact twice, and no claim without its line."""
    sentences = re.split(r"(?<=[.!]) ", text)
    assert len(sentences) <= 2
    assert not re.search(r"[{}]|  | [,.:;!)]|\( ?\)|[,:;] ?[,.:;!)]|None", text)
    facts = re.findall(rf"{LINE}|\(\d[^-()]*\)", text)
    assert len({*facts}) == len(facts)
    for sentence in sentences:
        assert re.fullmatch(r"[A-Z1-9][^.!]*[a-z1-9)][.!]", sentence)
        assert not CLAIM.search(sentence) or re.search(rf"{LINE}|{PLAY}|\d is the block", sentence)


@pytest.mark.parametrize("first", Mark)
@pytest.mark.parametrize("level", LEVELS)
def test_every_sentence_is_well_formed_and_every_claim_proven(level: Level, first: Mark) -> None:
    for board, advice in all_advice(first):
        text = say_advice(advice, level)
        try:
            check_form(text)
            check_claims(text, Move(*seen(board), advice.cell))
            assert say_advice(advice, level, "places") == in_places(text)
        except AssertionError as wrong:
            raise AssertionError(f"{board} {advice.cell + 1}: {text}") from wrong
    assert len(all_advice(first)) == 16_167


def test_every_claim_that_is_checked_is_made_somewhere() -> None:
    """Otherwise a sentence has changed, and nothing checks it any more."""
    made = {
        claim
        for board, advice in all_advice(X)
        for level in LEVELS
        for claim in check_claims(say_advice(advice, level), Move(*seen(board), advice.cell))
    }

    assert {claim for claim in CLAIMS if not any(words in claim for words in PAST)} <= made


@pytest.mark.parametrize(
    "text",
    [
        "9 blocks 3-6-9.",
        "9 threatens 7-8-9.",
        "9 completes 1-5-9 and wins.",
        "2 loses: X completes 1-2-3.",
        "2 loses: X takes 9 and threatens both 1-2-3 and 7-8-9.",
        "9 wins (9, 2).",
        "9: draw (9, 1).",
        "9 has three lines still open.",
        "9 is nice: 3-6-9.",
    ],
)
def test_a_false_claim_does_not_pass(text: str) -> None:
    with pytest.raises(AssertionError):
        check_claims(text, Move("X_O_X____", "O", int(text[0]) - 1))


def test_every_reason_is_one_sentence_with_its_proof() -> None:
    for _, advice in all_advice(X):
        for reason in advice.reasons:
            text = say_reason(reason, advice.mark)
            assert re.fullmatch(r"It [a-z]+ [^.{}]*[a-z1-9)]\.", text), text
            lines = {
                tuple(int(digit) - 1 for digit in line.split("-")) for line in re.findall(LINE, text)
            }
            plays = {
                tuple(int(digit) - 1 for digit in play.split(", ")) for play in re.findall(PLAY, text)
            }
            assert lines <= {*reason.lines}, text
            assert plays <= {reason.play}, text
            shows_proof = (
                lines or plays or f"after {', '.join(str(cell + 1) for cell in reason.play)};" in text
            )
            assert shows_proof or reason.kind in PLACES, text
            assert str(advice.mark) not in text


EXAMPLES: dict[tuple[str, int], tuple[str, str]] = {
    ("XX_/OO_/___", 3): ("Complete 1-2-3 and win!", "3 completes 1-2-3 and wins."),
    ("XX_/OO_/___", 6): ("Not 6: 3 completes 1-2-3!", "6 misses the win: 3 completes 1-2-3."),
    ("X_O/_X_/___", 9): ("Block 1-5-9!", "9 blocks 1-5-9 and threatens 3-6-9."),
    ("X_O/_X_/___", 2): (
        "Not 2: X completes 1-5-9! 9 is the block.",
        "2 loses: X completes 1-5-9. 9 is the block.",
    ),
    ("X__/_O_/__X", 3): (
        "Not 3: X takes 7 and threatens both 7-8-9 and 1-4-7! Better: an edge (2, 4, 6 or 8).",
        "3 loses: X takes 7 and threatens both 7-8-9 and 1-4-7. Better: an edge (2, 4, 6 or 8).",
    ),
    ("XO_/_X_/__O", 4): (
        "Take 4: two threats at once, 4-5-6 and 1-4-7!",
        "4 makes two threats at once, 4-5-6 and 1-4-7, and O can stop only one.",
    ),
    ("XO_/___/___", 5): (
        "Take 5: it threatens 1-5-9, and a fork comes next (5, 9, 4, 6, 7)!",
        "5 threatens 1-5-9; O must block, and 4 forks (5, 9, 4, 6, 7).",
    ),
    ("X__/___/___", 5): (
        "Take 5: anything else lets X make a fork (2, 4, 7, 5, 9, 6)!",
        "5 is the only safe cell; anything else lets X force a fork (2, 4, 7, 5, 9, 6).",
    ),
    ("XO_/X__/___", 3): (
        "Not 3: X completes 1-4-7! 7 holds out longer (7, 5, 9, 6).",
        "3 loses: X completes 1-4-7. 7 holds out longer (7, 5, 9, 6).",
    ),
    ("XOX/O__/__X", 6): (
        "Block 3-6-9, but X completes 1-5-9.",
        "6 blocks 3-6-9, but X completes 1-5-9.",
    ),
    ("XOX/O__/__X", 8): (
        "Too late: X threatens 3-6-9 and 1-5-9.",
        "8 is too late: X threatens 3-6-9 and 1-5-9.",
    ),
    ("___/___/___", 5): ("Take 5: four lines are open!", "5 has four lines still open."),
}


@pytest.mark.parametrize(("written", "number"), EXAMPLES)
def test_a_move_reads_like_this(written: str, number: int) -> None:
    advice = judge_move(parse_board(written), number - 1)

    assert (say_advice(advice, "child"), say_advice(advice)) == EXAMPLES[written, number]


def test_a_move_can_be_called_by_its_mark_or_recommended() -> None:
    advice = judge_move(parse_board("X_O/_X_/___"), 8)

    assert say_advice(advice, move="move.token") == "O on 9 blocks 1-5-9 and threatens 3-6-9."
    assert say_advice(advice, cells="places", move="move.hint") == (
        "Take the bottom right: it blocks the diagonal from the top left and threatens the right column."
    )


def test_exactly_is_the_value_the_distance_and_the_line() -> None:
    advice = judge_move(parse_board("X__/_O_/__X"), 2)

    assert say_advice(advice, "exact") == "3: loss in 4 (3, 7, 4, 8). Better: an edge (2, 4, 6 or 8)."


def test_every_prospect_has_words() -> None:
    """How it ends, and how soon; a draw comes when the board is full."""
    found = {say_prospect(prospect(board)) for board in reachable()}

    assert found == {"draw", "win in 1", "win in 3", "win in 5", "loss in 0", "loss in 2", "loss in 4"}
    assert say_prospect(Prospect(Result.DRAW, 9)) == "draw"
