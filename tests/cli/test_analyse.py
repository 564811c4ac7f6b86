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
from support.saved_games import DRAW, X_WINS, save, saving, url

BOARD = "X_O/_X_/___"
LABELLED = """\
     X     | 2 -loss 2 |     O
-----------+-----------+-----------
 4 -loss 2 |     X     | 6 -loss 2
-----------+-----------+-----------
 7 -loss 2 | 8 -loss 2 |  9 =draw
"""
LISTED = """\
O to move: draw. Best: 9.
9: draw. It stops X on 1-5-9. It is the only move that does not lose. It threatens 3-6-9. \
It takes a corner, on 2 open lines.
2: loss in 2. It gives up the draw: X wins after 2, 9; 9 is better. It lets X complete 1-5-9. \
It takes an edge, on no open lines.
4: loss in 2. It gives up the draw: X wins after 4, 9; 9 is better. It lets X complete 1-5-9. \
It takes an edge, on no open lines.
6: loss in 2. It gives up the draw: X wins after 6, 9; 9 is better. It lets X complete 1-5-9. \
It takes an edge, on 1 open line.
7: loss in 2. It gives up the draw: X wins after 7, 9; 9 is better. It lets X complete 1-5-9. \
It takes a corner, on 1 open line.
8: loss in 2. It gives up the draw: X wins after 8, 9; 9 is better. It lets X complete 1-5-9. \
It takes an edge, on 1 open line.
"""

GONE_THROUGH = """\
1. {first} 1: draw. It takes a corner, on 3 open lines.
2. {other} 4: loss in 6. It gives up the draw: {first} wins after 4, 2, 3, 5, 9, 8; 5 is better. \
It lets {first} force a fork with 2, 3 or 5 (4, 2, 3, 5, 9, 8). A mistake.
3. {first} 2: win in 5. It forces a fork (2, 3, 5, 9, 8). It threatens 1-2-3.
4. {other} 5: loss in 2. It lets {first} complete 1-2-3. It loses sooner than it must: 3 is better \
(3, 5, 9, 8).
5. {first} 3: win in 1. It completes 1-2-3.
{first} won with 1, 2 and 3.
1 mistake; decided by move 2, {other} on 4. Better: 5.
"""


def analysed(*arguments: str, env: dict[str, str] | None = None) -> str:
    """Return the output; nothing may go to standard error."""
    ran = noughts("analyse", *arguments, env=env)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


# Positions


@pytest.mark.parametrize("written", [BOARD, "X_O_X____", "X.O.X....", "X_O\n_X_\n___", LABELLED])
def test_a_position_to_the_letter(written: str) -> None:
    assert analysed(written) == LABELLED + LISTED


def test_moves_are_sorted_from_the_best_to_the_worst() -> None:
    lines = analysed("XX_/OO_/___").splitlines()

    assert lines[0] == "     X     |     X     |  3 +win 1"
    assert lines[2] == "     O     |     O     |  6 =draw"
    assert lines[4] == " 7 -loss 2 | 8 -loss 2 | 9 -loss 2"
    assert lines[5] == "X to move: win in 1. Best: 3."
    assert [line[:10] for line in lines[6:]] == [
        "3: win in ",
        "6: draw. I",
        "7: loss in",
        "8: loss in",
        "9: loss in",
    ]


def test_every_move_of_the_empty_board_is_listed() -> None:
    """All nine are draws, so all are best."""
    lines = analysed("         ").splitlines()

    assert lines[0] == "  1 =draw  |  2 =draw  |  3 =draw"
    assert lines[5] == "X to move: draw. Best: 1, 2, 3, 4, 5, 6, 7, 8, 9."
    assert [line[0] for line in lines[6:]] == [*"123456789"]


def test_o_may_have_started() -> None:
    lines = analysed("O__/___/___", "--first", "O").splitlines()

    assert lines[0] == "     O     | 2 -loss 6 | 3 -loss 6"
    assert lines[5] == "X to move: draw. Best: 5."


@pytest.mark.parametrize(
    ("written", "end"),
    [
        ("XXX/OO_/___", "X won with 1, 2 and 3."),
        ("XX_/OOO/X__", "O won with 4, 5 and 6."),
        ("XOX/OOX/XXO", "The game is drawn."),
    ],
)
def test_a_position_that_is_over_is_described(written: str, end: str) -> None:
    lines = analysed(written).splitlines()

    signs = [[sign.strip() for sign in line.split("|")] for line in lines[:5:2]]
    assert "/".join("".join(sign or "_" for sign in row) for row in signs) == written
    assert lines[5:] == [end]


