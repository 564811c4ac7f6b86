"""`noughts odds`: the exact odds of a pair of bots or of all, as text or as data."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from noughts import Board, O, parse_board
from noughts.bots.odds import Odds, odds, percent
from noughts.bots.policy import CachedPolicy, Policy
from noughts.bots.registry import BUILT_IN, find_policy, policy_names
from support.forked import noughts
from support.saved_games import saving

LATE = "X_O/_X_/___"
"""A position from which all odds are found at once."""

COLUMNS = "x_wins", "draw", "o_wins", "length"


def bots() -> dict[str, Policy]:
    """Return all bots."""
    return {name: CachedPolicy(find_policy(name)) for name in policy_names()}


def exact(row: dict[str, Any]) -> tuple[str, str, Fraction, Fraction, Fraction, Fraction]:
    """Return a pair and its odds from data with fractions as text."""
    x_wins, draw, o_wins, length = (Fraction(row[column]) for column in COLUMNS)
    return row["x"], row["o"], x_wins, draw, o_wins, length


def expected(x: str, o: str, found: Odds) -> tuple[str, str, Fraction, Fraction, Fraction, Fraction]:
    """Return the same from the library."""
    return x, o, found.x, found.draw, found.o, found.length


def output_of(*arguments: str, env: dict[str, str]) -> str:
    """Return the output; nothing may go to standard error."""
    ran = noughts("odds", *arguments, env=env)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def test_a_pair_to_the_letter(env: dict[str, str]) -> None:
    assert output_of("random", "random", env=env) == (
        "random (X) against random (O)\n"
        "X wins  58.5 %  737/1260\n"
        "draw    12.7 %  8/63\n"
        "O wins  28.8 %  121/420\n"
        "length   7.63  3203/420\n"
    )


def test_certain_and_impossible_results(env: dict[str, str]) -> None:
    assert output_of("perfect", "perfect", env=env) == (
        "perfect (X) against perfect (O)\n"
        "X wins     0 %  0\n"
        "draw     100 %  1\n"
        "O wins     0 %  0\n"
        "length   9.00  9\n"
    )


def test_bots_may_have_parameters(env: dict[str, str]) -> None:
    careful = "club:win=0,block=0,fork=0,defence=0,centre=0"

    lines = output_of(careful, "random", env=env).splitlines()

    found = odds(find_policy(careful), find_policy("random"))
    assert lines[0] == f"{careful} (X) against random (O)"
    assert lines[1].split()[-1] == str(found.x)


def test_odds_from_a_position(env: dict[str, str]) -> None:
    assert output_of("random", "perfect", "--from", LATE, env=env).splitlines()[1:] == [
        "X wins     0 %  0",
        "draw    20.0 %  1/5",
        "O wins  80.0 %  4/5",
        "length   3.60  18/5",
    ]
    assert output_of("random", "perfect", "--from", "XXX/OO_/___", env=env).splitlines()[1:] == [
        "X wins   100 %  1",
        "draw       0 %  0",
        "O wins     0 %  0",
        "length   0.00  0",
    ]


@pytest.mark.parametrize(("written", "board"), [(None, Board(first=O)), ("O__/___/___", None)])
def test_o_may_start(written: str | None, board: Board | None, env: dict[str, str]) -> None:
    where = [] if written is None else ["--from", written]

    lines = output_of("random", "perfect", "--first", "O", *where, env=env).splitlines()

    start = board or parse_board("O__/___/___", O)
    found = odds(find_policy("random"), find_policy("perfect"), start)
    assert [line.split()[-1] for line in lines[1:]] == [
        str(number) for number in (found.x, found.draw, found.o, found.length)
    ]


def test_all_pairs_in_both_seats_agree_with_the_library(env: dict[str, str]) -> None:
    """In data, exact fractions are text and sum to one."""
    rows = json.loads(output_of("--all", "--json", env=env))

    known = bots()
    assert [exact(row) for row in rows] == [
        expected(x, o, odds(known[x], known[o])) for x in known for o in known
    ]
    for row in rows:
        assert sum(Fraction(row[column]) for column in COLUMNS[:3]) == 1
        assert row["about"] == {column: float(Fraction(row[column])) for column in COLUMNS}


def test_all_pairs_as_csv(env: dict[str, str]) -> None:
    text = output_of("--all", "--csv", "--from", LATE, env=env)

    known = bots()
    rows = [*csv.DictReader(text.splitlines())]
    assert text.splitlines()[0] == "x,o,x_wins,draw,o_wins,length"
    assert [exact(row) for row in rows] == [
        expected(x, o, odds(known[x], known[o], parse_board(LATE))) for x in known for o in known
    ]
    assert all(sum(Fraction(row[column]) for column in COLUMNS[:3]) == 1 for row in rows)


def test_all_pairs_in_a_table(env: dict[str, str]) -> None:
    """X in the rows, O in the columns; a cell has the three chances in percent."""
    title, head, *lines = output_of("--all", "--from", LATE, env=env).splitlines()

    known = bots()
    assert title == "X wins / draw / O wins, in percent. Rows are X, columns are O."
    assert tuple(head.split()) == policy_names()
    for line, (name, x) in zip(lines, known.items(), strict=True):
        found = [odds(x, o, parse_board(LATE)) for o in known.values()]
        cells = [[percent(one) for one in (pair.x, pair.draw, pair.o)] for pair in found]
        assert line.split() == [name, *("/".join(cell).replace(" %", "") for cell in cells)]


def test_a_pair_as_data(env: dict[str, str]) -> None:
    assert json.loads(output_of("random", "perfect", "--from", LATE, "--json", env=env)) == [
        {
            "x": "random",
            "o": "perfect",
            "x_wins": "0",
            "draw": "1/5",
            "o_wins": "4/5",
            "length": "18/5",
            "about": {"x_wins": 0.0, "draw": 0.2, "o_wins": 0.8, "length": 3.6},
        }
    ]
    assert output_of("random", "perfect", "--from", LATE, "--csv", env=env) == (
        "x,o,x_wins,draw,o_wins,length\nrandom,perfect,0,1/5,4/5,18/5\n"
    )


NAMES = ", ".join(policy_names())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], f"name two bots, of {NAMES}; or use --all"),
        (["random"], f"name two bots, of {NAMES}; or use --all"),
        (["--all", "random"], "--all shows the odds of all bots: don't name any, or leave it out"),
        (
            ["--all", "random", "perfect"],
            "--all shows the odds of all bots: don't name any, or leave it out",
        ),
        (["random", "nonesuch"], f"unknown policy 'nonesuch': choose one of {NAMES}"),
        (["", "random"], f"unknown policy '': choose one of {NAMES}"),
        (["\x1b[31m", "random"], f"unknown policy '\\x1b[31m': choose one of {NAMES}"),
        (
            ["club:luck=1", "random"],
            "club has no 'luck': it has win, block, fork, defence and centre",
        ),
        (["club:win=1/0", "random"], "'1/0' is not a chance: write 0 to 1, such as 1/3 or 0.25"),
        (
            ["menace:file=nonesuch", "random"],
            "nonesuch cannot be read: No such file or directory",
        ),
        (
            ["random", "random", "--from", "XXX/OOO/___"],
            "X and O both have a line, but the first one ends the game",
        ),
    ],
)
def test_bad_bots_are_refused(arguments: list[str], message: str, env: dict[str, str]) -> None:
    ran = noughts("odds", *arguments, env=env)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == f"noughts: {message}\n"


@pytest.mark.parametrize("written", ["", "bogus", "51", "\x1b[2J"])
def test_bad_positions_are_refused(written: str, env: dict[str, str]) -> None:
    ran = noughts("odds", "random", "random", "--from", written, env=env)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("noughts: a board is 9 cells or 3 rows of 3, not '")
    assert ran.stderr.rstrip("\n").isprintable()


@pytest.mark.parametrize(
    "arguments",
    [
        ["random", "random", "random"],
        ["random", "random", "--json", "--csv"],
        ["random", "random", "--first", "random"],
        ["random", "random", "--from"],
    ],
)
def test_bad_usage_is_refused(arguments: list[str], env: dict[str, str]) -> None:
    ran = noughts("odds", *arguments, env=env)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.endswith("--help'.\n")


STRANGERS = """
from noughts import find_policy

