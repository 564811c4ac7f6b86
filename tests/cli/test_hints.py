"""The coach during a game: hints and explanations, which leave the game unchanged."""

from __future__ import annotations

from io import BytesIO, StringIO
from pathlib import Path
from random import Random

import pytest

from noughts import GEM, KATA, NARRATIVE, O, Wording, X
from noughts.analysis.best_moves import best_cells
from noughts.cli.help import HELP, SHORT_HELP
from noughts.cli.hints import answer, hint
from noughts.cli.local_game import LocalGame
from noughts.cli.opening import Starters
from noughts.cli.recorder import Recorder
from noughts.cli.screen import Screen
from noughts.core.board import reachable
from noughts.core.game import replay
from noughts.core.notation import format_cell
from noughts.service import Service
from noughts.store.memory import MemoryStore
from noughts.text.wordings import Starter
from support.forked import noughts
from support.hostile_bots import POLITE, program
from support.played import game_of
from support.saved_games import asked, digits, saving

NO_CELL = "is not a cell: type 1 to 9, or row,column such as 0,2, or a1 to c3, or help."
CORNER_AFTER_CENTRE = (
    "1: draw. It stops {other} from forcing a fork, unlike 2, 4, 6 or 8 (2, 1, 9, 4, 6, 7). "
    "It takes a corner, on 2 open lines."
)
COMPACT_BOARD = ["1 2 3", "4 X 6", "7 8 9", "O 1-9:"]


class Coached:
    """A game with these lines typed: its output, and what was recorded."""

    def __init__(
        self,
        *typed: str,
        first: Starter = "X",
        wording: Wording = KATA,
        compact: bool = False,
        spoken: bool = False,
        interactive: bool = False,
    ) -> None:
        out = StringIO()
        store = MemoryStore()
        screen = Screen(out, wording, cramped=lambda: compact, spoken=spoken, interactive=interactive)
        keyboard = BytesIO("".join(f"{line}\n" for line in typed).encode())
        recorder = Recorder(Service(store), lasts=False)
        LocalGame(screen, keyboard, recorder, Starters(first, Random())).play()
        self.lines = out.getvalue().splitlines()
        self.events = [
            str(event)
            for summary in store.games(limit=9)
            for record in store.read(summary.id)
            for event in record.events
        ]


ANSWERS = {
    "hint": "1: draw. It takes a corner, on 3 open lines. As good: 2, 3, 4, 5, 6, 7, 8, 9.",
    " HINT ": "1: draw. It takes a corner, on 3 open lines. As good: 2, 3, 4, 5, 6, 7, 8, 9.",
    "5 1 hint": (
        "2: draw. It threatens 2-5-8. It takes an edge, on 1 open line. As good: 3, 4, 6, 7, 8, 9."
    ),
    "1 hint": (
        "5: draw. It stops X from forcing a fork, unlike 2, 3, 4, 6, 7, 8 or 9 (2, 4, 7, 5, 9, 6). "
        "It is the only move that does not lose. It takes the centre, on 3 open lines."
    ),
    "1 2 hint": (
        "4: win in 5. It forces a fork (4, 7, 5, 9, 6). It threatens 1-4-7. "
        "It takes an edge, on 2 open lines. As good: 5, 7."
    ),
    "1 4 2 5 hint": "3: win in 1. It completes 1-2-3. It takes a corner, on 2 open lines.",
    "why": "No token yet; why 5 explains what one on 5 would do.",
    "5 undo why": "No token yet; why 5 explains what one on 5 would do.",
    "5 why": "X on 5: draw. It takes the centre, on 4 open lines.",
    "5 1 undo why": "X on 5: draw. It takes the centre, on 4 open lines.",
    "1 2 why": (
        "O on 2: loss in 6. It gives up the draw: X wins after 2, 4, 7, 5, 9, 6; 5 is better. "
        "It lets X force a fork with 4, 5 or 7 (2, 4, 7, 5, 9, 6). It takes an edge, on 1 open line."
    ),
    "why-5": "5: draw. It takes the centre, on 4 open lines.",
    " Why-\tB2": "5: draw. It takes the centre, on 4 open lines.",
    "why-1,1": "5: draw. It takes the centre, on 4 open lines.",
    "1 why-2": (
        "2: loss in 6. It gives up the draw: X wins after 2, 4, 7, 5, 9, 6; 5 is better. "
        "It lets X force a fork with 4, 5 or 7 (2, 4, 7, 5, 9, 6). It takes an edge, on 1 open line."
    ),
}
"""What is typed, a hyphen standing for a space within a line, and what is said to the last of it."""


def lines_of(typed: str) -> list[str]:
    """Return the lines as input."""
    return [line.replace("-", " ") for line in typed.split(" ") if line]


@pytest.mark.parametrize("typed", ANSWERS)
def test_the_coach_answers_to_the_letter(typed: str) -> None:
    question, said, again, goodbye = Coached(*lines_of(typed)).lines[-4:]

    assert said == ANSWERS[typed]
    assert question == again
    assert again.endswith("enter a position from 1 to 9:")
    assert goodbye == "Goodbye!"


