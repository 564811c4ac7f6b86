"""What decided a game, in one sentence."""

from __future__ import annotations

import re
from typing import Any

import pytest

from noughts import O, X, say_turning_point
from noughts.analysis.coach import Review, review
from noughts.analysis.solver import prospect
from noughts.core.game import Game, replay
from noughts.text.turning_point import say_review
from support.advice import all_advice
from support.claims import CLAIMS, Move, check_claims
from support.length import short_or_long
from support.played import game_of
from support.reference.tactics import seen

FORCED = "took 4 and let X force a fork (4, then 2, 3, 5, 9, 8); 5 was better."
GAMES: dict[str, tuple[dict[str, Any], str]] = {
    "a forced fork": ({"moves": "14253"}, f"The game turned on move 2: O {FORCED}"),
    "a fork, by name": (
        {"moves": "1593748", "x": "ann", "o": "Zoë"},
        (
            "The game turned on move 4: Zoë (O) took 3 and let ann (X) threaten both 7-8-9 and 1-4-7 "
            "with 7; an edge (2, 4, 6 or 8) was better."
        ),
    ),
    "a forgotten block": (
        {"moves": "1592847"},
        "The game turned on move 6: O took 4 and left 7-8-9 open; 7 was the block.",
    ),
    "no mistakes": ({"moves": "152374689"}, "Nobody made a mistake."),
    "mistakes that cancelled out": (
        {"moves": "153246879"},
        (
            "The mistakes cancelled out; the last was move 7: X took 8 and missed the win; "
            "7 would have completed 1-4-7."
        ),
    ),
    "resigned when drawn": (
        {"moves": "15", "resigns": X, "x": "ann"},
        "Best play would still have drawn: ann (X) resigned too early.",
    ),
    "resigned when lost": ({"moves": "142", "resigns": O}, f"The game turned on move 2: O {FORCED}"),
    "resigned when won": (
        {"moves": "14", "resigns": X},
        "Best play would still have won (2, then 3, 5, 9, 8): X resigned too early.",
    ),
    "resigned with the last cell to take": (
        {"moves": "15237468", "resigns": X},
        "Best play would still have drawn: X resigned too early.",
    ),
    "resigned with a win to take": (
        {"moves": "1425", "resigns": X},
        "3 would still have won: X resigned too early.",
    ),
    "resigned out of turn": (
        {"moves": "142", "resigns": X},
        "Best play would still have won (3, then 5, 9, 8): X resigned too early.",
    ),
    "unfinished, no mistakes": ({"moves": "51"}, "Nobody has made a mistake so far."),
    "unfinished": ({"moves": "14"}, f"The losing move so far is move 2: O {FORCED}"),
}


@pytest.mark.parametrize("name", GAMES)
def test_a_game_is_summed_up(name: str) -> None:
    how, sentence = GAMES[name]
    game = replay(event for step in game_of(**how) for event in step)

    assert say_turning_point(review(game.moves), game) == sentence


@pytest.mark.parametrize(
    ("how", "end"),
    [
        ({"moves": "14253"}, "X won with 7, 8 and 9."),
        ({"moves": "142", "resigns": O}, "O resigned and X won."),
        ({"moves": "152374689"}, "The game is drawn."),
    ],
)
def test_the_end_is_told_with_the_cells_and_players_of_the_lines_above(
    how: dict[str, Any], end: str
) -> None:
    game = replay(event for step in game_of(**how, o="bot:perfect") for event in step)
    names = {X: "you", O: "Unbeatable"}

    lines = say_review(review(game.moves), game, cells="numpad", names=lambda _, mark: names[mark])

    assert (lines[1], lines[-1]) == ("X is you, O is Unbeatable.", end)


@pytest.mark.parametrize(
    ("name_of_o", "second"), [("Player O", "1. X on 1 has three lines still open."), ("Bob", "O is Bob.")]
)
def test_a_review_names_only_players_with_names(name_of_o: str, second: str) -> None:
    game = replay(event for step in game_of(moves="14253") for event in step)
    names = {X: "Player X", O: name_of_o}

    assert say_review(review(game.moves), game, names=lambda _, mark: names[mark])[1] == second


def test_every_mistake_is_described_truthfully_and_names_what_was_better() -> None:
    """As the last mistake of a game: one sentence, every claim proven."""
    made, mistakes = set[str](), 0
    for board, advice in all_advice():
        if not advice.mistake:
            continue
        after = board.place(advice.cell)
        text = say_turning_point(Review((advice,), prospect(after)), Game.at(after))
        try:
            made |= check_claims(text, Move(*seen(board), advice.cell))
        except AssertionError as wrong:
            raise AssertionError(f"{board}: {text}") from wrong
        assert re.fullmatch(r"(The [a-z ]+(; the last was)? move 1): [XO] took \d and [^.{}]+\.", text)
        mistakes += 1
    assert mistakes == short_or_long(1_007, 7_304)
    assert {claim for claim in CLAIMS if "left" in claim or "let [XO]" in claim} <= made
