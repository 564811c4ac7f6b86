"""The coach during a game: hints and explanations, which leave the game unchanged."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from random import Random

import pytest

from noughts import GEM, KATA, NARRATIVE, Wording, X
from noughts.analysis.best_moves import best_cells, perfect_cells
from noughts.cli.hints import answer, hint
from noughts.cli.local_game import LocalGame
from noughts.cli.opening import Starters
from noughts.cli.prompt import Prompt
from noughts.cli.recorder import Recorder
from noughts.cli.screen import Display, Screen
from noughts.core.board import reachable
from noughts.core.game import replay
from noughts.core.notation import format_cell, parse_board
from noughts.service import Service
from noughts.store.memory import MemoryStore
from noughts.text.speaker import Speaker
from support.claims import Move, check_claims
from support.fake_console import TypedAhead
from support.forked import noughts
from support.hostile_bots import POLITE, program
from support.played import game_of
from support.reference.tactics import seen
from support.saved_games import digits, saving

SAFE_CORNER = "is safe; 2, 4, 6 or 8 would let {other} force a fork (2, then 1, 9, 4, 6, 7)."
COMPACT_BOARD = ["1 2 3", "4 X 6", "7 8 9", "O 1-9:"]


class Coached:
    """A game with these lines typed: its output, and what was recorded."""

    def __init__(
        self,
        *typed: str,
        wording: Wording = KATA,
        compact: bool = False,
        spoken: bool = False,
        interactive: bool = False,
    ) -> None:
        out = StringIO()
        store = MemoryStore()
        service = Service(store)
        display = Display(wording, cramped=lambda: compact, spoken=spoken, interactive=interactive)
        recorder = Recorder(service, lasts=False)
        LocalGame(Screen(out, display), TypedAhead(*typed), recorder, Starters("X", Random())).play()
        self.lines = out.getvalue().splitlines()
        self.events = [
            str(event) for summary in store.games(limit=9) for event in service.look(summary.id).events
        ]


@pytest.mark.parametrize("wording", [NARRATIVE, GEM, KATA], ids=lambda wording: wording.title)
def test_control_characters_are_refused(wording: Wording) -> None:
    question = wording.say("game.ask", player="Player O")
    again = ["", question] if wording is GEM else [question]

    lines = Coached("5", "why \x1b[2J", wording=wording).lines[-4 - len(again) :]

    why = "That is not plain text: it has characters that cannot be shown."
    assert lines == [question, wording.say("prompt.invalid"), why, *again, "Goodbye!"]


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
        ("hint", "Take 1 (draw)"),
        ("why", "X on 5: draw"),
        ("why 1", "1: draw"),
        ("why 5", KATA.say("prompt.invalid")),
        ("why x", KATA.say("prompt.invalid")),
    ],
)
def test_a_small_terminal_shows_the_board_again(typed: str, said: str) -> None:
    lines = Coached("5", typed, compact=True).lines

    assert lines[-10:] == [*COMPACT_BOARD, said, *COMPACT_BOARD, "Goodbye!"]


def test_a_terminal_shows_the_board_again() -> None:
    lines = Coached("5", "why", interactive=True).lines

    assert lines[-9:] == [
        "Player O, enter a position from 1 to 9: X on 5 has four lines still open.",
        *("1|2|3", "-+-+-", "4|X|6", "-+-+-", "7|8|9"),
        *("", "Player O, enter a position from 1 to 9: "),
        "Goodbye!",
    ]


def test_cells_are_called_what_the_board_shows() -> None:
    """Numbers, or places where free cells are blank; a described position has numbers."""
    drawn = Coached("5", "why", "hint", wording=GEM).lines
    described = Coached("5", "why", wording=GEM, spoken=True).lines

    assert "X in the middle has four lines still open." in drawn
    assert any(
        line.endswith(" The top right, the bottom left or the bottom right is as good.") for line in drawn
    )
    assert "X on 5 has four lines still open." in described


def test_a_hint_names_all_best_moves_of_every_position() -> None:
    for board in reachable():
        if board.is_over or board.canonical is not board:
            continue
        best = {format_cell(cell) for cell in best_cells(board)}
        every = {format_cell(cell) for cell in board.free_cells}
        said = hint(board, Speaker(KATA))
        found = re.fullmatch(
            r"(?:Take (\d): it|Every move loses(?:; (\d) at least|:)) [^.]+\."
            r"( Any other cell is as good\.)?(?: ([\d, or]+) is as good\.)?",
            said,
        )
        assert found, said
        check_claims(re.sub(r"Take (\d): it", r"\1", said), Move(*seen(board), perfect_cells(board)[0]))
        named = {found[1] or found[2], *re.findall(r"\d", found[4] or "")}
        names_all = found[3] or not found[1]
        assert named == best or (names_all and every == best)


@pytest.mark.parametrize(
    ("board", "said"),
    [
        ("_OX/XX_/__O", "Every move loses; 7 at least blocks 3-5-7, but X completes 4-5-6."),
        ("OX_/XX_/__O", "Every move loses: X threatens 4-5-6 and 2-5-8."),
        ("O_X/XOX/XO_", "Take 2: it completes 2-5-8 and wins. 9 is as good."),
        ("_OX/XXO/O__", "Take 1: it threatens 1-5-9. Any other cell is as good."),
    ],
)
def test_a_hint_reads_like_this(board: str, said: str) -> None:
    assert hint(parse_board(board), Speaker(KATA)) == said


@pytest.mark.parametrize(
    ("is_small", "said"),
    [
        (False, f"Bob is to move. 1 {SAFE_CORNER.format(other=X)} 3, 7 or 9 is as good."),
        (True, "O on 1: draw"),
    ],
)
def test_a_hint_on_the_turn_of_another_player_says_whose_turn_it_is(*, is_small: bool, said: str) -> None:
    game = replay(event for step in game_of("5", o="Bob") for event in step)
    out = StringIO()
    screen = Screen(out, Display(KATA, cramped=lambda: is_small))

    answer(Prompt(screen, TypedAhead()), game, "hint", is_on_turn=False)

    assert out.getvalue().splitlines()[0] == said


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("hint", "The game is over."),
        ("why 5", "The game is over."),
        ("why", "X on 3 completes 1-2-3 and wins."),
    ],
)
def test_after_the_end_only_the_last_move_is_explained(typed: str, expected: str) -> None:
    """A remote game asks for a rematch meanwhile."""
    game = replay(event for step in game_of("14253") for event in step)

    out = StringIO()

    answer(Prompt(Screen(out, Display(KATA)), TypedAhead()), game, typed)

    assert out.getvalue() == f"{expected}\n"


def test_the_help_of_a_small_terminal_begins_with_the_coach() -> None:
    assert KATA.say("prompt.help_short").split()[:2] == ["hint", "why"]


def test_the_answer_of_a_program_is_explained(tmp_path: Path) -> None:
    line = ["play", "--o", program(POLITE)]

    ran = noughts(*line, typed="5\nwhy\nhint\n2\nwhy 8\n", env=saving(tmp_path))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert f"\nO on 1 {SAFE_CORNER.format(other=X)}\n" in ran.stdout
    assert "\n8 completes 2-5-8 and wins.\n" in ran.stdout
    assert digits(tmp_path) == ["5123"]