@pytest.mark.parametrize("wording", [NARRATIVE, GEM, KATA], ids=lambda wording: wording.title)
@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("why 5", "That cell is taken: the free cells are 1, 2, 3, 4, 6, 7, 8, 9."),
        ("why x", f"x' {NO_CELL}"),
        ("why 0", f"0' {NO_CELL}"),
        ("why 5 5", f"5 5' {NO_CELL}"),
        ("why why", f"why' {NO_CELL}"),
        ("why \u0665", f"\u0665' {NO_CELL}"),
        ("whyever", f"'whyever' {NO_CELL}"),
        ("hint 5", f"'hint 5' {NO_CELL}"),
        ("why \x1b[2J", "That is not plain text: it has characters that cannot be shown."),
    ],
    ids=["taken", "letter", "zero", "two cells", "twice", "digit", "word", "hint", "escape"],
)
def test_a_bad_question_is_refused(wording: Wording, typed: str, why: str) -> None:
    question = wording.ask.format(player="Player O")

    again = ["", question] if wording is GEM else [question]

    lines = Coached("5", typed, wording=wording).lines[-4 - len(again) :]

    assert lines[:2] == [question, wording.invalid]
    assert lines[2].endswith(why)
    assert lines[3:] == [*again, "Goodbye!"]


@pytest.mark.parametrize("typed", ["hint", "why", "why 1", "why 5", "why x", "help"])
@pytest.mark.parametrize("screen", ["plain", "compact", "spoken", "interactive"])
def test_the_game_goes_on_unchanged(typed: str, screen: str) -> None:
    """Questions to the coach are not recorded."""
    how = {} if screen == "plain" else {screen: True}

    asking, silent = (
        Coached("5", *words, "1", "9", **how)  # type: ignore[arg-type]  # only screens, each true or false
        for words in ([typed, typed], [])
    )

    assert asking.events == silent.events
    assert asking.events[-3:] == ["playerPlacedToken(2,2,X)", "gamePlacedCount(3)", "playerActive(O)"]
    assert asking.lines[-6:] == silent.lines[-6:]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("hint", "1: draw"),
        ("why", "X on 5: draw"),
        ("why 1", "1: draw"),
        ("why 5", KATA.invalid),
        ("why x", KATA.invalid),
    ],
)
def test_a_small_terminal_shows_the_board_again(typed: str, said: str) -> None:
    lines = Coached("5", typed, compact=True).lines

    assert lines[-10:] == [*COMPACT_BOARD, said, *COMPACT_BOARD, "Goodbye!"]


def test_a_terminal_shows_the_board_again() -> None:
    lines = Coached("5", "why", interactive=True).lines

    assert lines[-9:] == [
        "Player O, enter a position from 1 to 9: X on 5: draw. It takes the centre, on 4 open lines.",
        *("1|2|3", "-+-+-", "4|X|6", "-+-+-", "7|8|9"),
        *("", "Player O, enter a position from 1 to 9: "),
        "Goodbye!",
    ]


def test_describe_prints_only_the_answer() -> None:
    lines = Coached("5", "hint", "why", spoken=True).lines

    assert lines[2:] == [
        "X on 5; O to move.",
        asked("5"),
        f"{CORNER_AFTER_CENTRE.format(other=X)} As good: 3, 7, 9.",
        asked("5"),
        "X on 5: draw. It takes the centre, on 4 open lines.",
        asked("5"),
        "Goodbye!",
    ]


def test_it_knows_who_began() -> None:
    lines = Coached("5", "why", "hint", first="O").lines

    assert "O on 5: draw. It takes the centre, on 4 open lines." in lines
    assert f"{CORNER_AFTER_CENTRE.format(other=O)} As good: 3, 7, 9." in lines


def test_a_hint_names_all_best_moves_of_every_position() -> None:
    for board in reachable():
        if board.is_over or board.canonical is not board:
            continue
        best = sorted(map(format_cell, best_cells(board)))
        said, _, others = hint(board).partition(" As good: ")
        assert [said[0], *others.rstrip(".").split(", ")][: len(best)] == best, str(board)
        assert bool(others) == (len(best) > 1)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("hint", "The game is over."),
        ("why 5", "The game is over."),
        ("why", "X on 3: win in 1. It completes 1-2-3. It takes a corner, on 2 open lines."),
    ],
)
def test_after_the_end_only_the_last_move_is_explained(typed: str, expected: str) -> None:
    """A remote game asks for a rematch meanwhile."""
    game = replay(event for step in game_of("14253") for event in step)

    assert answer(game, typed, short=False) == expected


def test_help_mentions_the_coach() -> None:
    assert all(f"\n{word} " in HELP for word in ("hint", "why"))
    assert SHORT_HELP.split()[:2] == ["hint", "why"]


def test_the_answer_of_a_program_is_explained(tmp_path: Path) -> None:
    line = ["play", "--o", program(POLITE)]

    ran = noughts(*line, typed="5\nwhy\nhint\n2\nwhy 8\n", env=saving(tmp_path))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert f"\nO on {CORNER_AFTER_CENTRE.format(other=X)}\n" in ran.stdout
    assert "\n8: win in 1. It completes 2-5-8. It takes an edge, on 2 open lines.\n" in ran.stdout
    assert digits(tmp_path) == ["5123"]
