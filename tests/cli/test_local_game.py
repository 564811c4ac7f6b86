"""Two people at one keyboard, run in the test process."""

from __future__ import annotations

from io import BytesIO, StringIO
from random import Random

import pytest

from noughts import GEM, KATA, NARRATIVE, O, Player, Wording, X
from noughts.cli.help import HELP, SHORT_HELP
from noughts.cli.local_game import LocalGame
from noughts.cli.opening import Starters
from noughts.cli.recorder import Recorder
from noughts.cli.screen import Screen
from noughts.service import Service
from noughts.store.memory import MemoryStore
from noughts.text.wordings import Starter


def played(
    *typed: str,
    first: Starter = "X",
    players: tuple[Player, ...] = (),
    wording: Wording = KATA,
    compact: bool = False,
    spoken: bool = False,
) -> list[str]:
    """Return the output for these typed lines."""
    out = StringIO()
    screen = Screen(out, wording, cramped=lambda: compact, spoken=spoken)
    recorder = Recorder(Service(MemoryStore()), lasts=False)
    keyboard = BytesIO("".join(line + "\n" for line in typed).encode())
    LocalGame(screen, keyboard, recorder, Starters(first, Random(1)), players).play()
    return out.getvalue().splitlines()


BOB_AND_FRANK = (Player("bob", X), Player("frank", O))
X_WINS = ("1", "4", "2", "5", "3")
DRAW = ("1", "2", "3", "5", "4", "6", "8", "7", "9")


def test_a_whole_game_to_the_letter() -> None:
    assert played(*X_WINS, "n", wording=GEM, players=BOB_AND_FRANK) == [
        "_ _ _",
        "_ _ _",
        "_ _ _",
        "",
        "bob: Enter a number between 1 and 9 to make your move",
        "X _ _",
        "_ _ _",
        "_ _ _",
        "",
        "frank: Enter a number between 1 and 9 to make your move",
        "X _ _",
        "O _ _",
        "_ _ _",
        "",
        "bob: Enter a number between 1 and 9 to make your move",
        "X X _",
        "O _ _",
        "_ _ _",
        "",
        "frank: Enter a number between 1 and 9 to make your move",
        "X X _",
        "O O _",
        "_ _ _",
        "",
        "bob: Enter a number between 1 and 9 to make your move",
        "bob won!",
        "X X X",
        "O O _",
        "_ _ _",
        "Score: bob 1, frank 0, draws 0",
        "Play again? (y/n)",
        "Goodbye!",
    ]


def test_the_loser_starts_the_next_game() -> None:
    lines = played(*X_WINS, "y", "9", players=BOB_AND_FRANK, first="loser")

    start = lines.index("frank starts.")
    assert lines[start + 6] == "frank, enter a position from 1 to 9:"
    assert lines[start + 11] == "7|8|O"


def test_after_a_draw_the_other_player_starts() -> None:
    """In the third game as in the second."""
    lines = played(*DRAW, "y", *DRAW, "y", players=BOB_AND_FRANK, first="loser")

    assert [line for line in lines if line.endswith("starts.")] == ["frank starts.", "bob starts."]


@pytest.mark.parametrize("first", ["X", "O"])
def test_the_same_mark_starts_every_game_if_the_rule_says_so(first: Starter) -> None:
    starter = "bob" if first == "X" else "frank"
    games = (*X_WINS, "y", *DRAW, "y", "resign", "y", "9")

    lines = played(*games, players=BOB_AND_FRANK, first=first)

    starts = [at for at, line in enumerate(lines) if line == f"{starter} starts."]
    assert len(starts) == 3
    question = f"{starter}, enter a position from 1 to 9:"
    assert [lines[at + 6] for at in (-1, *starts)] == [question] * 4


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


def test_the_score_is_kept_across_games() -> None:
    lines = played(*X_WINS, "yes", *DRAW, "y", "resign", "no", players=BOB_AND_FRANK)

    assert [line for line in lines if line.startswith("Score")] == [
        "Score: bob 1, frank 0, draws 0",
        "Score: bob 1, frank 0, draws 1",
        "Score: bob 1, frank 1, draws 1",
    ]
    assert lines[-1] == "Goodbye!"