# Games


@pytest.mark.parametrize("first", [X, O])
def test_a_won_game_to_the_letter(first: Mark) -> None:
    shown = analysed("14253", "--first", str(first))

    assert shown == GONE_THROUGH.format(first=first, other=first.other)


def test_a_drawn_game() -> None:
    lines = analysed(DRAW).splitlines()

    assert [line[0] for line in lines if line.endswith(" A mistake.")] == [*"23567"]
    assert lines[9:] == ["The game is drawn.", "5 mistakes; decided by move 7, X on 8. Better: 7."]


def test_a_game_without_mistakes() -> None:
    assert analysed("51").splitlines()[2:] == ["X to move.", "Nobody has made a mistake."]


def test_saved_games_are_analysed(tmp_path: Path) -> None:
    """Won, drawn, unfinished, and resigned in an open, a lost and (out of turn) a won position."""
    save(tmp_path, "alpha", *X_WINS, x="ann", o="Zoë")
    save(tmp_path, "beta", *DRAW)
    save(tmp_path, "gamma", "5", "1", "undo", "3")
    save(tmp_path, "delta", "1", "5", "resign", x="ann")
    save(tmp_path, "lost", "1", "4", "2", "resign")
    save(tmp_path, "won", "1", "4", "2")
    with open_store(url(tmp_path)) as store:
        Service(store).handle("won", Resign(X))
    env = saving(tmp_path)
    mistake = "1 mistake; decided by move 2, O on 4. Better: 5."

    assert analysed("al", env=env).splitlines()[5:] == ["ann (X) won with 1, 2 and 3.", mistake]
    assert analysed("beta", env=env) == analysed(DRAW)
    assert analysed("gam", "--store", url(tmp_path)) == analysed("53")
    assert analysed("delta", env=env).splitlines()[2:] == [
        "ann (X) resigned and O won.",
        "X gave up what was a draw with best play.",
    ]
    assert analysed("lost", env=env).splitlines()[3:] == ["O resigned and X won.", mistake]
    assert analysed("won", env=env).splitlines()[3:] == [
        "X resigned and O won.",
        "X gave up what was a win with best play.",
    ]


def test_a_saved_game_may_have_any_id(tmp_path: Path) -> None:
    save(tmp_path, "Friday-the_13th", "5")

    assert analysed("Friday", env=saving(tmp_path)) == analysed("5")
    assert analysed("Friday-the_13th", env=saving(tmp_path)) == analysed("5")


# What cannot be analysed


def test_a_beginning_of_two_ids_is_refused(tmp_path: Path) -> None:
    save(tmp_path, "lefta", "5")
    save(tmp_path, "leftb", "5")

    ran = noughts("analyse", "left", env=saving(tmp_path))

    assert (ran.returncode, ran.stdout) == (2, "")
    assert "more than one game begins with 'left'" in ran.stderr


@pytest.mark.parametrize(
    "arguments", [[], [BOARD, BOARD], [BOARD, "--first", "random"], [BOARD, "--color", "red"]]
)
def test_bad_usage_is_refused(arguments: list[str]) -> None:
    ran = noughts("analyse", *arguments)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.endswith("--help'.\n")
    assert len(ran.stderr.splitlines()) == 2


def test_a_bad_store_url_is_reported(tmp_path: Path) -> None:
    ran = noughts("analyse", "abc", "--store", "nonesuch:", env=saving(tmp_path))

    assert (ran.returncode, ran.stdout) == (2, "")
    assert "nonesuch:" in ran.stderr


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
        "winner": winner,
        "resigned": None,
        "end": end,
        **review_to_dict(review(parse_moves(written))),
    }


def test_a_saved_game_as_data(tmp_path: Path) -> None:
    save(tmp_path, "delta", "1", "5", "resign", x="Ann")

    found = json.loads(analysed("delta", "--json", env=saving(tmp_path)))

    assert found["end"] == "Ann (X) resigned and O won"
    assert (found["winner"], found["resigned"]) == ("O", "X")
    assert [one["cell"] for one in found["moves"]] == [0, 4]


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
    assert outputs[1] == (LABELLED + LISTED).replace("\n", "\r\n")


@pytest.mark.parametrize("size", [(43, 24), (80, 9), (1, 1)])
def test_a_small_terminal_leaves_out_the_drawing(size: tuple[int, int]) -> None:
    with in_terminal("analyse", BOARD, size=size) as session:
        assert session.end() == 0

    assert session.output.decode() == LISTED.replace("\n", "\r\n")
