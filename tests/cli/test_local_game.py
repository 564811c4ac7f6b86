"""Two people at one keyboard, run in the test process."""

from __future__ import annotations

from io import StringIO
from random import Random

import pytest

from noughts import GEM, KATA, NARRATIVE, O, Player, Wording, X
from noughts.cli.input import LineBuffer
from noughts.cli.local_game import LocalGame
from noughts.cli.opening import Starters
from noughts.cli.question import SYNONYMS
from noughts.cli.recorder import Recorder
from noughts.cli.screen import Display, Screen
from noughts.service import Service
from noughts.store.memory import MemoryStore
from noughts.text.wordings import Starter
from support.fake_console import TypedAhead


def played(
    *typed: str,
    first: Starter = "X",
    players: tuple[Player, ...] = (),
    wording: Wording = KATA,
    compact: bool = False,
) -> list[str]:
    """Return the output for these typed lines."""
    out = StringIO()
    screen = Screen(out, Display(wording, cramped=lambda: compact))
    recorder = Recorder(Service(MemoryStore()), lasts=False)
    LocalGame(screen, TypedAhead(*typed), recorder, Starters(first, Random(1)), players).play()
    return out.getvalue().splitlines()


BOB_AND_FRANK = (Player("bob", X), Player("frank", O))
X_WINS = ("1", "4", "2", "5", "3")


def test_a_random_starter_is_named_before_every_game() -> None:
    """Both start some of 20 games."""
    lines = played(*["resign", "y"] * 20, players=BOB_AND_FRANK, wording=GEM, first="random")

    announced = [at for at, line in enumerate(lines) if "has randomly been selected as" in line]
    assert len(announced) == 21
    assert announced[0] == 0
    names = [
        lines[at].removesuffix(" has randomly been selected as the first player") for at in announced
    ]
    assert {*names} == {"bob", "frank"}
    for at, name in zip(announced, names, strict=True):
        assert lines[at + 5] == f"{name}: Enter a number between 1 and 9 to make your move"
    assert not any(line.endswith("starts.") for line in lines)


@pytest.mark.parametrize("answer", ["\x1b[A", "\u202ey", "help"])
def test_play_again_is_answered_by_yes_or_no(answer: str) -> None:
    lines = played(*X_WINS, answer, "QUIT")

    assert lines[-4:] == ["Play again? (y/n)", "Please answer y or n.", "Play again? (y/n)", "Goodbye!"]


@pytest.mark.parametrize(("short", "word"), SYNONYMS.items())
def test_short_words_are_commands_too(short: str, word: str) -> None:
    assert played("5", "1", short.upper(), "9") == played("5", "1", word, "9")


def test_a_game_can_be_left_at_every_question() -> None:
    for leave in ("q", "exit", "quit"):
        assert played("resign", leave)[-2:] == ["Play again? (y/n)", "Goodbye!"]
    assert played("w 5") == played("why 5")


def test_a_small_terminal_has_a_short_help() -> None:
    assert KATA.say("prompt.help_short") in played(" Help ", compact=True)


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("\x07", "That is not plain text: it has characters that cannot be shown."),
        ("5" * 1001, "A line has at most 1000 bytes, and this one has more."),
    ],
    ids=["bell", "long"],
)
@pytest.mark.parametrize("wording", [NARRATIVE, GEM, KATA], ids=lambda wording: wording.title)
def test_an_unreadable_line_is_refused(wording: Wording, typed: str, why: str) -> None:
    lines = played("5", typed, wording=wording)
    question = wording.say("game.ask", player="Player O")
    again = ["", question] if wording is GEM else [question]

    shown = [question, wording.say("prompt.invalid"), why, *again, "Goodbye!"]
    assert lines[-len(shown) :] == shown


def test_a_small_terminal_leaves_out_the_reason() -> None:
    """The answer, the board and the question fit into five rows of twenty columns."""
    lines = played("5", "5", compact=True)

    assert lines[:4] == ["1 2 3", "4 5 6", "7 8 9", "X 1-9:"]
    assert lines[4:8] == ["1 2 3", "4 X 6", "7 8 9", "O 1-9:"]
    assert lines[8:] == ["Position is Invalid!", "1 2 3", "4 X 6", "7 8 9", "O 1-9:", "Goodbye!"]


def test_no_keyboard_is_the_end_of_input() -> None:
    out = StringIO()

    recorder = Recorder(Service(MemoryStore()), lasts=False)
    LocalGame(Screen(out, Display(KATA)), LineBuffer(None), recorder, Starters("X", Random())).play()

    assert out.getvalue().splitlines()[-2:] == ["Player X, enter a position from 1 to 9:", "Goodbye!"]
