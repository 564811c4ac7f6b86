"""`noughts odds`: all pairs agree with the library, and other people's bots are not trusted."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from noughts import parse_board
from noughts.bots.odds import Odds, odds, percent
from noughts.bots.policy import CachedPolicy, Policy
from noughts.bots.registry import BUILT_IN, find_policy, policy_names
from support.forked import noughts
from support.third_party_bots import offered

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


def test_a_broken_bot_is_left_out_of_the_table(tmp_path: Path) -> None:
    """The reason goes to the error output."""
    ran = noughts("odds", "--all", "--csv", "--from", LATE, env=offered(tmp_path))

    assert ran.returncode == 0
    skipped = {line.split(" is skipped: ")[0] for line in ran.stderr.splitlines()}
    assert skipped == {"noughts: broken", "noughts: needy"}
    rows = list(csv.DictReader(ran.stdout.splitlines()))
    assert {row["x"] for row in rows} == {*BUILT_IN, "fine"}
    assert len(rows) == (len(BUILT_IN) + 1) ** 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["\x1b[31m", "random"], "unknown policy '\\x1b[31m': choose one of "),
        (
            ["random", "random", "--from", "\x1b[2J"],
            "a board is 9 cells or 3 rows of 3, not '\\x1b[2J'",
        ),
    ],
)
def test_control_characters_are_refused(words: list[str], message: str, env: dict[str, str]) -> None:
    ran = noughts("odds", *words, env=env)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"noughts: {message}")
    assert ran.stderr.rstrip("\n").isprintable()


def test_names_are_escaped(tmp_path: Path) -> None:
    """A third-party bot's parameters are any text."""
    env = offered(tmp_path)
    for command in (
        ["odds", "fine:a=\x1b[2J", "random", "--from", LATE],
        ["certify", "fine:a=\x1b[2J"],
        ["menace", "train", "--games", "1", "--against", "fine:a=\x1b[2J"],
    ):
        ran = noughts(*command, env=env)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert "\x1b" not in ran.stdout
        assert "fine:a=\\x1b[2J" in ran.stdout
