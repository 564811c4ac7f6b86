"""Steps that several feature files share: boards, positions, and runs of the command."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest
from pytest_bdd import given, parsers, then, when

from noughts import Board, Mark, parse_board, reachable
from support.command import environment
from support.documents import board_texts, keys, questions
from support.forked import noughts

if TYPE_CHECKING:
    from support.documents import Ran


def pytest_bdd_apply_tag(tag: str, function: object) -> bool:  # noqa: ARG001 - the hook's own names
    """Don't turn the ids of requirements into markers; `tests/test_specification.py` reads them."""
    return True


@pytest.fixture
def env_vars() -> dict[str, str]:
    return environment()


# Boards


@given(parsers.re(r"the board (?P<text>[XO_/]+)"), target_fixture="board")
def a_board(text: str) -> Board:
    return parse_board(text)


@given(parsers.re(r"the board (?P<text>[XO_/]+) that (?P<first>[XO]) started"), target_fixture="board")
def a_board_with_a_starter(text: str, first: str) -> Board:
    return parse_board(text, Mark(first))


@given("every position there is", target_fixture="positions")
def all_positions() -> tuple[Board, ...]:
    positions = reachable()
    assert len(positions) == 5478
    return positions


# The command


@when(
    parsers.re(
        r'I run "noughts (?P<arguments>[^"]+)"(?: and play (?P<moves>\d+))?(?: and type (?P<typed>.+))?'
    ),
    target_fixture="ran",
)
def run(arguments: str, moves: str | None, typed: str | None, env_vars: dict[str, str]) -> Ran:
    return noughts(*shlex.split(arguments), typed=keys(moves, typed), env=env_vars)


@then(parsers.re(r"it leaves with exit code (?P<code>\d+)"))
def leaves(ran: Ran, code: str) -> None:
    assert (ran.returncode, ran.stderr) == (int(code), "")


@then(
    parsers.re(r'it leaves with exit code (?P<code>\d+) and one complaint that quotes "(?P<what>[^"]+)"')
)
def leaves_with_complaint(ran: Ran, code: str, what: str) -> None:
    assert (ran.returncode, ran.stdout) == (int(code), "")
    assert repr(what) in ran.stderr
    assert "Traceback" not in ran.stderr


@then(parsers.re(r'it says "(?P<line>[^"]+)"'))
def says_line(ran: Ran, line: str) -> None:
    assert line in ran.stdout.splitlines()


@then(parsers.re(r'it (?:says|asks) "(?P<line>[^"]+)" (?P<times>\d+) times'))
def says_times(ran: Ran, line: str, times: str) -> None:
    assert ran.stdout.splitlines().count(line) == int(times)


@then(parsers.re(r'it never says "(?P<line>[^"]+)"'))
def never_says(ran: Ran, line: str) -> None:
    assert line not in ran.stdout


@then("it says")
def says_lines(ran: Ran, docstring: str) -> None:
    assert f"\n{docstring}\n" in f"\n{ran.stdout}"


@then(parsers.re(r'the first thing it says is "(?P<line>[^"]+)"'))
def says_line_first(ran: Ran, line: str) -> None:
    assert ran.stdout.startswith(f"{line}\n")


@then("the first thing it says is")
def says_lines_first(ran: Ran, docstring: str) -> None:
    assert ran.stdout.startswith(f"{docstring}\n")


@then(parsers.re(r'the last thing it says is "(?P<line>[^"]+)"'))
def says_line_last(ran: Ran, line: str) -> None:
    assert ran.stdout.endswith(f"\n{line}\n")


@then("the last thing it says is")
def says_lines_last(ran: Ran, docstring: str) -> None:
    assert f"\n{ran.stdout}".endswith(f"\n{docstring}\n")


@then("it asks in this order")
def asks_in_order(ran: Ran, datatable: list[list[str]]) -> None:
    assert questions(ran.stdout.splitlines()) == [question for (question,) in datatable]


@then(parsers.re(r"the board it shows last is (?P<board>[XO_/]+)"))
def shows_board_last(ran: Ran, board: str) -> None:
    assert board_texts(ran.stdout.splitlines())[-1] == board
