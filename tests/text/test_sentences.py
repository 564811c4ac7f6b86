"""The coach's sentences: every one of them, for every position, move and level, checked by rule."""

from __future__ import annotations

import re
from functools import cache

import pytest

from noughts import O, X, parse_board, reachable
from noughts.analysis.coach import judge_move
from noughts.analysis.solver import Prospect, Result, prospect
from noughts.text.sentences import LEVELS, Level, say_advice, say_prospect
from support.advice import all_advice
from support.claims import CELLS, CLAIMS, LINE, PLAY, Move, check_claims, claims_of
from support.length import short_or_long
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
ELSEWHERE = "let [XO] threaten", "left", "was better", "Every move"
"""Claims that only a review or a hint makes."""
MAX_CHARACTERS = 190
"""Of a sentence, also where cells are called by their places."""


said = cache(say_advice)
"""Positions that look alike share their advice."""


@cache
def in_places(text: str, level: Level) -> str:
    """Return a text about numbers as one about places; only exact advice names all moves of a proof."""
    if level != "exact":
        text = re.sub(r"(makes a fork next|must block, and \d forks) \([^)]*\)", r"\1", text)
        next_fork = r"(threatens .*) a fork comes next \(\d, then \d, (\d), \d, \d\)"
        text = re.sub(next_fork, r"\1 \2 forks next", text)
        unsafe = rf"{CELLS} (would let|lets) ([XO] [a-z]+ a fork) \((\d), then (\d)[^)]*\)"
        text = re.sub(unsafe, r"\4 \2 \3 with \5", text)
        text = re.sub(r"(, then \d), \d[^)]*", r"\1 and so on", text)
    text = re.sub(LINE, lambda line: f"the {LINE_NAMES[line[0]]}", text)
    text = re.sub(r"(?<! in )\b\d\b", lambda cell: f"the {CELL_NAMES[int(cell[0]) - 1]}", text)
    text = re.sub(r"(^|[.!] )t", lambda start: f"{start[1]}T", text)
    for sentence in re.split(r"(?<=[.!]) ", text):
        assert len(sentence) <= MAX_CHARACTERS, sentence
    return text


@cache
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


@pytest.mark.thorough
@pytest.mark.parametrize("level", LEVELS)
def test_every_sentence_is_well_formed_and_every_claim_proven(level: Level) -> None:
    for board, advice in all_advice(X):
        text = said(advice, level)
        try:
            check_form(text)
            check_claims(text, Move(*seen(board), advice.cell))
            assert said(advice, level, "places") == in_places(text, level)
        except AssertionError as wrong:
            raise AssertionError(f"{board} {advice.cell + 1}: {text}") from wrong
    assert len(all_advice(X)) == short_or_long(2_270, 16_167)


@pytest.mark.thorough
@pytest.mark.parametrize("level", LEVELS)
def test_the_marks_may_be_exchanged(level: Level) -> None:
    """So what is proven when X starts holds when O does."""
    exchanged = str.maketrans("XO", "OX")
    by_x, by_o = (
        {
            (str(board), advice.cell): (said(advice, level), said(advice, level, "places"))
            for board, advice in all_advice(first)
        }
        for first in (X, O)
    )

    assert len(by_x) == len(by_o)
    for (board, cell), texts in by_x.items():
        assert (
            tuple(text.translate(exchanged) for text in by_o[board.translate(exchanged), cell]) == texts
        )


def test_what_is_said_about_a_token_is_what_is_said_about_its_cell() -> None:
    """A child is not called on to make a move that is on the board."""
    for board, advice in all_advice(X):
        if board.canonical is not board:
            continue
        called = f"{advice.mark} on {advice.cell + 1} "
        player, child = (said(advice, level, move="token") for level in ("player", "child"))
        assert player.startswith(called)
        assert player.replace(called, f"{advice.cell + 1} ", 1) == said(advice)
        assert child.startswith(called)
        check_form(child)
        check_claims(child, Move(*seen(board), advice.cell))


def test_every_claim_that_is_checked_is_made_somewhere() -> None:
    """Otherwise a sentence has changed, and nothing checks it any more."""
    texts = {said(advice, level) for _, advice in all_advice(X) for level in LEVELS}
    made = {pattern for text in texts for pattern, _ in claims_of(text)}

    assert {claim for claim in CLAIMS if not any(words in claim for words in ELSEWHERE)} <= made


@pytest.mark.parametrize(
    "text",
    [
        "9 blocks 3-6-9.",
        "9 threatens 7-8-9.",
        "9 completes 1-5-9 and wins.",
        "2 loses: X completes 1-2-3.",
        "2 loses: X takes 9 and threatens both 1-2-3 and 7-8-9.",
        "9 wins (9, then 2).",
        "9: draw (9, then 1).",
        "9 has three lines still open.",
        "9 is nice: 3-6-9.",
    ],
)
def test_a_false_claim_does_not_pass(text: str) -> None:
    with pytest.raises(AssertionError):
        check_claims(text, Move("X_O_X____", "O", int(text[0]) - 1))


EXAMPLES: dict[tuple[str, int], tuple[str, str]] = {
    ("XX_/OO_/___", 3): ("Complete 1-2-3 and win!", "3 completes 1-2-3 and wins."),
    ("XX_/OO_/___", 6): (
        "Not 6: 3 completes 1-2-3 and wins!",
        "6 is a mistake: 3 completes 1-2-3 and wins.",
    ),
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
        "Take 5: it threatens 1-5-9, and a fork comes next (5, then 9, 4, 6, 7)!",
        "5 threatens 1-5-9; O must block, and 4 forks (5, then 9, 4, 6, 7).",
    ),
    ("X__/___/___", 5): (
        "Take 5: anything else lets X make a fork (2, then 4, 7, 5, 9, 6)!",
        "5 is the only safe cell; anything else lets X force a fork (2, then 4, 7, 5, 9, 6).",
    ),
    ("XO_/X__/___", 3): (
        "Not 3: X completes 1-4-7! 7 holds out longer (7, then 5, 9, 6).",
        "3 loses: X completes 1-4-7. 7 holds out longer (7, then 5, 9, 6).",
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

    assert say_advice(advice, move="token") == "O on 9 blocks 1-5-9 and threatens 3-6-9."
    assert say_advice(advice, cells="places", move="hint") == (
        "Take the bottom right: it blocks the diagonal from the top left and threatens the right column."
    )


def test_exactly_is_the_value_the_distance_and_the_line() -> None:
    advice = judge_move(parse_board("X__/_O_/__X"), 2)

    assert (
        say_advice(advice, "exact") == "3: loss in 4 (3, then 7, 4, 8). Better: an edge (2, 4, 6 or 8)."
    )


def test_every_prospect_has_words() -> None:
    """How it ends, and how soon; a draw comes when the board is full."""
    found = {say_prospect(prospect(board)) for board in reachable()}

    assert found == {"draw", "win in 1", "win in 3", "win in 5", "loss in 0", "loss in 2", "loss in 4"}
    assert say_prospect(Prospect(Result.DRAW, 9)) == "draw"