def fine(**_):
    return find_policy("random")

def broken():
    return lambda board: 1 / 0

def needy(cell):
    return lambda board: {int(cell): 1}
"""


def offered(folder: Path) -> dict[str, str]:
    """Return the environment of a user with a third-party package of bots."""
    (folder / "strangers.py").write_text(STRANGERS)
    about = folder / "strangers-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: strangers\nVersion: 1.0\n")
    names = "".join(f"{name} = strangers:{name}\n" for name in ("fine", "broken", "needy"))
    (about / "entry_points.txt").write_text(f"[noughts.policies]\n{names}")
    return {**saving(folder), "PYTHONPATH": str(folder)}


def test_a_broken_bot_is_left_out_of_the_table(tmp_path: Path) -> None:
    """The reason goes to the error output."""
    ran = noughts("odds", "--all", "--csv", env=offered(tmp_path))

    assert ran.returncode == 0
    skipped = {line.split(" is skipped: ")[0] for line in ran.stderr.splitlines()}
    assert skipped == {"noughts: broken", "noughts: needy"}
    rows = list(csv.DictReader(ran.stdout.splitlines()))
    assert {row["x"] for row in rows} == {*BUILT_IN, "fine"}
    assert len(rows) == (len(BUILT_IN) + 1) ** 2


def test_names_are_escaped(tmp_path: Path) -> None:
    """A third-party bot's parameters are any text."""
    env = offered(tmp_path)
    for command in (
        ["odds", "fine:a=\x1b[2J", "random"],
        ["certify", "fine:a=\x1b[2J"],
        ["menace", "train", "--games", "1", "--against", "fine:a=\x1b[2J"],
    ):
        ran = noughts(*command, env=env)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert "\x1b" not in ran.stdout
        assert "fine:a=\\x1b[2J" in ran.stdout


def test_a_program_has_no_odds() -> None:
    ran = noughts("odds", "program:cat", "random")

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == "noughts: 'program:cat' is a program, and only a bot can be named here\n"
