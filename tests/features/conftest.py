"""Steps that several feature files share: boards, positions, and runs of the command."""

from __future__ import annotations

import shlex

import pytest
from pytest_bdd import given, parsers, then, when

from noughts import Board, Mark, parse_board, reachable
from support.command import environment
from support.documents import Ran, board_texts, keys, questions
from support.forked import noughts


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


@given("every reachable position", target_fixture="positions")
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


@then(parsers.re(r"it exits with code (?P<code>\d+)"))
def exits(ran: Ran, code: str) -> None:
    assert (ran.returncode, ran.stderr) == (int(code), "")


@then(parsers.re(r'it exits with code (?P<code>\d+) and an error that quotes "(?P<what>[^"]+)"'))
def exits_with_error(ran: Ran, code: str, what: str) -> None:
    assert (ran.returncode, ran.stdout) == (int(code), "")
    assert repr(what) in ran.stderr
    assert "Traceback" not in ran.stderr


@then(parsers.re(r'it prints "(?P<line>[^"]+)"'))
def prints_line(ran: Ran, line: str) -> None:
    assert line in ran.stdout.splitlines()


@then(parsers.re(r'it (?:prints|asks) "(?P<line>[^"]+)" (?P<times>\d+) times'))
def prints_times(ran: Ran, line: str, times: str) -> None:
    assert ran.stdout.splitlines().count(line) == int(times)


@then(parsers.re(r'it never prints "(?P<line>[^"]+)"'))
def never_prints(ran: Ran, line: str) -> None:
    assert line not in ran.stdout


@then("it prints")
def prints_lines(ran: Ran, docstring: str) -> None:
    assert f"\n{docstring}\n" in f"\n{ran.stdout}"


@then(parsers.re(r'it first prints "(?P<line>[^"]+)"'))
def starts_with_line(ran: Ran, line: str) -> None:
    assert ran.stdout.startswith(f"{line}\n")


@then("it first prints")
def starts_with_lines(ran: Ran, docstring: str) -> None:
    assert ran.stdout.startswith(f"{docstring}\n")


@then(parsers.re(r'it finally prints "(?P<line>[^"]+)"'))
def ends_with_line(ran: Ran, line: str) -> None:
    assert ran.stdout.endswith(f"\n{line}\n")


@then("it finally prints")
def ends_with_lines(ran: Ran, docstring: str) -> None:
    assert f"\n{ran.stdout}".endswith(f"\n{docstring}\n")


@then("it asks in this order")
def asks_in_order(ran: Ran, datatable: list[list[str]]) -> None:
    assert questions(ran.stdout.splitlines()) == [question for (question,) in datatable]


@then(parsers.re(r"the board it shows last is (?P<board>[XO_/]+)"))
def shows_board_last(ran: Ran, board: str) -> None:
    assert board_texts(ran.stdout.splitlines())[-1] == board