@pytest.mark.parametrize("answer", ["", "maybe", "5", "\x1b[A", "\u202ey"])
def test_play_again_is_a_yes_or_no_question(answer: str) -> None:
    """Anything else is asked again, and `quit` is a no."""
    lines = played(*X_WINS, answer, "QUIT")

    assert lines[-4:] == ["Play again? (y/n)", "Please answer y or n.", "Play again? (y/n)", "Goodbye!"]


def test_undo_takes_back_the_last_token_and_one_more_each_time() -> None:
    lines = played("5", "1", "undo", "UNDO", "undo")

    questions = [line.split(",")[0] for line in lines if "enter a position" in line]
    assert questions == ["Player X", "Player O", "Player X", "Player O", "Player X", "Player X"]
    assert lines[-3] == "No token to take back."
    assert lines[-9:-4] == ["1|2|3", "-+-+-", "4|5|6", "-+-+-", "7|8|9"]


def test_resigning_gives_the_game_to_the_other() -> None:
    lines = played("resign", "n", wording=NARRATIVE)

    assert (
        lines[-9:]
        == [
            "Player X resigned.",
            " | |",
            "-+-+-",
            " | |",
            "-+-+-",
            " | |",
            "PLAYER O WON!",
            "Score: Player X 0, Player O 1, draws 0",
            "Play again? (y/n)",
            "Goodbye!",
        ][-9:]
    )


def test_help_is_shown_and_the_question_asked_again() -> None:
    assert "\n".join(played("help")).count(HELP) == 1
    assert SHORT_HELP in played(" Help ", compact=True)


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("0", "'0' is not a cell: type 1 to 9, or row,column such as 0,2, or a1 to c3, or help."),
        ("", "'' is not a cell: type 1 to 9, or row,column such as 0,2, or a1 to c3, or help."),
        ("5", "That cell is taken: the free cells are 1, 2, 3, 4, 6, 7, 8, 9."),
        ("\x07", "That is not plain text: it has characters that cannot be shown."),
        ("5" * 1001, "A line has at most 1000 bytes, and this one has more."),
    ],
    ids=["zero", "nothing", "taken", "bell", "long"],
)
@pytest.mark.parametrize("wording", [NARRATIVE, GEM, KATA], ids=lambda wording: wording.title)
def test_a_bad_move_is_refused(wording: Wording, typed: str, why: str) -> None:
    lines = played("5", typed, wording=wording)
    question = wording.ask.format(player="Player O")
    again = ["", question] if wording is GEM else [question]

    shown = [question, wording.invalid, why, *again, "Goodbye!"]
    assert lines[-len(shown) :] == shown


def test_a_small_terminal_leaves_out_the_reason() -> None:
    """The answer, the board and the question fit into five rows of twenty columns."""
    lines = played("5", "5", compact=True)

    assert lines[:4] == ["1 2 3", "4 5 6", "7 8 9", "X 1-9:"]
    assert lines[4:8] == ["1 2 3", "4 X 6", "7 8 9", "O 1-9:"]
    assert lines[8:] == ["Position is Invalid!", "1 2 3", "4 X 6", "7 8 9", "O 1-9:", "Goodbye!"]


def test_positions_can_be_described() -> None:
    lines = played("5", spoken=True, players=BOB_AND_FRANK)

    assert lines[0] == "The board is empty; bob (X) to move."
    assert lines[2] == "bob (X) on 5; frank (O) to move."


def test_no_keyboard_is_the_end_of_input() -> None:
    out = StringIO()

    recorder = Recorder(Service(MemoryStore()), lasts=False)
    LocalGame(Screen(out, KATA), None, recorder, Starters("X", Random())).play()

    assert out.getvalue().splitlines()[-2:] == ["Player X, enter a position from 1 to 9:", "Goodbye!"]
