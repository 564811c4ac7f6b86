"""`noughts analyse`: positions with every move labelled, and reviews of games."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from noughts import Mark, O, Resign, Service, X, open_store
from noughts.analysis.as_json import moves_to_dicts, prospect_to_dict, review_to_dict
from noughts.analysis.coach import advise, review
from noughts.analysis.solver import prospect
from noughts.core.notation import parse_board, parse_moves
from support.command import environment
from support.forked import noughts
from support.pseudo_terminal import in_terminal
from support.saved_games import DRAW, save, saving, url

BOARD = "X_O/_X_/___"


def analysed(*arguments: str, env: dict[str, str] | None = None) -> str:
    """Return the output; nothing may go to standard error."""
    ran = noughts("analyse", *arguments, env=env)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def test_a_game_may_be_resigned_out_of_turn(tmp_path: Path) -> None:
    save(tmp_path, "won", "1", "4", "2")
    with open_store(url(tmp_path)) as store:
        Service(store).handle("won", Resign(X))

    assert analysed("won", env=saving(tmp_path)).splitlines()[4:] == ["X resigned and O won."]


@pytest.mark.parametrize(
    ("level", "first", "second"),
    [
        ("child", "1. X on 1 has three lines still open.", "Block 1-5-9!"),
        ("player", "1. X on 1 has three lines still open.", "9 blocks 1-5-9 and threatens 3-6-9."),
        (
            "exact",
            "1. X on 1: draw (1, then 5, 2, 3, 7, 4, 6, 8, 9).",
            "9: draw (9, then 6, 4, 2, 8, 7).",
        ),
    ],
)
def test_there_are_three_levels(level: str, first: str, second: str) -> None:
    assert analysed("14253", "--level", level).splitlines()[1] == first
    assert analysed(BOARD, "--level", level).splitlines()[6] == second


def test_a_saved_game_may_have_any_id(tmp_path: Path) -> None:
    save(tmp_path, "Friday-the_13th", "5")

    assert analysed("Friday", env=saving(tmp_path)) == analysed("5")
    assert analysed("Friday-the_13th", env=saving(tmp_path)) == analysed("5")


def test_a_beginning_of_two_ids_is_refused(tmp_path: Path) -> None:
    save(tmp_path, "lefta", "5")
    save(tmp_path, "leftb", "5")

    ran = noughts("analyse", "left", env=saving(tmp_path))

    assert (ran.returncode, ran.stdout) == (2, "")
    assert "more than one game begins with 'left'" in ran.stderr


@pytest.mark.parametrize("command", ["show", "analyse"])
def test_control_characters_are_shown_in_escapes(command: str, tmp_path: Path) -> None:
    ran = noughts(command, "\x1b[2J", env=saving(tmp_path))

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("noughts: a board is 9 cells or 3 rows of 3, not '\\x1b[2J' (")
    assert list(tmp_path.iterdir()) == []


# As data


@pytest.mark.parametrize(
    ("written", "first"),
    [(BOARD, X), ("O__/___/___", O), ("XXX/OO_/___", X), ("___/___/___", X)],
)
def test_a_position_as_data_agrees_with_the_library(written: str, first: Mark) -> None:
    text = analysed(written, "--json", "--first", str(first), "--color", "always")

    board = parse_board(written, first)
    assert text.count("\n") == 1
    assert json.loads(text) == {
        "board": written,
        "first": str(first),
        "turn": str(board.turn),
        **prospect_to_dict(prospect(board)),
        "moves": moves_to_dicts(advise(board)),
    }


@pytest.mark.parametrize(
    ("written", "end", "winner"),
    [
        ("14253", "X won with 1, 2 and 3", "X"),
        (DRAW, "the game is drawn", None),
        ("51", "X to move", None),
    ],
)
def test_a_game_as_data_agrees_with_the_library(written: str, end: str, winner: str | None) -> None:
    found = json.loads(analysed(written, "--json"))

    assert found == {
        "first": "X",
        "players": {"X": None, "O": None},
        "winner": winner,
        "resigned": None,
        "end": end,
        "turning_point": analysed(written).splitlines()[0],
        **review_to_dict(review(parse_moves(written))),
    }


def test_data_speaks_at_the_level_that_is_asked_for() -> None:
    child, player = (
        json.loads(analysed(BOARD, "--json", "--level", each)) for each in ("child", "player")
    )
    game = json.loads(analysed("15", "--json", "--level", "exact"))

    assert child["moves"][-1]["sentence"] == "Block 1-5-9!"
    assert player["moves"][-1]["sentence"] == "9 blocks 1-5-9 and threatens 3-6-9."
    assert game["moves"][0]["sentence"] == "X on 1: draw (1, then 5, 2, 3, 7, 4, 6, 8, 9)."


# Colours and sizes


def test_colours_are_used_only_when_asked_for() -> None:
    coloured = analysed(BOARD, "--color", "always")

    assert coloured.startswith(
        "\x1b[1;94m     X     \x1b[0m|\x1b[31m 2 -loss 2 \x1b[0m|\x1b[1;33m     O     \x1b[0m\n"
    )
    assert "\x1b[36m  9 =draw  \x1b[0m" in coloured
    assert "\x1b[32m  3 +win 1 \x1b[0m" in analysed("XX_/OO_/___", "--color", "always")
    plain = re.sub(r"\x1b\[[\d;]*m", "", coloured)
    assert [line.rstrip() for line in plain.splitlines()] == analysed(BOARD).splitlines()
    assert "\x1b" not in analysed("14253", "--color", "always")


def test_a_terminal_has_colours_unless_turned_off() -> None:
    outputs = []
    for env in (environment(), environment(NO_COLOR="1")):
        with in_terminal("analyse", BOARD, env=env) as session:
            assert session.end() == 0
            outputs.append(session.output.decode())

    assert "\x1b[36m  9 =draw  \x1b[0m" in outputs[0]
    assert outputs[1].split() == analysed(BOARD).split()


@pytest.mark.parametrize("size", [(43, 24), (80, 9), (1, 1)])
def test_a_small_terminal_leaves_out_the_drawing(size: tuple[int, int]) -> None:
    with in_terminal("analyse", BOARD, size=size) as session:
        assert session.end() == 0

    drawing, listed = analysed(BOARD).split("O to move", 1)
    assert drawing.count("\n") == 5
    assert session.output.decode().split() == f"O to move{listed}".split()
